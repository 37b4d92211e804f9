//! Prefetch: which pages come into memory with each read of a cold file, depending on stride,
//! position and history of the reads.

mod fetches;
mod names;
mod pattern;
mod watched_file;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use record::{
    Better, CacheEvidence, CacheState, Dimension, MetricDefinition, Observation, PageRuns,
    Quantity, Series,
};
use runner::Failure;
use serde_json::Value;
use targets::cache::residency::PageMap;

use self::fetches::Fetches;
use self::pattern::{Descriptors, Pattern};
use self::watched_file::WatchedFile;
use super::cold_file::{self, ColdFile};
use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::curve::Curve;
use crate::nanoseconds::nanos;
use crate::state::{self, Claim};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// For the survey: the sequential window, and what the first read of a file brings in.
pub(super) fn quick() -> Vec<Benchmark> {
    vec![
        benchmark("read-ahead-sequential", "read-ahead, sequential", Pattern::Sequential),
        benchmark("first-read-start", "first read, at the start", Pattern::FirstAtStart),
    ]
}

/// All other histories, and curves over the stride and over the size of a small file.
pub(super) fn curves() -> Vec<Benchmark> {
    let mut all = vec![
        benchmark("first-read-middle", "first read, in the middle", Pattern::FirstInMiddle),
        benchmark("read-ahead-backward", "read-ahead, backward", Pattern::Backward),
        benchmark("read-ahead-random", "read-ahead, random", Pattern::Random),
        benchmark(
            "read-ahead-two-streams-one-descriptor",
            "read-ahead, two streams through one descriptor",
            Pattern::TwoStreams(Descriptors::Shared),
        ),
        benchmark(
            "read-ahead-two-streams-two-descriptors",
            "read-ahead, two streams through two descriptors",
            Pattern::TwoStreams(Descriptors::Own),
        ),
    ];
    let strides = Curve {
        name: "read-ahead-by-stride",
        title: "read-ahead, strided",
        axis: "stride",
        unit: "bytes",
    };
    let by_stride = [8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, MIB];
    all.extend(strides.points(&by_stride, |bytes| benchmark("", "", Pattern::Strided { bytes })));
    let files = Curve {
        name: "first-read-by-file-size",
        title: "first read of a small file",
        axis: "file size",
        unit: "bytes",
    };
    let by_size: Vec<u64> = (13..=20).map(|log2| 1 << log2).collect();
    all.extend(files.points(&by_size, |bytes| benchmark("", "", Pattern::SmallFile { bytes })));
    all.extend(names::benchmarks());
    all
}

fn benchmark(name: &str, title: &str, pattern: Pattern) -> Benchmark {
    Benchmark {
        exercises: vec![Dimension::Io],
        cache_state: CacheState::Cold,
        ..Benchmark::from_experiment(name, title, ReadAhead { pattern })
    }
}

/// One pattern of reads on one cold file.
#[derive(Debug)]
struct ReadAhead {
    pattern: Pattern,
}

/// What was observed in one execution.
struct ReadAheadRun {
    fetches: Fetches,
    resident: PageMap,
    evidence: CacheEvidence,
    elapsed: Duration,
}

impl Experiment for ReadAhead {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let bytes = |name: &str| MetricDefinition::new(name, "bytes", Better::Neither);
        let percent = |name: &str| MetricDefinition::new(name, "%", Better::Neither);
        match self.pattern {
            Pattern::FirstAtStart | Pattern::FirstInMiddle => {
                vec![bytes("brought_in_bytes"), bytes("ahead_bytes"), bytes("behind_bytes")]
            }
            Pattern::SmallFile { .. } => vec![bytes("brought_in_bytes"), percent("file_share")],
            Pattern::Sequential | Pattern::TwoStreams(_) => vec![
                bytes("window_bytes"),
                bytes("first_window_bytes"),
                MetricDefinition::new("fetches_until_settled", "count", Better::Neither),
                percent("coverage"),
            ],
            Pattern::Backward | Pattern::Strided { .. } | Pattern::Random => {
                vec![bytes("brought_in_bytes"), percent("coverage"), percent("unused_share")]
            }
        }
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        self.pattern.parameters()
    }

    fn estimate(&self) -> Duration {
        let file_bytes = self.pattern.file_bytes(None);
        Duration::from_millis(25 + file_bytes / (400 * KIB))
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        cold_file::check(live)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let seen = self.observe(site)?;
        let page_bytes = rustix::param::page_size() as u64;
        Ok(Findings {
            metrics: self.values(&seen),
            bytes: seen.fetches.reads.len() as u64 * page_bytes,
            elapsed_ns: nanos(seen.elapsed),
            observations: observations(&seen),
            evidence: seen.evidence,
            ..Findings::default()
        })
    }
}

impl ReadAhead {
    fn observe(&self, site: &Site<'_>) -> Result<ReadAheadRun, Failure> {
        let file_bytes = self.pattern.file_bytes(site.live.target.facts().read_ahead_bytes);
        let cold = ColdFile::make(site, "file", file_bytes)?;
        let mut file = WatchedFile::open(site, &cold, self.pattern.descriptors())?;
        let reads = self.pattern.reads(file.pages(), site.seed);
        let counters = site.counters()?;
        let before = counters.read().map_err(|error| failed(&error))?;
        let began = Instant::now();
        let fetches = Fetches::read(&mut file, &reads, self.pattern)?;
        let elapsed = began.elapsed();
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&before);
        let evidence = CacheEvidence {
            resident_after: Some(file.resident().count()),
            device_read_bytes: deltas.device_read_bytes,
            device_written_bytes: deltas.device_written_bytes,
            ..cold.evidence().clone()
        };
        let came_bytes = fetches.came_pages() * rustix::param::page_size() as u64;
        let claim = Claim::cold_reads(came_bytes);
        match state::verify(claim, &evidence) {
            Ok(()) => {
                Ok(ReadAheadRun { fetches, resident: file.resident().clone(), evidence, elapsed })
            }
            Err(why) => Err(Failure::State { why, evidence: Box::new(evidence) }),
        }
    }

    /// The values of [`Experiment::metrics`].
    fn values(&self, seen: &ReadAheadRun) -> Vec<f64> {
        let fetches = &seen.fetches;
        let bytes = |pages: u64| (pages * rustix::param::page_size() as u64) as f64;
        let came = fetches.came_pages();
        match self.pattern {
            Pattern::FirstAtStart | Pattern::FirstInMiddle => {
                let behind = fetches.reads.first().map_or(0, fetches::ReadPage::behind_pages);
                let window = fetches.window_pages();
                vec![bytes(came), bytes(window - behind), bytes(behind)]
            }
            Pattern::SmallFile { .. } => {
                let pages = seen.resident.covered().end.max(1);
                vec![bytes(came), 100.0 * came as f64 / pages as f64]
            }
            Pattern::Sequential | Pattern::TwoStreams(_) => vec![
                bytes(fetches.window_pages()),
                bytes(fetches.windows().first().copied().unwrap_or(0)),
                fetches.fetches_until_settled() as f64,
                fetches.coverage_percent(),
            ],
            Pattern::Backward | Pattern::Strided { .. } | Pattern::Random => vec![
                bytes(came) / fetches.reads.len().max(1) as f64,
                fetches.coverage_percent(),
                fetches.unused_percent(),
            ],
        }
    }
}

/// The windows in order, and the pages in memory at the end.
fn observations(seen: &ReadAheadRun) -> Vec<Observation> {
    let page_bytes = rustix::param::page_size() as f64;
    let point = |read: &fetches::ReadPage| {
        (read.page as f64 * page_bytes, read.window_pages() as f64 * page_bytes)
    };
    let windows = Series {
        title: "fetched ahead with each read".to_owned(),
        axis: Quantity::new("offset of the read", "bytes"),
        value: Quantity::new("fetched ahead", "bytes"),
        points: seen.fetches.fetches().map(point).collect(),
    };
    let reads = seen.fetches.reads.len();
    let pages = PageRuns {
        title: if reads == 1 {
            "after one read".to_owned()
        } else {
            format!("after {reads} reads")
        },
        pages: seen.resident.covered().end,
        resident: seen.resident.runs().map(|run| (run.start, run.end - run.start)).collect(),
    };
    vec![Observation::Series(windows), Observation::Pages(pages)]
}
