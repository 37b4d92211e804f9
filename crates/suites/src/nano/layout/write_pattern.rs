//! Writes files such that they are laid out on the device in a certain way.
//!
//! File systems delay the choice of a location until write-back, and so merge what was written in
//! pieces. To keep pieces apart, write-back of each is started before the next is written
//! (`POSIX_FADV_DONTNEED`, mm/fadvise.c: it starts write-back of the range, which chooses the
//! location, and does not wait).

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use runner::Failure;
use rustix::fs::{Advice, fadvise};
use workload::Content;

use crate::experiment::Site;
use crate::failure::failed;

/// How files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WritePattern {
    /// Each from start to end, one after another.
    AtOnce,
    /// This many in turn, one piece of each at a time.
    Interleaved { files: usize, piece_bytes: u64, allocation: Allocation },
    /// Each in pieces in random order, allocated one by one.
    Shuffled { piece_bytes: u64 },
}

/// When a location is chosen for a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocation {
    /// Before the next piece is written.
    ByPiece,
    /// When the file system likes, at the latest when everything has been written.
    Delayed,
}

/// Bytes written at a time if pieces do not matter.
const CHUNK_BYTES: u64 = 1 << 20;

impl WritePattern {
    /// Its name among the parameters.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AtOnce => "at once",
            Self::Interleaved { allocation: Allocation::ByPiece, .. } => "in turn, piece by piece",
            Self::Interleaved { allocation: Allocation::Delayed, .. } => "in turn, delayed",
            Self::Shuffled { .. } => "random pieces",
        }
    }

    /// Number of files that are written together.
    pub(super) fn together(self) -> usize {
        if let Self::Interleaved { files, .. } = self { files } else { 1 }
    }

    pub(super) fn piece_bytes(self) -> Option<u64> {
        match self {
            Self::AtOnce => None,
            Self::Interleaved { piece_bytes, .. } | Self::Shuffled { piece_bytes } => {
                Some(piece_bytes)
            }
        }
    }

    /// Writes `file_bytes` to each of the files. Those written together are adjacent in `files`.
    pub(super) fn write(
        self,
        site: &Site<'_>,
        files: &[File],
        file_bytes: u64,
    ) -> Result<(), Failure> {
        let piece_bytes = self.piece_bytes().unwrap_or(CHUNK_BYTES).min(file_bytes);
        let by_piece = match self {
            Self::AtOnce | Self::Interleaved { allocation: Allocation::Delayed, .. } => false,
            Self::Interleaved { .. } | Self::Shuffled { .. } => true,
        };
        let mut order: Vec<u64> = (0..file_bytes.div_ceil(piece_bytes)).collect();
        let mut piece = vec![0; usize::try_from(piece_bytes).map_err(|error| failed(&error))?];
        for (turn, group) in (0u64..).zip(files.chunks(self.together())) {
            if matches!(self, Self::Shuffled { .. }) {
                let seed = site.seed.wrapping_add(turn);
                order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
            }
            for &number in &order {
                site.go_on()?;
                for (id, file) in (turn * self.together() as u64..).zip(group) {
                    let offset_bytes = number * piece_bytes;
                    Content::new(site.seed, id).fill(&mut piece, offset_bytes);
                    write_piece(file, &piece, offset_bytes, by_piece)
                        .map_err(|error| failed(&error))?;
                }
            }
        }
        Ok(())
    }
}

fn write_piece(
    file: &File,
    piece: &[u8],
    offset_bytes: u64,
    by_piece: bool,
) -> std::io::Result<()> {
    file.write_all_at(piece, offset_bytes)?;
    if by_piece {
        let length = NonZeroU64::new(piece.len() as u64);
        fadvise(file, offset_bytes, length, Advice::DontNeed)?;
    }
    Ok(())
}
