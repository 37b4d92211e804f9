//! The largest number of operations for one replicate: as many as its files and the target have
//! room for.

use record::CacheState;
use targets::Target;
use workload::{
    DataOperation, Entries, FileOnDevice, GrowingOperation, Operation, Subject, Workload,
    WriteMemory,
};

use crate::live_target::LiveTarget;
use crate::operations::{OPERATIONS_PER_SYNC, Operations, Question};

/// The most that one replicate writes on a device.
pub(crate) const REWRITTEN_BYTES_MAX: u64 = 64 << 20;
/// Appends in one replicate at most; the files they grow are removed after it.
const APPENDS_MAX: u64 = 16_384;

/// The most operations per thread, including those of the start, that the file set allows in one
/// replicate.
pub(crate) fn operations_max(
    live: &LiveTarget,
    of: &Operations,
    state: CacheState,
    data_file_bytes: u64,
) -> u64 {
    let (target, workload) = (&live.target, &of.workload);
    if of.question == Question::DeviceWrites {
        return OPERATIONS_PER_SYNC;
    }
    if workload.operation.changes_directories() {
        return of.file_set.additions_max().max(1);
    }
    if of.is_of_names_cold(state) {
        // On a second pass, its attributes or the list would be in memory.
        let (directories, entries) = of.file_set.directories().unwrap_or_default();
        let lists = workload.operation == Operation::Readdir;
        return if lists { directories as u64 } else { entries };
    }
    if of.length.repeats && !state.is_cold() {
        return u64::from(u32::MAX);
    }
    let blocks = of.blocks_per_thread(data_file_bytes);
    if keeps_writes(of, live) {
        return kept_writes_max(target, workload).min(blocks).max(1);
    }
    match workload.operation.subject() {
        // On a second pass, nothing would be cold.
        Subject::Data(DataOperation::Read) if state.is_cold() => blocks.max(1),
        // The same pages are written again and again.
        Subject::Data(DataOperation::Write) if of.writes_dirty_pages(state) => u64::from(u32::MAX),
        // On a second pass, no page would be clean, or all would already be in the cache.
        Subject::Data(DataOperation::Write) => blocks.max(1),
        // On a second pass, the name would be known to be missing.
        Subject::Names(_, Entries::Missed) => of.missing_names_per_thread(),
        Subject::Growing(GrowingOperation::Append | GrowingOperation::AppendFsync) => {
            appends_max(target, workload)
        }
        Subject::Data(DataOperation::Read | DataOperation::Mixed { .. })
        | Subject::Growing(
            GrowingOperation::Fsync | GrowingOperation::Fdatasync | GrowingOperation::Truncate,
        )
        | Subject::Names(
            _,
            Entries::LookedAt
            | Entries::Listed
            | Entries::Added { .. }
            | Entries::Moved
            | Entries::Removed { .. },
        ) => u64::from(u32::MAX),
    }
}

/// Whether everything that the operations write is in memory at once: what they write back to the
/// device, and what they write through the file system for comparison with that.
pub(crate) fn keeps_writes(of: &Operations, live: &LiveTarget) -> bool {
    let is_to =
        of.workload.operation == Operation::Write && of.workload.write_memory == WriteMemory::Own;
    of.rewrites() || (is_to && live.trial().can_rewrite())
}

/// The most writes that are kept in memory at once.
fn kept_writes_max(target: &Target, workload: &Workload) -> u64 {
    let limit_bytes = target.facts().conditions.limits.memory_bytes.unwrap_or(u64::MAX);
    let kept_bytes = REWRITTEN_BYTES_MAX.min(limit_bytes / 4);
    FileOnDevice::WRITES_MAX.min(kept_bytes / workload.request_bytes as u64)
}

/// The most appends per thread that the target has room for: they may take half of its free space.
fn appends_max(target: &Target, workload: &Workload) -> u64 {
    let appended_bytes = (workload.request_bytes * workload.threads) as u64;
    let room_bytes = target.space().map_or(u64::MAX, |space| space.free_bytes / 2);
    APPENDS_MAX.min(room_bytes / appended_bytes.max(1)).max(1)
}
