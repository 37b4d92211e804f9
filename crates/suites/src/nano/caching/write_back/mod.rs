//! Write-back: when dirty data leaves the page cache, and what that does to writers.
//!
//! The kernel writes back for two reasons (mm/page-writeback.c): there is too much dirty data, or
//! it is too old. To see the first, a file is written until the limit in force makes the writer
//! wait; to see the second, data is written once and left alone. The kernel's settings are read but
//! never changed, since everyone shares them.

mod flow;
mod left_alone;
mod steady;

use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

use record::{CacheState, Dimension, Observation, Quantity, Series};
use runner::Failure;
use targets::cache::residency::residency_in;

use self::flow::DirtySample;
use self::left_alone::LeftAlone;
use self::steady::WriteToLimit;
use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::nanoseconds::nanos;

/// Steady writes, and data left alone, which takes longest and is the first to be left out.
pub(super) fn benchmarks() -> Vec<Benchmark> {
    let title = "write-back, steady writes past the limit";
    vec![
        Benchmark { rank: 1, ..benchmark("write-back-steady", title, WriteToLimit) },
        Benchmark {
            rank: 4,
            ..benchmark("write-back-left-alone", "write-back, data left alone", LeftAlone)
        },
    ]
}

fn benchmark(name: &str, title: &str, experiment: impl Experiment + 'static) -> Benchmark {
    Benchmark {
        exercises: vec![Dimension::Io, Dimension::OnDiskLayout],
        cache_state: CacheState::Any,
        ..Benchmark::from_experiment(name, title, experiment)
    }
}

/// A file being written while its dirty pages are counted.
struct WatchedWrite {
    path: PathBuf,
    file: File,
    began: Instant,
    samples: Vec<DirtySample>,
}

impl WatchedWrite {
    fn make(site: &Site<'_>) -> Result<Self, Failure> {
        // Earlier writes must not be written back meanwhile.
        site.live.target().sync().map_err(|error| failed(&error))?;
        let path = site.directory.join("written");
        let how = File::options().read(true).write(true).create_new(true).open(&path);
        let file = how.map_err(|error| failed(&error))?;
        Ok(Self { path, file, began: Instant::now(), samples: Vec::new() })
    }

    /// Counts what is dirty and what is under write-back, after `written_bytes` have been written.
    fn sample(&mut self, written_bytes: u64) -> Result<DirtySample, Failure> {
        let page_bytes = rustix::param::page_size() as u64;
        let at_ns = nanos_since(self.began);
        let seen = residency_in(&self.file, 0..u64::MAX).map_err(|error| failed(&error))?;
        let bytes = |pages: Option<u64>| pages.unwrap_or(0) * page_bytes;
        let sample = DirtySample {
            at_ns,
            took_ns: nanos_since(self.began).saturating_sub(at_ns),
            written_bytes,
            // A page changed again during its write-back counts as both.
            dirty_bytes: bytes(seen.dirty_pages),
            on_its_way_bytes: bytes(seen.writeback_pages),
        };
        self.samples.push(sample);
        Ok(sample)
    }

    /// Dirty data and data under write-back, over time.
    fn observations(&self) -> Vec<Observation> {
        let series = |title: &str, name: &str, value: fn(&DirtySample) -> u64| {
            Observation::Series(Series {
                title: title.to_owned(),
                axis: Quantity::new("time", "ns"),
                value: Quantity::new(name, "bytes"),
                points: flow::thinned(&self.samples)
                    .map(|sample| (sample.at_ns as f64, value(sample) as f64))
                    .collect(),
            })
        };
        vec![
            series("dirty data over time", "dirty", |sample| sample.dirty_bytes),
            series("data under write-back over time", "under write-back", |sample| {
                sample.on_its_way_bytes
            }),
            series("data written over time", "written", |sample| sample.written_bytes),
        ]
    }

    /// Removes the file, including its dirty data.
    fn remove(self) -> Result<(), Failure> {
        std::fs::remove_file(&self.path).map_err(|error| failed(&error))
    }
}

fn nanos_since(began: Instant) -> u64 {
    nanos(began.elapsed())
}
