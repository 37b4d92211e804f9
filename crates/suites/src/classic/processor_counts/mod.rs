//! Counts by the processor itself during a phase: bytes into and out of its L2 cache, and
//! misaligned accesses, as in the paper on memory-rich environments.
//!
//! No event is trusted by its name. Each is first counted during work whose events are known; if
//! the count does not agree, it is not used.

mod events;
mod trial;

use std::sync::OnceLock;

use machine::describe::describe;
use measure::{CountersError, ProcessorCounters, RawEvent};
use record::machine::{Cache, CacheKind};
use record::{CacheEvidence, MetricDefinition, ProcessorCount};
use runner::Failure;
use thiserror::Error;

use self::events::candidates;
use self::trial::EventTrial;
use super::ClassicError;
use crate::failure::failed;

/// Size of the second-level cache and its lines, if the machine does not report one.
const L2_BYTES: usize = 4 << 20;
const LINE_BYTES: usize = 64;
/// An upper bound on its size.
const L2_BYTES_MAX: usize = 64 << 20;
/// The sizes that cache lines have.
const LINES_BYTES: [usize; 4] = [32, 64, 128, 256];

/// Why this machine's processor cannot count anything.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "--counters needs the processor's counters, but {why}: leave it out, or simulate caches with \
     run sprite-lfs --cache-traffic"
)]
pub struct NoCounters {
    why: String,
}

/// What this machine's processor can count, tried once per process.
///
/// # Errors
/// If it cannot count anything, or this process may not read its counters.
pub fn available() -> Result<Vec<ProcessorCount>, NoCounters> {
    Ok(verified()?.iter().map(|(count, _)| *count).collect())
}

/// Checks that this machine's processor can count all of this.
pub(super) fn check(counts: &[ProcessorCount]) -> Result<(), ClassicError> {
    if counts.is_empty() {
        return Ok(());
    }
    let verified = verified().map_err(|none| ClassicError::NotCounted { why: none.why })?;
    let is_verified = |count: &ProcessorCount| verified.iter().any(|(one, _)| one == count);
    match counts.iter().find(|count| !is_verified(count)) {
        Some(count) => {
            let why = format!("this one does not count {}", count.words());
            Err(ClassicError::NotCounted { why })
        }
        None => Ok(()),
    }
}

/// The events that were tried and count correctly.
fn verified() -> Result<&'static [(ProcessorCount, RawEvent)], NoCounters> {
    static VERIFIED: OnceLock<Result<Vec<(ProcessorCount, RawEvent)>, NoCounters>> =
        OnceLock::new();
    VERIFIED.get_or_init(find).as_deref().map_err(Clone::clone)
}

fn find() -> Result<Vec<(ProcessorCount, RawEvent)>, NoCounters> {
    let machine = describe();
    let none = |why: &str| NoCounters { why: why.to_owned() };
    let vendor = machine.processor.vendor.as_deref().unwrap_or_default();
    let (cache_bytes, line_bytes) = second_level(&machine.caches);
    let mut trial = EventTrial::new(cache_bytes, line_bytes);
    let mut lacking = None;
    let mut agrees = |what: ProcessorCount, event: RawEvent| {
        trial.agrees(what, |trial, act| match count_event(event, || trial.perform(act)) {
            Ok(count) => Some(count),
            Err(why) => {
                lacking = Some(why.to_string());
                None
            }
        })
    };
    let all = ProcessorCount::ALL.into_iter().filter_map(|what| {
        let found = candidates(vendor, what).find(|event| agrees(what, *event));
        Some((what, found?))
    });
    let mut all: Vec<_> = all.collect();
    // Counting them together takes as many counters at once.
    while let Err(why) = count_together(&all) {
        all.pop();
        lacking = Some(why.to_string());
    }
    match (all.is_empty(), lacking) {
        (false, _) => Ok(all),
        (true, Some(why)) => Err(NoCounters { why }),
        (true, None) => Err(none("those of this one do not count what they should")),
    }
}

/// How often an event occurs during `act`.
fn count_event(event: RawEvent, act: impl FnOnce()) -> Result<u64, CountersError> {
    let ((), counts) = ProcessorCounters::open(&[event])?.count(act)?;
    Ok(counts[0])
}

/// Checks that all of them can be counted at the same time.
fn count_together(all: &[(ProcessorCount, RawEvent)]) -> Result<(), CountersError> {
    let events: Vec<RawEvent> = all.iter().map(|(_, event)| *event).collect();
    if !events.is_empty() {
        ProcessorCounters::open(&events)?.count(|| ())?;
    }
    Ok(())
}

/// The size of the second-level cache and of its lines, as far as the reported values are credible.
fn second_level(caches: &[Cache]) -> (usize, usize) {
    let found = caches.iter().find(|one| one.level == 2 && one.kind != CacheKind::Instruction);
    let cache_bytes = found.and_then(|one| usize::try_from(one.size_bytes?).ok());
    let line_bytes = found.and_then(|one| usize::try_from(one.line_bytes?).ok());
    (
        cache_bytes.map_or(L2_BYTES, |bytes| bytes.clamp(1 << 14, L2_BYTES_MAX)),
        line_bytes.filter(|bytes| LINES_BYTES.contains(bytes)).unwrap_or(LINE_BYTES),
    )
}

/// The cell parameter that says what is counted.
pub(super) const PARAMETER: &str = "processor_counts";

/// The metrics of a phase in which these are counted.
pub(super) fn metrics(counts: &[ProcessorCount]) -> impl Iterator<Item = MetricDefinition> {
    counts.iter().map(|count| count.definition())
}

/// Counts during the phases of one execution.
pub(super) struct PhaseCounters {
    counters: Option<ProcessorCounters>,
    /// How much one event of each count stands for.
    units: Vec<u64>,
}

impl PhaseCounters {
    /// Prepares to count these in the calling thread. Without any counts, this takes no time.
    pub(super) fn open(counts: &[ProcessorCount]) -> Result<Self, Failure> {
        if counts.is_empty() {
            return Ok(Self { counters: None, units: Vec::new() });
        }
        let verified = verified().map_err(|why| failed(&why))?;
        let event = |count: &ProcessorCount| {
            let found = verified.iter().find(|(one, _)| one == count).map(|(_, event)| *event);
            let lost = || failed(&format!("this processor does not count {}", count.metric()));
            found.ok_or_else(lost)
        };
        let events: Vec<RawEvent> = counts.iter().map(event).collect::<Result<_, _>>()?;
        let counters = ProcessorCounters::open(&events).map_err(|error| failed(&error))?;
        let line_bytes = second_level(&describe().caches).1 as u64;
        let unit = |count: &ProcessorCount| if count.is_in_lines() { line_bytes } else { 1 };
        Ok(Self { counters: Some(counters), units: counts.iter().map(unit).collect() })
    }

    /// Runs `act` and adds what is counted meanwhile to `sums`.
    pub(super) fn around<T>(
        &mut self,
        sums: &mut PhaseCounts,
        act: impl FnOnce() -> T,
    ) -> Result<T, Failure> {
        let Some(counters) = &mut self.counters else { return Ok(act()) };
        let (done, counts) = counters.count(act).map_err(|error| {
            if matches!(error, CountersError::Taken) {
                let evidence = Box::new(CacheEvidence::default());
                Failure::Disturbed { why: error.to_string(), evidence }
            } else {
                failed(&error)
            }
        })?;
        sums.0.resize(self.units.len(), 0);
        for ((sum, count), unit) in sums.0.iter_mut().zip(counts).zip(&self.units) {
            *sum += count * unit;
        }
        Ok(done)
    }
}

/// What was counted in a phase: bytes, or accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PhaseCounts(Vec<u64>);

impl PhaseCounts {
    /// The values of the metrics, divided by `times`.
    pub(super) fn values(&self, times: u64) -> impl Iterator<Item = f64> {
        self.0.iter().map(move |sum| *sum as f64 / times.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_counts_or_says_why_not() {
        match available() {
            Ok(counts) => {
                let mut counters = PhaseCounters::open(&counts).expect("they were tried");
                let mut sums = PhaseCounts::default();
                counters.around(&mut sums, || ()).expect("nobody else uses them");
                assert_eq!(sums.values(1).count(), counts.len());
            }
            Err(why) => {
                let why = why.to_string();
                assert!(why.contains("leave it out") && why.contains("--cache-traffic"), "{why}");
                assert!(PhaseCounters::open(&[ProcessorCount::L2BytesIn]).is_err());
                let refused = check(&[ProcessorCount::L2BytesIn]).expect_err("it cannot count");
                assert!(refused.to_string().contains("resume it where"), "{refused}");
            }
        }
    }

    #[test]
    fn nothing_is_counted_where_nothing_is_asked_for() {
        let mut sums = PhaseCounts::default();
        let mut counters = PhaseCounters::open(&[]).expect("it needs no counters");
        assert!(matches!(counters.around(&mut sums, || 7), Ok(7)));
        assert_eq!(check(&[]), Ok(()));
        assert_eq!((sums.values(1).count(), metrics(&[]).count()), (0, 0));
    }

    #[test]
    fn every_vendor_s_events_can_be_opened_or_are_said_to_lack() {
        for vendor in ["GenuineIntel", "AuthenticAMD", "?"] {
            for what in ProcessorCount::ALL {
                for event in candidates(vendor, what) {
                    let opened = ProcessorCounters::open(&[event]).map(drop);
                    assert!(!matches!(opened, Err(CountersError::Io(_))), "{vendor}: {opened:?}");
                }
            }
        }
    }
}
