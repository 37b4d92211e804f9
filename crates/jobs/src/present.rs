//! What results say about their job besides what it did.

use job_offsets::Direction;
use job_results::{
    BandwidthUnit, JobAnnouncement, JobResult, Kilobyte, NumberStyle, PerDirection,
    PercentileChoice, PercentileList, Presentation, Reporting, Unified,
};

use crate::instance::JobInstance;
use crate::plan::{JobPlan, ReportPlan, UnifiedReporting};

/// A result with what its plan says about it.
pub(crate) fn presented(job: &JobInstance<'_>, result: JobResult) -> JobResult {
    let plan = job.plan;
    let priority = plan.process.io_priority.unwrap_or(0);
    JobResult {
        name: job.name().to_owned(),
        description: plan.description.clone(),
        group: job.group,
        pid: std::process::id() + job.thread_number - 1,
        jobs: 1,
        presentation: presentation(&plan.report),
        options: plan.options.clone(),
        priority,
        ..result
    }
}

fn presentation(plan: &ReportPlan) -> Presentation {
    Presentation {
        reporting: match (plan.counts, plan.by_group) {
            (false, _) => Reporting::Omitted,
            (true, true) => Reporting::WithGroup,
            (true, false) => Reporting::Alone,
        },
        unified: match plan.directions {
            UnifiedReporting::Apart => Unified::None,
            UnifiedReporting::Mixed => Unified::Mixed,
            UnifiedReporting::Both => Unified::Both,
        },
        numbers: numbers(plan),
        percentiles: PercentileChoice {
            submission: plan.submission_percentiles,
            completion: plan.completion_percentiles,
            total: plan.total_percentiles,
            list: PercentileList::new(&plan.percentiles, decimals(&plan.percentiles)),
        },
    }
}

/// How many digits after the point the percentiles have that have most.
fn decimals(percentiles: &[f64]) -> usize {
    let of = |one: &f64| one.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
    percentiles.iter().map(of).max().unwrap_or(0)
}

fn numbers(plan: &ReportPlan) -> NumberStyle {
    NumberStyle {
        significant_figures: plan.significant_figures as usize,
        kilobyte: if plan.kb_base == 1000 { Kilobyte::Decimal } else { Kilobyte::Binary },
        bandwidth: if plan.in_bits { BandwidthUnit::Bits } else { BandwidthUnit::Bytes },
    }
}

/// What is said about the jobs of a plan before they start.
#[must_use]
pub fn announcement(plan: &JobPlan, group: u32) -> JobAnnouncement {
    let range = |direction: Direction| {
        let sizes = &plan.offsets.spec.block_sizes[direction];
        (sizes.min_bytes, sizes.max_bytes)
    };
    let [read, write, trim] = Direction::ALL.map(range);
    JobAnnouncement {
        name: plan.name.clone(),
        group,
        kind: plan.kind().to_owned(),
        blocks: PerDirection::new(read, write, trim),
        is_by_order: plan.offsets.spec.size_rules.are_by_order,
        engine: plan.engine.name().to_owned(),
        depth: plan.depth.depth,
        numbers: numbers(&plan.report),
        jobs: plan.process.jobs,
    }
}
