//! Data written once and left alone: when it starts to leave, and when all of it is on the device.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use record::{Better, MetricDefinition, Warning};
use runner::Failure;
use serde_json::{Value, json};
use workload::Content;

use super::WatchedWrite;
use super::flow::DirtySample;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::caching::cold_file;
use crate::nanoseconds::nanos;

/// Bytes written: little enough to stay below every limit.
const BYTES: u64 = 4 << 20;
/// With a lower memory limit, data may be forced out.
const LIMIT_MIN_BYTES: u64 = 64 << 20;
/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest time to wait, as required by the kernel's settings.
const LONGEST: Duration = Duration::from_secs(120);

/// A file written in one go.
#[derive(Debug)]
pub(super) struct LeftAlone;

/// When data left alone must have left.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    /// The age at which it is written (`vm.dirty_expire_centisecs`).
    expired: Duration,
    /// How often a flusher wakes up (`vm.dirty_writeback_centisecs`).
    interval: Duration,
}

impl Deadline {
    fn read() -> Result<Self, String> {
        let setting = |name: &str| {
            let path = format!("/proc/sys/vm/{name}");
            let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
            let centiseconds = text.trim().parse::<u64>();
            let centiseconds = centiseconds.map_err(|error| format!("{path}: {error}"))?;
            Ok::<_, String>(Duration::from_millis(10 * centiseconds))
        };
        let interval = setting("dirty_writeback_centisecs")?;
        if interval.is_zero() {
            return Err("vm.dirty_writeback_centisecs is 0, so data left alone is never written; \
                 set it above 0"
                .to_owned());
        }
        Ok(Self { expired: setting("dirty_expire_centisecs")?, interval })
    }

    fn written(self) -> Duration {
        self.expired + self.interval
    }
}

/// A warning if data left before it was old. Then it was asked for, by the file system itself or by
/// another process's `sync`, which covers all file systems of the machine.
fn early(began_ns: u64, expired: Duration) -> Option<Warning> {
    let began = Duration::from_nanos(began_ns);
    (began < expired).then(|| Warning::BackgroundWork {
        what: format!(
            "data was written back after {:.1} s, before it was {} s old: the file system asked \
             for it, or a sync by another process did",
            began.as_secs_f64(),
            expired.as_secs()
        ),
    })
}

impl Experiment for LeftAlone {
    fn metrics(&self) -> Vec<MetricDefinition> {
        vec![
            MetricDefinition::new("time_until_clean", "ns", Better::Neither),
            MetricDefinition::new("time_until_write_back", "ns", Better::Neither),
        ]
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("operation".to_owned(), json!("write")),
            ("file_bytes".to_owned(), json!(BYTES)),
        ])
    }

    fn estimate(&self) -> Duration {
        Deadline::read().map_or(LONGEST, Deadline::written)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        cold_file::check(live)?;
        let limit = live.target().facts().conditions.limits.memory_bytes;
        if limit.is_some_and(|limit| limit < LIMIT_MIN_BYTES) {
            return Err("its memory limit forces data out before it is old; give memory=64m or \
                 more, or no limit"
                .to_owned());
        }
        let due = Deadline::read()?.written();
        if due > LONGEST {
            return Err(format!(
                "data left alone is written only after {} s; lower vm.dirty_expire_centisecs",
                due.as_secs()
            ));
        }
        Ok(())
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let due = Deadline::read().map_err(|why| Failure::Cell { why })?;
        let mut written = WatchedWrite::make(site)?;
        let mut content = vec![0; usize::try_from(BYTES).expect("4 MiB")];
        Content::new(site.seed, 0).fill(&mut content, 0);
        written.file.write_all_at(&content, 0).map_err(|error| failed(&error))?;
        let last = written.sample(BYTES)?;
        // Writing it takes time too, as does whatever the file system does before that.
        let patience_ns = nanos(2 * due.written());
        let [began, clean] = wait(site, &mut written, patience_ns)?;
        let since_ns = |sample: DirtySample| sample.at_ns.saturating_sub(last.at_ns);
        let warnings = early(since_ns(began), due.expired).into_iter().collect();
        let observations = written.observations();
        written.remove()?;
        Ok(Findings {
            metrics: vec![since_ns(clean) as f64, since_ns(began) as f64],
            bytes: BYTES,
            elapsed_ns: since_ns(clean),
            observations,
            warnings,
            ..Findings::default()
        })
    }
}

/// The samples at which data was first seen leaving, and at which none was left.
fn wait(
    site: &Site<'_>,
    written: &mut WatchedWrite,
    patience_ns: u64,
) -> Result<[DirtySample; 2], Failure> {
    let mut began = None;
    loop {
        let sample = written.sample(BYTES)?;
        if sample.dirty_bytes < BYTES || sample.on_its_way_bytes > 0 {
            began = began.or(Some(sample));
        }
        if sample.is_clean() {
            return Ok([began.unwrap_or(sample), sample]);
        }
        if sample.at_ns > patience_ns {
            let left = sample.dirty_bytes;
            let why =
                format!("{left} bytes were still dirty after {} s", patience_ns / 1_000_000_000);
            return Err(Failure::Cell { why });
        }
        site.go_on()?;
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_leaves_before_it_is_old_is_said_to() {
        let expired = Duration::from_secs(30);
        assert_eq!(early(30_000_000_000, expired), None);
        let warning = early(106_000_000, expired).expect("somebody synced").to_string();
        assert!(warning.contains("after 0.1 s, before it was 30 s old"), "{warning}");
    }
}
