//! The array walk: the user-level program of Wang, Kuenning, Reiher & Popek, "The Effects of
//! Memory-Rich Environments on File System Microbenchmarks" (SPECTS 2003), section 4.6.3.
//!
//! An array of integers is written from start to end, read, and read again, with no file system
//! involved. With a write-back cache, the first read pays for the dirty lines that the write has
//! left there; the ratio of the times of both reads shows how much.
//!
//! A small array is walked in less than a microsecond, of which two readings of the clock are a
//! good part. So nothing at all is timed as often, and taken off.
//!
//! Elements are atomic and accessed with relaxed ordering, so that the compiler performs every
//! access, without merging or dropping any, and still needs only one instruction for each.

use std::collections::BTreeMap;
use std::hint;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use measure::{Clock, SystemClock};
use record::machine::Cache;
use record::{
    ArrayWalkOptions, Better, CurvePoint, Dimension, MetricDefinition, ProcessorCount,
    StandardMetric,
};
use runner::Failure;
use serde_json::{Value, json};

use super::processor_counts::{self, PhaseCounters, PhaseCounts};
use super::{ClassicError, sizes};
use crate::benchmark::Benchmark;
use crate::experiment::Site;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::sequence::{self, Sequence, SequencePhase};
use crate::thinning::{on_axis, rank_of};

/// Size of an element.
const ELEMENT_BYTES: u64 = 4;
/// Bytes that all walks of a replicate cover together, and bounds on their number.
const WALKED_BYTES: u64 = 32 << 20;
const WALKS: [u64; 2] = [3, 256];
/// The least that a processor achieves, for the estimate.
const BYTES_PER_S: f64 = 2e9;

/// Sizes below and beyond each of these caches, for this machine or another that has them.
#[must_use]
pub fn swept(caches: &[Cache]) -> ArrayWalkOptions {
    ArrayWalkOptions::new(&sizes::swept(caches))
}

/// The phases as benchmarks, for each size.
///
/// # Errors
/// Which options make no sense.
pub(crate) fn benchmarks(options: &ArrayWalkOptions) -> Result<Vec<Benchmark>, ClassicError> {
    processor_counts::check(&options.processor_counts)?;
    let sizes = &options.array_bytes;
    let is_odd = |bytes: &&u64| **bytes == 0 || !bytes.is_multiple_of(ELEMENT_BYTES);
    if let Some(&array_bytes) = sizes.iter().find(is_odd) {
        return Err(ClassicError::NotWholeElements { array_bytes });
    }
    let count = sizes.len();
    let of_size = |(index, &bytes): (usize, &u64)| {
        let counts = options.processor_counts.clone();
        let walk = ArrayWalk { name: format!("array-walk-{bytes}"), bytes, counts };
        let on_curve = move |(benchmark, figure): (Benchmark, WalkFigure)| {
            let point = figure.point(bytes);
            let title = format!("{}, {} {}", benchmark.title, point.axis, on_axis(&point));
            let rank = rank_of(index, count);
            Benchmark { title, rank, curve: Some(point), ..benchmark }
        };
        let benchmarks = sequence::benchmarks(walk).into_iter().zip(WalkFigure::ALL);
        benchmarks.map(on_curve).collect::<Vec<_>>()
    };
    Ok(sizes.iter().enumerate().flat_map(of_size).collect())
}

/// What is measured at each size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WalkFigure {
    Write,
    FirstRead,
    SecondRead,
    /// Both reads compared: what writing back costs the first.
    WriteBack,
}

impl WalkFigure {
    const ALL: [Self; 4] = [Self::Write, Self::FirstRead, Self::SecondRead, Self::WriteBack];

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Write => ("write", "write"),
            Self::FirstRead => ("first-read", "first read after the write"),
            Self::SecondRead => ("second-read", "second read"),
            Self::WriteBack => ("write-back", "first read over the second"),
        }
    }

    fn metrics(self, counts: &[ProcessorCount]) -> Vec<MetricDefinition> {
        match self {
            Self::Write | Self::FirstRead | Self::SecondRead => {
                let all = [StandardMetric::BANDWIDTH, StandardMetric::TIME_PER_KIB];
                let timed = all.map(StandardMetric::definition).into_iter();
                timed.chain(processor_counts::metrics(counts)).collect()
            }
            Self::WriteBack => {
                vec![MetricDefinition::new("first_over_second_read", "x", Better::Neither)]
            }
        }
    }

    fn point(self, bytes: u64) -> CurvePoint {
        let (name, title) = self.names();
        CurvePoint {
            curve: name.to_owned(),
            title: title.to_owned(),
            axis: "array".to_owned(),
            unit: "bytes".to_owned(),
            value: bytes as f64,
            family: None,
        }
    }
}

/// An array of one size.
#[derive(Debug)]
struct ArrayWalk {
    name: String,
    bytes: u64,
    /// What the processor counts in each walk.
    counts: Vec<ProcessorCount>,
}

/// The total for all walks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WalkTotals {
    elapsed_ns: u64,
    counted: PhaseCounts,
}

impl ArrayWalk {
    fn walks(&self) -> u64 {
        (WALKED_BYTES / self.bytes).clamp(WALKS[0], WALKS[1])
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let all = [
            ("array_bytes", json!(self.bytes)),
            ("element_bytes", json!(ELEMENT_BYTES)),
            ("walks", json!(self.walks())),
            ("clock_taken_off", json!(true)),
            ("threads", json!(1)),
        ];
        let counts =
            (!self.counts.is_empty()).then(|| (processor_counts::PARAMETER, json!(self.counts)));
        all.into_iter().chain(counts).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The findings from the write and both reads, without what reading the clock took.
    fn findings(&self, [write, first, second]: &[WalkTotals; 3]) -> Vec<Findings> {
        let bytes = self.bytes * self.walks();
        let of = |took: &WalkTotals| {
            let elapsed_ns = took.elapsed_ns.max(1);
            let mut metrics = vec![
                bytes as f64 / (elapsed_ns as f64 / 1e9),
                elapsed_ns as f64 / (bytes as f64 / 1024.0),
            ];
            metrics.extend(took.counted.values(self.walks()));
            Findings {
                metrics,
                bytes,
                elapsed_ns,
                operations: Some(self.walks()),
                ..Findings::default()
            }
        };
        let ratio = first.elapsed_ns as f64 / second.elapsed_ns.max(1) as f64;
        let elapsed_ns = (first.elapsed_ns + second.elapsed_ns).max(1);
        let write_back =
            Findings { metrics: vec![ratio], bytes: 2 * bytes, elapsed_ns, ..of(first) };
        vec![of(write), of(first), of(second), write_back]
    }
}

impl Sequence for ArrayWalk {
    fn name(&self) -> &str {
        &self.name
    }

    fn phases(&self) -> Vec<SequencePhase> {
        let phase = |figure: WalkFigure| {
            let (name, title) = figure.names();
            SequencePhase {
                name: format!("{name}-{}", self.bytes),
                title: title.to_owned(),
                dimension: Dimension::InMemory,
                exercises: Vec::new(),
                metrics: figure.metrics(&self.counts),
                parameters: self.parameters(),
                working_set_bytes: Some(self.bytes),
            }
        };
        WalkFigure::ALL.map(phase).to_vec()
    }

    fn estimate(&self) -> Duration {
        let walked = 3 * (self.walks() + 1) * self.bytes;
        Duration::from_secs_f64(walked as f64 / BYTES_PER_S)
    }

    fn check(&self, _live: &LiveTarget) -> Result<(), String> {
        Ok(())
    }

    fn execute(&self, site: &Site<'_>, _seed: u64) -> Result<Vec<Findings>, Failure> {
        let array = array(self.bytes)?;
        let mut counters = PhaseCounters::open(&self.counts)?;
        let (mut all, mut nothing): ([WalkTotals; 3], WalkTotals) = Default::default();
        // The first round finds memory and caches as others left them, and is not counted.
        for number in 0..=self.walks() {
            site.go_on()?;
            if number == 1 {
                (all, nothing) = Default::default();
            }
            let value = u32::try_from(number).unwrap_or(0);
            let [write, first, second] = &mut all;
            write.add(site.clock, &mut counters, || self::write(&array, value))?;
            first.add(site.clock, &mut counters, || read(&array))?;
            second.add(site.clock, &mut counters, || read(&array))?;
            nothing.add(site.clock, &mut counters, || {})?;
        }
        for walks in &mut all {
            walks.elapsed_ns = walks.elapsed_ns.saturating_sub(nothing.elapsed_ns);
        }
        Ok(self.findings(&all))
    }
}

/// An array of `bytes` bytes, if there is memory for it.
fn array(bytes: u64) -> Result<Vec<AtomicU32>, Failure> {
    let why = || format!("there is no memory for an array of {bytes} bytes: give a smaller --size");
    let lost = || Failure::Cell { why: why() };
    let count = usize::try_from(bytes / ELEMENT_BYTES).map_err(|_| lost())?;
    let mut array = Vec::new();
    array.try_reserve_exact(count).map_err(|_| lost())?;
    array.resize_with(count, AtomicU32::default);
    Ok(array)
}

impl WalkTotals {
    /// Adds the time and counts of a walk.
    fn add(
        &mut self,
        clock: &SystemClock,
        counters: &mut PhaseCounters,
        walk: impl FnOnce(),
    ) -> Result<(), Failure> {
        self.elapsed_ns += counters.around(&mut self.counted, || {
            let start_ticks = clock.start();
            walk();
            let end_ticks = clock.end();
            clock.nanos(end_ticks.saturating_sub(start_ticks))
        })?;
        Ok(())
    }
}

/// Gives each element another value.
#[inline(never)]
fn write(array: &[AtomicU32], first: u32) {
    let mut value = first;
    for element in array {
        element.store(value, Ordering::Relaxed);
        value = value.wrapping_add(1);
    }
}

/// Reads the value of each element.
#[inline(never)]
fn read(array: &[AtomicU32]) {
    let mut value = 0_u32;
    for element in array {
        value ^= element.load(Ordering::Relaxed);
    }
    hint::black_box(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_swept_from_the_first_cache_to_memory() {
        // For a machine that reports no caches.
        let all = benchmarks(&swept(&[])).expect("it can be run");
        assert_eq!(all.len(), 15 * WalkFigure::ALL.len());
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert!(names.contains(&"write-16384") && names.contains(&"write-back-268435456"));
        let one = benchmarks(&ArrayWalkOptions::new(&[1 << 20])).expect("it can");
        assert_eq!(one.len(), WalkFigure::ALL.len());
        assert_eq!(one[1].title, "first read after the write, array 1 MiB");
        let wrong = benchmarks(&ArrayWalkOptions::new(&[4, 1023])).map(drop);
        let why = wrong.expect_err("a part of an element").to_string();
        assert!(why.contains("multiple of 4") && why.contains("1024"), "{why}");
    }

    #[test]
    fn the_ratio_is_that_of_the_reads_times() {
        let walk = ArrayWalk { name: String::new(), bytes: 1 << 20, counts: Vec::new() };
        assert_eq!(walk.walks(), 32);
        let took = |elapsed_ns| WalkTotals { elapsed_ns, ..WalkTotals::default() };
        let found = walk.findings(&[4_000_000, 3_000_000, 2_000_000].map(took));
        assert_eq!(found.len(), walk.phases().len());
        assert_eq!(found[3].metrics, [1.5]);
        let bytes_per_s = found[1].metrics[0];
        assert!((bytes_per_s - f64::from(32 << 20) / 0.003).abs() < 1.0, "{bytes_per_s}");
    }

    #[test]
    fn a_walk_leaves_every_element_with_its_value() {
        let array = array(64).expect("there is room");
        write(&array, 7);
        let values: Vec<u32> = array.iter().map(|one| one.load(Ordering::Relaxed)).collect();
        assert_eq!(values, (7..23).collect::<Vec<u32>>());
        read(&array);
    }
}
