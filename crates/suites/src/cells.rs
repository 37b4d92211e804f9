//! Which cells a suite has on which targets, and which it cannot have there.

use std::collections::{BTreeMap, BTreeSet};

use file_system::Feature;
use record::{CacheState, Cell, Skipped};
use rustix::fs::statvfs;
use textual::{grouped, size};
use workload::{
    Access, FileOnDevice, IoPath, Operation, Workers, io_uring_availability, io_uring_buffers,
};

use crate::benchmark::{Benchmark, Work};
use crate::catalogue::Suite;
use crate::file_set_kind::FileSetKind;
use crate::live_target::LiveTarget;
use crate::most::{REWRITTEN_BYTES_MAX, keeps_writes};
use crate::need::{QUEUES_IN_ALL, WINDOWS_MIN};
use crate::operations::{Layer, Operations, Question};
use crate::processors::processors;
use crate::room;
use crate::thinning::{Scope, thinned};

/// The cells of a suite on live targets, as many as fit the scope, and what was left out because it
/// does not apply to a target or does not fit, each with the reason.
#[must_use]
pub fn cells(suite: &Suite, targets: &[LiveTarget], scope: &Scope) -> (Vec<Cell>, Vec<Skipped>) {
    let (fitting, mut skipped) = if suite.are_sizes_placed {
        fitting(suite, targets)
    } else {
        (suite.benchmarks.clone(), Vec::new())
    };
    let (benchmarks, beyond_budget) = thinned(&fitting, scope);
    skipped.extend(beyond_budget);
    let mut cells = Vec::new();
    for live in targets {
        let label = &live.target.spec().label;
        let limits = TargetLimits::new(live, &benchmarks, scope.data_file_bytes);
        for benchmark in &benchmarks {
            let Some((what, why)) = inapplicable(benchmark, live, &limits) else {
                let mut cell = benchmark.cell(suite.name, label, scope.data_file_bytes);
                if let Work::Experiment(experiment) = &benchmark.work {
                    cell.metrics = experiment.metrics_on(live);
                }
                cells.push(cell);
                continue;
            };
            let one = Skipped { target: format!("{label}: {what}"), why };
            if !skipped.contains(&one) {
                skipped.push(one);
            }
        }
    }
    (cells, skipped)
}

/// The benchmarks that fit on all targets, and the file sizes left out. This comes before the
/// budget is divided, since what does not fit takes no time.
fn fitting(suite: &Suite, targets: &[LiveTarget]) -> (Vec<Benchmark>, Vec<Skipped>) {
    let mut skipped: Vec<Skipped> = Vec::new();
    let mut has_room = |benchmark: &&Benchmark| {
        let (Work::Experiment(experiment), Some(point)) = (&benchmark.work, &benchmark.curve)
        else {
            return true;
        };
        let Some(why) = targets.iter().find_map(|live| experiment.check(live).err()) else {
            return true;
        };
        // All phases of one size have the same reason; it is listed once.
        let target = format!("files of {}", size(point.value, 3));
        let one = Skipped { target, why };
        if !skipped.contains(&one) {
            skipped.push(one);
        }
        false
    };
    let fitting = suite.benchmarks.iter().filter(|one| has_room(one)).cloned().collect();
    (fitting, skipped)
}

/// What does not fit on a target.
struct TargetLimits {
    data_file_bytes: u64,
    too_large: BTreeMap<FileSetKind, String>,
    /// File sets that are to be warm but exceed the target's memory limit.
    beyond_memory: BTreeMap<FileSetKind, String>,
    /// Maximum length of a name in bytes; `None` if the file system does not say.
    name_bytes_max: Option<u64>,
}

impl TargetLimits {
    fn new(live: &LiveTarget, benchmarks: &[Benchmark], data_file_bytes: u64) -> Self {
        let file_sets: BTreeSet<FileSetKind> =
            benchmarks.iter().filter_map(Benchmark::operations).map(|one| one.file_set).collect();
        // If the target does not report its free space, making the file sets will show whether they
        // fit.
        let space = live.target.space().ok();
        let too_large = space.map(|space| room::too_large(file_sets, &space, data_file_bytes));
        let too_large = too_large.unwrap_or_default();
        let limit_bytes = live.target.facts().conditions.limits.memory_bytes;
        let beyond_memory = limit_bytes.map(|limit_bytes| {
            let is_warm = |one: &&Benchmark| one.cache_state.is_warm();
            let warm = benchmarks.iter().filter(is_warm).filter_map(Benchmark::operations);
            let file_sets =
                warm.map(|one| one.file_set).filter(|file_set| !too_large.contains_key(file_set));
            room::beyond_memory(file_sets.collect(), limit_bytes, data_file_bytes)
        });
        let beyond_memory = beyond_memory.unwrap_or_default();
        let name_bytes_max = statvfs(live.target.root()).ok().map(|said| said.f_namemax);
        Self { data_file_bytes, too_large, beyond_memory, name_bytes_max }
    }

    /// What part of these operations does not fit, if any, and why.
    fn refuse(&self, state: CacheState, of: &Operations) -> Option<(String, String)> {
        if let Some(why) = self.too_large.get(&of.file_set) {
            return Some((file_set_name(of.file_set), why.clone()));
        }
        let beyond_memory = self.beyond_memory.get(&of.file_set);
        if let Some(why) = beyond_memory.filter(|_| state.is_warm()) {
            return Some((format!("{} in memory", file_set_name(of.file_set)), why.clone()));
        }
        let file_bytes = of.file_set.file_bytes(self.data_file_bytes);
        if of.moves_data_in_place() && of.workload.request_bytes as u64 > file_bytes {
            let what = format!("requests of more than {file_bytes} bytes");
            return Some((what, "the data files are no larger: give a larger --size".to_owned()));
        }
        if let Some(span_bytes) = of.workload.span_bytes.filter(|&bytes| bytes > file_bytes) {
            let what = format!("working sets above {} MiB", file_bytes >> 20);
            let why = format!("its data files are not larger: give --size {}M", span_bytes >> 20);
            return Some((what, why));
        }
        let name_bytes = of.file_set.directory_set().name_bytes as u64;
        let most = self.name_bytes_max.filter(|&most| most > 0 && name_bytes > most)?;
        let why = format!("its names can have at most {most} bytes");
        Some((format!("names of {name_bytes} bytes"), why))
    }
}

/// A name for the benchmarks that work on a file set.
fn file_set_name(file_set: FileSetKind) -> String {
    if let FileSetKind::Files(files) = file_set {
        return format!("files of {} MiB", files.bytes >> 20);
    }
    let of_entries = |(_, entries)| {
        let entries = grouped(entries as f64);
        match file_set.entry_bytes() {
            0 => format!("directories of {entries}"),
            bytes => format!("directories of {entries} files of {}", size(bytes as f64, 3)),
        }
    };
    file_set.directories().map_or_else(|| "data files".to_owned(), of_entries)
}

/// Which benchmarks make no sense on this target and why, if this is one of them.
fn inapplicable(
    benchmark: &Benchmark,
    live: &LiveTarget,
    limits: &TargetLimits,
) -> Option<(String, String)> {
    let operations = match &benchmark.work {
        Work::Operations(operations) => operations,
        Work::Experiment(experiment)
            if live.target.library().is_some() && !experiment.uses_its_file_set_alone() =>
        {
            let (_, title) = benchmark.family();
            let why =
                "it makes system calls of its own, but this target is reached by library call";
            return Some((title.to_owned(), why.to_owned()));
        }
        Work::Experiment(experiment) => {
            let (_, title) = benchmark.family();
            return experiment.check(live).err().map(|why| (title.to_owned(), why));
        }
    };
    let owned = |(what, why): Refusal| (what.to_owned(), why.to_owned());
    without_system_calls(operations, live)
        .map(owned)
        .or_else(|| without_ring(operations, live))
        .or_else(|| without_direct_io(operations, live))
        .or_else(|| without_device(benchmark.cache_state, operations, live).map(owned))
        .or_else(|| without_own_file_system(benchmark.cache_state, operations, live).map(owned))
        .or_else(|| without_processors(benchmark, processors()).map(owned))
        .or_else(|| without_windows(benchmark.cache_state, operations, live, limits))
        .or_else(|| without_links(operations, live))
        .or_else(|| limits.refuse(benchmark.cache_state, operations))
}

/// Refuses what a library has no calls for.
fn without_system_calls(of: &Operations, live: &LiveTarget) -> Option<Refusal> {
    live.target.library()?;
    if of.layer == Layer::Device {
        return Some(("reads and writes on the device", "it has no device"));
    }
    match of.workload.io_path {
        IoPath::PsyncBuffered => None,
        IoPath::IoUring(_) => Some((
            "reads and writes in flight",
            "io_uring is an interface of the kernel, but this target is reached by library call",
        )),
        IoPath::PsyncDirect => Some((
            "direct reads and writes",
            "its library has no O_DIRECT: there is no page cache to bypass",
        )),
        IoPath::Mmap(_) | IoPath::Preadv2(_) | IoPath::Stdio(_) => Some((
            "other I/O paths than plain reads and writes",
            "they are interfaces of the kernel, but this target is reached by library call",
        )),
    }
}

/// Refuses operations in flight if io_uring is unavailable or cannot register their buffers.
fn without_ring(of: &Operations, live: &LiveTarget) -> Option<(String, String)> {
    let depth = of.queue_depth()?;
    if let Err(refusal) = io_uring_availability() {
        return Some(("reads and writes in flight".to_owned(), refusal.to_string()));
    }
    let request_bytes = of.workload.request_bytes as u64;
    let buffers = least_buffers(of, live, depth);
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let refusal = io_uring_buffers(depth, narrow(request_bytes), narrow(buffers)).err()?;
    Some((format!("{depth} requests of {request_bytes} bytes in flight"), refusal.to_string()))
}

/// The fewest buffers that the ring needs. If writes are kept, all of them stay in its buffers.
fn least_buffers(of: &Operations, live: &LiveTarget, depth: u32) -> u64 {
    let is_write = of.workload.operation == Operation::Write;
    let resting =
        if is_write { (128 << 10) / of.workload.request_bytes.max(512) as u64 } else { 0 };
    let request_bytes = of.workload.request_bytes as u64;
    let kept = (REWRITTEN_BYTES_MAX / request_bytes).min(FileOnDevice::WRITES_MAX);
    let depth = u64::from(depth);
    if keeps_writes(of, live) {
        kept.min(QUEUES_IN_ALL * depth).max(depth)
    } else {
        depth + resting.max(1)
    }
}

/// Refuses direct I/O that the target cannot do.
fn without_direct_io(of: &Operations, live: &LiveTarget) -> Option<(String, String)> {
    if of.is_direct() { live.trial().refuses(of) } else { None }
}

type Refusal = (&'static str, &'static str);

/// Refuses what needs a device on targets that have none.
fn without_device(state: CacheState, of: &Operations, live: &LiveTarget) -> Option<Refusal> {
    if live.target.supports_cold() {
        return None;
    }
    if of.is_of_names_cold(state) {
        return Some((
            "cold names",
            "its directories are only in memory, so its names are never cold",
        ));
    }
    if state.is_cold() {
        let why = "its pages are the only copy of its files, so they are never cold";
        return Some(("cold reads and writes", why));
    }
    if of.writes_clean_pages() {
        let why = "its pages are the only copy of its files, so none is ever clean";
        return Some(("first writes to clean pages", why));
    }
    if of.workload.operation.syncs() {
        return Some(("append and fsync", "it has no device that fsync could write to"));
    }
    let asks_device = of.question == Question::DeviceWrites;
    asks_device.then_some(("device writes", "it has no device to write to"))
}

/// Refuses, on existing file systems, what needs one that fsprism made on a device of its own.
fn without_own_file_system(
    state: CacheState,
    of: &Operations,
    live: &LiveTarget,
) -> Option<Refusal> {
    if live.is_scratch() {
        return None;
    }
    if of.is_of_names_cold(state) {
        let why = "fsprism did not mount it, so it cannot remount it: give a scratch target";
        return Some(("cold names", why));
    }
    if of.workload.workers == Workers::Processes {
        let why = "device reads by processes other than this one are not counted, so nothing would \
                   prove that they are served from memory: give a scratch target";
        return Some(("several processes", why));
    }
    let why = "others write to its device too: give a scratch target";
    (of.question == Question::DeviceWrites).then_some(("device writes", why))
}

/// Refuses concurrency on a machine that cannot run two threads at a time.
fn without_processors(benchmark: &Benchmark, processors: usize) -> Option<Refusal> {
    let axis = benchmark.curve.as_ref().map(|point| point.axis.as_str());
    let of = benchmark.operations().map(|of| &of.workload);
    let by_several = of.is_some_and(|of| of.threads > 1 || of.workers == Workers::Processes);
    let is_by_workers = matches!(axis, Some("threads" | "processes")) || by_several;
    (is_by_workers && processors < 2).then_some((
        "several threads or processes at the same time",
        "this process may use only one processor, on which they take turns: allow it two",
    ))
}

/// Refuses cold streams through files that are only a few read-ahead windows long: the initial wait
/// and the read-ahead wasted at the end would be a large part of the result.
fn without_windows(
    state: CacheState,
    of: &Operations,
    live: &LiveTarget,
    limits: &TargetLimits,
) -> Option<(String, String)> {
    let is_stream = of.workload.operation == Operation::Read
        && of.workload.access == Access::Sequential
        && !of.is_direct();
    let window_bytes = live.target.facts().read_ahead_bytes.filter(|&bytes| bytes > 0)?;
    let needed_bytes = window_bytes * WINDOWS_MIN;
    let file_bytes = of.file_set.file_bytes(limits.data_file_bytes);
    if !is_stream || !state.is_cold() || file_bytes >= needed_bytes {
        return None;
    }
    let why = format!(
        "the files hold fewer than {WINDOWS_MIN} windows of its read-ahead of {} KiB: give \
         --size {}m, or a smaller read_ahead=",
        window_bytes >> 10,
        needed_bytes.div_ceil(1 << 20)
    );
    Some(("cold sequential reads".to_owned(), why))
}

/// Refuses links on a file system that has none.
fn without_links(of: &Operations, live: &LiveTarget) -> Option<(String, String)> {
    let file_system = &live.target.facts().file_system;
    let needs_links = of.workload.operation.needs_links();
    let why = file_system::lacks(file_system, Feature::Links).filter(|_| needs_links)?;
    Some(("links".to_owned(), why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nano;

    #[test]
    fn several_threads_or_processes_want_two_processors() {
        let all = nano::NanoDimension::Scaling.benchmarks();
        let refused = |processors| {
            let is_it = |one: &&Benchmark| without_processors(one, processors).is_some();
            all.iter().filter(is_it).count()
        };
        let on_one = |one: &&Benchmark| without_processors(one, 1).is_none();
        let left: Vec<_> = all.iter().filter(on_one).map(|one| one.name.as_str()).collect();
        assert!(left.iter().all(|name| !name.contains("threads")), "{left:?}");
        assert_eq!(refused(1) + left.len(), all.len());
        assert!(refused(1) > left.len());
        assert_eq!(refused(2), 0);
    }
}
