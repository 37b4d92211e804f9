//! The output `normal`, for people.

mod direction;
mod group;
mod job;
mod latencies;

use std::io::{self, Write};

use crate::disks::{DiskFigures, DiskUtilization};
use crate::numbers::decimal;
use crate::report::Report;

/// Writes the report for people.
///
/// # Errors
///
/// Those of writing.
pub fn write_normal(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for job in &report.jobs {
        job::write_job(job, report.group_of(job), &report.facts.time.text, out)?;
    }
    for (number, group) in report.groups.iter().enumerate() {
        group::write_group(number, group, out)?;
    }
    if report.facts.disks.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nDisk stats (read/write):")?;
    report.facts.disks.iter().try_for_each(|disk| write_disk(disk, out))
}

fn write_disk(disk: &DiskUtilization, out: &mut dyn Write) -> io::Result<()> {
    let aggregate = disk.aggregate();
    let indent = if aggregate.is_some() { "    " } else { "  " };
    let (figures, name) = (&disk.figures, &disk.name);
    write!(out, "{indent}{name}: {}", disk_text(figures, figures.utilization(), ""))?;
    if let Some((figures, utilization)) = aggregate {
        write!(out, ", {}", disk_text(&figures, utilization, "aggr"))?;
    }
    writeln!(out)
}

fn disk_text(figures: &DiskFigures, utilization: f64, aggregate: &str) -> String {
    let pair = |[reads, writes]: [u64; 2]| format!("{reads}/{writes}");
    format!(
        "{aggregate}ios={}, {aggregate}merge={}, {aggregate}ticks={}, {aggregate}in_queue={}, \
         {aggregate}util={}%",
        pair(figures.ios),
        pair(figures.merges),
        pair(figures.ticks_ms),
        figures.in_queue_ms,
        decimal(utilization, 2)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{BlockLife, BlockState};
    use crate::direction::DataDirection;
    use crate::job::JobResult;
    use crate::report::RunFacts;

    fn text(job: JobResult, facts: RunFacts) -> String {
        let mut text = Vec::new();
        write_normal(&Report::new(facts, &[job]), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_device_is_followed_by_the_means_of_what_it_is_made_of() {
        let figures =
            DiskFigures { ios: [4, 2], busy_ms: 1, watched_ms: 3, ..DiskFigures::default() };
        let disk = DiskUtilization { name: "md0".into(), figures, slaves: vec![figures; 2] };
        let facts = RunFacts { disks: vec![disk], ..RunFacts::default() };
        let expected = "\nDisk stats (read/write):\n    md0: ios=4/2, merge=0/0, ticks=0/0, \
                        in_queue=0, util=33.33%, aggrios=4/2, aggrmerge=0/0, aggrticks=0/0, \
                        aggrin_queue=0, aggrutil=33.33%\n";
        let text = text(JobResult::default(), facts);
        assert_eq!(text, format!("\n\nRun status group 0 (all jobs):\n{expected}"));
    }

    #[test]
    fn lives_of_blocks_are_summed_up() {
        let mut job = JobResult::default();
        job.directions[DataDirection::Trim].ios = 1;
        job.blocks = (1..=5).map(|trims| BlockLife { state: BlockState::Trimmed, trims }).collect();
        let expected = "  block lifetime percentiles :\n   | 1.00th=1, 5.00th=1, 10.00th=1, \
                        20.00th=2, 30.00th=2, 40.00th=3, 50.00th=3,\n   | 60.00th=4, 70.00th=4, \
                        80.00th=5, 90.00th=5, 95.00th=5, 99.00th=5,\n   | 99.50th=5, 99.90th=5, \
                        99.95th=5, 99.99th=5\n        states               : unwritten=0, \
                        trimmed=5, written=0, trim failure=0, write failure=0\n";
        let text = text(job, RunFacts::default());
        assert!(text.contains(expected), "{text}");
    }
}
