//! A machine that other programs keep busy.
//!
//! Whatever runs at the same time competes for processors, caches and the disk, and does not affect
//! all targets equally. Replicates that were kept although other programs were in their way have
//! the cell's warning; a run from before that warning existed cannot tell.

use record::Warning;

use super::cells::{CheckedCell, CheckedRun};
use super::{Detection, Evidence, Finding};
use crate::analysis;
use textual::plural;

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let mut replicates = checked.cells.iter().flat_map(|one| one.gathered.replicates.values());
    if replicates.all(|replicate| replicate.neighbours.is_none()) {
        let untold = "the run does not record what else the machine did: measure again";
        return Detection { untold: Some(untold.to_owned()), ..Detection::default() };
    }
    let found: Vec<(&CheckedCell<'_>, Evidence)> =
        checked.cells.iter().filter_map(|one| Some((one, evidence(one)?))).collect();
    let all = checked.cells.iter().map(|one| &one.gathered);
    let Some(Warning::BusyMachine { replicates, of, who, .. }) = analysis::busy(all) else {
        return Detection::default();
    };
    let message = format!(
        "{replicates} of {}, in {}, were measured while the machine was busy: {who}",
        plural(of as usize, "replicate"),
        plural(found.len(), "cell")
    );
    let avoid = "an idle machine (--on-busy refuse ends a run on a busy one)".to_owned();
    let (cells, evidence): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let finding = Finding::in_cells(&cells, message, evidence, avoid);
    Detection { findings: vec![finding], ..Detection::default() }
}

/// How many of a cell's replicates are marked as disturbed.
fn evidence(one: &CheckedCell<'_>) -> Option<Evidence> {
    one.report.warnings.iter().find_map(|report| {
        let Warning::BusyMachine { replicates, .. } = report.warning else { return None };
        Some(one.evidence("busy_replicates", "count", f64::from(replicates)))
    })
}

#[cfg(test)]
mod tests {
    use crate::check::sample::outcome_of;
    use crate::check::{Mistake, Outcome};
    use crate::sample::{Sample, around};

    #[test]
    fn what_others_were_in_the_way_of_is_found_and_what_is_not_recorded_cannot_be_told() {
        let sample = || Sample::new(&["ext4"]).benchmark("read", &[&around(1e5, 6)]);
        let of = |sample: &Sample| outcome_of(sample, Mistake::BusyMachine);
        assert_eq!(of(&sample()).outcome, Outcome::Passed);
        let found = of(&sample().busy_before(2));
        assert_eq!(found.outcome, Outcome::Found);
        let finding = &found.findings[0];
        assert!(finding.message.starts_with("2 of 6 replicates, in 1 cell, were"), "{finding:?}");
        assert_eq!(finding.benchmarks, ["read"]);
        let mut old = sample();
        for line in &mut old.run.lines {
            if let record::Line::Replicate(replicate) = line {
                replicate.neighbours = None;
            }
        }
        assert_eq!(of(&old).outcome, Outcome::CannotTell);
    }
}
