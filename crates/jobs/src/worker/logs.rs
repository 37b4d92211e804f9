//! The logs of a job: samples while it runs, files when it has ended.

use std::io::{BufWriter, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use job_results::logs::{
    HistogramLog, LogKind, LogName, LogSample, SampleLog, SampleLogSettings, WindowValue,
};
use job_results::{DataDirection, LatencyHistogram, PerDirection, RateSampler};

use super::Failure;
use crate::files::FileError;
use crate::plan::{JobPlan, LogsPlan};

/// The logs that a job keeps.
pub(super) struct Logs {
    plan: LogsPlan,
    thread: Option<u32>,
    job: String,
    /// The size of blocks, where all have one; what averages of rates are logged with.
    block_bytes: PerDirection<u64>,
    priority: u16,
    total: Option<SampleLog>,
    submission: Option<SampleLog>,
    completion: Option<SampleLog>,
    pub(super) bandwidth: Option<SampleLog>,
    pub(super) iops: Option<SampleLog>,
    histogram: Option<HistogramLog>,
}

/// What a sample is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) direction: DataDirection,
    pub(super) elapsed_ms: u64,
    pub(super) bytes: u64,
    pub(super) offset: u64,
    /// `None` for that of the job.
    pub(super) priority: Option<u16>,
}

impl Logs {
    /// `None` if the job keeps none.
    pub(super) fn new(plan: &JobPlan, name: &str, thread_number: u32) -> Option<Box<Self>> {
        let logs = plan.report.logs.clone();
        if !logs.any() {
            return None;
        }
        let epoch_ms = if logs.unix_epoch {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(now.as_millis()).unwrap_or(0)
        } else {
            0
        };
        let settings = |window_ms| SampleLogSettings {
            window_ms,
            window_value: if logs.maximum { WindowValue::Maximum } else { WindowValue::Mean },
            has_offsets: logs.offsets,
            has_priorities: logs.priorities,
            epoch_ms,
        };
        let log =
            |is_kept: bool, kind, window| is_kept.then(|| SampleLog::new(kind, settings(window)));
        let (report, latency) = (&plan.report, logs.latency.is_some());
        let sizes = |direction| {
            let size = &plan.offsets.spec.block_sizes[direction];
            if size.min_bytes == size.max_bytes { size.min_bytes } else { 0 }
        };
        let [read, write, trim] = job_offsets::Direction::ALL.map(sizes);
        let average = logs.average_ms;
        Some(Box::new(Self {
            thread: logs.per_job.then_some(thread_number),
            job: name.to_owned(),
            block_bytes: PerDirection::new(read, write, trim),
            priority: plan.process.io_priority.unwrap_or(0),
            total: log(latency && report.total_latency, LogKind::Total, average),
            submission: log(latency && report.submission_latency, LogKind::Submission, average),
            completion: log(latency && report.completion_latency, LogKind::Completion, average),
            bandwidth: log(logs.bandwidth.is_some(), LogKind::Bandwidth, average),
            iops: log(logs.operations.is_some(), LogKind::Iops, average),
            histogram: logs
                .histogram
                .is_some()
                .then(|| HistogramLog::new(logs.histogram_ms, logs.coarseness, epoch_ms)),
            plan: logs,
        }))
    }

    /// Whether each operation's rate is logged, rather than averages.
    pub(super) fn has_each_rate(&self) -> bool {
        self.plan.average_ms == 0
    }

    fn sample(&self, of: Sampled, value: u64) -> LogSample {
        LogSample {
            direction: of.direction,
            value,
            bytes: of.bytes,
            offset: of.offset,
            priority: of.priority.unwrap_or(self.priority),
        }
    }

    pub(super) fn submitted(&mut self, of: Sampled, took_ns: u64) {
        let sample = self.sample(of, took_ns);
        if let Some(log) = &mut self.submission {
            log.add(of.elapsed_ms, sample);
        }
    }

    /// An operation is complete. Answers its bandwidth, if that is logged for each.
    pub(super) fn completed(
        &mut self,
        of: Sampled,
        (total_ns, took_ns): (u64, u64),
        histogram: &LatencyHistogram,
    ) -> Option<u64> {
        let (total, completion) = (self.sample(of, total_ns), self.sample(of, took_ns));
        let rate = RateSampler::of_one(of.bytes, took_ns);
        let (bandwidth, one) = (self.sample(of, rate), self.sample(of, 1));
        let each = self.has_each_rate();
        if let Some(log) = &mut self.total {
            log.add(of.elapsed_ms, total);
        }
        if let Some(log) = &mut self.completion {
            log.add(of.elapsed_ms, completion);
        }
        if let Some(log) = &mut self.histogram {
            log.observe(of.elapsed_ms, of.direction, of.bytes, histogram);
        }
        if let Some(log) = self.iops.as_mut().filter(|_| each) {
            log.add(of.elapsed_ms, one);
        }
        let log = self.bandwidth.as_mut().filter(|_| each)?;
        log.add(of.elapsed_ms, bandwidth);
        Some(rate)
    }

    /// The average of a rate.
    pub(super) fn averaged(
        log: &mut SampleLog,
        (direction, elapsed_ms): (DataDirection, u64),
        value: u64,
        block_bytes: &PerDirection<u64>,
    ) {
        let bytes = block_bytes[direction];
        log.add(elapsed_ms, LogSample { direction, value, bytes, offset: 0, priority: 0 });
    }

    pub(super) fn block_bytes(&self) -> PerDirection<u64> {
        self.block_bytes
    }

    /// Writes all logs to their files.
    pub(super) fn write(mut self, elapsed_ms: u64) -> Result<(), Failure> {
        let latency = self.plan.latency.clone();
        let samples = [
            (LogKind::Total, self.total.take(), latency.clone()),
            (LogKind::Submission, self.submission.take(), latency.clone()),
            (LogKind::Completion, self.completion.take(), latency),
            (LogKind::Bandwidth, self.bandwidth.take(), self.plan.bandwidth.clone()),
            (LogKind::Iops, self.iops.take(), self.plan.operations.clone()),
        ];
        for (kind, log, name) in samples {
            if let Some(mut log) = log {
                log.finish(elapsed_ms);
                self.write_one(kind, name, |out| log.write(out))?;
            }
        }
        if let Some(log) = self.histogram.take() {
            let name = self.plan.histogram.clone();
            self.write_one(LogKind::Histogram, name, |out| log.write(out))?;
        }
        Ok(())
    }

    fn write_one(
        &self,
        kind: LogKind,
        name: Option<String>,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let prefix = name.filter(|name| !name.is_empty()).unwrap_or_else(|| self.job.clone());
        let name = LogName { prefix, kind, thread: self.thread };
        let written = name.open().and_then(|file| {
            let mut out = BufWriter::new(file);
            write(&mut out)?;
            out.flush()
        });
        written.map_err(|source| FileError::new(&name.path(), "writing the log", source).into())
    }
}
