//! Executes operations until they reach a steady state, before the measured ones.

use record::Warning;
use runner::Failure;
use stats::steady_state::{Detector, Rule};
use workload::{FileSet, Workload};

use super::Execution;
use crate::failure::failed;

/// Rounds after which it is measured anyway, with a warning: the number that the SNIA allows.
const ROUNDS_MAX: u64 = 25;

/// Executes rounds of the operations until their rates neither spread nor drift, by the SNIA's
/// rule. A round is a fifth of a replicate, so that a window of rounds is as long as what follows.
/// Returns a warning if the rates never settle.
pub(crate) fn until_steady(
    of: &Execution<'_>,
    file_set: &FileSet,
) -> Result<Option<Warning>, Failure> {
    if !of.of.length.until_steady || !of.counts {
        return Ok(None);
    }
    let rule = Rule::default();
    let mut detector = Detector::new(rule).map_err(|refusal| failed(&refusal))?;
    let batch = of.workload.batch as u64;
    let operations = of.workload.operations_per_thread / rule.rounds as u64;
    let round = Workload {
        operations_per_thread: (operations / batch).max(1) * batch,
        start_operations: 0,
        ..of.workload.clone()
    };
    let mut last = None;
    for number in 1..=ROUNDS_MAX {
        let mut session = workload::prepare(&round, file_set, of.seed ^ number.rotate_left(32))
            .map_err(|error| of.engine_failure(&error))?;
        let outcome = of.timed(&mut session)?;
        if outcome.interrupted {
            return Err(Failure::Interrupted);
        }
        last = detector.observe(outcome.rate_per_s).map_err(|refusal| failed(&refusal))?;
        if last.is_some_and(|state| state.steady) {
            return Ok(None);
        }
    }
    Ok(last.map(|state| Warning::NoSteadyState {
        range_percent: state.range_percent,
        excursion_percent: state.excursion_percent,
    }))
}
