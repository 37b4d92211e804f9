//! The case study of "It *IS* Rocket Science" (section 3), scaled down to a memory limit of 64 MiB:
//! one thread reads 4 KiB at random offsets of one file.
//!
//! The paper had 512 MiB of memory and a disk. Sizes here are an eighth of the paper's; Figures 2
//! and 4 have a sixteenth, since each page of theirs takes a request of the device. Each request is
//! delayed so that reading from the device takes about a thousand times as long as from memory.
//! Every replicate makes its own state: steady (the file is read in, then read at random), or cold,
//! which is verified.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use measure::{Clock, Timeline};
use record::{CacheEvidence, Dimension, MetricDefinition, StandardMetric};
use runner::Failure;
use serde_json::{Value, json};
use targets::cache::cache_state::{self, Residency};
use workload::{Operation, Outcome, Workload};

use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::file_set_kind::{FileSetKind, FileSpec};
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::Curve;

const MIB: u64 = 1 << 20;
const REQUEST_BYTES: u64 = 4096;
/// The largest file of Figure 1; smaller ones are its first part.
const FIGURE_1_BYTES: u64 = 128 * MIB;
/// 24 times the memory; the paper had 49 times.
const LARGEST_BYTES: u64 = 1536 * MIB;
/// The paper had 410 MB: it fits in memory, as here.
const FIGURE_2_BYTES: u64 = 26 * MIB;
const FIGURE_4_BYTES: u64 = 16 * MIB;
/// The files of Figure 1 on a device with a cache: from half of the memory to twice the cache.
const LEVELS_MIB: [u64; 8] = [32, 64, 96, 128, 192, 256, 384, LEVELS_BYTES / MIB];
const LEVELS_BYTES: u64 = 512 * MIB;
/// About how long a read from the device takes: the delay of the targets below, and a little more.
const DEVICE_READ: Duration = Duration::from_micros(1070);
/// How long random reads go on before a steady window, and the length of the window.
const SETTLING: Duration = Duration::from_millis(200);
const WINDOW: Duration = Duration::from_millis(300);
/// About how long the reads from memory at the end of a warm-up take.
const FROM_MEMORY: Duration = Duration::from_secs(2);
const EVICTION_PATIENCE: Duration = Duration::from_secs(2);
/// How often a file is read in at most before it counts as steady.
const READ_IN_MAX: usize = 5;

/// The targets of the paper's case study, at its scale. The last one has a further level of cache.
/// It is four times as large as memory: whatever is read into memory comes by it and is in it too,
/// and after each level throughput goes on falling for a while, as hits become fewer.
pub const TARGETS: [&str; 4] = [
    "ext2=ext2:size=3G,memory=64m,delay=1ms",
    "ext3=ext3:size=1G,memory=64m,delay=1ms",
    "xfs=xfs:size=1G,memory=64m,delay=1ms",
    "cached=ext2:size=1G,memory=64m,delay=1ms,delay_cache=256m",
];

/// The benchmarks of one figure, or of all: `figure-1` to `figure-4`.
#[must_use]
pub(crate) fn figure(name: Option<&str>) -> Vec<Benchmark> {
    let all = [figure_1(), levels(), figure_2(), figure_3(), figure_4()].concat();
    let is_wanted = |one: &Benchmark| name.is_none_or(|name| one.name.starts_with(name));
    all.into_iter().filter(is_wanted).collect()
}

/// Throughput over file size: an eighth of the paper's steps, and a close-up of the drop.
fn figure_1() -> Vec<Benchmark> {
    let curve = |name, title| Curve { name, title, axis: "file size", unit: "bytes" };
    let steps: Vec<u64> = (1..=16).map(|step| step * 8 * MIB).collect();
    let zoom: Vec<u64> = (0..12).map(|step| 54 * MIB + step * MIB).collect();
    let point = |bytes| {
        named(
            "figure",
            "figure",
            Steady { file_bytes: FIGURE_1_BYTES, span_bytes: bytes, device: Device::Plain },
            vec![Dimension::InMemory],
        )
    };
    let mut all = curve("figure-1", "Figure 1, random read").points(&steps, point);
    all.extend(curve("figure-1-zoom", "Figure 1, zoom").points(&zoom, point));
    all
}

/// The same over two levels of cache, where "the performance curve will have multiple distinctive
/// steps" (section 3.1).
fn levels() -> Vec<Benchmark> {
    let (name, title) = ("figure-1-levels", "Figure 1 on a device with a cache");
    let sizes = LEVELS_MIB.map(|mib| mib * MIB);
    let curve = Curve { name, title, axis: "file size", unit: "bytes" };
    curve.points(&sizes, |bytes| {
        let experiment =
            Steady { file_bytes: LEVELS_BYTES, span_bytes: bytes, device: Device::WithCache };
        named("figure", "figure", experiment, vec![Dimension::InMemory, Dimension::Io])
    })
}

/// Throughput over time from a cold start, on three file systems.
fn figure_2() -> Vec<Benchmark> {
    let experiment = WarmUp { file_bytes: FIGURE_2_BYTES, ext2_only: false };
    vec![named("figure-2", "Figure 2, warm-up of 26 MiB", experiment, vec![Dimension::Io])]
}

/// Latencies for a file that fits in memory, one twice as large as memory, and one much larger.
fn figure_3() -> Vec<Benchmark> {
    let sizes = [("a", 8 * MIB), ("b", 128 * MIB), ("c", LARGEST_BYTES)];
    let one = |(letter, bytes): (&str, u64)| {
        let title = format!("Figure 3({letter}), random read of {} MiB", bytes / MIB);
        let file_bytes = bytes.max(FIGURE_1_BYTES);
        let experiment = Steady { file_bytes, span_bytes: bytes, device: Device::Plain };
        let made = named("figure", "figure", experiment, vec![Dimension::Io, Dimension::InMemory]);
        Benchmark { name: format!("figure-3{letter}"), title, ..made }
    };
    sizes.map(one).to_vec()
}

/// Latencies over time from a cold start.
fn figure_4() -> Vec<Benchmark> {
    let experiment = WarmUp { file_bytes: FIGURE_4_BYTES, ext2_only: true };
    vec![named("figure-4", "Figure 4, warm-up of 16 MiB", experiment, vec![Dimension::Io])]
}

fn named(
    name: &str,
    title: &str,
    experiment: impl Experiment + 'static,
    exercises: Vec<Dimension>,
) -> Benchmark {
    let dimension = Dimension::Caching;
    Benchmark { dimension, exercises, ..Benchmark::from_experiment(name, title, experiment) }
}

/// Random reads of the first part of a file in a steady state.
#[derive(Debug)]
struct Steady {
    file_bytes: u64,
    span_bytes: u64,
    device: Device,
}

/// What kind of device an experiment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    /// Every read takes as long as the next.
    Plain,
    /// It has a cache of its own.
    WithCache,
}

impl Experiment for Steady {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let resident = resident_share();
        vec![
            StandardMetric::THROUGHPUT.definition(),
            StandardMetric::TIME_PER_OPERATION.definition(),
            resident,
        ]
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        parameters(self.span_bytes)
    }

    fn working_set_bytes(&self) -> Option<u64> {
        Some(self.span_bytes)
    }

    fn file_set(&self) -> Option<FileSetKind> {
        Some(read_file(self.file_bytes))
    }

    fn estimate(&self) -> Duration {
        SETTLING + WINDOW * 2
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        needs_memory_limit(live)?;
        needs_ext2(live)?;
        needs(self.device, live)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let reads = Reads { site, file_bytes: self.file_bytes, span_bytes: self.span_bytes };
        let file = reads.file()?;
        evict(site, &file)?;
        let filling_bytes = match self.device {
            Device::Plain => FIGURE_1_BYTES,
            Device::WithCache => LEVELS_BYTES,
        };
        reads.read_in_until_it_stays(&file, self.span_bytes.min(filling_bytes))?;
        let rate_per_s = reads.settle()?;
        let operations = whole(rate_per_s * WINDOW.as_secs_f64()).clamp(100, 2_000_000);
        let outcome = reads.run(operations, site.seed)?;
        let resident = residency(&file)?;
        let resident_share =
            resident.resident_pages as f64 * REQUEST_BYTES as f64 / self.span_bytes as f64;
        let time_ns = outcome.recorder.mean_ns();
        let metrics = vec![outcome.rate_per_s, time_ns, 100.0 * resident_share.min(1.0)];
        let evidence = evidence(None, &resident);
        Ok(findings(outcome, metrics, evidence))
    }
}

/// Random reads of a whole file from a cold start until it is in memory, and for a while after.
#[derive(Debug)]
struct WarmUp {
    file_bytes: u64,
    ext2_only: bool,
}

impl Experiment for WarmUp {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let half = StandardMetric::TIME_TO_HALF_SPEED.definition();
        vec![half, StandardMetric::TIME_PER_OPERATION.definition(), resident_share()]
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        parameters(self.file_bytes)
    }

    fn working_set_bytes(&self) -> Option<u64> {
        Some(self.file_bytes)
    }

    fn file_set(&self) -> Option<FileSetKind> {
        Some(read_file(self.file_bytes))
    }

    fn estimate(&self) -> Duration {
        let pages = u32::try_from(self.file_bytes / REQUEST_BYTES).unwrap_or(u32::MAX);
        DEVICE_READ * pages + FROM_MEMORY
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        needs_memory_limit(live)?;
        needs(Device::Plain, live)?;
        if self.ext2_only { needs_ext2(live) } else { Ok(()) }
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let reads = Reads { site, file_bytes: self.file_bytes, span_bytes: self.file_bytes };
        let file = reads.file()?;
        let before = evict(site, &file)?;
        let outcome = reads.run(self.operations(), site.seed)?;
        let after = residency(&file)?;
        let clock = site.clock;
        let half_ns = time_to_half_speed_ns(outcome.recorder.timeline(), clock);
        let resident_share = after.resident_pages as f64 / after.total_pages.max(1) as f64;
        let metrics = vec![half_ns, outcome.recorder.mean_ns(), 100.0 * resident_share];
        Ok(findings(outcome, metrics, evidence(Some(before), &after)))
    }
}

impl WarmUp {
    /// Enough reads to draw every page (on average pages x ln(pages), the coupon collector's
    /// problem), and about another second of reads from memory.
    fn operations(&self) -> u64 {
        let pages = (self.file_bytes / REQUEST_BYTES) as f64;
        whole(pages * (pages.ln() + 2.0)) + 1_500_000
    }
}

/// One file of `bytes` bytes that is only read.
fn read_file(bytes: u64) -> FileSetKind {
    FileSetKind::Files(FileSpec { count: 1, bytes, are_written: false })
}

/// Random reads of the first bytes of a file set's file.
struct Reads<'a> {
    site: &'a Site<'a>,
    file_bytes: u64,
    span_bytes: u64,
}

impl Reads<'_> {
    fn file(&self) -> Result<PathBuf, Failure> {
        Ok(self.site.file_set(read_file(self.file_bytes))?.data_file(workload::Role::Read, 0))
    }

    /// Reads the span from its start, as much of it as fills all levels of cache: with random
    /// reads, every page is equally likely to be there anyway. Reads it in again as long as that
    /// brings more of the file into memory. What making the files has charged to the limit may push
    /// pages out the first time.
    fn read_in_until_it_stays(&self, file: &PathBuf, bytes: u64) -> Result<(), Failure> {
        let read_in = || {
            let mut part = std::fs::File::open(file)?.take(bytes);
            io::copy(&mut part, &mut io::sink())
        };
        let mut resident = 0;
        for _ in 0..READ_IN_MAX {
            self.site.go_on()?;
            read_in().map_err(|error| failed(&error))?;
            let now = residency(file)?.resident_pages;
            if now <= resident || now * REQUEST_BYTES >= self.span_bytes {
                break;
            }
            resident = now;
        }
        Ok(())
    }

    /// Reads at random for the settling time, and returns the rate.
    fn settle(&self) -> Result<f64, Failure> {
        let began = Instant::now();
        let (mut operations, mut seed) = (200, !self.site.seed);
        loop {
            self.site.go_on()?;
            let outcome = self.run(operations, seed)?;
            seed = seed.wrapping_add(1);
            if began.elapsed() >= SETTLING {
                return Ok(outcome.rate_per_s);
            }
            // A tenth of the time is short enough to check the clock, and long enough to start
            // cheaply.
            let tenth = SETTLING.as_secs_f64() / 10.0;
            operations = whole(outcome.rate_per_s * tenth).clamp(200, 200_000);
        }
    }

    fn run(&self, operations: u64, seed: u64) -> Result<Outcome, Failure> {
        let workload = Workload {
            operations_per_thread: operations,
            span_bytes: Some(self.span_bytes),
            ..Workload::new(Operation::Read)
        };
        let file_set = self.site.file_set(read_file(self.file_bytes))?;
        let mut session =
            workload::prepare(&workload, file_set, seed).map_err(|error| failed(&error))?;
        let outcome = session.run(self.site.clock, self.site.stop);
        let outcome = outcome.map_err(|error| failed(&error))?;
        if outcome.interrupted { Err(Failure::Interrupted) } else { Ok(outcome) }
    }
}

/// When the throughput first reached half of its final value, in nanoseconds.
fn time_to_half_speed_ns(timeline: &Timeline, clock: &impl Clock) -> f64 {
    let slices: Vec<(u64, u64)> =
        timeline.slices().map(|slice| (slice.start_ticks, slice.count())).collect();
    // The last slice is cut short.
    let whole = &slices[..slices.len().saturating_sub(1)];
    let Some(&(_, last)) = whole.last() else { return 0.0 };
    let reached = whole.iter().find(|(_, count)| count * 2 >= last);
    reached.map_or(0.0, |&(start_ticks, _)| clock.nanos(start_ticks) as f64)
}

fn evict(site: &Site<'_>, file: &PathBuf) -> Result<Residency, Failure> {
    let left = cache_state::evict_all(site.live.target.root(), [file], EVICTION_PATIENCE)
        .map_err(|error| failed(&error))?;
    if left.resident_pages == 0 {
        return Ok(left);
    }
    let why = format!("{} pages of the file could not be evicted", left.resident_pages);
    Err(Failure::State { why, evidence: Box::new(evidence(Some(left), &left)) })
}

fn residency(file: &PathBuf) -> Result<Residency, Failure> {
    cache_state::residency_of([file]).map_err(|error| failed(&error))
}

fn evidence(before: Option<Residency>, after: &Residency) -> CacheEvidence {
    CacheEvidence {
        pages: Some(after.total_pages),
        resident_before: before.map(|before| before.resident_pages),
        resident_after: Some(after.resident_pages),
        ..CacheEvidence::default()
    }
}

fn findings(outcome: Outcome, metrics: Vec<f64>, evidence: CacheEvidence) -> Findings {
    Findings {
        metrics,
        bytes: outcome.bytes,
        elapsed_ns: outcome.elapsed_ns,
        recorder: Some(outcome.recorder),
        evidence,
        ..Findings::default()
    }
}

fn parameters(span_bytes: u64) -> BTreeMap<String, Value> {
    BTreeMap::from([
        ("operation".to_owned(), json!("read")),
        ("access".to_owned(), json!("random")),
        ("request_bytes".to_owned(), json!(REQUEST_BYTES)),
        ("file_bytes".to_owned(), json!(span_bytes)),
        ("threads".to_owned(), json!(1)),
    ])
}

/// How much of the span is in memory at the end.
fn resident_share() -> MetricDefinition {
    MetricDefinition::new("resident_share", "%", record::Better::Neither)
}

fn needs_memory_limit(live: &LiveTarget) -> Result<(), String> {
    match live.target.facts().conditions.limits.memory_bytes {
        Some(_) => Ok(()),
        None => Err("it needs a memory limit: give the target memory=64m".to_owned()),
    }
}

fn needs(device: Device, live: &LiveTarget) -> Result<(), String> {
    let cache_bytes = live.target.facts().conditions.limits.delay_cache_bytes;
    match (device, cache_bytes) {
        (Device::Plain, None) | (Device::WithCache, Some(_)) => Ok(()),
        (Device::Plain, Some(_)) => Err("it is for a device without a cache".to_owned()),
        (Device::WithCache, None) => {
            Err("it needs a device with a cache: give the target delay_cache=256m".to_owned())
        }
    }
}

fn needs_ext2(live: &LiveTarget) -> Result<(), String> {
    match live.target.facts().file_system.as_str() {
        "ext2" => Ok(()),
        _ => Err("the paper shows it for ext2 only".to_owned()),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

#[cfg(test)]
mod tests {
    use measure::ManualClock;

    use super::*;

    #[test]
    fn half_speed_is_reached_in_the_first_slice_that_does_half_as_much_as_the_end() {
        let clock = ManualClock::new();
        let mut timeline = Timeline::new(0, 1024);
        for (slice, count) in (0_u64..).zip([1, 2, 40, 60, 100, 100, 3]) {
            for operation in 0..count {
                timeline.record(slice * 1024 + operation, 10);
            }
        }
        assert_eq!(time_to_half_speed_ns(&timeline, &clock), 3.0 * 1024.0);
        assert_eq!(time_to_half_speed_ns(&Timeline::new(0, 1024), &clock), 0.0);
    }

    #[test]
    fn each_figure_has_its_benchmarks() {
        for (name, count) in [
            ("figure-1", 36),
            ("figure-1-levels", 8),
            ("figure-2", 1),
            ("figure-3", 3),
            ("figure-4", 1),
        ] {
            assert_eq!(figure(Some(name)).len(), count, "{name}");
        }
        assert_eq!(figure(None).len(), 41);
    }

    #[test]
    fn a_warm_up_draws_every_page() {
        let operations = WarmUp { file_bytes: 32 * MIB, ext2_only: true }.operations();
        // 8,192 pages, of which pages x ln(pages) + 2 x pages draws miss e^-2 on average.
        assert_eq!(operations, 90_201 + 1_500_000);
    }
}
