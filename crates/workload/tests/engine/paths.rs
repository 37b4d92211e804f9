//! Every I/O path moves the right bytes, in both directions, and reports when it cannot.

use std::os::unix::fs::FileExt;
use std::path::Path;

use workload::{
    Access, Alignment, CallFlag, CallFlags, EngineError, FileSet, IoPath, MapAdvice, MapOptions,
    Operation, Populate, Preadv2Options, Role, Sharing, StdioLocking, Verification, Workload,
    WorkloadError, prepare,
};

use crate::common::{
    FILE_BYTES, FILE_LENGTH, SEED, Scratch, assert_ended_together, file_set, outcome, smaps,
    smaps_kib, verify_file,
};

const PATTERNS: [Access; 5] = [
    Access::Sequential,
    Access::Uniform,
    Access::Shuffled,
    Access::Zipf { exponent: 0.9 },
    Access::Mixed { sequential_percent: 60 },
];
const ALIGNMENTS: [Alignment; 3] = [Alignment::Request, Alignment::Sector, Alignment::Unaligned];

/// Paths through the page cache, which work everywhere.
const PATHS: [IoPath; 6] = [
    IoPath::PsyncBuffered,
    IoPath::Mmap(MapOptions { advice: MapAdvice::Normal, populate: Populate::OnAccess }),
    IoPath::Mmap(MapOptions { advice: MapAdvice::Random, populate: Populate::AtPrepare }),
    IoPath::Preadv2(Preadv2Options {
        flags: CallFlags::NONE,
        segments: 4,
        caching: workload::Caching::Buffered,
    }),
    IoPath::Stdio(StdioLocking::EachCharacter),
    IoPath::Stdio(StdioLocking::Unlocked),
];

fn wipe(file_set: &FileSet, number: usize) {
    let path = file_set.data_file(Role::Write, number);
    std::fs::write(path, vec![0; FILE_LENGTH]).expect("the file is ours");
}

/// Changes one byte of a file, and returns it.
fn flip(path: &Path, offset_bytes: u64) -> u8 {
    let file = std::fs::File::options().read(true).write(true).open(path).expect("it is ours");
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset_bytes).expect("the offset is in the file");
    file.write_all_at(&[byte[0] ^ 1], offset_bytes).expect("the file is writable");
    byte[0]
}

#[test]
fn verified_reads_find_the_right_bytes_on_every_path() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for io_path in PATHS {
            for (access, alignment) in
                PATTERNS.into_iter().flat_map(|access| ALIGNMENTS.map(|a| (access, a)))
            {
                for (threads, sharing, batch) in
                    [(1, Sharing::Own, 1), (3, Sharing::Own, 7), (2, Sharing::Same, 1)]
                {
                    let workload = Workload {
                        access,
                        alignment,
                        threads,
                        sharing,
                        batch,
                        io_path,
                        operations_per_thread: 100,
                        request_bytes: 5000,
                        span_bytes: Some(200_000),
                        verification: Verification::On,
                        ..Workload::new(Operation::Read)
                    };
                    let outcome = outcome(&workload, &file_set).expect("reads are whole");
                    assert_ended_together(&outcome, &workload);
                    let bytes = 5000 * outcome.recorder.operations();
                    assert_eq!((outcome.bytes, outcome.checked_bytes), (bytes, bytes));
                    assert_eq!(outcome.tally, workload::Tally::default());
                }
            }
        }
    }
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn one_flipped_byte_is_caught_on_every_path() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for (io_path, flipped) in PATHS.into_iter().zip((0..).map(|n| 123_457 + 10_000 * n)) {
            let path = file_set.data_file(Role::Read, 0);
            let right = flip(&path, flipped);
            let everything = Workload {
                io_path,
                access: Access::Sequential,
                operations_per_thread: FILE_BYTES / 4096,
                verification: Verification::On,
                ..Workload::new(Operation::Read)
            };
            match outcome(&everything, &file_set).expect_err("a byte is wrong") {
                EngineError::Corrupt { path: at, offset_bytes, expected, found } => {
                    assert_eq!((&at, offset_bytes), (&path, flipped));
                    assert_eq!((expected, found), (right, right ^ 1));
                }
                other => panic!("{other}"),
            }
            flip(&path, flipped);
            let outcome = outcome(&everything, &file_set).expect("it is right again");
            assert_eq!(outcome.checked_bytes, FILE_BYTES);
        }
    }
}

/// Sequential writes fill a wiped file; the others replace correct bytes with correct bytes.
#[test]
fn verified_writes_leave_a_checkable_file_on_every_path() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for io_path in PATHS {
            for (access, alignment, batch) in [
                (Access::Sequential, Alignment::Request, 1),
                (Access::Uniform, Alignment::Unaligned, 5),
                (Access::Mixed { sequential_percent: 50 }, Alignment::Sector, 1),
            ] {
                let workload = Workload {
                    access,
                    alignment,
                    batch,
                    io_path,
                    operations_per_thread: 600,
                    sharing: Sharing::Same,
                    verification: Verification::On,
                    ..Workload::new(Operation::Write)
                };
                if access == Access::Sequential {
                    wipe(&file_set, 0);
                    verify_file(&file_set, Role::Write, 0).expect_err("it was wiped");
                }
                let outcome = outcome(&workload, &file_set).expect("there is room");
                assert_eq!((outcome.bytes, outcome.checked_bytes), (600 * 4096, 0));
                let checked = verify_file(&file_set, Role::Write, 0);
                assert_eq!(checked.expect("rewritten"), FILE_BYTES, "{io_path:?} {access:?}");
            }
            verify_file(&file_set, Role::Write, 1).expect("another file is not touched");
        }
    }
}

/// There are as many different blocks as were written, and none is as it was before.
#[test]
fn unverified_writes_go_where_they_should_on_every_path() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for io_path in PATHS {
            for batch in [1, 16] {
                wipe(&file_set, 0);
                let workload = Workload {
                    io_path,
                    batch,
                    access: Access::Sequential,
                    operations_per_thread: 100,
                    sharing: Sharing::Same,
                    ..Workload::new(Operation::Write)
                };
                outcome(&workload, &file_set).expect("there is room");
                let bytes = std::fs::read(file_set.data_file(Role::Write, 0)).expect("ours");
                assert_eq!(bytes.len(), FILE_LENGTH, "{io_path:?}");
                let (written, rest) = bytes.split_at(100 * 4096);
                let blocks: std::collections::BTreeSet<_> = written.chunks(4096).collect();
                assert_eq!(blocks.len(), 100, "{io_path:?}");
                assert!(written.chunks(64).all(|piece| piece != [0; 64]), "{io_path:?}");
                assert!(rest.iter().all(|byte| *byte == 0), "{io_path:?}");
            }
        }
    }
}

#[test]
fn a_file_that_became_shorter_is_never_counted_as_read_on_any_path() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Read, 0);
        let file = std::fs::File::options().write(true).open(path).expect("it is ours");
        file.set_len(FILE_BYTES - 100).expect("it is ours");
        for io_path in PATHS {
            let workload = Workload {
                io_path,
                access: Access::Sequential,
                operations_per_thread: FILE_BYTES / 4096,
                ..Workload::new(Operation::Read)
            };
            let error = outcome(&workload, &file_set).expect_err("the last request is short");
            match (io_path, error) {
                (IoPath::Mmap(_), EngineError::FileTooShort { span_bytes, found_bytes, .. }) => {
                    assert_eq!((span_bytes, found_bytes), (FILE_BYTES, FILE_BYTES - 100));
                }
                (IoPath::Mmap(_), other) => panic!("{io_path:?}: {other}"),
                (_, EngineError::ShortTransfer { offset_bytes, done_bytes, .. }) => {
                    assert_eq!((offset_bytes, done_bytes), (FILE_BYTES - 4096, 3996));
                }
                (_, other) => panic!("{io_path:?}: {other}"),
            }
        }
    }
}

#[test]
fn files_are_mapped_as_asked_for_as_long_as_the_session_lives() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for (operation, role, protection) in
            [(Operation::Read, Role::Read, "r--s"), (Operation::Write, Role::Write, "rw-s")]
        {
            let path = file_set.data_file(role, 0);
            for (advice, flag) in [
                (MapAdvice::Normal, None),
                (MapAdvice::Random, Some("rr")),
                (MapAdvice::Sequential, Some("sr")),
            ] {
                for (populate, resident_kib) in
                    [(Populate::OnAccess, 0), (Populate::AtPrepare, 512)]
                {
                    let workload = Workload {
                        io_path: IoPath::Mmap(MapOptions { advice, populate }),
                        span_bytes: Some(512 << 10),
                        sharing: Sharing::Same,
                        ..Workload::new(operation)
                    };
                    let session = prepare(&workload, &file_set, SEED).expect("it can be mapped");
                    let lines = smaps(&path);
                    assert!(lines[0].contains(protection), "{}", lines[0]);
                    assert_eq!(
                        (smaps_kib(&path, "Size"), smaps_kib(&path, "Rss")),
                        (512, resident_kib)
                    );
                    let flags = lines.iter().find(|line| line.starts_with("VmFlags"));
                    let flags = flags.expect("every mapping has some");
                    for other in ["rr", "sr"] {
                        let is_set = flags.split(' ').any(|word| word == other);
                        assert_eq!(is_set, flag == Some(other), "{advice:?}: {flags}");
                    }
                    session.restore().expect("nothing stands in the way");
                    assert_eq!(smaps(&path), [""; 0]);
                }
            }
        }
    }
}

#[test]
fn a_span_that_does_not_fit_is_refused_before_anything_is_mapped() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    for io_path in PATHS {
        let span_bytes = Some(FILE_BYTES + 1);
        let workload = Workload { io_path, span_bytes, ..Workload::new(Operation::Read) };
        let error = prepare(&workload, &file_set, SEED).map(drop).expect_err("it is too large");
        assert!(matches!(error, EngineError::Workload(WorkloadError::Span { .. })), "{error}");
    }
}

#[test]
fn only_what_an_io_path_can_carry_is_prepared() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let flags = CallFlags::NONE.with(CallFlag::Append);
    let append = Preadv2Options { flags, ..Preadv2Options::default() };
    for (operation, io_path) in [
        (Operation::StatPresent, PATHS[1]),
        (Operation::Append, PATHS[4]),
        (Operation::Fsync, IoPath::Preadv2(append)),
    ] {
        let workload = Workload { io_path, ..Workload::new(operation) };
        let error = prepare(&workload, &file_set, SEED).map(drop).expect_err("it cannot");
        assert!(
            matches!(error, EngineError::Workload(WorkloadError::NoSuchPath { .. })),
            "{error}"
        );
    }
}
