//! What the time of a run was spent on, according to its journal.

use record::{Line, Run, Spending};

/// The sum over all parts; `None` if the journal does not record it, as in earlier versions.
pub(super) fn for_run(run: &Run) -> Option<Spending> {
    let mut spending = Spending::default();
    let mut is_recorded = false;
    for line in &run.lines {
        match line {
            Line::Block(block) => spending.targets_s += block.making_s,
            Line::Planned(planned) => {
                spending.pilot_s += planned.pilot_s;
                spending.all_s = spending.all_s.max(planned.at_s);
            }
            Line::Replicate(replicate) => {
                let Some(spent) = replicate.spent else { continue };
                is_recorded = true;
                spending.timed_s += spent.timed_ns as f64 / 1e9;
                spending.states_s += spent.state_ns as f64 / 1e9;
                spending.proofs_s += spent.proof_ns as f64 / 1e9;
                spending.undoing_s += spent.undo_ns as f64 / 1e9;
                let end_s = replicate.at_s + spent.turn_ns as f64 / 1e9;
                spending.all_s = spending.all_s.max(end_s);
            }
            Line::End(end) => spending.all_s = spending.all_s.max(end.used_s),
            Line::Start(_)
            | Line::Search(_)
            | Line::CellAdded(_)
            | Line::Discarded(_)
            | Line::Waited(_)
            | Line::CellFailed(_) => {}
        }
    }
    let Spending { timed_s, states_s, targets_s, proofs_s, undoing_s, pilot_s, .. } = spending;
    let known_s = timed_s + states_s + targets_s + proofs_s + undoing_s + pilot_s;
    spending.other_s = (spending.all_s - known_s).max(0.0);
    is_recorded.then_some(spending)
}

#[cfg(test)]
mod tests {
    use record::{Block, Spent};

    use super::*;
    use crate::sample::Sample;

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
    fn every_part_is_added_up_and_the_rest_is_said_to_be_other() {
        let mut sample = Sample::new(&["a"]).benchmark("create", &[&[1.0; 2]]).ended();
        assert_eq!(for_run(&sample.run), None, "of runs before it was recorded");
        for line in &mut sample.run.lines {
            match line {
                Line::Replicate(replicate) => {
                    replicate.spent = Some(Spent {
                        timed_ns: 2_000_000_000,
                        state_ns: 1_000_000_000,
                        proof_ns: 500_000_000,
                        undo_ns: 250_000_000,
                        turn_ns: 4_000_000_000,
                    });
                }
                Line::End(end) => end.used_s = 20.0,
                _ => {}
            }
        }
        let block = Block { block: 0, at_s: 1.0, making_s: 3.0, cells: None };
        sample.run.lines.insert(0, Line::Block(block));
        let found = for_run(&sample.run).expect("it is recorded");
        assert_eq!((found.all_s, found.timed_s, found.targets_s), (20.0, 4.0, 3.0));
        assert_eq!((found.proofs_s, found.undoing_s), (1.0, 0.5));
        assert!((found.other_s - 9.5).abs() < 1e-9, "{found:?}");
    }
}
