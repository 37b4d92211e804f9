//! One direction of a job for people.

use std::io::{self, Write};

use super::latencies::{write_percentiles, write_statistics};
use crate::direction::DataDirection;
use crate::job::{DirectionResult, JobResult, PriorityLatencies};
use crate::numbers::{Quantity, decimal, scaled, whole};
use crate::presentation::{Kilobyte, Unified};
use crate::report::{GroupDirection, per_second};

/// Writes what was done in a direction.
pub(super) fn write_direction(
    job: &JobResult,
    direction: DataDirection,
    group: &GroupDirection,
    kilobyte: Kilobyte,
    out: &mut dyn Write,
) -> io::Result<()> {
    let done = &job.directions[direction];
    if done.runtime_ms == 0 {
        return Ok(());
    }
    let (name, zones) = match (job.presentation.unified, direction) {
        (Unified::Mixed, _) => ("mixed", String::new()),
        (Unified::None | Unified::Both, DataDirection::Write) => {
            ("write", format!("; {} zone resets", job.zone_resets))
        }
        (Unified::None | Unified::Both, DataDirection::Read | DataDirection::Trim) => {
            (direction.name(), String::new())
        }
    };
    writeln!(out, "  {name}: {}{zones}", totals(job, done, kilobyte))?;
    write_latencies(job, done, out)?;
    write_bandwidth(done, group, kilobyte, out)?;
    write_iops(done, out)
}

/// Writes all directions as one, as `unified_rw_reporting=both` wants it. The totals of fio have no
/// digits and no unit there: it does not copy how numbers are written.
pub(super) fn write_mixed(
    job: &JobResult,
    group: &GroupDirection,
    kilobyte: Kilobyte,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mixed = job.with_directions_mixed();
    let done = &mixed.directions[DataDirection::Read];
    if done.runtime_ms == 0 {
        return Ok(());
    }
    let without = |quantity| scaled(quantity, 0, kilobyte);
    let iops = without(Quantity::Count(per_second(done.ios, done.runtime_ms)));
    let rate = without(Quantity::Count(per_second(done.bytes, done.runtime_ms)));
    let bytes = without(Quantity::Bytes(done.bytes));
    let runtime = done.runtime_ms;
    writeln!(out, "  mixed: IOPS={iops}, BW={rate} ({rate})({bytes}/{runtime}msec)")?;
    write_latencies(&mixed, done, out)?;
    write_bandwidth(done, group, kilobyte, out)?;
    write_iops(done, out)
}

fn totals(job: &JobResult, done: &DirectionResult, kilobyte: Kilobyte) -> String {
    let style = job.presentation.numbers;
    let figures = style.significant_figures;
    let rate = Quantity::Bandwidth(per_second(done.bytes, done.runtime_ms), style.bandwidth);
    let iops = Quantity::Count(per_second(done.ios, done.runtime_ms));
    format!(
        "IOPS={}, BW={} ({})({}/{}msec)",
        scaled(iops, figures, Kilobyte::Decimal),
        scaled(rate, figures, kilobyte),
        scaled(rate, figures, kilobyte.other()),
        scaled(Quantity::Bytes(done.bytes), figures, kilobyte),
        done.runtime_ms
    )
}

fn write_latencies(job: &JobResult, done: &DirectionResult, out: &mut dyn Write) -> io::Result<()> {
    let choice = &job.presentation.percentiles;
    let kinds = [
        ("slat", "slat", &done.submission, choice.submission),
        ("clat", "clat", &done.completion, choice.completion),
        (" lat", "lat", &done.total, choice.total),
    ];
    for (label, _, latencies, _) in kinds {
        write_statistics(label, &latencies.statistics.moments, out)?;
    }
    let named = |one: &PriorityLatencies| {
        let kind = if choice.total { "lat" } else { "clat" };
        format!("{kind} prio {}/{}", one.class(), one.level())
    };
    let are_apart = done.has_several_priorities();
    for one in done.used_priorities().filter(|_| are_apart) {
        write_statistics(&named(one), &one.latencies.statistics.moments, out)?;
    }
    for (_, name, latencies, is_shown) in kinds {
        if is_shown && latencies.statistics.moments.samples > 0 {
            write_percentiles(name, latencies, &choice.list, out)?;
        }
    }
    if !(choice.completion || choice.total) {
        return Ok(());
    }
    let all = if choice.total { &done.total } else { &done.completion };
    for one in done.used_priorities().filter(|_| are_apart) {
        let samples = one.latencies.statistics.moments.samples as f64;
        let share = 100.0 * samples / all.statistics.moments.samples as f64;
        let name = format!("{} ({}% of IOs)", named(one), decimal(share, 2));
        write_percentiles(&name, &one.latencies, &choice.list, out)?;
    }
    Ok(())
}

/// Writes statistics of the bandwidth: in bytes, whatever the user wants bandwidth in.
fn write_bandwidth(
    done: &DirectionResult,
    group: &GroupDirection,
    kilobyte: Kilobyte,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(moments) = done.bandwidth.moments.known() else { return Ok(()) };
    let kilo = kilobyte.bytes() as f64;
    let (unit, factor) = match kilobyte {
        _ if moments.mean > kilo * kilo => ("MiB", 1.0 / kilo),
        Kilobyte::Binary => ("KiB", 1.0),
        Kilobyte::Decimal => ("kB", 1.0),
    };
    let extreme = |rate: u64| whole(rate as f64 * factor);
    let number = |rate: f64| format!("{:>5}", decimal(rate * factor, 2));
    writeln!(
        out,
        "   bw ({unit:>5}/s): min={:>5}, max={:>5}, per={}%, avg={}, stdev={}, samples={}",
        extreme(moments.min),
        extreme(moments.max),
        decimal(group.share_of(moments.mean), 2),
        number(moments.mean),
        number(moments.deviation()),
        moments.samples
    )
}

fn write_iops(done: &DirectionResult, out: &mut dyn Write) -> io::Result<()> {
    let Some(moments) = done.iops.moments.known() else { return Ok(()) };
    let number = |rate: f64| format!("{:>5}", decimal(rate, 2));
    writeln!(
        out,
        "   iops        : min={:>5}, max={:>5}, avg={}, stdev={}, samples={}",
        moments.min,
        moments.max,
        number(moments.mean),
        number(moments.deviation()),
        moments.samples
    )
}
