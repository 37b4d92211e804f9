//! What one execution of an experiment found, and the replicate that the runner keeps of it.

use measure::{Clock, Histogram, Recorder};
use record::{CacheEvidence, Observation, Spent, TimelineRecord, Warning};
use runner::Measured;

use crate::counters::CounterDeltas;
use crate::neighbours::ChildrenUse;
use crate::observed;

/// What one execution found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// One value for each of the experiment's metrics, in their order.
    pub metrics: Vec<f64>,
    /// Bytes moved.
    pub bytes: u64,
    /// Duration of the measured part, in nanoseconds.
    pub elapsed_ns: u64,
    /// Number of operations, if they were timed together; otherwise the recorder has it.
    pub operations: Option<u64>,
    /// Processor time stolen during the measured part, in nanoseconds, if known; otherwise its
    /// proportion of what was stolen during the whole execution is used.
    pub steal_ns: Option<u64>,
    /// What programs used that it started and waited for.
    pub children: ChildrenUse,
    /// Each operation, if they were timed individually.
    pub recorder: Option<Recorder>,
    /// What proves the cache state.
    pub evidence: CacheEvidence,
    /// Curves and maps.
    pub observations: Vec<Observation>,
    /// Reasons to doubt it.
    pub warnings: Vec<Warning>,
}

impl Findings {
    /// The replicate as the runner keeps it. `deltas` covers the whole execution, which took
    /// `whole_ns`.
    pub(crate) fn into_measured(
        self,
        deltas: &CounterDeltas,
        whole_ns: u64,
        clock: &impl Clock,
    ) -> Measured {
        let operations = self.recorder.as_ref().map(Recorder::operations);
        let operations = operations.or(self.operations).unwrap_or(1);
        let busy_ns = self.recorder.as_ref().map_or(self.elapsed_ns, Recorder::busy_ns);
        let timeline: Option<TimelineRecord> =
            self.recorder.as_ref().map(|one| observed::timeline(one.timeline(), clock));
        let histogram = self.recorder.map_or_else(Histogram::new, |one| one.into_parts().0);
        let mut evidence = self.evidence;
        evidence.device_read_bytes = evidence.device_read_bytes.or(deltas.device_read_bytes);
        evidence.device_written_bytes =
            evidence.device_written_bytes.or(deltas.device_written_bytes);
        Measured {
            metrics: self.metrics,
            operations,
            bytes: self.bytes,
            elapsed_ns: self.elapsed_ns,
            busy_ns,
            latency: observed::summary(&histogram),
            histogram,
            timeline,
            course: None,
            spent: Spent {
                timed_ns: self.elapsed_ns.min(whole_ns),
                state_ns: whole_ns.saturating_sub(self.elapsed_ns),
                ..Spent::default()
            },
            evidence,
            steal_ns: self
                .steal_ns
                .unwrap_or_else(|| share(deltas.steal_ns, self.elapsed_ns, whole_ns)),
            neighbours: None,
            warnings: self.warnings,
            observations: self.observations,
        }
    }
}

/// The share of `all` that falls on a part of the whole, if it were spread evenly.
fn share(all: u64, part: u64, whole: u64) -> u64 {
    let product = u128::from(all) * u128::from(part.min(whole));
    u64::try_from(product / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_gets_its_share_and_never_more_than_all() {
        assert_eq!(share(100, 1, 4), 25);
        assert_eq!(share(100, 8, 4), 100);
        assert_eq!(share(100, 0, 0), 0);
    }
}
