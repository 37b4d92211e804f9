//! One job in JSON.

use super::direction::{direction_object, sync_object};
use super::tree::{Node, Object};
use super::{JsonDetail, add_options};
use crate::blocks::{BlockState, BlockSummary};
use crate::direction::DataDirection;
use crate::distributions::percentages;
use crate::job::JobResult;
use crate::numbers::six;
use crate::presentation::Unified;
use crate::report::{GroupStatus, RunFacts};
use crate::steady_state::{SteadyState, SteadyTest, SteadyUnit};

const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
const BINS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

/// All about a job.
pub(super) fn job_object(
    job: &JobResult,
    group: &GroupStatus,
    facts: &RunFacts,
    detail: JsonDetail,
) -> Object {
    let mut object = Object::default();
    object.text("jobname", &job.name);
    object.integer("groupid", u64::from(job.group));
    object.integer("error", job.error_number());
    object.integer("eta", facts.eta.number());
    object.integer("elapsed", facts.elapsed_s);
    add_options(&mut object, "job options", &job.options);
    add_directions(&mut object, job, group, detail);
    add_processor(&mut object, job);
    add_distributions(&mut object, job);
    add_goals(&mut object, job);
    object.text("desc", &job.description);
    add_blocks(&mut object, job);
    if let Some(state) = &job.steady_state {
        object.object("steadystate", steady_object(state));
    }
    object
}

fn add_directions(object: &mut Object, job: &JobResult, group: &GroupStatus, detail: JsonDetail) {
    let one = |job: &JobResult, direction| {
        direction_object(job, direction, &group.directions[direction], detail)
    };
    let apart = |object: &mut Object| {
        for direction in DataDirection::ALL {
            object.object(direction.name(), one(job, direction));
        }
        object.object("sync", sync_object(job, detail));
    };
    match job.presentation.unified {
        Unified::None => apart(object),
        Unified::Mixed => object.object("mixed", one(job, DataDirection::Read)),
        Unified::Both => {
            apart(object);
            object.object("mixed", one(&job.with_directions_mixed(), DataDirection::Read));
        }
    }
}

fn add_processor(object: &mut Object, job: &JobResult) {
    let (user, system) = job.processor.shares(job.runtime_ms);
    object.integer("job_runtime", job.runtime_ms);
    object.float("usr_cpu", user);
    object.float("sys_cpu", system);
    object.integer("ctx", job.processor.context_switches);
    object.integer("majf", job.processor.major_faults);
    object.integer("minf", job.processor.minor_faults);
}

fn add_distributions(object: &mut Object, job: &JobResult) {
    let (ios, bins) = (job.ios(), &job.latency_bins);
    let mut add = |name, labels: &[&str], counts: &[u64], total, least| {
        let mut levels = Object::default();
        for (label, share) in labels.iter().zip(percentages(counts, total, least)) {
            levels.float(label, share);
        }
        object.object(name, levels);
    };
    add("iodepth_level", &DEPTHS, &job.depths.counts, ios, 0.1);
    add("iodepth_submit", &BATCHES, &job.submitted.counts, job.submitted.total(), 0.1);
    add("iodepth_complete", &BATCHES, &job.completed.counts, job.completed.total(), 0.1);
    add("latency_ns", &BINS, &bins.ns, ios, 0.01);
    add("latency_us", &BINS, &bins.us, ios, 0.01);
    add("latency_ms", &BINS, &bins.ms, ios, 0.01);
}

fn add_goals(object: &mut Object, job: &JobResult) {
    if job.errors.are_shown {
        object.integer("total_err", job.errors.total);
        object.integer("first_error", u64::from(job.errors.first.unsigned_abs()));
    }
    let goal = &job.latency_goal;
    if goal.depth > 0 {
        object.integer("latency_depth", u64::from(goal.depth));
        object.integer("latency_target", goal.target_ns);
        object.float("latency_percentile", goal.percentile);
        object.integer("latency_window", goal.window_us);
    }
}

fn add_blocks(object: &mut Object, job: &JobResult) {
    let percents = job.presentation.percentiles.list.percents();
    let summary = BlockSummary::of(&job.blocks, percents);
    if summary.percentiles.is_empty() {
        return;
    }
    let (mut percentiles, mut states) = (Object::default(), Object::default());
    for (percent, trims) in percents.iter().zip(&summary.percentiles) {
        percentiles.integer(&format!("{percent:.6}"), u64::from(*trims));
    }
    for (state, blocks) in BlockState::ALL.iter().zip(summary.states) {
        states.integer(state.name(), blocks);
    }
    let mut block = Object::default();
    block.object("percentiles", percentiles);
    block.object("states", states);
    object.object("block", block);
}

/// In single precision, as fio prints limits.
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
fn single(number: f64) -> f64 {
    f64::from(number as f32)
}

fn steady_object(state: &SteadyState) -> Object {
    let slope = match state.goal.test {
        SteadyTest::Deviation => "",
        SteadyTest::Slope => "_slope",
    };
    let percent = match state.goal.unit {
        SteadyUnit::Absolute => "",
        SteadyUnit::Percent => "%",
    };
    let (limit, criterion) = (single(state.goal.limit), single(state.criterion));
    let quantity = state.goal.quantity.name();
    let mut object = Object::default();
    object.text("ss", &format!("{quantity}{slope}:{}{percent}", six(limit)));
    object.integer("duration", state.goal.duration_s as u64);
    object.integer("attained", u64::from(state.is_attained));
    object.text("criterion", &format!("{}{percent}", six(criterion)));
    object.float("max_deviation", state.deviation);
    object.float("slope", state.slope);
    let array = |samples: &[u64]| samples.iter().copied().map(Node::Integer).collect();
    let mut data = Object::default();
    data.integer("bw_mean", state.bandwidth_mean());
    data.integer("iops_mean", state.iops_mean());
    data.array("iops", array(&state.iops));
    data.array("bw", array(&state.bandwidth));
    object.object("data", data);
    object
}
