//! Warm-up: random reads of a cold file until all of it is in memory, and on until that shows.
//!
//! This is what Figure 2 of It *IS* Rocket Science shows for three file systems: the whole curve,
//! from the first read to the steady state. A benchmark that reports a single throughput for it
//! reports an accident of its own length.

mod course;
mod steady_state;

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use measure::Clock;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{
    Better, CacheEvidence, CacheState, Dimension, MetricDefinition, Observation, Quantity, Series,
    StandardMetric,
};
use runner::Failure;
use serde_json::{Value, json};
use targets::cache::residency::residency_in;

use self::course::{Course, RandomAccess};
use self::steady_state::SteadyState;
use super::cold_file::{self, ColdFile};
use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::curve::Curve;
use crate::state::{self, Claim};

const MIB: u64 = 1 << 20;
/// Duration of a cold read of one page on a fast device, for the estimate.
const COLD_READ: Duration = Duration::from_micros(150);

/// How long the warm-up takes, as a curve over the size of the working set.
pub(super) fn curves() -> Vec<Benchmark> {
    let curve = Curve {
        name: "warm-up-by-working-set",
        title: "warm-up, random read 4 KiB",
        axis: "working set",
        unit: "bytes",
    };
    curve.points(&[4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB], |bytes| Benchmark {
        exercises: vec![Dimension::Io, Dimension::InMemory],
        cache_state: CacheState::Cold,
        ..Benchmark::from_experiment("", "", WarmUp { working_set_bytes: bytes })
    })
}

/// Random reads of one cold file.
#[derive(Debug)]
struct WarmUp {
    working_set_bytes: u64,
}

impl WarmUp {
    fn pages(&self) -> u64 {
        self.working_set_bytes.div_ceil(rustix::param::page_size() as u64)
    }
}

impl Experiment for WarmUp {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let rate = |name: &str| MetricDefinition::new(name, "operations/s", Better::Higher);
        vec![
            MetricDefinition::new("time_until_steady", "ns", Better::Lower),
            MetricDefinition::new("time_until_resident", "ns", Better::Lower),
            rate("throughput_before_steady"),
            rate("throughput_steady"),
            StandardMetric::TIME_PER_OPERATION.definition(),
        ]
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("operation".to_owned(), json!("read")),
            ("access".to_owned(), json!("random")),
            ("request_bytes".to_owned(), json!(rustix::param::page_size())),
            ("file_bytes".to_owned(), json!(self.working_set_bytes)),
            ("cold".to_owned(), json!("data")),
        ])
    }

    fn working_set_bytes(&self) -> Option<u64> {
        Some(self.working_set_bytes)
    }

    fn estimate(&self) -> Duration {
        let pages = u32::try_from(self.pages()).unwrap_or(u32::MAX);
        COLD_READ * pages * 2
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        cold_file::check(live)?;
        let limit = live.target.facts().conditions.limits.memory_bytes;
        // Part of the limit is used by things other than the file.
        if limit.is_some_and(|limit| limit / 2 < self.working_set_bytes) {
            return Err(format!(
                "its memory cannot hold the working set; give memory={} or more",
                2 * self.working_set_bytes
            ));
        }
        Ok(())
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let cold = ColdFile::make(site, "file", self.working_set_bytes)?;
        let mut reads = RandomReads::new(site, &cold, self.pages())?;
        let counters = site.counters()?;
        let before = counters.read().map_err(|error| failed(&error))?;
        let course = Course::run(site.clock, &mut reads)?;
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&before);
        let evidence = CacheEvidence {
            resident_after: Some(reads.resident_pages()?),
            device_read_bytes: deltas.device_read_bytes,
            device_written_bytes: deltas.device_written_bytes,
            ..cold.evidence().clone()
        };
        let claim = Claim::cold_reads(self.working_set_bytes);
        if let Err(why) = state::verify(claim, &evidence) {
            return Err(Failure::State { why, evidence: Box::new(evidence) });
        }
        let steady_state = SteadyState::find(&course, site.clock);
        Ok(findings(course, steady_state, evidence, site.clock))
    }
}

fn findings(
    course: Course,
    steady_state: SteadyState,
    evidence: CacheEvidence,
    clock: &impl Clock,
) -> Findings {
    let page_bytes = rustix::param::page_size() as u64;
    let nanos = |ticks| clock.nanos(ticks) as f64;
    let time = || Quantity::new("time", "ns");
    let throughput = Series {
        title: "throughput over time".to_owned(),
        axis: time(),
        value: Quantity::new("throughput", "operations/s"),
        points: steady_state.throughput,
    };
    let share = |look: &course::ResidencySample| {
        (nanos(look.at_ticks), 100.0 * look.resident_pages as f64 / course.pages as f64)
    };
    let resident = Series {
        title: "resident share over time".to_owned(),
        axis: time(),
        value: Quantity::new("resident", "%"),
        points: course.looks_thinned().map(share).collect(),
    };
    Findings {
        metrics: vec![
            steady_state.time_until_steady_ns,
            nanos(course.resident_ticks),
            steady_state.throughput_before,
            steady_state.throughput_steady,
            course.recorder.mean_ns(),
        ],
        bytes: course.recorder.operations() * page_bytes,
        elapsed_ns: clock.nanos(course.elapsed_ticks),
        evidence,
        observations: vec![Observation::Series(throughput), Observation::Series(resident)],
        warnings: steady_state.unsteady.into_iter().collect(),
        recorder: Some(course.recorder),
        ..Findings::default()
    }
}

/// Reads of single pages, all equally likely.
struct RandomReads<'a> {
    site: &'a Site<'a>,
    file: File,
    pages: u64,
    generator: Xoshiro256PlusPlus,
    buffer: Vec<u8>,
}

impl<'a> RandomReads<'a> {
    fn new(site: &'a Site<'a>, cold: &ColdFile, pages: u64) -> Result<Self, Failure> {
        let file = cold.open()?;
        let generator = Xoshiro256PlusPlus::seed_from_u64(site.seed);
        Ok(Self { site, file, pages, generator, buffer: vec![0; rustix::param::page_size()] })
    }
}

impl RandomAccess for RandomReads<'_> {
    fn pages(&self) -> u64 {
        self.pages
    }

    fn choose(&mut self) -> u64 {
        self.generator.random_range(0..self.pages)
    }

    fn read(&mut self, page: u64) -> Result<(), Failure> {
        let offset = page * self.buffer.len() as u64;
        self.file.read_exact_at(&mut self.buffer, offset).map_err(|error| failed(&error))
    }

    fn resident_pages(&mut self) -> Result<u64, Failure> {
        self.site.go_on()?;
        let counted = residency_in(&self.file, 0..u64::MAX);
        Ok(counted.map_err(|error| failed(&error))?.resident_pages)
    }
}
