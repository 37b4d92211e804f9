//! A simulated machine: a memory, a slow device, and the noise that measurements have. Its truth is
//! known, so it shows which statements hold because of it, and how often one holds by chance.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{
    CacheState, Cell, CurvePoint, Dimension, LatencySummary, MetricDefinition, Replicate,
    StandardMetric, TimelineRecord,
};

use crate::gathered::Gathered;

const MIB: f64 = 1048576.0;
const MEMORY_BYTES: u64 = 64 << 20;
const SLICE_NS: f64 = 5e7;
/// The file of Figures 2 and 4, in pages.
const WARM_UP_PAGES: f64 = 1024.0;
/// Slices after a warm-up.
const AFTERWARDS: usize = 40;
/// The sizes of Figure 1 on a device with a cache.
const LEVELS_MIB: [f64; 8] = [32.0, 64.0, 96.0, 128.0, 192.0, 256.0, 384.0, 512.0];
/// Reads in a histogram of Figure 3.
const READS: f64 = 20_000.0;

/// A file system in Figure 2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warming {
    pub(super) name: &'static str,
    /// How long its warm-up takes, over that of the first.
    pub(super) warm_up: f64,
    /// How fast it reads from the device at first, and from memory.
    pub(super) at_first: f64,
    pub(super) at_last: f64,
}

/// The machine.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) blocks: u32,
    /// How much of a file the page cache holds, in percent of memory.
    pub(super) cache_percent: f64,
    /// How long reads take.
    pub(super) memory_ns: f64,
    pub(super) device_ns: f64,
    /// Standard deviations of logarithms: of throughput from memory and from the device, and of the
    /// size of the cache from block to block.
    pub(super) memory_noise: f64,
    pub(super) device_noise: f64,
    pub(super) cache_noise: f64,
    pub(super) file_systems: Vec<Warming>,
    /// If it has no edge: throughput falls with this power of the size.
    pub(super) power: Option<f64>,
    /// The share of a warm-up in which all reads go to the device, whatever has been read.
    pub(super) uncached_share: f64,
    /// How long a hit in the device's own cache takes, over a read from the device.
    pub(super) device_cache: f64,
    /// The share of reads of a small file that go to the device.
    pub(super) stray_share: f64,
}

impl Machine {
    /// What the paper describes.
    pub(super) fn as_published() -> Self {
        let file_system = |name, warm_up| Warming { name, warm_up, at_first: 1.0, at_last: 1.0 };
        Self {
            blocks: 8,
            cache_percent: 94.5,
            memory_ns: 1e3,
            device_ns: 4e6,
            memory_noise: 0.01,
            device_noise: 0.04,
            cache_noise: 0.002,
            file_systems: vec![
                file_system("ext2", 1.0),
                file_system("ext3", 1.5),
                file_system("xfs", 2.2),
            ],
            power: None,
            uncached_share: 0.0,
            device_cache: 0.1,
            stray_share: 0.0,
        }
    }

    /// A run on it.
    pub(super) fn run(&self, seed: u64) -> Simulated {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut run = Simulated { cells: Vec::new() };
        for block in 0..self.blocks {
            let cache = self.cache_percent / 100.0
                * MEMORY_BYTES as f64
                * spread(&mut random, self.cache_noise);
            for step in 1..=16 {
                self.steady(
                    &mut run,
                    &mut random,
                    block,
                    ("figure-1", f64::from(step) * 8.0),
                    cache,
                );
            }
            for step in 0..12 {
                let mib = f64::from(54 + step);
                self.steady(&mut run, &mut random, block, ("figure-1-zoom", mib), cache);
            }
            for mib in LEVELS_MIB {
                self.levels(&mut run, &mut random, block, mib, cache);
            }
            for one in &self.file_systems {
                self.warm_up(&mut run, &mut random, block, "figure-2", one);
            }
            for (name, mib) in [("figure-3a", 8.0), ("figure-3b", 128.0), ("figure-3c", 1536.0)] {
                self.latencies(&mut run, &mut random, block, (name, mib), cache);
            }
            let first = self.file_systems[0];
            self.warm_up(&mut run, &mut random, block, "figure-4", &first);
        }
        run
    }

    fn steady(
        &self,
        run: &mut Simulated,
        random: &mut Xoshiro256PlusPlus,
        block: u32,
        (curve, mib): (&str, f64),
        cache_bytes: f64,
    ) {
        let hits = hits_of(mib, cache_bytes);
        let (time_ns, noise) = match self.power {
            Some(power) => (self.memory_ns * (mib / 8.0).powf(power), self.memory_noise),
            None => (
                hits * self.memory_ns + (1.0 - hits) * self.device_ns,
                if hits < 1.0 { self.device_noise } else { self.memory_noise },
            ),
        };
        let rate = 1e9 / time_ns * spread(random, noise);
        let cell = cell("ext2", curve, StandardMetric::THROUGHPUT.definition(), Some(mib * MIB));
        run.add(cell, block, rate, None, 0);
    }

    /// The device has a cache of four times the memory, whose hits take a part of its time.
    fn levels(
        &self,
        run: &mut Simulated,
        random: &mut Xoshiro256PlusPlus,
        block: u32,
        mib: f64,
        cache_bytes: f64,
    ) {
        let hits = hits_of(mib, cache_bytes);
        let device_hits = hits_of(mib, 4.0 * MEMORY_BYTES as f64);
        let device_ns = self.device_ns * (device_hits * self.device_cache + 1.0 - device_hits);
        let time_ns = hits * self.memory_ns + (1.0 - hits) * device_ns;
        let rate = 1e9 / time_ns * spread(random, self.device_noise);
        let definition = StandardMetric::THROUGHPUT.definition();
        let cell = cell("cached", "figure-1-levels", definition, Some(mib * MIB));
        run.add(cell, block, rate, None, 0);
    }

    fn latencies(
        &self,
        run: &mut Simulated,
        random: &mut Xoshiro256PlusPlus,
        block: u32,
        (name, mib): (&str, f64),
        cache_bytes: f64,
    ) {
        let hits = hits_of(mib, cache_bytes) * (1.0 - self.stray_share);
        // How many hit is chance, too.
        let hits = (hits + 0.01 * normal(random) * (hits * (1.0 - hits)).sqrt()).clamp(0.0, 1.0);
        let (memory_ns, device_ns) = (
            self.memory_ns * spread(random, self.memory_noise),
            self.device_ns * spread(random, self.device_noise),
        );
        let reads = vec![
            (log2(memory_ns), count(hits * READS)),
            (log2(device_ns), count((1.0 - hits) * READS)),
        ];
        let timeline = TimelineRecord { slice_ns: 1, slices: vec![reads] };
        let mean_ns = hits * memory_ns + (1.0 - hits) * device_ns;
        let cell = cell("ext2", name, StandardMetric::TIME_PER_OPERATION.definition(), None);
        let median_ns = if hits > 0.5 { memory_ns } else { device_ns };
        run.add(cell, block, mean_ns, Some(timeline), count(median_ns));
    }

    fn warm_up(
        &self,
        run: &mut Simulated,
        random: &mut Xoshiro256PlusPlus,
        block: u32,
        name: &str,
        of: &Warming,
    ) {
        let device_ns = self.device_ns * spread(random, self.device_noise);
        let memory_ns = self.memory_ns / of.at_last * spread(random, self.memory_noise);
        let (mut cached, mut slices, mut afterwards) = (0.0, Vec::new(), 0);
        while afterwards < AFTERWARDS {
            let filled = cached / WARM_UP_PAGES;
            let hits = if filled < self.uncached_share { 0.0 } else { filled };
            // How fast the device is at first does not last.
            let at_first = if filled < 0.05 { of.at_first } else { 1.0 };
            let device_ns = device_ns / at_first;
            let reads = SLICE_NS / (hits * memory_ns + (1.0 - hits) * device_ns);
            let misses = reads * (1.0 - hits);
            cached += misses / of.warm_up;
            if WARM_UP_PAGES - cached < 1.0 {
                (cached, afterwards) = (WARM_UP_PAGES, afterwards + 1);
            }
            slices.push(vec![
                (log2(memory_ns), count(reads - misses)),
                (log2(device_ns), count(misses)),
            ]);
        }
        let total = |slice: &Vec<(u8, u64)>| slice.iter().map(|(_, count)| count).sum::<u64>();
        let last = slices.last().map_or(0, total);
        let half = slices.iter().position(|slice| 2 * total(slice) >= last).unwrap_or(0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0.05 s")]
        let timeline = TimelineRecord { slice_ns: SLICE_NS as u64, slices };
        let definition = StandardMetric::TIME_TO_HALF_SPEED.definition();
        let cell = cell(of.name, name, definition, None);
        run.add(cell, block, half as f64 * SLICE_NS, Some(timeline), 0);
    }
}

/// The cells of a simulated run, with their replicates.
#[derive(Debug)]
pub(super) struct Simulated {
    cells: Vec<(Cell, Vec<Replicate>)>,
}

impl Simulated {
    fn add(
        &mut self,
        cell: Cell,
        block: u32,
        metric: f64,
        timeline: Option<TimelineRecord>,
        p50_ns: u64,
    ) {
        let latency = LatencySummary { p50_ns, ..LatencySummary::default() };
        let replicate =
            Replicate { timeline, latency, ..Replicate::from_metrics(0, block, vec![metric]) };
        let is_same = |own: &Cell| {
            (&own.target, &own.benchmark, &own.curve)
                == (&cell.target, &cell.benchmark, &cell.curve)
        };
        match self.cells.iter_mut().find(|(own, _)| is_same(own)) {
            Some((_, replicates)) => replicates.push(replicate),
            None => self.cells.push((cell, vec![replicate])),
        }
    }

    pub(super) fn gathered(&self) -> Gathered<'_> {
        let cells = self.cells.iter().map(|(cell, all)| (cell, all.iter().collect()));
        Gathered { cells: cells.collect(), memory_bytes: MEMORY_BYTES }
    }

    /// Without the cells of some benchmarks.
    pub(super) fn without(mut self, prefix: &str) -> Self {
        self.cells.retain(|(cell, _)| !cell.benchmark.starts_with(prefix));
        self
    }
}

/// The share of random reads that hit.
fn hits_of(mib: f64, cache_bytes: f64) -> f64 {
    (cache_bytes / (mib * MIB)).min(1.0)
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(random)
}

/// A factor whose logarithm has this standard deviation; one in twenty is four deviations off.
fn spread(random: &mut Xoshiro256PlusPlus, deviation: f64) -> f64 {
    let width = if random.random_bool(0.05) { 4.0 } else { 1.0 };
    (width * deviation * normal(random)).exp()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0")]
fn log2(ns: f64) -> u8 {
    ns.log2().floor() as u8
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0")]
fn count(reads: f64) -> u64 {
    reads.round() as u64
}

/// A cell of one metric.
pub(super) fn cell(
    target: &str,
    benchmark: &str,
    metric: MetricDefinition,
    size: Option<f64>,
) -> Cell {
    let curve = size.map(|value| CurvePoint {
        curve: benchmark.to_owned(),
        title: benchmark.to_owned(),
        axis: "file size".to_owned(),
        unit: "bytes".to_owned(),
        value,
        family: None,
    });
    Cell {
        target: target.to_owned(),
        suite: "rocket-science".to_owned(),
        benchmark: benchmark.to_owned(),
        title: benchmark.to_owned(),
        dimension: Dimension::Caching,
        exercises: Vec::new(),
        parameters: BTreeMap::new(),
        cache_state: CacheState::Any,
        metrics: vec![metric],
        baseline: None,
        working_set_bytes: None,
        curve,
        floor: None,
        rank: 0,
        least: None,
        sequence: None,
    }
}
