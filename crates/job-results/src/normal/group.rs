//! A group of jobs for people.

use std::io::{self, Write};

use crate::direction::DataDirection;
use crate::numbers::{Quantity, scaled};
use crate::presentation::Unified;
use crate::report::{GroupDirection, GroupStatus};

/// Writes what a group did in all directions.
pub(super) fn write_group(
    number: usize,
    group: &GroupStatus,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "\nRun status group {number} (all jobs):")?;
    for (direction, done) in group.directions.each().filter(|(_, done)| done.runtime_ms_max > 0) {
        let name = match (group.unified, direction) {
            (Unified::Mixed, _) => "MIXED",
            (Unified::None | Unified::Both, DataDirection::Read) => "READ",
            (Unified::None | Unified::Both, DataDirection::Write) => "WRITE",
            (Unified::None | Unified::Both, DataDirection::Trim) => "TRIM",
        };
        write_line(name, done, group, out)?;
    }
    match group.unified {
        Unified::None | Unified::Mixed => Ok(()),
        Unified::Both => write_line("MIXED", &all_directions(group), group, out),
    }
}

/// All directions as one: sums of bytes and bandwidth, extremes of the others.
fn all_directions(group: &GroupStatus) -> GroupDirection {
    let used = group.directions.iter().filter(|done| done.runtime_ms_max > 0);
    // Where nothing was done, fio prints the largest number.
    let none = GroupDirection {
        runtime_ms_min: u64::MAX,
        bandwidth_min: u64::MAX,
        ..GroupDirection::default()
    };
    used.fold(none, |all, done| GroupDirection {
        bytes: all.bytes + done.bytes,
        bandwidth: all.bandwidth + done.bandwidth,
        bandwidth_min: all.bandwidth_min.min(done.bandwidth_min),
        bandwidth_max: all.bandwidth_max.max(done.bandwidth_max),
        runtime_ms_min: all.runtime_ms_min.min(done.runtime_ms_min),
        runtime_ms_max: all.runtime_ms_max.max(done.runtime_ms_max),
    })
}

fn write_line(
    name: &str,
    done: &GroupDirection,
    group: &GroupStatus,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = group.numbers;
    let in_first = |quantity| scaled(quantity, style.significant_figures, style.kilobyte);
    let in_other = |quantity| scaled(quantity, style.significant_figures, style.kilobyte.other());
    let rate = |rate| Quantity::Bandwidth(rate, style.bandwidth);
    let (all, bytes) = (rate(done.bandwidth), Quantity::Bytes(done.bytes));
    let (min, max) = (rate(done.bandwidth_min), rate(done.bandwidth_max));
    writeln!(
        out,
        "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
        in_first(all),
        in_other(all),
        in_first(min),
        in_first(max),
        in_other(min),
        in_other(max),
        in_first(bytes),
        in_other(bytes),
        done.runtime_ms_min,
        done.runtime_ms_max
    )
}
