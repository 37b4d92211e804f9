//! Job files of fio as a suite: the whole file is executed on every target in every block, and each
//! of its jobs is a benchmark.
//!
//! What a job does is fio's business and told in [`jobs`]. Here, it does it in a directory of the
//! target, which takes the place of `directory=` and of the directories of `filename=`; its random
//! choices differ from block to block, and are the same on all targets of a block; and the state
//! that it makes of the cache is proved: pages of its files are counted when it has opened them,
//! and before it closes them.

mod budget;
mod error;
mod execution;
mod figures;
mod options;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use job_offsets::Direction;
use jobs::plan::JobPlan;
use record::{Dimension, JobFileOptions};
use serde_json::{Value, json};
use textual::grouped;

pub use self::budget::bounded;
pub use self::error::JobFileRefusal;
pub use self::options::{declared, directory, read};
use crate::benchmark::Benchmark;
use crate::live_target::LiveTarget;
use crate::sequence::{self, SequencePhase};

/// The name of the suite.
pub const SUITE: &str = "fio";

/// The share of free space that files may take.
const ROOM_SHARE: f64 = 0.9;
/// Bytes that a job moves in a second, for the estimate.
const BYTES_PER_S: u64 = 100 << 20;
/// How long a job takes that has no time and no size, for the estimate.
const UNKNOWN: Duration = Duration::from_secs(10);

/// The jobs as benchmarks.
///
/// # Errors
/// The first job that cannot be done, and why.
pub(crate) fn benchmarks(options: &JobFileOptions) -> Result<Vec<Benchmark>, JobFileRefusal> {
    let plans = options::plans(options)?;
    Ok(sequence::benchmarks(JobFile { plans }))
}

/// Checks that a target has room for the files of all jobs.
///
/// # Errors
/// If it does not.
pub(crate) fn check_room(
    options: &JobFileOptions,
    live: &LiveTarget,
) -> Result<(), JobFileRefusal> {
    // If the target does not report its free space, making the files will show.
    let Ok(space) = live.target.space() else { return Ok(()) };
    let needed: u64 = options::plans(options)?.iter().map(bytes_of).sum();
    if needed as f64 <= space.free_bytes as f64 * ROOM_SHARE {
        return Ok(());
    }
    Err(JobFileRefusal::NoRoom {
        needed_bytes: needed,
        label: live.target.spec().label.clone(),
        free_bytes: space.free_bytes,
        or_more_room: live.or_more_room(),
    })
}

/// Bytes of the files of a plan's jobs.
fn bytes_of(plan: &JobPlan) -> u64 {
    let jobs = if plan.files.names.is_empty() { u64::from(plan.process.jobs) } else { 1 };
    plan.files_bytes().unwrap_or(0).saturating_mul(jobs)
}

/// All jobs of a file.
#[derive(Debug)]
struct JobFile {
    plans: Vec<JobPlan>,
}

impl JobFile {
    /// The jobs as phases, each with a name of its own.
    fn phases_of(&self) -> Vec<SequencePhase> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut all = Vec::with_capacity(self.plans.len());
        for plan in &self.plans {
            let mut name = plan.name.clone();
            let mut number = 1;
            while !names.insert(name.clone()) {
                number += 1;
                name = format!("{}-{number}", plan.name);
            }
            all.push(phase(plan, name));
        }
        all
    }

    /// Roughly how long all jobs take: those that run at the same time count once.
    fn time(&self) -> Duration {
        let (mut all, mut together) = (Duration::ZERO, Duration::ZERO);
        for plan in &self.plans {
            if plan.schedule.stonewall {
                all += together;
                together = Duration::ZERO;
            }
            together = together.max(time_of(plan));
        }
        all + together
    }
}

/// Roughly how long a job takes, the making of its files included.
fn time_of(plan: &JobPlan) -> Duration {
    let schedule = &plan.schedule;
    let micros = schedule.delay_us.1 + schedule.ramp_us + schedule.runtime_us;
    let files = plan.files_bytes().unwrap_or(0);
    let made = Duration::from_secs_f64(files as f64 / BYTES_PER_S as f64);
    if schedule.runtime_us > 0 {
        return made + Duration::from_micros(micros);
    }
    let lasts = plan.replay.as_ref().map_or(0, |replay| replay.lasts_us);
    match plan.moved_bytes() {
        Some(bytes) => {
            let moved = bytes.saturating_mul(u64::from(schedule.loops));
            let moved = Duration::from_secs_f64(moved as f64 / BYTES_PER_S as f64);
            made + moved.max(Duration::from_micros(lasts))
        }
        None => made + UNKNOWN,
    }
}

fn phase(plan: &JobPlan, name: String) -> SequencePhase {
    let (dimension, exercises) = if plan.engine.is_by_name() {
        (Dimension::Metadata, vec![Dimension::InMemory])
    } else if plan.files.direct {
        (Dimension::Io, vec![Dimension::OnDiskLayout])
    } else {
        (Dimension::Io, vec![Dimension::OnDiskLayout, Dimension::InMemory, Dimension::Caching])
    };
    SequencePhase {
        title: title(plan),
        name,
        dimension,
        exercises,
        metrics: figures::metrics(plan),
        parameters: parameters(plan),
        working_set_bytes: plan.files_bytes(),
    }
}

fn title(plan: &JobPlan) -> String {
    let sizes = plan.block_sizes_text();
    let depth = match plan.depth.depth {
        1 => String::new(),
        depth => format!(", depth {depth}"),
    };
    let workers = match plan.process.jobs {
        1 => String::new(),
        jobs => format!(", {jobs} workers"),
    };
    let direct = if plan.files.direct { ", direct" } else { "" };
    let (name, kind, engine) = (&plan.name, plan.kind(), plan.engine.name());
    if let Some(replay) = &plan.replay {
        let log = Path::new(&replay.logs);
        let log = log.file_name().unwrap_or(log.as_os_str()).to_string_lossy();
        return format!("job {name}: replay of {log} by {engine}{depth}{workers}{direct}");
    }
    let rate = match (plan.rate.operations_per_s, plan.rate.limits()) {
        (_, false) => String::new(),
        ([0, 0, 0], true) => ", at a rate".to_owned(),
        (rates, true) => {
            let own = Direction::ALL.into_iter().filter(|one| plan.has(*one));
            let own = own.map(|one| rates[one as usize]).filter(|rate| *rate > 0);
            let own: BTreeSet<u64> = own.collect();
            let own: Vec<String> = own.iter().map(|rate| grouped(*rate as f64)).collect();
            format!(", {} operations/s", own.join(" and "))
        }
    };
    format!("job {name}: {kind} of {sizes} by {engine}{depth}{workers}{direct}{rate}")
}

fn parameters(plan: &JobPlan) -> BTreeMap<String, Value> {
    let mut parameters = BTreeMap::from([
        ("job".to_owned(), json!(plan.name)),
        ("operation".to_owned(), json!(plan.kind())),
        ("engine".to_owned(), json!(plan.engine.name())),
        ("depth".to_owned(), json!(plan.depth.depth)),
        ("workers".to_owned(), json!(plan.process.jobs)),
        ("direct".to_owned(), json!(plan.files.direct)),
        ("block_bytes_min".to_owned(), json!(plan.offsets.block_bytes_min())),
        ("block_bytes_max".to_owned(), json!(plan.offsets.block_bytes_max())),
    ]);
    let all = plan.global_options.iter().chain(&plan.options);
    parameters.extend(all.map(|(name, value)| (format!("fio_{name}"), json!(value))));
    parameters
}
