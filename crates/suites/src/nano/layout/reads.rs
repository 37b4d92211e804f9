//! Cold reads, over the size of the file and over how it was written.

use record::{CacheState, Dimension};

use super::files::ColdRead;
use super::write_pattern::{Allocation, WritePattern};
use crate::benchmark::Benchmark;
use crate::nano::curve::{Curve, usize_of};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
/// Size of files whose pieces are compared: many pieces, quickly written.
const FILE_BYTES: u64 = 4 * MIB;
/// How many of them are read, however many were written together.
const FILES_READ: usize = 4;
/// Bytes that appending programs typically write at a time.
const PIECE_BYTES: u64 = 16 * KIB;

/// Small forms of two points.
pub(super) fn quick() -> Vec<Benchmark> {
    let one = |name, title, pattern| {
        cold(name, title, ColdRead { file_bytes: MIB, files_read: 2, pattern })
    };
    let (files, piece_bytes, allocation) = (2, PIECE_BYTES, Allocation::ByPiece);
    vec![
        one("read-written-at-once", "read of a file written in one go, cold", WritePattern::AtOnce),
        one(
            "read-written-in-turn",
            "read of a file interleaved with another, cold",
            WritePattern::Interleaved { files, piece_bytes, allocation },
        ),
    ]
}

pub(super) fn curves() -> Vec<Benchmark> {
    let mut all = by_file_size();
    all.extend(in_turn_by_files(Allocation::ByPiece));
    all.extend(in_turn_by_files(Allocation::Delayed));
    all.extend(in_turn_by_piece());
    all.extend(shuffled_by_piece());
    all
}

fn cold(name: &str, title: &str, read: ColdRead) -> Benchmark {
    Benchmark {
        dimension: Dimension::OnDiskLayout,
        exercises: vec![Dimension::Io, Dimension::Caching],
        cache_state: CacheState::Cold,
        ..Benchmark::from_experiment(name, title, read)
    }
}

/// Many files if they are small, so that there is enough to time.
fn by_file_size() -> Vec<Benchmark> {
    let curve = Curve {
        name: "read-by-file-size",
        title: "read of files written in one go, cold",
        axis: "file size",
        unit: "bytes",
    };
    let sizes: Vec<u64> = (12..=26).step_by(2).map(|log2| 1 << log2).collect();
    curve.points(&sizes, |file_bytes| {
        let files_read = usize_of((4 * MIB / file_bytes).clamp(1, 64));
        cold("", "", ColdRead { file_bytes, files_read, pattern: WritePattern::AtOnce })
    })
}

fn in_turn_by_files(allocation: Allocation) -> Vec<Benchmark> {
    let (name, title) = match allocation {
        Allocation::ByPiece => {
            ("read-by-files-in-turn", "read of files interleaved by 16 KiB, cold")
        }
        Allocation::Delayed => {
            ("read-by-files-in-turn-delayed", "read of interleaved files, delayed allocation, cold")
        }
    };
    let curve = Curve { name, title, axis: "interleaved files", unit: "count" };
    curve.points(&[1, 2, 4, 8, 16], |files| {
        let files = usize_of(files);
        let pattern = WritePattern::Interleaved { files, piece_bytes: PIECE_BYTES, allocation };
        cold_reads_of(pattern)
    })
}

fn in_turn_by_piece() -> Vec<Benchmark> {
    let curve = Curve {
        name: "read-by-piece-in-turn",
        title: "read of 4 interleaved files, cold",
        axis: "piece size",
        unit: "bytes",
    };
    curve.points(&pieces(), |piece_bytes| {
        let (files, allocation) = (4, Allocation::ByPiece);
        cold_reads_of(WritePattern::Interleaved { files, piece_bytes, allocation })
    })
}

fn shuffled_by_piece() -> Vec<Benchmark> {
    let curve = Curve {
        name: "read-by-random-piece",
        title: "read of files written in random order, cold",
        axis: "piece size",
        unit: "bytes",
    };
    curve.points(&pieces(), |piece_bytes| cold_reads_of(WritePattern::Shuffled { piece_bytes }))
}

fn cold_reads_of(pattern: WritePattern) -> Benchmark {
    cold("", "", ColdRead { file_bytes: FILE_BYTES, files_read: FILES_READ, pattern })
}

fn pieces() -> Vec<u64> {
    [4, 16, 64, 256, 1024].map(|kib| kib * KIB).to_vec()
}
