//! Whether a run of Bonnie measures memory more than storage.

use crate::machine::Machine;
use crate::manifest::TargetRecord;
use crate::warning::Warning;

/// The file must be at least this many times as large as the memory (Rondinelli, "File Systems
/// Performance Analysis", section 1.1: "at least four times the size of the available memory").
const TIMES_MIN: u64 = 4;

/// The memory that limits how much of a target can be cached, in words and in bytes: its own limit,
/// the control group's or the machine's, whichever is smallest.
#[must_use]
pub fn memory_of(machine: &Machine, limit_bytes: Option<u64>) -> Option<(&'static str, u64)> {
    let group = machine.cgroup.as_ref().and_then(|group| group.memory_limit_bytes);
    let all = [
        ("the memory limit", limit_bytes),
        ("the control group's memory", group),
        ("the machine's memory", machine.memory.total_bytes),
    ];
    all.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))).min_by_key(|&(_, bytes)| bytes)
}

/// A warning that Bonnie's file is so small that the run measures a cache instead of `target`.
#[must_use]
pub fn cache_benchmark(
    machine: &Machine,
    target: &TargetRecord,
    size_bytes: u64,
) -> Option<Warning> {
    let (memory, memory_bytes) = memory_of(machine, target.conditions.memory_bytes)?;
    let least_bytes = memory_bytes.saturating_mul(TIMES_MIN);
    (size_bytes < least_bytes).then(|| Warning::CacheBenchmark {
        size_bytes,
        memory: memory.to_owned(),
        memory_bytes,
        least_bytes,
    })
}
