//! What the replicates of a run of the suite `fscache` counted, and what was left out.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use textual::grouped;

use crate::{Cell, Line, Replicate, Run};

/// A count over replicates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Counted {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Counted {
    /// Of values in any order; none of none.
    #[must_use]
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let (&least, &most) = (values.first()?, values.last()?);
        let middle = values.len() / 2;
        let median = match values.len().is_multiple_of(2) {
            true => f64::midpoint(values[middle - 1], values[middle]),
            false => values[middle],
        };
        Some(Self { median, least, most })
    }
}

/// The median, and where they differ the smallest and the largest.
impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, least, most } = self;
        f.write_str(&grouped(*median))?;
        if least < most { write!(f, " [{}, {}]", grouped(*least), grouped(*most)) } else { Ok(()) }
    }
}

/// The values of a metric in replicates of a cell.
#[must_use]
pub fn values(cell: &Cell, replicates: &[&Replicate], name: &str) -> Vec<f64> {
    let place = cell.metrics.iter().position(|metric| metric.name == name);
    replicates.iter().filter_map(|one| one.metrics.get(place?).copied()).collect()
}

/// What was left out benchmark by benchmark, not measured, or thrown away, and why.
#[must_use]
pub fn left_out(run: &Run) -> Vec<String> {
    let cells = run.cells();
    let name = |cell: u32| {
        let cell = cells.get(cell as usize);
        cell.map_or_else(String::new, |cell| format!("{} {}", cell.benchmark, cell.target))
    };
    let mut lines: Vec<(String, u32)> = Vec::new();
    for line in &run.lines {
        let text = if let Line::CellFailed(failed) = line {
            format!("{}: not measured: {}", name(failed.cell), failed.why)
        } else if let Line::Discarded(one) = line {
            format!("{}: discarded: {}", name(one.cell), one.why)
        } else {
            continue;
        };
        match lines.iter_mut().find(|(same, _)| *same == text) {
            Some((_, times)) => *times += 1,
            None => lines.push((text, 1)),
        }
    }
    let counted = |(text, times): (String, u32)| match times {
        1 => text,
        times => format!("{text} ({times} times)"),
    };
    skipped(run).into_iter().chain(lines.into_iter().map(counted)).collect()
}

/// What was left out, benchmark by benchmark.
fn skipped(run: &Run) -> Vec<String> {
    let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for skipped in &run.manifest.skipped {
        let (target, benchmark) = skipped.target.rsplit_once(": ").unwrap_or((&skipped.target, ""));
        let why = skipped.why.as_str();
        match groups.iter_mut().find(|(of, reason, _)| (*of, *reason) == (benchmark, why)) {
            Some((_, _, targets)) => targets.push(target),
            None => groups.push((benchmark, why, vec![target])),
        }
    }
    let line = |(benchmark, why, targets): (&str, &str, Vec<&str>)| {
        format!("{benchmark} left out for {}: {why}", targets.join(", "))
    };
    groups.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_says_how_far_replicates_differ() {
        let of = |values: &[f64]| Counted::from_values(values).map(|counted| counted.to_string());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[1630.0; 3]).as_deref(), Some("1,630"));
        assert_eq!(of(&[5.0, 1.0, 3.0]).as_deref(), Some("3 [1, 5]"));
        assert_eq!(of(&[4.0, 1.0]).as_deref(), Some("2.5 [1, 4]"));
    }
}
