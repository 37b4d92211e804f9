//! Reads and writes: what is moved, where, and whether it is correct.

use std::os::unix::fs::FileExt;

use workload::{
    Access, Alignment, EngineError, IoPath, Operation, Role, Sharing, Verification, Workload,
};

use crate::common::{
    FILE_BYTES, FILE_LENGTH, Scratch, assert_ended_together, file_set, outcome, verify_file,
};

const PATTERNS: [Access; 3] = [Access::Sequential, Access::Uniform, Access::Zipf { exponent: 0.9 }];
const ALIGNMENTS: [Alignment; 3] = [Alignment::Request, Alignment::Sector, Alignment::Unaligned];

#[test]
fn verified_reads_of_every_pattern_alignment_and_sharing_find_the_right_bytes() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for access in PATTERNS {
            for alignment in ALIGNMENTS {
                for (threads, sharing, batch) in
                    [(1, Sharing::Own, 1), (3, Sharing::Own, 7), (2, Sharing::Same, 1)]
                {
                    let workload = Workload {
                        access,
                        alignment,
                        threads,
                        sharing,
                        batch,
                        operations_per_thread: 300,
                        request_bytes: 5000,
                        verification: Verification::On,
                        ..Workload::new(Operation::Read)
                    };
                    let outcome = outcome(&workload, &file_set).expect("reads are whole");
                    assert_ended_together(&outcome, &workload);
                    let bytes = 5000 * outcome.recorder.operations();
                    assert_eq!((outcome.bytes, outcome.checked_bytes), (bytes, bytes));
                }
            }
        }
    }
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn one_flipped_byte_is_caught_and_named() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Read, 0);
        let flipped = 123_457;
        let file = std::fs::File::options().read(true).write(true).open(&path);
        let file = file.expect("the file is ours");
        let mut byte = [0];
        file.read_exact_at(&mut byte, flipped).expect("the offset is in the file");
        file.write_all_at(&[byte[0] ^ 1], flipped).expect("the file is writable");

        let everything = Workload {
            access: Access::Sequential,
            operations_per_thread: FILE_BYTES / 4096,
            verification: Verification::On,
            ..Workload::new(Operation::Read)
        };
        match outcome(&everything, &file_set).expect_err("a byte is wrong") {
            EngineError::Corrupt { path: at, offset_bytes, expected, found } => {
                assert_eq!((at, offset_bytes), (path, flipped));
                assert_eq!((expected, found), (byte[0], byte[0] ^ 1));
            }
            other => panic!("{other}"),
        }
        let unlooked_at = Workload { verification: Verification::Off, ..everything };
        let outcome = outcome(&unlooked_at, &file_set).expect("nobody looks");
        assert_eq!((outcome.bytes, outcome.checked_bytes), (FILE_BYTES, 0));
        verify_file(&file_set, Role::Read, 0).expect_err("the byte is still wrong");
        assert_eq!(verify_file(&file_set, Role::Read, 1).expect("untouched"), FILE_BYTES);
    }
}

#[test]
fn verified_writes_leave_a_checkable_file_and_others_do_not() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for (access, alignment, batch) in [
            (Access::Sequential, Alignment::Request, 1),
            (Access::Uniform, Alignment::Unaligned, 5),
            (Access::Zipf { exponent: 1.1 }, Alignment::Sector, 1),
        ] {
            // Wiped first, so that only what the workload writes can be correct.
            let path = file_set.data_file(Role::Write, 0);
            let workload = Workload {
                access,
                alignment,
                batch,
                operations_per_thread: 4000,
                sharing: Sharing::Same,
                verification: Verification::On,
                ..Workload::new(Operation::Write)
            };
            if access == Access::Sequential {
                std::fs::write(&path, vec![0; FILE_LENGTH]).expect("the file is ours");
                verify_file(&file_set, Role::Write, 0).expect_err("it was wiped");
            }
            let outcome = outcome(&workload, &file_set).expect("there is room");
            assert_eq!(outcome.bytes, 4000 * 4096);
            assert_eq!(verify_file(&file_set, Role::Write, 0).expect("rewritten"), FILE_BYTES);
        }
        let unverified = Workload { sharing: Sharing::Same, ..Workload::new(Operation::Write) };
        outcome(&unverified, &file_set).expect("there is room");
        verify_file(&file_set, Role::Write, 0).expect_err("nobody asked for it");
        verify_file(&file_set, Role::Write, 1).expect("another file is not touched");
        verify_file(&file_set, Role::Read, 0).expect("reads' files never are");
    }
}

#[test]
fn direct_io_moves_the_same_bytes_or_is_refused_by_name() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for operation in [Operation::Write, Operation::Read, Operation::Append] {
            let workload = Workload {
                io_path: IoPath::PsyncDirect,
                operations_per_thread: 50,
                verification: Verification::On,
                ..Workload::new(operation)
            };
            match outcome(&workload, &file_set) {
                Ok(outcome) => assert_eq!(outcome.bytes, 50 * 4096),
                Err(EngineError::NoDirectIo { .. }) => {
                    eprintln!("refused: direct I/O in {}", scratch.path().display());
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn operations_on_growing_files_count_right_and_leave_none() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let untouched = crate::common::names(&file_set);
        for (operation, bytes_each) in [
            (Operation::Append, 1000),
            (Operation::Fsync, 0),
            (Operation::Fdatasync, 0),
            (Operation::AppendFsync, 1000),
            (Operation::Truncate, 0),
        ] {
            for (threads, sharing) in [(1, Sharing::Own), (2, Sharing::Own), (2, Sharing::Same)] {
                let workload = Workload {
                    threads,
                    sharing,
                    request_bytes: 1000,
                    operations_per_thread: 10,
                    ..Workload::new(operation)
                };
                let outcome = outcome(&workload, &file_set).expect("there is room");
                assert_ended_together(&outcome, &workload);
                let bytes = outcome.recorder.operations() * bytes_each;
                assert_eq!(outcome.bytes, bytes, "{operation:?}");
                assert_eq!(crate::common::names(&file_set), untouched, "{operation:?}");
            }
        }
    }
}

#[test]
fn appends_of_all_threads_are_in_the_file_until_restored() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let workload = Workload {
            threads: 2,
            sharing: Sharing::Same,
            request_bytes: 1000,
            operations_per_thread: 100,
            ..Workload::new(Operation::Append)
        };
        let mut session = workload::prepare(&workload, &file_set, 1).expect("there is room");
        let outcome = session
            .run_with(&measure::MonotonicClock, &crate::common::never())
            .expect("there is room");
        let [path] = session.touched() else { panic!("one file is touched") };
        let path = path.clone();
        assert_eq!(path.metadata().expect("it is there").len(), outcome.bytes);
        session.restore().expect("nothing stands in the way");
        assert!(!path.exists());
    }
}

/// Counts the 64-byte pieces of `bytes` that repeat within their 128 KiB, which is how much file
/// systems compress at once.
fn repeated_pieces(bytes: &[u8]) -> usize {
    let extents = bytes.chunks(128 << 10);
    let repeated = |extent: &[u8]| {
        let mut seen = std::collections::BTreeSet::new();
        extent.chunks(64).filter(|piece| !seen.insert(piece.to_vec())).count()
    };
    extents.map(repeated).sum()
}

#[test]
fn unverified_writes_and_appends_leave_what_does_not_compress() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let write = Workload {
            access: Access::Sequential,
            operations_per_thread: FILE_BYTES / 4096,
            ..Workload::new(Operation::Write)
        };
        for batch in [1, 16] {
            outcome(&Workload { batch, ..write.clone() }, &file_set).expect("there is room");
            let written = std::fs::read(file_set.data_file(Role::Write, 0)).expect("it is there");
            assert_eq!(repeated_pieces(&written), 0, "writes, batch {batch}");
            let append = Workload { batch, operation: Operation::Append, ..write.clone() };
            let mut session = workload::prepare(&append, &file_set, 1).expect("there is room");
            session.run_with(&measure::MonotonicClock, &crate::common::never()).expect("room");
            let appended = std::fs::read(&session.touched()[0]).expect("it is there");
            assert_eq!(appended.len(), FILE_LENGTH);
            assert_eq!(repeated_pieces(&appended), 0, "appends, batch {batch}");
            // Nor are any two 4 KiB blocks alike, in case whole blocks are deduplicated.
            let blocks: std::collections::BTreeSet<_> = appended.chunks(4096).collect();
            assert_eq!(blocks.len(), FILE_LENGTH / 4096);
        }
    }
}

/// The number of bytes that the calling thread has read so far according to the kernel, and how
/// many of them this question took.
fn bytes_read() -> Option<(u64, u64)> {
    let books = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    let line = books.lines().find_map(|line| line.strip_prefix("rchar: "))?;
    Some((line.parse().ok()?, books.len() as u64))
}

/// Files are made cold by evicting them after they were prepared, and by remounting before. So
/// preparing must neither read anything nor open what will not be touched.
#[test]
fn preparing_transfers_opens_what_is_touched_and_reads_nothing() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let root = std::fs::canonicalize(file_set.root()).expect("it is there");
        for operation in [Operation::Read, Operation::Write] {
            for (threads, sharing) in [(1, Sharing::Own), (2, Sharing::Own), (1, Sharing::Same)] {
                let workload = Workload { threads, sharing, ..Workload::new(operation) };
                let before = bytes_read();
                let session = workload::prepare(&workload, &file_set, 1).expect("it can be done");
                match (before, bytes_read()) {
                    (Some((before, cost)), Some((after, _))) => assert_eq!(after, before + cost),
                    _ => eprintln!("skipped: bytes read: needs /proc/thread-self/io"),
                }
                let open = std::fs::read_dir("/proc/self/fd").expect("every process has one");
                let mut open: Vec<_> = open
                    .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
                    .filter(|path| path.starts_with(&root))
                    .collect();
                open.sort();
                let touched = session.touched().iter();
                let touched: Vec<_> =
                    touched.map(|path| path.canonicalize().expect("it is there")).collect();
                assert_eq!(open, touched, "{workload:?}");
            }
        }
    }
}
