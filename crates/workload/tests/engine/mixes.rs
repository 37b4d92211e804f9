//! Mixes: shares of reads and of sequential accesses, on every path that supports transfers.

use std::collections::BTreeSet;

use workload::{
    Access, EngineError, IoPath, MapOptions, Operation, Preadv2Options, Role, Sharing,
    StdioLocking, Verification, Workload, prepare,
};

use crate::common::{FILE_LENGTH, Scratch, file_set, never, outcome, verify_file};

fn paths() -> [IoPath; 4] {
    [
        IoPath::PsyncBuffered,
        IoPath::Mmap(MapOptions::default()),
        IoPath::Preadv2(Preadv2Options::default()),
        IoPath::Stdio(StdioLocking::Unlocked),
    ]
}

fn mix(io_path: IoPath, read_percent: u8) -> Workload {
    Workload {
        io_path,
        operations_per_thread: 2000,
        sharing: Sharing::Same,
        ..Workload::new(Operation::Mixed { read_percent })
    }
}

#[test]
fn a_mix_reads_and_writes_in_the_shares_asked_for_and_finds_the_right_bytes() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for io_path in paths() {
            for (read_percent, threads, batch) in [(0, 1, 1), (30, 2, 1), (70, 1, 9), (100, 1, 1)] {
                let verification = Verification::On;
                let workload =
                    Workload { threads, batch, verification, ..mix(io_path, read_percent) };
                let outcome = outcome(&workload, &file_set).expect("both are whole");
                let operations = outcome.recorder.operations();
                let workload::Tally { reads, writes, would_block } = outcome.tally;
                assert_eq!((reads + writes, would_block), (operations, 0), "{io_path:?}");
                assert_eq!(outcome.bytes, 4096 * operations);
                assert_eq!(outcome.checked_bytes, 4096 * reads);
                // Five standard deviations of a binomial.
                let share = f64::from(read_percent) / 100.0;
                let off = (reads as f64 - share * operations as f64).abs();
                assert!(off <= 5.0 * (operations as f64 * share * (1.0 - share)).sqrt(), "{reads}");
                verify_file(&file_set, Role::Write, 0).expect("writes are right too");
            }
        }
        verify_file(&file_set, Role::Read, 0).expect("a file for reads is not written to");
    }
}

/// Blocks of a zeroed file that have been written to.
fn written_blocks(bytes: &[u8]) -> usize {
    bytes.chunks(4096).filter(|block| block.iter().any(|byte| *byte != 0)).count()
}

#[test]
fn the_writes_of_a_mix_write_and_its_reads_read() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Write, 0);
        for io_path in paths() {
            for read_percent in [0, 50, 100] {
                std::fs::write(&path, vec![0; FILE_LENGTH]).expect("the file is ours");
                let workload =
                    Workload { operations_per_thread: 100, ..mix(io_path, read_percent) };
                let outcome = outcome(&workload, &file_set).expect("nobody looks at the bytes");
                let bytes = std::fs::read(&path).expect("the file is ours");
                let written = written_blocks(&bytes) as u64;
                let writes = outcome.tally.writes;
                assert!(written <= writes && 2 * written > writes || writes == 0, "{written}");
                assert_eq!(written == 0, writes == 0);
            }
            let reads = Workload { verification: Verification::On, ..mix(io_path, 100) };
            std::fs::write(&path, vec![0; FILE_LENGTH]).expect("the file is ours");
            let error = outcome(&reads, &file_set).expect_err("zeroes are wrong");
            assert!(matches!(error, EngineError::Corrupt { .. }), "{error}");
            let writes = Workload { verification: Verification::On, ..mix(io_path, 0) };
            let all = Workload { access: Access::Sequential, ..writes };
            outcome(&all, &file_set).expect("it is written again");
            verify_file(&file_set, Role::Write, 0).expect("it is written again");
        }
    }
}

/// A mix uses the same places as reads do, and its directions depend on the seed.
#[test]
fn the_same_seed_mixes_the_same_way() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Write, 0);
        let written = |seed| {
            std::fs::write(&path, vec![0; FILE_LENGTH]).expect("the file is ours");
            let workload =
                Workload { operations_per_thread: 100, ..mix(IoPath::PsyncBuffered, 50) };
            let mut session = prepare(&workload, &file_set, seed).expect("it can be executed");
            session.run_with(&measure::MonotonicClock, &never()).expect("there is room");
            std::fs::read(&path).expect("the file is ours")
        };
        let first = written(1);
        assert!(first == written(1) && first != written(2));
    }
}

/// 100 uniform writes leave about 56 runs of written blocks among 256; sequential ones leave a
/// single run.
#[test]
fn sequential_shares_reach_from_random_to_sequential() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Write, 0);
        for (sequential_percent, least, most) in [(0, 40, 100), (90, 1, 20), (100, 1, 1)] {
            std::fs::write(&path, vec![0; FILE_LENGTH]).expect("the file is ours");
            let workload = Workload {
                access: Access::Mixed { sequential_percent },
                operations_per_thread: 100,
                sharing: Sharing::Same,
                ..Workload::new(Operation::Write)
            };
            outcome(&workload, &file_set).expect("there is room");
            let bytes = std::fs::read(&path).expect("the file is ours");
            let written: BTreeSet<usize> = (0..FILE_LENGTH / 4096)
                .filter(|block| written_blocks(&bytes[4096 * block..4096 * (block + 1)]) > 0)
                .collect();
            let starts =
                written.iter().filter(|block| **block == 0 || !written.contains(&(**block - 1)));
            let runs = starts.count();
            assert!((least..=most).contains(&runs), "{runs} runs at {sequential_percent} %");
        }
    }
}
