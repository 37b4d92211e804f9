//! One job for people.

use std::io::{self, Write};

use super::direction::{write_direction, write_mixed};
use super::latencies::{write_percentiles, write_statistics};
use crate::blocks::{BlockState, BlockSummary};
use crate::direction::DataDirection;
use crate::distributions::percentages;
use crate::job::JobResult;
use crate::numbers::{Quantity, decimal, error_text, scaled};
use crate::presentation::{Kilobyte, NumberStyle, Unified};
use crate::report::GroupStatus;
use crate::steady_state::{SteadyState, SteadyTest, SteadyUnit};

/// Writes all about a job, unless it did nothing.
pub(super) fn write_job(
    job: &JobResult,
    group: &GroupStatus,
    time: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    if job.bytes() == 0 && job.ios() == 0 {
        return Ok(());
    }
    write_heading(job, time, out)?;
    let kilobyte = group.numbers.kilobyte;
    for direction in DataDirection::ALL {
        if job.directions[direction].bytes > 0 {
            write_direction(job, direction, &group.directions[direction], kilobyte, out)?;
        }
    }
    match job.presentation.unified {
        Unified::None | Unified::Mixed => {}
        Unified::Both => {
            write_mixed(job, &group.directions[DataDirection::Read], kilobyte, out)?;
        }
    }
    write_bins(job, out)?;
    write_sync(job, out)?;
    write_processor(job, out)?;
    write_depths(job, out)?;
    write_counts(job, out)?;
    write_goal(job, out)?;
    write_blocks(job, out)?;
    match &job.steady_state {
        Some(state) => write_steady_state(state, job.presentation.numbers, out),
        None => Ok(()),
    }
}

fn write_heading(job: &JobResult, time: &str, out: &mut dyn Write) -> io::Result<()> {
    let JobResult { name, group, jobs, pid, .. } = job;
    let why = job.error.as_ref().map_or(String::new(), |error| format!(" ({})", error.text));
    let number = job.error_number();
    writeln!(
        out,
        "{name}: (groupid={group}, jobs={jobs}): err={number:>2}{why}: pid={pid}: {time}"
    )?;
    if job.description.is_empty() {
        return Ok(());
    }
    writeln!(out, "  Description  : [{}]", job.description)
}

fn write_bins(job: &JobResult, out: &mut dyn Write) -> io::Result<()> {
    const ENDS: [&str; 12] = [
        "2=", "4=", "10=", "20=", "50=", "100=", "250=", "500=", "750=", "1000=", "2000=",
        ">=2000=",
    ];
    let (ios, bins) = (job.ios(), &job.latency_bins);
    let units: [(&str, &[u64]); 3] = [("nsec", &bins.ns), ("usec", &bins.us), ("msec", &bins.ms)];
    for (unit, counts) in units {
        let shares = ENDS.iter().zip(percentages(counts, ios, 0.01));
        let shown = shares.filter(|(_, share)| *share > 0.0);
        let cells: Vec<String> =
            shown.map(|(end, share)| format!("{end}{}%", decimal(share, 2))).collect();
        for line in cells.chunks(5) {
            writeln!(out, "  lat ({unit})   : {}", line.join(", "))?;
        }
    }
    Ok(())
}

fn write_sync(job: &JobResult, out: &mut dyn Write) -> io::Result<()> {
    let latencies = &job.sync.latencies;
    if latencies.statistics.moments.samples == 0 {
        return Ok(());
    }
    writeln!(out, "  fsync/fdatasync/sync_file_range:")?;
    write_statistics("sync", &latencies.statistics.moments, out)?;
    write_percentiles("sync", latencies, &job.presentation.percentiles.list, out)
}

fn write_processor(job: &JobResult, out: &mut dyn Write) -> io::Result<()> {
    let (user, system) = job.processor.shares(job.runtime_ms);
    writeln!(
        out,
        "  cpu          : usr={}%, sys={}%, ctx={}, majf={}, minf={}",
        decimal(user, 2),
        decimal(system, 2),
        job.processor.context_switches,
        job.processor.major_faults,
        job.processor.minor_faults
    )
}

fn write_depths(job: &JobResult, out: &mut dyn Write) -> io::Result<()> {
    const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    let lines = [
        ("  IO depths    ", DEPTHS, &job.depths.counts, job.ios()),
        ("     submit    ", BATCHES, &job.submitted.counts, job.submitted.total()),
        ("     complete  ", BATCHES, &job.completed.counts, job.completed.total()),
    ];
    for (title, labels, counts, total) in lines {
        let shares = labels.iter().zip(percentages(counts, total, 0.1));
        let cells: Vec<String> =
            shares.map(|(label, share)| format!("{label}={}%", decimal(share, 1))).collect();
        writeln!(out, "{title}: {}", cells.join(", "))?;
    }
    Ok(())
}

fn write_counts(job: &JobResult, out: &mut dyn Write) -> io::Result<()> {
    let [read, write, trim] = DataDirection::ALL.map(|direction| &job.directions[direction]);
    writeln!(
        out,
        "     issued rwts: total={},{},{},{} short={},{},{},0 dropped={},{},{},0",
        read.ios,
        write.ios,
        trim.ios,
        job.sync.ios,
        read.short_ios,
        write.short_ios,
        trim.short_ios,
        read.dropped_ios,
        write.dropped_ios,
        trim.dropped_ios
    )?;
    if !job.errors.are_shown {
        return Ok(());
    }
    let (total, first) = (job.errors.total, job.errors.first);
    writeln!(out, "     errors    : total={total}, first_error={first}/<{}>", error_text(first))
}

fn write_goal(job: &JobResult, out: &mut dyn Write) -> io::Result<()> {
    let goal = &job.latency_goal;
    if goal.depth == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "     latency   : target={}, window={}, percentile={}%, depth={}",
        goal.target_ns,
        goal.window_us,
        decimal(goal.percentile, 2),
        goal.depth
    )
}

fn write_blocks(job: &JobResult, out: &mut dyn Write) -> io::Result<()> {
    const LINE: usize = 75;
    if job.blocks.is_empty() {
        return Ok(());
    }
    let percents = job.presentation.percentiles.list.percents();
    let summary = BlockSummary::of(&job.blocks, percents);
    write!(out, "  block lifetime percentiles :\n   |")?;
    let mut width = 0;
    let last = summary.percentiles.len().saturating_sub(1);
    for (place, (percent, trims)) in percents.iter().zip(&summary.percentiles).enumerate() {
        let end = if place == last { "\n" } else { "," };
        let cell = format!(" {}th={trims}{end}", decimal(*percent, 2));
        if width + cell.len() > LINE {
            width = 0;
            write!(out, "\n   |")?;
        }
        width += cell.len();
        write!(out, "{cell}")?;
    }
    let states = BlockState::ALL.iter().zip(summary.states);
    let states: Vec<String> =
        states.map(|(state, blocks)| format!(" {}={blocks}", state.name())).collect();
    writeln!(out, "        states               :{}", states.join(","))
}

fn write_steady_state(
    state: &SteadyState,
    style: NumberStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let figures = style.significant_figures;
    let kilo = state.bandwidth_mean() / style.kilobyte.bytes();
    let rate = Quantity::KiloBandwidth(kilo, style.bandwidth);
    let test = match state.goal.test {
        SteadyTest::Deviation => "mean dev",
        SteadyTest::Slope => "slope",
    };
    let percent = match state.goal.unit {
        SteadyUnit::Absolute => "",
        SteadyUnit::Percent => "%",
    };
    writeln!(
        out,
        "  steadystate  : attained={}, bw={} ({}), iops={}, {} {test}={}{percent}",
        if state.is_attained { "yes" } else { "no" },
        scaled(rate, figures, style.kilobyte),
        scaled(rate, figures, style.kilobyte.other()),
        scaled(Quantity::Count(state.iops_mean()), figures, Kilobyte::Decimal),
        state.goal.quantity.name(),
        decimal(state.criterion, 3)
    )
}
