//! The outputs `json` and `json+`.

mod direction;
mod job;
mod tree;

use std::io::{self, Write};

use self::tree::{Node, Object};
use crate::disks::{DiskFigures, DiskUtilization};
use crate::report::Report;

/// How much the JSON holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonDetail {
    /// Figures: `json`.
    Figures,
    /// The bins of histograms as well: `json+`.
    Bins,
}

/// Writes the report as one JSON document.
///
/// # Errors
///
/// Those of writing.
pub fn write_json(report: &Report, detail: JsonDetail, out: &mut dyn Write) -> io::Result<()> {
    let facts = &report.facts;
    let mut root = Object::default();
    root.text("fio version", &facts.version);
    root.integer("timestamp", facts.time.epoch_ms / 1000);
    root.integer("timestamp_ms", facts.time.epoch_ms);
    root.text("time", &facts.time.text);
    add_options(&mut root, "global options", &facts.global_options);
    let jobs = report
        .jobs
        .iter()
        .map(|job| Node::Object(job::job_object(job, report.group_of(job), facts, detail)));
    root.array("jobs", jobs.collect());
    if !facts.disks.is_empty() {
        let disks = facts.disks.iter().map(|disk| Node::Object(disk_object(disk)));
        root.array("disk_util", disks.collect());
    }
    root.write(0, out)?;
    writeln!(out)
}

fn add_options(object: &mut Object, name: &str, options: &[(String, String)]) {
    if options.is_empty() {
        return;
    }
    let mut members = Object::default();
    for (option, value) in options {
        members.text(option, value);
    }
    object.object(name, members);
}

fn disk_object(disk: &DiskUtilization) -> Object {
    let mut object = Object::default();
    object.text("name", &disk.name);
    let names = [
        ["read_ios", "write_ios"],
        ["read_merges", "write_merges"],
        ["read_ticks", "write_ticks"],
        ["in_queue", "util"],
    ];
    add_figures(&mut object, &disk.figures, disk.figures.utilization(), &names);
    if let Some((figures, utilization)) = disk.aggregate() {
        let names = [
            ["aggr_read_ios", "aggr_write_ios"],
            // Without an s, as fio has it.
            ["aggr_read_merges", "aggr_write_merge"],
            ["aggr_read_ticks", "aggr_write_ticks"],
            ["aggr_in_queue", "aggr_util"],
        ];
        add_figures(&mut object, &figures, utilization, &names);
    }
    object
}

fn add_figures(
    object: &mut Object,
    figures: &DiskFigures,
    utilization: f64,
    [ios, merges, ticks, rest]: &[[&str; 2]; 4],
) {
    let pairs = [(ios, figures.ios), (merges, figures.merges), (ticks, figures.ticks_ms)];
    for (names, numbers) in pairs {
        for (name, number) in names.iter().zip(numbers) {
            object.integer(name, number);
        }
    }
    object.integer(rest[0], figures.in_queue_ms);
    object.float(rest[1], utilization);
}
