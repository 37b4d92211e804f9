//! Section 4.6.1: what the first read after a write evicts from the second-level cache. The paper
//! counted it in the processor; fsprism counts it in a simulated cache like the paper's.

use std::ops::RangeInclusive;

use record::traffic::{BYTES_IN, BYTES_OUT, DIRTY_BYTES, metric};
use record::{Cell, Replicate, Run};
use serde::Serialize;
use textual::size;

use super::{Outcome, Statement};
use crate::gathered::{Gathered, estimate, values};

/// The read during which the paper counted.
const READ: &str = "sequential-read";
/// Smaller relative differences do not count.
const MARGIN: f64 = 0.02;
/// The paper's numbers for that read.
const PUBLISHED: [(&str, &str); 2] = [("ramfs", "230 KB"), ("ext2", "66 KB")];

/// What each phase of the benchmark moves into and out of a cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traffic {
    /// Release of the guest's kernel that was traced.
    pub kernel: String,
    /// Size of the simulated second-level cache.
    pub cache_bytes: u64,
    /// Number of executions that the medians are over.
    pub executions: usize,
    /// By phase and target.
    pub rows: Vec<TrafficRow>,
}

/// One phase on one target: medians over all executions but the first, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficRow {
    /// The phase.
    pub phase: String,
    /// The target.
    pub target: String,
    /// What goes out according to the paper.
    pub published_out: Option<&'static str>,
    /// What comes in.
    pub bytes_in: f64,
    /// What goes out, as writes to memory.
    pub bytes_out: f64,
    /// What is still dirty in the cache when the phase ends.
    pub dirty_bytes: f64,
    /// The minimum and maximum of what goes out.
    #[serde(skip)]
    pub out_range: RangeInclusive<f64>,
}

impl Traffic {
    /// The traffic that a run counted; `None` if it has none.
    pub(super) fn from_run(run: &Run) -> Option<Self> {
        let record = &run.manifest.run;
        let caches = &record.simulated_caches.as_ref()?.caches;
        let cache_bytes = caches.iter().find(|one| one.name == "l2")?.size_bytes;
        let gathered = Gathered::new(run);
        let rows: Vec<TrafficRow> =
            gathered.cells.iter().filter_map(|(cell, all)| row(cell, all)).collect();
        let kernel = record.guest_kernel.clone().unwrap_or_default();
        let executions = gathered.cells.iter().map(|(_, all)| all.len()).max().unwrap_or(0);
        (!rows.is_empty()).then_some(Self { kernel, cache_bytes, executions, rows })
    }

    /// Whether the read evicts more on ramfs than on ext2; `None` if either was not counted.
    pub(super) fn statement(&self) -> Option<Statement> {
        let [ramfs, ext2] = PUBLISHED.map(|(target, _)| self.read_on(target));
        let (ramfs, ext2) = (ramfs?, ext2?);
        let others = self.rows.iter().filter(|one| {
            one.phase == READ && !PUBLISHED.iter().any(|(target, _)| *target == one.target)
        });
        let mut measured = vec![format!(
            "{} on ramfs, {} on ext2",
            size(ramfs.bytes_out, 3),
            size(ext2.bytes_out, 3)
        )];
        measured.extend(others.map(|one| format!("{} on {}", size(one.bytes_out, 3), one.target)));
        let agrees = *ramfs.out_range.start() > ext2.out_range.end() * (1.0 + MARGIN);
        let disagrees = *ramfs.out_range.end() < ext2.out_range.start() * (1.0 + MARGIN);
        Some(Statement {
            source: "Section 4.6.1",
            claim: "the first read after a write moves more modified data out of the L2 cache on \
                    ramfs than on ext2",
            published: "230 KB on ramfs, 66 KB on ext2",
            measured: measured.join("; "),
            outcome: Outcome::of_interval(agrees, disagrees),
            tolerance: Some("2 % more, or further, in every execution".to_owned()),
            why: None,
        })
    }

    fn read_on(&self, target: &str) -> Option<&TrafficRow> {
        self.rows.iter().find(|one| one.phase == READ && one.target == target)
    }
}

fn row(cell: &Cell, replicates: &[&Replicate]) -> Option<TrafficRow> {
    let counted = |what: &str| values(cell, replicates, &metric("l2", what));
    let median = |what: &str| Some(estimate(&counted(what))?.median);
    let out = counted(BYTES_OUT);
    let is_its = |(target, _): &&(&str, &str)| cell.benchmark == READ && *target == cell.target;
    Some(TrafficRow {
        phase: cell.benchmark.clone(),
        target: cell.target.clone(),
        published_out: PUBLISHED.iter().find(is_its).map(|(_, bytes)| *bytes),
        bytes_in: median(BYTES_IN)?,
        bytes_out: median(BYTES_OUT)?,
        dirty_bytes: median(DIRTY_BYTES)?,
        out_range: out.iter().copied().fold(f64::INFINITY, f64::min)
            ..=out.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(target: &str, range: RangeInclusive<f64>) -> TrafficRow {
        TrafficRow {
            phase: READ.to_owned(),
            target: target.to_owned(),
            published_out: None,
            bytes_in: 1e6,
            bytes_out: f64::midpoint(*range.start(), *range.end()),
            dirty_bytes: 0.0,
            out_range: range,
        }
    }

    fn traffic(rows: Vec<TrafficRow>) -> Traffic {
        Traffic { kernel: String::new(), cache_bytes: 256 << 10, executions: 3, rows }
    }

    fn outcome(ramfs: RangeInclusive<f64>, ext2: RangeInclusive<f64>) -> Outcome {
        let rows = vec![row("ramfs", ramfs), row("ext2", ext2), row("xfs", 7e4..=7e4)];
        let traffic = traffic(rows);
        let statement = traffic.statement().expect("both were counted");
        assert!(statement.measured.ends_with("on xfs"), "{}", statement.measured);
        statement.outcome
    }

    #[test]
    fn the_statement_holds_only_if_every_execution_agrees() {
        assert_eq!(outcome(2.3e5..=2.4e5, 6.6e4..=7e4), Outcome::Holds);
        assert_eq!(outcome(6.6e4..=7e4, 2.3e5..=2.4e5), Outcome::DoesNotHold);
        assert_eq!(outcome(6.6e4..=2.3e5, 6.6e4..=7e4), Outcome::Unknown);
        assert_eq!(outcome(1e5..=1e5, 1e5..=1e5), Outcome::DoesNotHold, "alike is not more");
    }

    #[test]
    fn without_both_there_is_no_statement() {
        let rows = vec![row("ramfs", 1.0..=2.0)];
        assert_eq!(traffic(rows).statement(), None);
    }
}
