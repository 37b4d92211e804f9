//! `--bandwidth-log`: the bandwidth of all jobs together, twice a second, in a file for each
//! direction.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use job_offsets::Direction;
use job_results::DataDirection;
use job_results::logs::{LogKind, LogSample, SampleLog, SampleLogSettings};
use jobs::{JobInstance, Stage};

const INTERVAL: Duration = Duration::from_millis(500);

/// What the files of that name will hold, in the current directory.
pub(crate) struct BandwidthLog {
    logs: [SampleLog; 3],
    last: Duration,
    bytes: [u64; 3],
}

impl BandwidthLog {
    pub(crate) fn new() -> Self {
        let log = || SampleLog::new(LogKind::Bandwidth, SampleLogSettings::default());
        Self { logs: [log(), log(), log()], last: Duration::ZERO, bytes: [0; 3] }
    }

    /// Adds a sample, if it is time for one.
    pub(crate) fn look(&mut self, jobs: &[JobInstance<'_>], elapsed: Duration) {
        let passed = elapsed.saturating_sub(self.last);
        let runs = |job: &JobInstance<'_>| job.control.stage() > Stage::Ramp;
        if passed < INTERVAL || !jobs.iter().any(runs) {
            return;
        }
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        for (way, (log, direction)) in
            Direction::ALL.into_iter().zip(self.logs.iter_mut().zip(DataDirection::ALL))
        {
            let bytes = jobs.iter().map(|job| job.control.bytes(way)).sum::<u64>();
            let before = std::mem::replace(&mut self.bytes[way as usize], bytes);
            let moved = bytes.saturating_sub(before).saturating_mul(1000);
            let value = moved / milliseconds(passed).max(1) / 1024;
            let sample = LogSample { direction, value, bytes: 0, offset: 0, priority: 0 };
            log.add(milliseconds(elapsed), sample);
        }
        self.last = elapsed;
    }

    /// Writes the files.
    pub(crate) fn write(&self) -> io::Result<()> {
        for (log, direction) in self.logs.iter().zip(DataDirection::ALL) {
            let name = format!("agg-{}_bw.log", direction.name());
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
            let mut file = BufWriter::new(File::create(&name).map_err(named)?);
            log.write(&mut file).and_then(|()| file.flush()).map_err(named)?;
        }
        Ok(())
    }
}
