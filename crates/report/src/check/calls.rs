//! Calls beside the operation itself.
//!
//! A random operation draws a number and seeks before it reads or writes, a sequential one does
//! not; at the speed of a cache this made random reads a fifth slower in the paper, until
//! sequential phases were padded with the same calls (its Figures 6 and 7). How large a part one
//! call is follows from the cheapest system call of the machine and the time of a sequential
//! operation. Cells of other benchmarks are told where that call alone is over a quarter of the
//! operation, as in their warning.

use record::{StandardMetric, Warning};

use super::cells::{Checked, CheckedCell};
use super::text::{by_target, figure, largest};
use super::{Evidence, Finding, Looked, pairs};
use crate::analysis::MARGIN;
use crate::terminal::units::{self, Wording};
use textual::plural;

pub(super) fn look(checked: &Checked<'_>) -> Looked {
    let findings = unpadded(checked).into_iter().chain(dominated(checked)).collect();
    Looked { findings, ..Looked::default() }
}

/// Sequential phases that make fewer calls than the random ones beside them.
fn unpadded(checked: &Checked<'_>) -> Option<Finding> {
    let call_ns = checked.manifest.clock.system_call_ns;
    let mut found: Vec<(&CheckedCell<'_>, Evidence)> = Vec::new();
    let beside = pairs::random_beside_sequential(checked);
    for sequential in beside.into_iter().flat_map(|(_, sequential)| sequential) {
        let is_padded = sequential.sprite_lfs().is_none_or(|options| options.pad_calls);
        let is_known = found.iter().any(|(one, _)| one.gathered.index == sequential.gathered.index);
        if is_padded || is_known {
            continue;
        }
        let evidence = share(sequential, call_ns).filter(|one| one.value > MARGIN * 100.0);
        found.extend(evidence.map(|evidence| (sequential, evidence)));
    }
    let (cells, evidence): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    cells.first()?;
    let call = units::figure("ns", call_ns, None, Wording::Full).value;
    let message = format!(
        "random operations seek and draw a number first, sequential ones do not; a system call \
         takes {call}, of a sequential operation up to {}",
        by_target(&largest(&evidence))
    );
    let avoid = checked.sprite_lfs("--pad-calls");
    Some(Finding::in_cells(&cells, message, evidence, avoid))
}

/// What share of the cell's operation a call is, in percent.
fn share(cell: &CheckedCell<'_>, call_ns: f64) -> Option<Evidence> {
    let time = cell.report.metric(StandardMetric::TIME_PER_OPERATION)?;
    let percent = |time_ns: f64| 100.0 * call_ns / time_ns;
    let interval = time.interval.map(|one| record::IntervalReport {
        low: percent(one.high),
        high: percent(one.low),
        ..one
    });
    let share = cell.evidence(("call_over_operation", "%"), percent(time.median));
    (time.median > 0.0).then(|| share.within(interval))
}

/// Cells of which the call is more than a quarter.
fn dominated(checked: &Checked<'_>) -> Option<Finding> {
    let share = |one: &CheckedCell<'_>| {
        one.report.warnings.iter().find_map(|report| {
            let Warning::CallOverheadDominates { call_ns, operation_ns } = report.warning else {
                return None;
            };
            let percent = 100.0 * call_ns / operation_ns;
            Some(one.evidence(("call_over_operation", "%"), percent))
        })
    };
    let mut all: Vec<(&CheckedCell<'_>, Evidence)> =
        checked.cells.iter().filter_map(|one| Some((one, share(one)?))).collect();
    all.sort_by(|one, other| other.1.value.total_cmp(&one.1.value));
    let (cells, evidence): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let most = cells.first()?;
    let others = match cells.len() {
        1 => String::new(),
        several => format!(" (the most of {})", plural(several, "cell")),
    };
    let message = format!(
        "{}: the cheapest system call takes {} of the operation's time{others}",
        most.place(),
        figure(&evidence[0])
    );
    let avoid = "judge the cost of data by larger requests".to_owned();
    Some(Finding::in_cells(&cells, message, evidence, avoid))
}

#[cfg(test)]
mod tests {
    use crate::check::sample::{Phases, outcome, outcome_of};
    use crate::check::{Mistake, Outcome};
    use crate::sample::Sample;

    #[test]
    fn sequential_phases_without_the_calls_of_random_ones_are_found() {
        let found = outcome(&Phases::published(), Mistake::CallOverhead);
        assert_eq!(found.outcome, Outcome::Found);
        let finding = &found.findings[0];
        assert_eq!(finding.avoid, "--pad-calls");
        assert_eq!(
            finding.benchmarks,
            ["sequential-write", "sequential-read", "sequential-read-again"]
        );
        // A call takes 213 ns, an operation 1000.
        assert!((finding.evidence[0].value - 21.3).abs() < 0.3, "{finding:?}");
        let padded = outcome(&Phases::corrected(), Mistake::CallOverhead);
        assert_eq!(padded.outcome, Outcome::Passed);
    }

    #[test]
    fn what_a_call_is_little_of_is_not_found() {
        let mut phases = Phases::published();
        phases.times = [100_000.0; 5];
        assert_eq!(outcome(&phases, Mistake::CallOverhead).outcome, Outcome::Passed);
    }

    #[test]
    fn a_call_of_more_than_a_quarter_is_told_of_any_cell() {
        let of = |time_ns: f64| {
            let sample = Sample::new(&["tmpfs"]).benchmark("stat", &[&[time_ns; 6]]);
            outcome_of(&sample, Mistake::CallOverhead)
        };
        let found = of(400.0);
        assert_eq!(found.outcome, Outcome::Found);
        let words = "stat (tmpfs): the cheapest system call takes 53.2%";
        assert!(found.findings[0].message.replace(" %", "%").contains(words), "{found:?}");
        assert_eq!(of(4000.0).outcome, Outcome::Passed);
    }
}
