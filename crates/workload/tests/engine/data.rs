//! Reads and writes: what is moved, where, and whether it is right.

use std::os::unix::fs::FileExt;

use workload::{
    Access, Alignment, EngineError, IoPath, Operation, Role, Sharing, Verification, Workload,
};

use crate::common::{FILE_BYTES, FILE_LENGTH, Scratch, file_set, outcome};

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
                    let bytes = 300 * 5000 * threads as u64;
                    assert_eq!((outcome.bytes, outcome.checked_bytes), (bytes, bytes));
                    assert_eq!(outcome.recorder.operations(), 300 * threads as u64);
                    assert_eq!(outcome.threads.len(), threads);
                    assert!(!outcome.interrupted);
                }
            }
        }
    }
}

#[test]
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
        file_set.verify_file(Role::Read, 0).expect_err("the byte is still wrong");
        assert_eq!(file_set.verify_file(Role::Read, 1).expect("untouched"), FILE_BYTES);
    }
}

#[test]
fn verified_writes_leave_a_checkable_file_and_others_leave_a_constant() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for (access, alignment, batch) in [
            (Access::Sequential, Alignment::Request, 1),
            (Access::Uniform, Alignment::Unaligned, 5),
            (Access::Zipf { exponent: 1.1 }, Alignment::Sector, 1),
        ] {
            // Wiped first, so that only what the workload writes can be right.
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
                file_set.verify_file(Role::Write, 0).expect_err("it was wiped");
            }
            let outcome = outcome(&workload, &file_set).expect("there is room");
            assert_eq!(outcome.bytes, 4000 * 4096);
            assert_eq!(file_set.verify_file(Role::Write, 0).expect("rewritten"), FILE_BYTES);
        }
        let unverified = Workload { sharing: Sharing::Same, ..Workload::new(Operation::Write) };
        outcome(&unverified, &file_set).expect("there is room");
        file_set.verify_file(Role::Write, 0).expect_err("it holds a constant now");
        file_set.verify_file(Role::Write, 1).expect("another file is not touched");
        file_set.verify_file(Role::Read, 0).expect("reads' files never are");
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
                Err(EngineError::DirectIoRefused { .. }) => {
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
                assert_eq!(outcome.bytes, 10 * threads as u64 * bytes_each, "{operation:?}");
                assert_eq!(outcome.recorder.operations(), 10 * threads as u64);
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
        session.run(&measure::MonotonicClock, &crate::common::never()).expect("there is room");
        let [path] = session.touched() else { panic!("one file is touched") };
        let path = path.clone();
        assert_eq!(path.metadata().expect("it is there").len(), 2 * 100 * 1000);
        session.restore().expect("nothing stands in the way");
        assert!(!path.exists());
    }
}
