//! Traces several targets, as many at a time as there are processors.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use footprint_guest::TracedCall;
use footprint_study::EXTENSION;

use crate::{GuestTarget, TargetTraced, Tracer, TracingError, TracingPlan};

/// A target, its trace, and the result.
#[derive(Debug)]
pub struct TraceOutcome {
    /// The target.
    pub target: GuestTarget,
    /// What to trace, without what is left out.
    pub plan: TracingPlan,
    /// Operations that do not apply to the target, with the reason.
    pub left_out: Vec<(TracedCall, String)>,
    /// The trace's file.
    pub trace: PathBuf,
    /// What was traced, or why nothing was.
    pub traced: Result<TargetTraced, TracingError>,
}

impl Tracer {
    /// Traces the targets in any order, each into a file in `directory` that is named after its
    /// label. Calls `on_traced` for each one that is done, with the time it took. If one fails, the
    /// others are still traced.
    pub fn trace_all(
        &self,
        targets: Vec<GuestTarget>,
        plan: &TracingPlan,
        directory: &Path,
        on_traced: &(dyn Fn(&str, Duration) + Sync),
    ) -> Vec<TraceOutcome> {
        for_each(targets, |target| {
            let begun = Instant::now();
            let one = self.trace_one(target, plan, directory);
            if one.traced.is_ok() {
                on_traced(&one.target.spec.label, begun.elapsed());
            }
            one
        })
    }

    fn trace_one(&self, target: GuestTarget, plan: &TracingPlan, directory: &Path) -> TraceOutcome {
        let trace = directory.join(trace_name(&target.spec.label));
        let (operations, left_out) = target.divide(&plan.operations);
        let plan = TracingPlan { operations, ..plan.clone() };
        let traced = self.trace(&target, &plan, &trace);
        TraceOutcome { target, plan, left_out, trace, traced }
    }
}

/// Does something with each item, as many at a time as there are processors. The results are in the
/// order of the items.
pub(crate) fn for_each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = processors.min(items.len());
    let queue: Mutex<VecDeque<_>> = Mutex::new(items.into_iter().enumerate().collect());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((at, item)) = take(&queue) {
                    let one = work(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, one)| one).collect()
}

fn take<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// The name of the file for a target's trace. It is safe in QEMU's options, and different for
/// different labels.
#[must_use]
pub fn trace_name(label: &str) -> String {
    let mut name = String::new();
    for &byte in label.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'+' => {
                name.push(char::from(byte));
            }
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    format!("{name}.{EXTENSION}")
}

#[cfg(test)]
mod tests {
    use super::{for_each, trace_name};

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..50).collect();
        let doubled: Vec<u32> = items.iter().map(|item| 2 * item).collect();
        assert_eq!(for_each(items, |item| 2 * item), doubled);
        assert!(for_each(Vec::new(), |item: u32| item).is_empty());
    }

    #[test]
    fn labels_have_names_of_their_own() {
        assert_eq!(trace_name("xfs-5.1"), "xfs-5.1.trace");
        assert_eq!(trace_name("xfs:mkfs=-m crc=0,a"), "xfs%3amkfs%3d-m%20crc%3d0%2ca.trace");
        assert_ne!(trace_name("a b"), trace_name("a_b"));
    }
}
