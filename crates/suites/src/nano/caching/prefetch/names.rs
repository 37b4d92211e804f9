//! Prefetch of metadata: whether `stat` of one name brings in the attributes of its neighbours.
//!
//! The kernel does not report which attributes are cached, so the device serves as witness. The
//! target is remounted, which leaves nothing of it in memory; the directory is listed, which brings
//! in the names; then each name is passed to `stat`. A call during which the device is not read was
//! answered from what an earlier one brought in.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{Better, CacheState, Dimension, MetricDefinition, Observation, Quantity, Series};
use runner::Failure;
use serde_json::{Value, json};
use targets::Location;

use crate::benchmark::Benchmark;
use crate::counters::Reading;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nanoseconds::nanos;

/// Files in the directory.
const NAMES: usize = 4096;
/// How long the device may take to finish reading ahead.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_micros(50);
/// How many times in a row the device must be idle and have read nothing more, and the time between
/// two looks. A request not yet passed to the device is not counted anywhere.
const QUIET_LOOKS: u32 = 4;
const QUIET_PAUSE: Duration = Duration::from_millis(1);

/// In the order in which the files were made, and in random order.
pub(super) fn benchmarks() -> Vec<Benchmark> {
    let benchmark = |name, title, order| Benchmark {
        exercises: vec![Dimension::Metadata, Dimension::OnDiskLayout, Dimension::Io],
        cache_state: CacheState::Cold,
        ..Benchmark::from_experiment(name, title, Attributes { order })
    };
    vec![
        benchmark("attributes-in-order", "attributes fetched, names in order", StatOrder::Creation),
        benchmark("attributes-random", "attributes fetched, names at random", StatOrder::Random),
    ]
}

/// The order in which names are passed to `stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatOrder {
    /// The order in which their files were made.
    Creation,
    Random,
}

/// `stat` of each name in a directory of which only the names are in memory.
#[derive(Debug)]
struct Attributes {
    order: StatOrder,
}

/// Bytes read from the device for each `stat`, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BytesPerStat(Vec<u64>);

impl BytesPerStat {
    /// The `stat` calls that read from the device.
    fn fetches(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied().filter(|bytes| *bytes > 0)
    }

    /// The values of the metrics: names answered per fetch, bytes per fetch, the first fetch, and
    /// the share of names that were already in memory. Names before the first fetch came in with
    /// the directory itself.
    fn values(&self) -> Vec<f64> {
        let (fetches, bytes) = (self.fetches().count(), self.fetches().sum::<u64>());
        let per_fetch = |value: f64| if fetches == 0 { 0.0 } else { value / fetches as f64 };
        let names = self.0.len() as f64;
        let before = self.0.iter().take_while(|bytes| **bytes == 0).count() as f64;
        vec![
            per_fetch(names - before),
            per_fetch(bytes as f64),
            self.fetches().next().unwrap_or(0) as f64,
            100.0 * (names - fetches as f64) / names.max(1.0),
        ]
    }
}

impl Experiment for Attributes {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let neither = |name: &str, unit: &str| MetricDefinition::new(name, unit, Better::Neither);
        vec![
            neither("names_per_fetch", "count"),
            neither("bytes_per_fetch", "bytes"),
            neither("first_fetch_bytes", "bytes"),
            neither("coverage", "%"),
        ]
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let order = if self.order == StatOrder::Creation { "sequential" } else { "random" };
        BTreeMap::from([
            ("operation".to_owned(), json!("stat")),
            ("access".to_owned(), json!(order)),
            ("directory_entries".to_owned(), json!(NAMES)),
            ("cold".to_owned(), json!("attributes")),
        ])
    }

    fn estimate(&self) -> Duration {
        Duration::from_millis(400)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        if !live.target().supports_cold() {
            return Err(
                "it is only in memory, and so are its attributes; give a file system on a device"
                    .to_owned(),
            );
        }
        match live.target().spec().location {
            Location::Scratch(_) => Ok(()),
            Location::Directory(_) => {
                Err("only mounting makes attributes cold, but fsprism did not \
                 mount it; give a scratch target, such as ext4"
                    .to_owned())
            }
        }
    }

    fn begins_mounted_again(&self) -> bool {
        true
    }

    fn make(&self, site: &Site<'_>) -> Result<(), Failure> {
        let directory = site.directory.join("names");
        fs::create_dir(&directory).map_err(|error| failed(&error))?;
        for number in 0..NAMES {
            File::create_new(path(&directory, number)).map_err(|error| failed(&error))?;
        }
        site.go_on()
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let directory = site.directory.join("names");
        let listed = fs::read_dir(&directory).map_err(|error| failed(&error))?.count();
        if listed != NAMES {
            let why = format!("the directory lists {listed} of the {NAMES} files made in it");
            return Err(Failure::Cell { why });
        }
        let began = Instant::now();
        let bytes_per_stat = BytesPerStat(self.witness(site, &directory)?);
        if bytes_per_stat.fetches().next().is_none() {
            let why = "remounting did not make the attributes cold: the device was not read";
            return Err(Failure::Cell { why: why.to_owned() });
        }
        let point = |(number, &bytes): (usize, &u64)| (number as f64, bytes as f64);
        Ok(Findings {
            metrics: bytes_per_stat.values(),
            elapsed_ns: nanos(began.elapsed()),
            observations: vec![Observation::Series(Series {
                title: "read from the device, by requested name".to_owned(),
                axis: Quantity::new("names requested", "count"),
                value: Quantity::new("read from the device", "bytes"),
                points: bytes_per_stat
                    .0
                    .iter()
                    .enumerate()
                    .filter(|it| *it.1 > 0)
                    .map(point)
                    .collect(),
            })],
            ..Findings::default()
        })
    }
}

impl Attributes {
    /// Bytes that the device reads for each name.
    fn witness(&self, site: &Site<'_>, directory: &Path) -> Result<Vec<u64>, Failure> {
        let mut numbers: Vec<usize> = (0..NAMES).collect();
        if self.order == StatOrder::Random {
            numbers.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(site.seed));
        }
        idle(site)?;
        let counters = site.counters()?;
        let read = || counters.read().map_err(|error| failed(&error));
        let read_bytes =
            |before: &Reading| read().map(|now| now.since(before).device_read_bytes.unwrap_or(0));
        let mut before = read()?;
        let stat = |number: usize| {
            rustix::fs::lstat(path(directory, number)).map_err(|error| failed(&error))?;
            idle(site)?;
            let mut bytes = read_bytes(&before)?;
            let mut quiet = 0;
            while bytes > 0 && quiet < QUIET_LOOKS {
                thread::sleep(QUIET_PAUSE);
                idle(site)?;
                let now = read_bytes(&before)?;
                quiet = if now == bytes { quiet + 1 } else { 0 };
                bytes = now;
            }
            before = read()?;
            Ok(bytes)
        };
        numbers.into_iter().map(stat).collect()
    }
}

fn path(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("name-{number:04}"))
}

/// Waits until the device has completed all requests, since read-ahead arrives later.
fn idle(site: &Site<'_>) -> Result<(), Failure> {
    let began = Instant::now();
    loop {
        let in_flight = site.counters()?.in_flight().map_err(|error| failed(&error))?;
        if in_flight.is_none_or(|requests| requests == 0) {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            let why = format!("the device was not idle for {} s", PATIENCE.as_secs());
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
    fn a_fetch_answers_for_the_names_after_it() {
        // Eight names came in with the directory.
        let bytes_per_stat =
            BytesPerStat([&[0; 8][..], &[8192], &[0; 15], &[4096], &[0; 15]].concat());
        assert_eq!(bytes_per_stat.values(), [16.0, 6144.0, 8192.0, 100.0 * 38.0 / 40.0]);
    }

    #[test]
    fn where_nothing_is_fetched_ahead_each_name_is_a_fetch() {
        assert_eq!(BytesPerStat(vec![512; 8]).values(), [1.0, 512.0, 512.0, 0.0]);
        assert_eq!(BytesPerStat(vec![0; 8]).values(), [0.0, 0.0, 0.0, 100.0]);
    }
}
