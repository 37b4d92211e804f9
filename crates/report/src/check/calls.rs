//! Calls in addition to the operation itself.
//!
//! A random operation draws a number and seeks before it reads or writes, a sequential one does
//! not. At the speed of a cache this made random reads a fifth slower in the paper, until
//! sequential phases were padded with the same calls (its Figures 6 and 7). A run that has a phase
//! both ways shows what these calls cost, as the paper did. If it does not, or if the ratio is lost
//! in noise, the cost of one call is estimated from the machine's cheapest system call and the time
//! of a sequential operation. Cells of other benchmarks are reported if that call alone is more
//! than a quarter of the operation, as in their warning.

use record::{StandardMetric, Warning};

use super::cells::{CheckedCell, CheckedRun};
use super::text::{by_target, figure, largest};
use super::{Detection, Evidence, Finding, pairs};
use crate::analysis::MARGIN;
use crate::units::{self, Wording};
use textual::plural;

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let unpadded = unpadded(checked);
    let padded = pairs::compared(checked, pairs::padded_beside_unpadded(checked));
    let padded: Vec<&pairs::Pair<'_>> = padded
        .iter()
        .filter(|pair| pair.takes_longer() || pair.takes_no_longer())
        .filter(|pair| unpadded.iter().any(|one| pair.over.is(one)))
        .collect();
    let is_shown = |one: &&&CheckedCell<'_>| padded.iter().any(|pair| pair.over.is(one));
    let estimated: Vec<_> = unpadded.iter().filter(|one| !is_shown(one)).copied().collect();
    let findings = shown_by_padding(checked, &padded)
        .into_iter()
        .chain(estimated_by_a_call(checked, &estimated))
        .chain(dominated(checked))
        .collect();
    Detection { findings, ..Detection::default() }
}

/// Sequential phases that make fewer calls than the corresponding random ones.
fn unpadded<'a>(checked: &'a CheckedRun<'a>) -> Vec<&'a CheckedCell<'a>> {
    let mut found: Vec<&CheckedCell<'_>> = Vec::new();
    let beside = pairs::random_beside_sequential(checked);
    for sequential in beside.into_iter().flat_map(|(_, sequential)| sequential) {
        let is_padded = sequential.sprite_lfs().is_none_or(|options| options.pad_calls);
        if !is_padded && !found.iter().any(|one| one.is(sequential)) {
            found.push(sequential);
        }
    }
    found
}

/// Phases that take longer with these calls.
fn shown_by_padding(checked: &CheckedRun<'_>, padded: &[&pairs::Pair<'_>]) -> Option<Finding> {
    let longer: Vec<_> = padded.iter().filter(|pair| pair.takes_longer()).collect();
    // The finding is about the phase that lacks the calls.
    let of_unpadded = |pair: &&&pairs::Pair<'_>| {
        let benchmark = Some(pair.over.cell().benchmark.clone());
        Some(Evidence { benchmark, ..pair.evidence("padded_over_unpadded")? })
    };
    let evidence: Vec<Evidence> = longer.iter().filter_map(of_unpadded).collect();
    let cells: Vec<_> = longer.iter().map(|pair| pair.over).collect();
    cells.first()?;
    let message = format!(
        "random operations seek and draw a number first, sequential ones do not; with the same \
         calls, a sequential phase takes up to {} its time without them",
        by_target(&largest(&evidence))
    );
    Some(Finding::in_cells(&cells, message, evidence, checked.sprite_lfs("--pad-calls")))
}

/// Cells in which a call is a relevant part of the operation.
fn estimated_by_a_call(checked: &CheckedRun<'_>, cells: &[&CheckedCell<'_>]) -> Option<Finding> {
    let call_ns = checked.manifest.clock.system_call_ns;
    let share = |one| share(one, call_ns).filter(|share| share.value > MARGIN * 100.0);
    let found = cells.iter().filter_map(|&one| Some((one, share(one)?)));
    let (cells, evidence): (Vec<_>, Vec<_>) = found.unzip();
    cells.first()?;
    let call = units::figure("ns", call_ns, None, Wording::Full).value;
    let message = format!(
        "random operations seek and draw a number first, sequential ones do not; a system call \
         takes {call}, of a sequential operation up to {}",
        by_target(&largest(&evidence))
    );
    Some(Finding::in_cells(&cells, message, evidence, checked.sprite_lfs("--pad-calls")))
}

/// The share of a call in the cell's operation, in percent.
fn share(cell: &CheckedCell<'_>, call_ns: f64) -> Option<Evidence> {
    let time = cell.report.metric(StandardMetric::TIME_PER_OPERATION)?;
    let percent = |time_ns: f64| 100.0 * call_ns / time_ns;
    let interval = time.interval.map(|one| record::IntervalReport {
        low: percent(one.high),
        high: percent(one.low),
        ..one
    });
    let share = cell.evidence("call_over_operation", "%", percent(time.median));
    (time.median > 0.0).then(|| share.within(interval))
}

/// Cells in which the call is more than a quarter of the operation.
fn dominated(checked: &CheckedRun<'_>) -> Option<Finding> {
    let share = |one: &CheckedCell<'_>| {
        one.report.warnings.iter().find_map(|report| {
            let Warning::CallOverheadDominates { call_ns, operation_ns } = report.warning else {
                return None;
            };
            let percent = 100.0 * call_ns / operation_ns;
            Some(one.evidence("call_over_operation", "%", percent))
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
    fn a_phase_that_is_there_padded_as_well_shows_what_the_calls_take() {
        let of = |padding_ns: f64| {
            let mut phases = Phases::published();
            phases.padding_ns = Some(padding_ns);
            outcome(&phases, Mistake::CallOverhead)
        };
        let found = of(120.0);
        assert_eq!(found.outcome, Outcome::Found);
        let [finding] = found.findings.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            finding.benchmarks,
            ["sequential-write", "sequential-read", "sequential-read-again"]
        );
        let (evidence, message) = (&finding.evidence[0], &finding.message);
        assert_eq!(evidence.name, "padded_over_unpadded");
        assert_eq!(evidence.benchmark.as_deref(), Some("sequential-write"));
        assert!((evidence.value - 1.12).abs() < 0.01 && evidence.interval.is_some(), "{found:?}");
        assert!(message.contains("with the same calls, a sequential phase takes"), "{message}");
        // The measured ratio counts, not the estimate that a call is a fifth of the operation.
        assert_eq!(of(0.0).outcome, Outcome::Passed);
    }

    #[test]
    fn a_ratio_that_cannot_be_told_leaves_the_estimate() {
        let is_estimated = |phases: &Phases| {
            let found = outcome(phases, Mistake::CallOverhead);
            found.findings[0].evidence[0].name == "call_over_operation"
        };
        let mut phases = Phases::published();
        (phases.padding_ns, phases.blocks) = (Some(120.0), 3);
        assert!(is_estimated(&phases), "three blocks");
        phases.blocks = 8;
        assert!(!is_estimated(&phases), "eight");
        phases.noise = Some(0.5);
        assert!(is_estimated(&phases), "eight noisy ones");
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
