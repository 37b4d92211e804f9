//! Data that is written once and left alone: when it leaves, and when all of it is on the device.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use record::{Better, MetricDefinition};
use runner::Failure;
use serde_json::{Value, json};
use workload::Content;

use super::Written;
use super::flow::Sample;
use crate::experiment::{Experiment, Findings, Site};
use crate::live_target::LiveTarget;
use crate::nano::caching::cold_file;
use crate::replicate::failed;

/// What is written: little enough to stay below every limit.
const BYTES: u64 = 8 << 20;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest that is waited for by the kernel's settings.
const LONGEST: Duration = Duration::from_secs(120);

/// A file written in one go.
#[derive(Debug)]
pub(super) struct LeftAlone;

/// When data that is left alone must have left: it is old enough, a flusher has woken, and it has
/// been written.
fn due() -> Result<Duration, String> {
    let centiseconds = |name: &str| {
        let path = format!("/proc/sys/vm/{name}");
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        text.trim().parse::<u64>().map_err(|error| format!("{path}: {error}"))
    };
    let interval = centiseconds("dirty_writeback_centisecs")?;
    if interval == 0 {
        return Err(
            "vm.dirty_writeback_centisecs is 0, so that data left alone is never written; \
             set it"
                .to_owned(),
        );
    }
    Ok(Duration::from_millis(10 * (centiseconds("dirty_expire_centisecs")? + interval)))
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
        due().unwrap_or(LONGEST)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        cold_file::check(live)?;
        let due = due()?;
        if due > LONGEST {
            return Err(format!(
                "data left alone is written after {} s only; lower vm.dirty_expire_centisecs",
                due.as_secs()
            ));
        }
        Ok(())
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let due = due().map_err(|why| Failure::Cell { why })?;
        let mut written = Written::make(site)?;
        let mut content = vec![0; usize::try_from(BYTES).expect("8 MiB")];
        Content::new(site.seed, 0).fill(&mut content, 0);
        written.file.write_all_at(&content, 0).map_err(|error| failed(&error))?;
        let last = written.sample(BYTES)?;
        // Writing it, and whatever goes before that in the file system, takes time as well.
        let patience_ns = u64::try_from((2 * due).as_nanos()).unwrap_or(u64::MAX);
        let [began, clean] = wait(site, &mut written, patience_ns)?;
        let since_ns = |sample: Sample| sample.at_ns.saturating_sub(last.at_ns);
        let observations = written.observations();
        written.remove()?;
        Ok(Findings {
            metrics: vec![since_ns(clean) as f64, since_ns(began) as f64],
            bytes: BYTES,
            elapsed_ns: since_ns(clean),
            observations,
            ..Findings::default()
        })
    }
}

/// The moments at which data was first seen to leave and at which none was left.
fn wait(site: &Site<'_>, written: &mut Written, patience_ns: u64) -> Result<[Sample; 2], Failure> {
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
