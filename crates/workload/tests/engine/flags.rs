//! The flags of `preadv2` and `pwritev2`: that they reach the kernel, and how their effect is
//! reported. What a flag does depends on the file system; the current directory should be on a
//! disk.

use std::path::Path;

use rustix::fs::{Advice, fadvise};
use workload::{
    Access, Caching, CallFlag, CallFlags, EngineError, FileSet, IoPath, MapAdvice, MapOptions,
    Operation, Outcome, Populate, Preadv2Options, Role, Sharing, Tally, Verification, Workload,
    prepare,
};

use crate::common::{FILE_BYTES, SEED, Scratch, file_set, never, outcome, smaps_kib, verify_file};

fn flagged(operation: Operation, flags: &[CallFlag], caching: Caching) -> Workload {
    let flags = flags.iter().fold(CallFlags::NONE, |flags, flag| flags.with(*flag));
    let options = Preadv2Options { flags, caching, ..Preadv2Options::default() };
    Workload {
        io_path: IoPath::Preadv2(options),
        access: Access::Sequential,
        operations_per_thread: FILE_BYTES / 4096,
        sharing: Sharing::Same,
        verification: Verification::On,
        ..Workload::new(operation)
    }
}

/// Evicts a data file from the page cache.
fn evict(file_set: &FileSet, role: Role) {
    let path = file_set.data_file(role, 0);
    let file = std::fs::File::open(path).expect("it is ours");
    file.sync_all().expect("the device works");
    fadvise(&file, 0, None, Advice::DontNeed).expect("the kernel knows this advice");
}

/// The outcome, or None (with a message) if the file system does not support the flags.
fn unless_refused(workload: &Workload, file_set: &FileSet, flags: &str) -> Option<Outcome> {
    match outcome(workload, file_set) {
        Ok(outcome) => Some(outcome),
        Err(error @ EngineError::FlagsRefused { .. }) => {
            let text = error.to_string();
            assert!(text.contains(flags) && text.contains("not support"), "{text}");
            eprintln!("skipped: {text}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Attempts at something that fails while another processor happens to hold a page.
const TRIES: usize = 5;

#[test]
fn reads_that_would_wait_are_counted_and_move_nothing() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let read = flagged(Operation::Read, &[CallFlag::Nowait], Caching::Buffered);
    outcome(&Workload::new(Operation::Read), &file_set).expect("it can be read");
    for batch in [1, 8] {
        let read = Workload { batch, ..read.clone() };
        let mut most = 0;
        for _ in 0..TRIES {
            evict(&file_set, Role::Read);
            let Some(cold) = unless_refused(&read, &file_set, "RWF_NOWAIT") else { return };
            let operations = cold.recorder.operations();
            assert_eq!(operations, read.operations_per_thread);
            let would_block = cold.tally.would_block;
            assert!(would_block <= operations, "{would_block}");
            assert_eq!(cold.bytes, 4096 * (operations - would_block));
            assert_eq!(cold.checked_bytes, cold.bytes);
            most = most.max(would_block);
            if most > 0 {
                break;
            }
        }
        assert!(most > 0, "no read would have waited");

        let waiting = Workload { io_path: IoPath::PsyncBuffered, ..read.clone() };
        let is_warm = |_| {
            outcome(&waiting, &file_set).expect("it can be read");
            let warm = outcome(&read, &file_set).expect("the file system has the flag");
            (warm.bytes, warm.tally) == (FILE_BYTES, Tally::default())
        };
        assert!((0..TRIES).any(is_warm), "reads from memory would have waited");
    }
}

/// Dirty memory of the mapped write file, in KiB; there is none after a synchronous write.
fn dirty_kib(file_set: &FileSet) -> u64 {
    let io_path =
        IoPath::Mmap(MapOptions { advice: MapAdvice::Normal, populate: Populate::AtPrepare });
    let map = Workload { io_path, sharing: Sharing::Same, ..Workload::new(Operation::Write) };
    let session = prepare(&map, file_set, SEED).expect("it can be mapped");
    let path = file_set.data_file(Role::Write, 0);
    let dirty = ["Shared_Dirty", "Private_Dirty"].map(|field| smaps_kib(&path, field));
    session.restore().expect("nothing stands in the way");
    dirty.iter().sum()
}

#[test]
fn synchronous_writes_leave_nothing_dirty_and_others_do() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    for (flags, expected_kib) in [
        (&[][..], FILE_BYTES / 1024),
        (&[CallFlag::Dsync], 0),
        (&[], FILE_BYTES / 1024),
        (&[CallFlag::Sync], 0),
    ] {
        let write = flagged(Operation::Write, flags, Caching::Buffered);
        // Larger requests mean fewer flushes of the device.
        let write = Workload { request_bytes: 65_536, operations_per_thread: 16, ..write };
        let outcome = outcome(&write, &file_set).expect("every file system has these");
        assert_eq!(outcome.bytes, FILE_BYTES);
        verify_file(&file_set, Role::Write, 0).expect("it is written");
        assert_eq!(dirty_kib(&file_set), expected_kib, "{flags:?}");
    }
    // In a mix, the flag is only passed to the writes.
    let mix = flagged(Operation::Mixed { read_percent: 50 }, &[CallFlag::Dsync], Caching::Buffered);
    let mix = Workload { operations_per_thread: 20, ..mix };
    outcome(&mix, &file_set).expect("every file system has it");
    assert_eq!(dirty_kib(&file_set), 0);
}

#[test]
fn uncached_reads_leave_nothing_in_the_page_cache() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let uncached = flagged(Operation::Read, &[CallFlag::DontCache], Caching::Buffered);
    let uncached = Workload { request_bytes: 65_536, operations_per_thread: 16, ..uncached };
    let nowait = flagged(Operation::Read, &[CallFlag::Nowait], Caching::Buffered);
    // A single block, because a refused read may start read-ahead.
    let one = Workload { operations_per_thread: 1, ..nowait };
    for _ in 0..TRIES {
        evict(&file_set, Role::Read);
        let Some(outcome) = unless_refused(&uncached, &file_set, "RWF_DONTCACHE") else { return };
        assert_eq!(outcome.checked_bytes, FILE_BYTES);
        let Some(outcome) = unless_refused(&one, &file_set, "RWF_NOWAIT") else { return };
        if outcome.tally.would_block == 1 {
            return;
        }
    }
    panic!("the first block is still there");
}

#[test]
fn flags_that_a_file_system_does_not_have_are_refused_by_name() {
    if !Path::new("/dev/shm").is_dir() {
        eprintln!("skipped: on tmpfs: needs /dev/shm");
        return;
    }
    let scratch = Scratch::within(Path::new("/dev/shm"));
    let file_set = file_set(&scratch);
    for (operation, call) in [(Operation::Read, "preadv2"), (Operation::Write, "pwritev2")] {
        for (flag, name) in
            [(CallFlag::Nowait, "RWF_NOWAIT"), (CallFlag::DontCache, "RWF_DONTCACHE")]
        {
            let workload = flagged(operation, &[flag], Caching::Buffered);
            if let Err(error) = outcome(&workload, &file_set) {
                let text = error.to_string();
                assert!(matches!(error, EngineError::FlagsRefused { .. }), "{text}");
                assert!(text.starts_with(call) && text.contains(name), "{text}");
            } else {
                eprintln!("skipped: tmpfs has {name} here");
            }
        }
    }
}

#[test]
fn polling_is_refused_where_the_device_does_not_poll() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let polled = flagged(Operation::Read, &[CallFlag::Hipri], Caching::Direct);
    match outcome(&polled, &file_set) {
        Ok(outcome) => assert_eq!(outcome.checked_bytes, FILE_BYTES),
        Err(EngineError::NoPolling { state, .. }) => eprintln!("refused: {state}"),
        Err(EngineError::NoDirectIo { reason, .. }) => eprintln!("skipped: {reason}"),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn appending_calls_append_to_a_file_that_is_not_open_for_appending() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for flags in [&[CallFlag::Append][..], &[CallFlag::Append, CallFlag::Dsync]] {
            let workload = Workload {
                threads: 2,
                operations_per_thread: 20,
                request_bytes: 1000,
                ..flagged(Operation::Append, flags, Caching::Buffered)
            };
            let mut session = prepare(&workload, &file_set, SEED).expect("there is room");
            let outcome =
                session.run_with(&measure::MonotonicClock, &never()).expect("there is room");
            let path = session.touched()[0].clone();
            assert_eq!(outcome.bytes, 1000 * outcome.recorder.operations());
            assert_eq!(path.metadata().expect("it is there").len(), outcome.bytes);
            session.restore().expect("nothing stands in the way");
            assert!(!path.exists());
        }
    }
}
