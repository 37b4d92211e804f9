//! How much room a journal has left: up to what readers accept, minus a reserve for the end of the
//! run.

use super::{JOURNAL_BYTES_MAX, RunDirectory};
use crate::journal::Line;
use crate::journal_text::LINES_READ_MAX;
use crate::plausible::{self, BLOCKS_MAX};

/// One of this many parts of the maximum is reserved for the last block and the end of the run.
const JOURNAL_ROOM_PARTS: u64 = 16;

impl RunDirectory {
    /// Whether the journal is nearly at its maximum: another block may not fit any more, but the
    /// end of the run does.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.share_taken() >= 1.0
    }

    /// How many blocks the journal can hold in all, if further ones are as long as the `done`
    /// blocks in it.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub fn blocks_with_room(&self, done: u32) -> u32 {
        let blocks = f64::from(done) / self.share_taken().max(f64::MIN_POSITIVE);
        (blocks as u32).clamp(done, BLOCKS_MAX)
    }

    /// The share of the maximum, without the reserve, that is used.
    fn share_taken(&self) -> f64 {
        let of = |taken: u64, most: u64| {
            taken as f64 / (most / JOURNAL_ROOM_PARTS * (JOURNAL_ROOM_PARTS - 1)) as f64
        };
        of(self.journal_bytes, JOURNAL_BYTES_MAX)
            .max(of(self.last_line as u64, LINES_READ_MAX as u64))
    }

    /// Applies the checks of readers to a line before it is written.
    pub(super) fn check_readable(&self, line: &Line, text: &[u8]) -> Result<(), String> {
        if self.journal_bytes + text.len() as u64 > JOURNAL_BYTES_MAX {
            return Err(format!("a journal has at most {JOURNAL_BYTES_MAX} bytes"));
        }
        if self.last_line >= LINES_READ_MAX {
            return Err(format!("a journal has at most {LINES_READ_MAX} lines"));
        }
        plausible::line(line, text, &self.metrics)
    }
}
