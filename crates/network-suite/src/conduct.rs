//! The course of a run: rounds of all benchmarks in all states, each of them proved.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lab::rig::RigError;
use network_guest::task::Task;
use network_guest::{CachePlace, Version};

use crate::attempts::{self, ChainTurn, ProvedState};
use crate::chain::{Chain, round};
use crate::forecast::Forecast;
use crate::observation::{MeasuredReplicate, ServerCounters};
use crate::plan::{NetworkBenchmark, Plan};
use crate::proof::prove_all;
use crate::read_content::ReadContent;
use crate::recorder::RunRecorder;
use crate::rig::{JointMeasurement, NetworkRig};
use crate::state::NetworkState;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All blocks are done.
    Done,
    /// The caller asked to stop; what had been measured is kept.
    Stopped,
}

/// Why a replicate in guests does not count.
pub(crate) type Lost = attempts::Lost<RigError>;

impl From<RigError> for Lost {
    fn from(error: RigError) -> Self {
        if error.is_of_guest() { Self::Replicate(error.to_string()) } else { Self::Run(error) }
    }
}

/// Measures everything in a plan with a rig whose server is serving, and records each replicate as
/// it comes. Calls `say` with a message about each.
///
/// # Errors
/// If the rig or the run directory cannot be used any more.
pub fn conduct(
    rig: &mut NetworkRig,
    recorder: &mut RunRecorder<'_>,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
) -> Result<Ended, RunLost> {
    let plan = recorder.plan().clone();
    let round = round(&plan);
    let mut forecast = Forecast::new(&plan, &round);
    let mut conductor =
        Conductor { rig, plan: &plan, say, changes: 0, content: ReadContent::default() };
    let time = |seconds: f64| format!("{seconds:.2} s (emulated)");
    for block in 0..plan.runs {
        for (benchmark, chain) in &round {
            if stop.load(Ordering::Relaxed) {
                return Ok(Ended::Stopped);
            }
            if let Some(left) = forecast.left() {
                say(&left);
            }
            let begun = Instant::now();
            let (benchmark, targets) = (*benchmark, &chain.targets);
            let turn = ChainTurn { block, benchmark, targets, say, time };
            let attempt =
                |proved: &mut Vec<ProvedState>| conductor.attempt(benchmark, chain, proved);
            match attempts::measure(recorder, &turn, attempt) {
                Err(RunLost::Rig(RigError::Stopped)) => return Ok(Ended::Stopped),
                other => other?,
            }
            forecast.note(begun.elapsed().as_secs_f64());
        }
    }
    Ok(Ended::Done)
}

/// Why a run cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunLost {
    /// The rig cannot be used.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The run directory cannot be written.
    #[error(transparent)]
    Record(#[from] record::RecordError),
}

struct Conductor<'a> {
    rig: &'a mut NetworkRig,
    plan: &'a Plan,
    say: &'a dyn Fn(&str),
    /// How often the file on the server has been changed.
    changes: u64,
    content: ReadContent,
}

/// A client's cache.
#[derive(Clone, Copy)]
struct Cache<'a> {
    /// The file system that it is on.
    file_system: &'a str,
    /// Whether it is made anew, or the one of the last boot is used again.
    is_new: bool,
}

type UnprovedState = attempts::UnprovedState<RigError>;

impl Conductor<'_> {
    /// Makes the states of a chain one after another, and adds those that are proved to `proved`.
    fn attempt(
        &mut self,
        benchmark: NetworkBenchmark,
        chain: &Chain,
        proved: &mut Vec<ProvedState>,
    ) -> Result<(), UnprovedState> {
        let first = chain.targets[0].state;
        if !self.rig.is_serving() {
            (self.say)("booting the server");
            self.content.forget();
            self.rig.serve(self.plan).map_err(|error| (first, error.into()))?;
        }
        let outcome = match chain.version {
            None => self.on_server(benchmark, proved),
            Some(version) => self.on_client(benchmark, version, chain, proved),
        };
        self.rig.give_clients_up();
        outcome
    }

    fn on_server(
        &mut self,
        benchmark: NetworkBenchmark,
        proved: &mut Vec<ProvedState>,
    ) -> Result<(), UnprovedState> {
        let measured = self.rig.perform_locally(benchmark.task());
        let measured = measured.map_err(|error| (NetworkState::Server, error.into()))?;
        let server =
            ServerCounters { before: measured.before.clone(), after: measured.after.clone() };
        let replicate = MeasuredReplicate::new(vec![measured], server);
        self.prove(benchmark, NetworkState::Server, replicate, proved)
    }

    /// Makes the states of a client. The hot state needs a cold one before it, and the page cache
    /// needs any other, whether they were asked for or not.
    fn on_client(
        &mut self,
        benchmark: NetworkBenchmark,
        version: Version,
        chain: &Chain,
        proved: &mut Vec<ProvedState>,
    ) -> Result<(), UnprovedState> {
        if benchmark == NetworkBenchmark::Coherence
            && let Some(file_system) = &chain.cache
        {
            return self.coherence(version, file_system, proved);
        }
        let wants = |state| chain.targets.iter().any(|target| target.state == state);
        let Some(file_system) = &chain.cache else {
            return self.boot_once(benchmark, version, None, &[NetworkState::None], proved);
        };
        if !benchmark.has(NetworkState::Cold) {
            let states = [NetworkState::None, NetworkState::PageCache];
            return self.boot_once(benchmark, version, None, &states, proved);
        }
        let (is_hot, page_cache) = (wants(NetworkState::Hot), wants(NetworkState::PageCache));
        let page_cache = page_cache.then_some(NetworkState::PageCache);
        let mut states = vec![NetworkState::Cold];
        states.extend(page_cache.filter(|_| !is_hot));
        let new = Cache { file_system, is_new: true };
        let kept = Cache { file_system, is_new: false };
        self.boot_once(benchmark, version, Some(new), &states, proved)?;
        if is_hot {
            let states: Vec<NetworkState> =
                [NetworkState::Hot].into_iter().chain(page_cache).collect();
            self.boot_once(benchmark, version, Some(kept), &states, proved)?;
        }
        Ok(())
    }

    /// Lets the client cache the large file, the server change it, and the client read it again:
    /// the client must see the new bytes.
    fn coherence(
        &mut self,
        version: Version,
        file_system: &str,
        proved: &mut Vec<ProvedState>,
    ) -> Result<(), UnprovedState> {
        let (cold, hot) = (NetworkState::Cold, NetworkState::Hot);
        let mut before = Vec::new();
        let cache = |is_new| Some(Cache { file_system, is_new });
        self.boot_once(NetworkBenchmark::File, version, cache(true), &[cold], &mut before)?;
        self.changes += 1;
        self.content.forget();
        let change = self.plan.content.seed.wrapping_add(self.changes);
        let changed = self.rig.change(change).map_err(|error| (hot, error.into()))?;
        let sum =
            |proved: &[ProvedState]| proved.first().map(|(_, one)| one.readers[0].measured.did.sum);
        if sum(&before) == Some(changed) {
            return Err((hot, Lost::Replicate("the server's file did not change".to_owned())));
        }
        let mut after = Vec::new();
        self.boot_once(NetworkBenchmark::Coherence, version, cache(false), &[hot], &mut after)?;
        if sum(&after) != Some(changed) {
            let why = "the client did not see the new bytes: its cache is stale".to_owned();
            return Err((hot, Lost::Replicate(why)));
        }
        proved.append(&mut after);
        Ok(())
    }

    /// Boots the clients and runs the benchmark once for each state, then lets the caches settle.
    fn boot_once(
        &mut self,
        benchmark: NetworkBenchmark,
        version: Version,
        cache: Option<Cache<'_>>,
        states: &[NetworkState],
        proved: &mut Vec<ProvedState>,
    ) -> Result<(), UnprovedState> {
        let first = states[0];
        let of_first = |error: RigError| (first, Lost::from(error));
        self.rig.boot_clients(benchmark.clients()).map_err(of_first)?;
        if let Some(Cache { file_system, is_new }) = cache {
            let place = benchmark.cache_place(file_system, self.plan.limits);
            let is_timed = benchmark.times_cache(self.plan.counts);
            let place = CachePlace { is_timed, ..place };
            self.rig.start_caches(&place, is_new).map_err(of_first)?;
        }
        self.rig.mount(version).map_err(of_first)?;
        let mut replicates = Vec::new();
        for &state in states {
            if benchmark == NetworkBenchmark::Rewrite {
                self.content.forget();
            }
            let performed = self.rig.perform(benchmark.task());
            let JointMeasurement { measured, server } =
                performed.map_err(|error| (state, Lost::from(error)))?;
            if benchmark == NetworkBenchmark::Cull {
                self.check_content().map_err(|lost| (state, lost))?;
            }
            replicates.push((state, MeasuredReplicate::new(measured, server)));
        }
        let settled = self.rig.settle().map_err(of_first)?;
        self.rig.end_clients().map_err(of_first)?;
        // What is read once more, from memory, leaves the caches as they are.
        for (_, replicate) in &mut replicates {
            for (reader, settled) in replicate.readers.iter_mut().zip(&settled) {
                reader.settled = Some(settled.clone());
            }
        }
        replicates
            .into_iter()
            .try_for_each(|(state, replicate)| self.prove(benchmark, state, replicate, proved))
    }

    /// Checks that what the client has read is, byte by byte, what the server has. What the client
    /// reads here is what it has just read, from its memory.
    fn check_content(&mut self) -> Result<(), Lost> {
        let here = self.rig.perform(Task::SumTree)?.measured;
        let there = self.rig.perform_locally(Task::SumTree)?;
        if here.iter().all(|one| one.did == there.did) {
            return Ok(());
        }
        Err(Lost::Replicate("the client did not read what the server has".to_owned()))
    }

    fn prove(
        &mut self,
        benchmark: NetworkBenchmark,
        state: NetworkState,
        replicate: MeasuredReplicate,
        proved: &mut Vec<ProvedState>,
    ) -> Result<(), UnprovedState> {
        let content_bytes = benchmark.bytes(&self.plan.content);
        let outcome = prove_all(state, benchmark, content_bytes, &replicate.readers);
        let sum = replicate.readers.first().map_or(0, |one| one.measured.did.sum);
        let outcome = outcome.and_then(|()| self.content.compare(benchmark, sum));
        outcome.map_err(|why| (state, Lost::Replicate(why)))?;
        proved.push((state, replicate));
        Ok(())
    }
}
