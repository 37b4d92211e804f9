//! Attempts at the states of a chain, repeated until each is proved.

use record::RecordError;
use runner::ATTEMPTS;

use crate::observation::MeasuredReplicate;
use crate::plan::{NetworkBenchmark, Target};
use crate::recorder::RunRecorder;
use crate::state::NetworkState;

/// Why a replicate does not count.
pub(crate) enum Lost<E> {
    /// Its state was not proved, or making it failed.
    Replicate(String),
    /// The run cannot continue.
    Run(E),
}

/// A state that was proved, and what was measured in it.
pub(crate) type ProvedState = (NetworkState, MeasuredReplicate);
/// A state that was not proved, and why.
pub(crate) type UnprovedState<E> = (NetworkState, Lost<E>);

/// What to measure, and how to report it.
pub(crate) struct ChainTurn<'a> {
    pub(crate) block: u32,
    pub(crate) benchmark: NetworkBenchmark,
    /// The targets of the chain.
    pub(crate) targets: &'a [Target],
    /// Called with a message about each replicate.
    pub(crate) say: &'a dyn Fn(&str),
    /// Formats a time in seconds.
    pub(crate) time: fn(f64) -> String,
}

/// Calls `attempt`, which makes the states of a chain one after another, and records what it
/// proved, until all states are proved or the attempts are used up.
pub(crate) fn measure<A, E: From<A> + From<RecordError>>(
    recorder: &mut RunRecorder<'_>,
    ChainTurn { block, benchmark, targets, say, time }: &ChainTurn<'_>,
    mut attempt: impl FnMut(&mut Vec<ProvedState>) -> Result<(), UnprovedState<A>>,
) -> Result<(), E> {
    let (block, benchmark) = (*block, *benchmark);
    let mut open: Vec<&Target> = targets.iter().collect();
    for number in 1..=ATTEMPTS {
        let mut proved = Vec::new();
        let outcome = attempt(&mut proved);
        for (state, replicate) in &proved {
            let found = open.iter().position(|target| target.state == *state);
            let Some(target) = found.map(|place| open.remove(place)) else { continue };
            recorder.keep(block, number, benchmark, target, replicate)?;
            let time = time(replicate.elapsed_ns() as f64 / 1e9);
            say(&format!("run {}: {} {target}: {time}", block + 1, benchmark.name()));
        }
        let (state, why) = match outcome {
            Ok(()) => break,
            Err((_, Lost::Run(error))) => return Err(error.into()),
            Err((state, Lost::Replicate(why))) => (state, why),
        };
        // If the state is not a target itself but only leads to others, the first of them is
        // discarded.
        let of_state = open.iter().find(|target| target.state == state);
        let Some(&target) = of_state.or(open.first()) else { break };
        say(&format!("{} {target}: discarded: {why}", benchmark.name()));
        recorder.discard(block, number, benchmark, target, &why)?;
        if number == ATTEMPTS {
            recorder.give_up(block, benchmark, &open, &why)?;
        }
    }
    Ok(())
}
