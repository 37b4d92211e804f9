//! What the threads of this process are waiting for in the kernel, from their kernel stacks.
//!
//! The stack of a thread that sleeps in the kernel shows why (`/proc/PID/task/TID/stack`, root
//! only). Without the permission, `wchan` gives just the innermost function, so that fewer waits
//! are recognized, never more. No counter shows where a writer is made to wait: it sleeps in
//! `balance_dirty_pages` (mm/page-writeback.c), in the functions of jbd2 that wait for space or for
//! a commit (fs/jbd2/transaction.c, checkpoint.c), or in those of the XFS log (`fs/xfs/xfs_log.c`).

use std::fs;
use std::io;
use std::path::Path;

use super::sources::Sources;

/// Where the threads of this process are listed.
const THREADS: &str = "/proc/self/task";
/// Memory reclaim, whatever it is waiting for in turn (mm/vmscan.c, mm/memcontrol.c).
const RECLAIM: [&str; 5] = [
    "try_to_free_mem_cgroup_pages",
    "try_to_free_pages",
    "shrink_node",
    "shrink_folio_list",
    "reclaim_throttle",
];
/// Prefixes of journal functions.
const JOURNAL: [&str; 9] = [
    "jbd2_",
    "__jbd2_",
    "start_this_handle",
    "add_transaction_credits",
    "wait_transaction_locked",
    "wait_transaction_switching",
    "do_get_write_access",
    "xlog_",
    "xfs_log_",
];

/// How many threads were waiting, by what for, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingThreads {
    /// For the amount of dirty data to fall.
    pub dirty_limit: u64,
    /// For a file system's journal.
    pub journal: u64,
    /// For memory reclaim.
    pub reclaim: u64,
}

/// What a thread is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    DirtyLimit,
    Journal,
    Reclaim,
}

/// Looks at the threads of this process once. Threads that are running or waiting for anything else
/// are not counted.
///
/// # Errors
/// If the threads cannot be listed, or the kernel does not name the functions of this process.
pub fn waiting_threads() -> io::Result<WaitingThreads> {
    waiting_threads_in(&Sources::default())
}

fn waiting_threads_in(sources: &Sources) -> io::Result<WaitingThreads> {
    let mut waiting = WaitingThreads::default();
    for entry in fs::read_dir(sources.path(THREADS))? {
        let thread = entry?.path();
        match wait_of(&thread)? {
            Some(Wait::DirtyLimit) => waiting.dirty_limit += 1,
            Some(Wait::Journal) => waiting.journal += 1,
            Some(Wait::Reclaim) => waiting.reclaim += 1,
            None => {}
        }
    }
    Ok(waiting)
}

/// What a thread is waiting for; `None` if it is running or has exited.
fn wait_of(thread: &Path) -> io::Result<Option<Wait>> {
    let wchan = match fs::read_to_string(thread.join("wchan")) {
        Ok(wchan) => wchan,
        Err(_) if !thread.exists() => return Ok(None),
        Err(error) => return Err(error),
    };
    if matches!(wchan.trim(), "" | "0") {
        return Ok(None);
    }
    let stack = fs::read_to_string(thread.join("stack")).unwrap_or_default();
    Ok(wait_in(stack.lines().filter_map(function).chain([wchan.trim()])))
}

/// The function name in a line such as `[<0>] balance_dirty_pages+0x1b1/0xb10`.
fn function(line: &str) -> Option<&str> {
    line.split_whitespace().nth(1)?.split('+').next()
}

/// What a thread with these functions on its stack, innermost first, is waiting for.
fn wait_in<'a>(functions: impl Iterator<Item = &'a str>) -> Option<Wait> {
    let functions: Vec<&str> = functions.collect();
    let has = |is_it: &dyn Fn(&str) -> bool| functions.iter().any(|name| is_it(name));
    // Inlined or cloned functions keep their name before a dot.
    let plain = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    if has(&|name| RECLAIM.contains(&plain(name).as_str())) {
        Some(Wait::Reclaim)
    } else if has(&|name| plain(name) == "balance_dirty_pages") {
        Some(Wait::DirtyLimit)
    } else if has(&|name| JOURNAL.iter().any(|prefix| name.starts_with(prefix))) {
        Some(Wait::Journal)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    /// Stacks as seen on Linux 6.18.
    #[test]
    fn stacks_say_what_is_waited_for() {
        let wait = |functions: &str| wait_in(functions.split(' '));
        let throttled = "balance_dirty_pages balance_dirty_pages_ratelimited_flags \
                         generic_perform_write ext4_buffered_write_iter vfs_write";
        assert_eq!(wait(throttled), Some(Wait::DirtyLimit));
        let no_room = "blk_mq_get_tag __submit_bio __flush_batch jbd2_log_do_checkpoint \
                       __jbd2_log_wait_for_space add_transaction_credits start_this_handle";
        assert_eq!(wait(no_room), Some(Wait::Journal));
        assert_eq!(
            wait("xlog_grant_head_wait xfs_log_reserve xfs_trans_alloc"),
            Some(Wait::Journal)
        );
        assert_eq!(wait("wait_transaction_locked"), Some(Wait::Journal));
        assert_eq!(wait("balance_dirty_pages.constprop.0"), Some(Wait::DirtyLimit));
        let reclaims = "jbd2_log_wait_commit ext4_evict_inode shrink_node try_to_free_pages";
        assert_eq!(wait(reclaims), Some(Wait::Reclaim));
        for other in [
            "folio_wait_bit_common filemap_read vfs_read",
            "__filemap_get_folio ext4_da_write_begin generic_perform_write",
            "balance_dirty_pages_ratelimited",
            "futex_wait_queue",
        ] {
            assert_eq!(wait(other), None, "{other}");
        }
    }

    #[test]
    fn threads_that_run_are_not_counted_and_stacks_are_read_only_of_those_that_wait() {
        let fixture = Fixture::new(&[
            ("proc/self/task/1/wchan", "balance_dirty_pages"),
            ("proc/self/task/2/wchan", "0"),
            ("proc/self/task/2/stack", "[<0>] jbd2_log_wait_commit+0x1/0x2\n"),
            ("proc/self/task/3/wchan", "blk_mq_get_tag"),
            (
                "proc/self/task/3/stack",
                "[<0>] blk_mq_get_tag+0x122/0x2d0\n[<0>] __jbd2_log_wait_for_space+0x1/0x2\n",
            ),
            ("proc/self/task/4/wchan", "blk_mq_get_tag"),
        ]);
        let found = waiting_threads_in(&fixture.sources()).expect("they are there");
        assert_eq!(found, WaitingThreads { dirty_limit: 1, journal: 1, reclaim: 0 });
        assert!(waiting_threads_in(&Fixture::new(&[]).sources()).is_err());
    }

    #[test]
    fn this_process_can_look_at_its_own_threads() {
        assert_eq!(waiting_threads().expect("/proc is mounted"), WaitingThreads::default());
    }
}
