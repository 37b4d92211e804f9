//! Scenes: single traces that each show one property of a replacement policy.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use record::{Better, MetricDefinition, Observation, PageRuns};
use replacement::generate::{Generator, HotAndScan, cycle, scan};
use replacement::{Access, Trace};
use runner::Failure;
use serde_json::{Value, json};

use super::cached_file::CachedFile;
use super::replay::Replay;
use super::{LIMITS_TO_FILL, capacity_pages, check, limit_pages};
use crate::experiment::{Experiment, Site};
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::caching::cold_file::ColdFile;
use crate::nano::caching::page_runs;
use crate::nanoseconds::nanos;

/// Runs of resident pages that the record keeps at most.
const RUNS_MAX: usize = 512;

/// What is done to a file that does not fit in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scene {
    /// Every page is read once.
    Scan,
    /// Pages are read in a loop a tenth larger than memory.
    Loop,
    /// A hot set is read at random while a scan passes through.
    HotSet,
    /// Every other page is written and the rest are read; then more pages are read.
    DirtyAndClean,
}

impl Scene {
    pub(super) const ALL: [Self; 4] = [Self::Scan, Self::Loop, Self::HotSet, Self::DirtyAndClean];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Scan => "eviction-scan",
            Self::Loop => "eviction-loop",
            Self::HotSet => "eviction-hot-set",
            Self::DirtyAndClean => "eviction-dirty-and-clean",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Scan => "eviction, scan",
            Self::Loop => "eviction, loop a tenth larger than memory",
            Self::HotSet => "eviction, hot set during a scan",
            Self::DirtyAndClean => "eviction, dirty versus clean",
        }
    }

    /// Its accesses, for a memory of `capacity` pages; random ones are drawn from the seed.
    fn trace(self, capacity: u32, seed: u64) -> Trace {
        let tenths = |tenths: u32| capacity / 10 * tenths;
        match self {
            Self::Scan => Trace::new("scan", scan(tenths(20)), 1),
            Self::Loop => Trace::new("loop", cycle(tenths(11), tenths(33) as usize), 1),
            Self::HotSet => {
                let what =
                    HotAndScan { hot_pages: tenths(4), scan_pages: tenths(12), hot_share: 0.5 };
                Trace::new("hot set", Generator::new(seed).hot_and_scan(what), 1)
            }
            Self::DirtyAndClean => {
                let set = tenths(6);
                let either = |page| match page % 2 {
                    0 => Access::write(page),
                    _ => Access::read(page),
                };
                let later = (set..set + tenths(8)).map(Access::read);
                Trace::new("dirty and clean", (0..set).map(either).chain(later).collect(), 1)
            }
        }
    }

    /// Names of the metrics that are shares, in percent.
    fn shares(self) -> &'static [&'static str] {
        match self {
            Self::Scan => &["newest_share"],
            Self::Loop => &["hit_share"],
            Self::HotSet => &["hot_resident_share", "scan_resident_share", "hit_share"],
            Self::DirtyAndClean => &["dirty_resident_share", "clean_resident_share"],
        }
    }

    /// Their values.
    fn values(self, capacity: u32, replayed: &Replay) -> Vec<f64> {
        let resident = replayed.at_the_end();
        let tenths = |tenths: u32| (capacity / 10 * tenths) as usize;
        let share = |pages: &mut dyn Iterator<Item = bool>| {
            let pages: Vec<bool> = pages.collect();
            let there = pages.iter().filter(|is_there| **is_there).count();
            100.0 * there as f64 / pages.len().max(1) as f64
        };
        match self {
            Self::Scan => {
                // How many of the last pages read are resident, out of as many as are resident in
                // all.
                let count = resident.iter().filter(|is_there| **is_there).count();
                vec![share(&mut resident.iter().rev().take(count).copied())]
            }
            // In the first round, nothing could be resident.
            Self::Loop => vec![share(&mut replayed.hits.iter().skip(tenths(11)).copied())],
            Self::HotSet => {
                let (hot, scanned) = resident.split_at(tenths(4));
                vec![
                    share(&mut hot.iter().copied()),
                    share(&mut scanned.iter().copied()),
                    share(&mut replayed.hits.iter().skip(tenths(4)).copied()),
                ]
            }
            Self::DirtyAndClean => {
                let set = &resident[..tenths(6)];
                vec![
                    share(&mut set.iter().step_by(2).copied()),
                    share(&mut set.iter().skip(1).step_by(2).copied()),
                ]
            }
        }
    }
}

/// One scene on one cold file.
#[derive(Debug)]
pub(super) struct SceneRun {
    pub(super) scene: Scene,
}

impl Experiment for SceneRun {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let neither = |name: &str, unit: &str| MetricDefinition::new(name, unit, Better::Neither);
        let shares = self.scene.shares().iter().map(|name| neither(name, "%"));
        shares.chain([neither("resident_bytes", "bytes")]).collect()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("request_bytes".to_owned(), json!(rustix::param::page_size())),
            ("read_ahead_bytes".to_owned(), json!(0)),
            ("looks".to_owned(), json!("at the end")),
        ])
    }

    fn estimate(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check(live)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let page_bytes = rustix::param::page_size() as u64;
        let limit_pages = u64::from(limit_pages(site.live.target()));
        let mut cold = ColdFile::make(site, "file", LIMITS_TO_FILL * limit_pages * page_bytes)?;
        let capacity = capacity_pages(site, &mut cold)?;
        let trace = self.scene.trace(capacity, site.seed);
        let mut file = CachedFile::open(site, &cold)?;
        let began = Instant::now();
        let replayed = Replay::run(&trace, &mut file)?;
        let elapsed = began.elapsed();
        let resident = replayed.at_the_end();
        let count = resident.iter().filter(|is_there| **is_there).count() as u64;
        let mut metrics = self.scene.values(capacity, &replayed);
        metrics.push((count * page_bytes) as f64);
        let mut evidence = cold.evidence().clone();
        evidence.resident_after = Some(count);
        let mut runs = page_runs(resident);
        runs.truncate(RUNS_MAX);
        Ok(Findings {
            metrics,
            bytes: trace.accesses().len() as u64 * page_bytes,
            elapsed_ns: nanos(elapsed),
            evidence,
            observations: vec![Observation::Pages(PageRuns {
                title: "at the end".to_owned(),
                pages: u64::from(trace.pages()),
                resident: runs,
            })],
            ..Findings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use replacement::Policy;

    use super::super::replay::tests::Simulated;
    use super::*;

    const CAPACITY: u32 = 900;

    fn values(scene: Scene, policy: Policy) -> Vec<f64> {
        let trace = scene.trace(CAPACITY, 1);
        let mut cache = Simulated::new(policy, CAPACITY, trace.pages());
        scene.values(CAPACITY, &Replay::run(&trace, &mut cache).expect("nothing fails here"))
    }

    #[test]
    fn a_scan_shows_who_keeps_the_newest() {
        assert_eq!(values(Scene::Scan, Policy::Lru), [100.0]);
        assert!(values(Scene::Scan, Policy::Mru)[0] < 1.0);
        let random = values(Scene::Scan, Policy::Random)[0];
        assert!((50.0..90.0).contains(&random), "{random}");
    }

    #[test]
    fn a_loop_shows_who_goes_by_recency() {
        assert_eq!(values(Scene::Loop, Policy::Lru), [0.0]);
        assert_eq!(values(Scene::Loop, Policy::Fifo), [0.0]);
        assert!(values(Scene::Loop, Policy::Mru)[0] > 70.0);
    }

    #[test]
    fn a_hot_set_shows_who_sees_that_pages_are_used_again() {
        let frequent = values(Scene::HotSet, Policy::Lfu);
        let first_in = values(Scene::HotSet, Policy::Fifo);
        assert!(frequent[0] > 95.0, "{frequent:?}");
        assert!(first_in[0] < 70.0 && first_in[0] < frequent[0], "{first_in:?}");
        assert!(frequent[2] > first_in[2], "hits follow: {frequent:?}, {first_in:?}");
    }

    #[test]
    fn dirty_pages_stay_where_they_are_spared() {
        let spared = values(Scene::DirtyAndClean, Policy::CleanFirst);
        let alike = values(Scene::DirtyAndClean, Policy::Lru);
        assert!(spared[0] > spared[1] + 20.0, "{spared:?}");
        assert!((alike[0] - alike[1]).abs() < 1.0, "{alike:?}");
    }

    #[test]
    fn each_metric_has_its_value() {
        for scene in Scene::ALL {
            assert_eq!(values(scene, Policy::Lru).len(), scene.shares().len(), "{scene:?}");
            assert_eq!(SceneRun { scene }.metrics().len(), scene.shares().len() + 1);
        }
    }
}
