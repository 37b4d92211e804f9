//! Steady writes until the limit on dirty data makes the writer wait.
//!
//! Which limit that is depends on the conditions. In a version 1 memory control group it is the
//! group's memory, since that version has no dirty limits of its own and reclaim must wait for
//! write-back (mm/vmscan.c). In version 2 it is the group's share of the machine's limits, and
//! without a group it is the machine's limit.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use machine::describe::WritebackReader;
use measure::{Clock, Recorder};
use record::{Better, MetricDefinition, StandardMetric};
use runner::Failure;
use serde_json::{Value, json};
use workload::Content;

use super::WatchedWrite;
use super::flow::Flow;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::caching::cold_file;

const MIB: u64 = 1 << 20;
/// Size of one write.
const REQUEST_BYTES: usize = 64 << 10;
/// How much is written, in multiples of the limit: once to reach it, and three times that for what
/// follows.
const LIMITS_WRITTEN: u64 = 4;
/// The most that is written in one replicate.
const WRITTEN_BYTES_MAX: u64 = 512 * MIB;
/// Approximate number of samples in a replicate.
const SAMPLES: u64 = 256;
/// The initial width of a slice of the timeline.
const SLICE_NS: u64 = 1_000_000;

/// Sequential writes of a new file, past the limit.
#[derive(Debug)]
pub(super) struct WriteToLimit;

/// The number of dirty bytes at which writers must wait, under the target's conditions.
fn limit_bytes(live: &LiveTarget) -> Result<u64, String> {
    if let Some(bytes) = live.target().facts().conditions.limits.memory_bytes {
        return Ok(bytes);
    }
    let counters = WritebackReader::open().and_then(|reader| reader.read());
    Ok(counters.map_err(|error| error.to_string())?.threshold_bytes)
}

impl Experiment for WriteToLimit {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let rate = |name: &str| MetricDefinition::new(name, "bytes/s", Better::Higher);
        let bytes = |name: &str| MetricDefinition::new(name, "bytes", Better::Neither);
        vec![
            rate("bandwidth_after_limit"),
            rate("bandwidth_before_limit"),
            bytes("write_back_from_bytes"),
            bytes("held_bytes_max"),
            bytes("limit_bytes"),
            StandardMetric::TIME_PER_OPERATION.definition(),
        ]
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("operation".to_owned(), json!("write")),
            ("access".to_owned(), json!("sequential")),
            ("request_bytes".to_owned(), json!(REQUEST_BYTES)),
            ("written_limits".to_owned(), json!(LIMITS_WRITTEN)),
        ])
    }

    fn estimate(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        cold_file::check(live)?;
        let file_system = &live.target().facts().file_system;
        let limit_bytes = limit_bytes(live)?;
        if LIMITS_WRITTEN * limit_bytes > WRITTEN_BYTES_MAX {
            return Err(format!(
                "writers wait only when {limit_bytes} bytes are dirty, which take too long to \
                 write; give it a limit, such as {file_system}:memory=64m"
            ));
        }
        let space = live.target().space().map_err(|error| error.to_string())?;
        if space.free_bytes < 2 * LIMITS_WRITTEN * limit_bytes {
            return Err(format!(
                "it has no space for {LIMITS_WRITTEN} times the dirty data at which writers wait; \
                 give {}",
                space.enlarged_by()
            ));
        }
        Ok(())
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let limit_bytes = limit_bytes(site.live).map_err(|why| Failure::Cell { why })?;
        let total_bytes = LIMITS_WRITTEN * limit_bytes;
        let mut written = WatchedWrite::make(site)?;
        let recorder = write(site, &mut written, total_bytes)?;
        let flow = Flow::from_samples(&written.samples);
        let observations = written.observations();
        let elapsed_ns = super::nanos_since(written.began);
        written.remove()?;
        Ok(Findings {
            metrics: vec![
                flow.after_bytes_per_s,
                flow.before_bytes_per_s,
                flow.threshold_bytes as f64,
                flow.held_bytes_max as f64,
                limit_bytes as f64,
                recorder.mean_ns(),
            ],
            bytes: total_bytes,
            elapsed_ns,
            recorder: Some(recorder),
            observations,
            ..Findings::default()
        })
    }
}

/// Writes `total_bytes`, and counts now and then what is dirty.
fn write(
    site: &Site<'_>,
    written: &mut WatchedWrite,
    total_bytes: u64,
) -> Result<Recorder, Failure> {
    let clock = site.clock;
    let mut buffer = vec![0; REQUEST_BYTES];
    let content = Content::new(site.seed, 0);
    let between_bytes = (total_bytes / SAMPLES).max(REQUEST_BYTES as u64);
    let mut recorder = Recorder::new(clock.start(), clock.ticks_of(SLICE_NS));
    written.sample(0)?;
    let mut next_sample = between_bytes;
    let mut offset = 0;
    while offset < total_bytes {
        content.fill(&mut buffer, offset);
        let start_ticks = clock.start();
        let done = written.file.write_all_at(&buffer, offset);
        let end_ticks = clock.end();
        done.map_err(|error| failed(&error))?;
        recorder.record(start_ticks, end_ticks, clock);
        offset += REQUEST_BYTES as u64;
        if offset >= next_sample {
            site.go_on()?;
            written.sample(offset)?;
            next_sample = offset + between_bytes;
        }
    }
    Ok(recorder)
}
