//! Whether a run of Bonnie measures memory more than storage.

use crate::classic::ClassicOptions;
use crate::manifest::{Manifest, TargetRecord};
use crate::warning::Warning;

/// The file is to be at least so many times as large as the memory (Rondinelli, "File Systems
/// Performance Analysis", section 1.1: "at least four times the size of the available memory").
const TIMES_LEAST: u64 = 4;

/// The memory that limits what can be cached of a target, in words and in bytes: its own limit, the
/// control group's or the machine's, whichever is least.
fn memory_of(manifest: &Manifest, target: &TargetRecord) -> Option<(&'static str, u64)> {
    let group = manifest.machine.cgroup.as_ref().and_then(|group| group.memory_limit_bytes);
    let all = [
        ("the memory limit", target.conditions.memory_bytes),
        ("the control group's memory", group),
        ("the machine's memory", manifest.machine.memory.total_bytes),
    ];
    all.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))).min_by_key(|&(_, bytes)| bytes)
}

/// The warning that what is measured on `target` is a cache, where Bonnie's file is that small.
#[must_use]
pub fn cache_benchmark(manifest: &Manifest, target: &TargetRecord) -> Option<Warning> {
    let size_bytes = match manifest.run.classic.as_ref()? {
        ClassicOptions::Bonnie(options) => options.size_bytes,
        ClassicOptions::SpriteLfs(_)
        | ClassicOptions::ArrayWalk(_)
        | ClassicOptions::BonnieMetadata(_) => return None,
    };
    let (memory, memory_bytes) = memory_of(manifest, target)?;
    let least_bytes = memory_bytes.saturating_mul(TIMES_LEAST);
    (size_bytes < least_bytes).then(|| Warning::CacheBenchmark {
        size_bytes,
        memory: memory.to_owned(),
        memory_bytes,
        least_bytes,
    })
}
