//! Eviction: which pages leave a page cache that is too small, and which policy that resembles.
//!
//! The target's memory limit makes the cache small. Files are read and written page by page in
//! known traces, without read-ahead (so that the trace is what the kernel sees), and at given
//! moments the kernel is asked which pages are resident.

mod cached_file;
mod policies;
mod replay;
mod scenes;

use record::{CacheState, Dimension};
use runner::Failure;
use targets::Target;

use self::policies::Policies;
use self::scenes::{Scene, SceneRun};
use super::cold_file::{self, ColdFile};
use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::live_target::LiveTarget;

const MIB: u64 = 1 << 20;
/// Below this, the program's own memory is a large part of the limit.
const LIMIT_MIN_BYTES: u64 = 8 * MIB;
/// Above this, it takes minutes to fill it page by page.
const LIMIT_MAX_BYTES: u64 = 256 * MIB;
/// Size of the longest file in a trace, in multiples of the limit.
const LIMITS_PER_FILE: u64 = 4;
/// Size of the file that shows how much of it stays, in multiples of the limit. With no more than
/// one, all of it would.
const LIMITS_TO_FILL: u64 = 2;

/// The scenes, and the full battery of traces with the policies that explain it.
pub(super) fn benchmarks() -> Vec<Benchmark> {
    let mut all: Vec<Benchmark> = Scene::ALL
        .into_iter()
        .map(|scene| benchmark(scene.name(), scene.title(), SceneRun { scene }))
        .collect();
    all.push(Benchmark {
        rank: 2,
        ..benchmark("eviction-policy", "eviction, best-fitting policy", Policies)
    });
    all
}

fn benchmark(name: &str, title: &str, experiment: impl Experiment + 'static) -> Benchmark {
    Benchmark {
        exercises: vec![Dimension::Io],
        cache_state: CacheState::Cold,
        rank: 1,
        ..Benchmark::from_experiment(name, title, experiment)
    }
}

/// Whether pages are evicted here within reasonable time.
fn check(live: &LiveTarget) -> Result<(), String> {
    cold_file::check(live)?;
    let file_system = &live.target().facts().file_system;
    let Some(limit_bytes) = live.target().facts().conditions.limits.memory_bytes else {
        return Err(format!(
            "nothing leaves its page cache before the whole machine runs out of memory; give it a \
             limit, such as {file_system}:memory=64m"
        ));
    };
    if !(LIMIT_MIN_BYTES..=LIMIT_MAX_BYTES).contains(&limit_bytes) {
        return Err(format!(
            "its memory limit of {limit_bytes} bytes is too small or too large to fill page by \
             page; give memory=8m to memory=256m"
        ));
    }
    let space = live.target().space().map_err(|error| error.to_string())?;
    if space.free_bytes < LIMITS_PER_FILE * limit_bytes {
        return Err(format!(
            "it has no space for a file of {LIMITS_PER_FILE} times its memory limit; give a \
             smaller memory=, or {}",
            space.enlarged_by()
        ));
    }
    Ok(())
}

/// Pages that the limit allows, whatever else may use some of them.
fn limit_pages(target: &Target) -> u32 {
    let limit_bytes = target.facts().conditions.limits.memory_bytes.unwrap_or(LIMIT_MIN_BYTES);
    u32::try_from(limit_bytes / rustix::param::page_size() as u64).unwrap_or(u32::MAX)
}

/// How many pages of a file stay in memory when more than that is read. The kernel and this
/// program's own memory take part of the limit, and how much is not reported.
fn capacity_pages(site: &Site<'_>, cold: &mut ColdFile) -> Result<u32, Failure> {
    let resident = cold.read_in()?;
    cold.cool(site)?;
    let least = replacement::LIMIT_PAGES_MIN;
    let most = limit_pages(site.live.target());
    let capacity = u32::try_from(resident).unwrap_or(u32::MAX).min(most);
    if capacity < least {
        let why = format!(
            "only {capacity} pages of a file stay in memory, too few to tell which; give it a \
             larger memory="
        );
        return Err(Failure::Cell { why });
    }
    Ok(capacity)
}
