//! Which blocks have been written and are to be verified, and in which order.
//!
//! A piece is logged before its write begins, and is in flight until the write ends. Pieces of
//! files whose blocks cannot overlap are verified in the order in which they were logged. All
//! others are sorted by file and offset, and a piece replaces those that it overlaps, even if they
//! are in flight. Sorted pieces come first. The first piece is waited for: while it is in flight,
//! nothing is verified.
//!
//! A block can be trimmed before it is verified (`trim_percentage`). It is then verified to read as
//! zeros (`trim_verify_zero`), or not at all.
//!
//! Source: fio 3.33, `log_io_piece` and what is around it in `iolog.c`, `get_next_verify` in
//! `verify.c`, `trim.c`. Sorted files are in the order of their numbers here; fio has them in the
//! order of their addresses.

mod backlog;
mod sorted;

use std::collections::VecDeque;

pub use backlog::{TrimBacklog, VerifyBacklog};
use sorted::Sorted;

/// A block that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The file's number in its job, from 0.
    pub file: u32,
    /// Where the block begins, in bytes.
    pub offset: u64,
    /// Bytes of the block.
    pub length: u64,
    /// The number of the write.
    pub number: u64,
    /// The block has been trimmed since, and should read as zeros.
    pub is_trimmed: bool,
}

/// How the pieces of a file are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// In the order in which they are logged: for files with a map of the blocks that are used,
    /// which random jobs have unless `norandommap` or another `random_generator` is given.
    Logged,
    /// By offset, the last write to a place only: for all others.
    Sorted,
}

/// Whether a block is to be trimmed: one in a hundred for each `trim_percentage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Stays,
    /// It is trimmed when the job gets to it.
    IsTrimmed,
}

/// What a piece is known by while its write is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    id: u64,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Logged,
    Sorted { file: u32, offset: u64 },
}

#[derive(Clone, Debug)]
struct Entry {
    id: u64,
    piece: Piece,
    is_in_flight: bool,
    fate: Fate,
}

/// The blocks of a job that are to be verified.
#[derive(Clone, Debug, Default)]
pub struct History {
    sorted: Sorted,
    /// Pieces in the order in which they were logged, with nothing where one was taken out.
    logged: VecDeque<Option<Entry>>,
    /// The number of pieces that were taken from the front of `logged`.
    logged_before: u64,
    logged_count: usize,
    sorted_ids: u64,
    trims: VecDeque<Ticket>,
    trim_count: usize,
}

impl History {
    /// A history of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Logs a piece, in flight.
    pub fn log(&mut self, piece: Piece, keeping: Keeping, fate: Fate) -> Ticket {
        let ticket = match keeping {
            Keeping::Logged => {
                let id = self.logged_before + self.logged.len() as u64;
                self.logged.push_back(Some(Entry { id, piece, is_in_flight: true, fate }));
                self.logged_count += 1;
                Ticket { id, place: Place::Logged }
            }
            Keeping::Sorted => {
                let id = self.sorted_ids;
                self.sorted_ids += 1;
                let entry = Entry { id, piece, is_in_flight: true, fate };
                for replaced in self.sorted.replace(entry) {
                    self.forget_trim(&replaced);
                }
                Ticket { id, place: Place::Sorted { file: piece.file, offset: piece.offset } }
            }
        };
        if fate == Fate::IsTrimmed {
            self.trims.push_back(ticket);
            self.trim_count += 1;
        }
        ticket
    }

    /// The write has ended. Nothing happens if the piece has been replaced.
    pub fn completed(&mut self, ticket: Ticket) {
        if let Some(entry) = self.entry(ticket) {
            entry.is_in_flight = false;
        }
    }

    /// The write has failed, or was not begun: its piece is taken out.
    pub fn failed(&mut self, ticket: Ticket) {
        if let Some(entry) = self.take(ticket) {
            self.forget_trim(&entry);
        }
    }

    /// The write has written less than it should, in bytes.
    pub fn shortened(&mut self, ticket: Ticket, length: u64) {
        if let Some(entry) = self.entry(ticket) {
            entry.piece.length = length;
        }
    }

    /// Takes the piece that is to be verified next: none if there is none, or if the first one is
    /// in flight.
    pub fn next_to_verify(&mut self) -> Option<Piece> {
        let entry = if self.sorted.is_empty() {
            let front = self.logged.front()?.as_ref()?;
            if front.is_in_flight {
                return None;
            }
            let ticket = Ticket { id: front.id, place: Place::Logged };
            self.take(ticket)?
        } else {
            self.sorted.take_first_landed()?
        };
        self.forget_trim(&entry);
        Some(entry.piece)
    }

    /// Takes the piece that is to be trimmed next, in flight or not. With
    /// [`TrimmedBlocks::AreVerified`] it stays to be verified, marked as trimmed.
    pub fn next_to_trim(&mut self, trimmed: TrimmedBlocks) -> Option<Piece> {
        while let Some(ticket) = self.trims.pop_front() {
            let Some(entry) = self.entry(ticket) else { continue };
            if entry.fate == Fate::Stays {
                continue;
            }
            entry.fate = Fate::Stays;
            let piece = entry.piece;
            match trimmed {
                TrimmedBlocks::AreVerified => entry.piece.is_trimmed = true,
                TrimmedBlocks::AreForgotten => drop(self.take(ticket)),
            }
            self.trim_count -= 1;
            return Some(piece);
        }
        None
    }

    /// The number of pieces, those in flight included.
    pub fn len(&self) -> usize {
        self.sorted.len() + self.logged_count
    }

    /// Whether there is no piece.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of pieces that are still to be trimmed.
    pub fn trims(&self) -> usize {
        self.trim_count
    }

    /// Forgets everything, at the beginning of each loop of a job. Tickets of before are unknown.
    pub fn clear(&mut self) {
        self.sorted.clear();
        self.logged_before += self.logged.len() as u64;
        self.logged.clear();
        self.logged_count = 0;
        self.trims.clear();
        self.trim_count = 0;
    }

    fn forget_trim(&mut self, entry: &Entry) {
        if entry.fate == Fate::IsTrimmed {
            self.trim_count -= 1;
        }
    }

    fn logged_index(&self, id: u64) -> Option<usize> {
        usize::try_from(id.checked_sub(self.logged_before)?).ok()
    }

    fn entry(&mut self, ticket: Ticket) -> Option<&mut Entry> {
        match ticket.place {
            Place::Logged => {
                let index = self.logged_index(ticket.id)?;
                self.logged.get_mut(index)?.as_mut()
            }
            Place::Sorted { file, offset } => self.sorted.get_mut(file, offset, ticket.id),
        }
    }

    /// Takes a piece out; its part in the number of trims stays.
    fn take(&mut self, ticket: Ticket) -> Option<Entry> {
        match ticket.place {
            Place::Logged => {
                let index = self.logged_index(ticket.id)?;
                let entry = self.logged.get_mut(index)?.take()?;
                self.logged_count -= 1;
                while let Some(None) = self.logged.front() {
                    self.logged.pop_front();
                    self.logged_before += 1;
                }
                Some(entry)
            }
            Place::Sorted { file, offset } => self.sorted.take(file, offset, ticket.id),
        }
    }
}

/// What becomes of blocks that are trimmed: `trim_verify_zero`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimmedBlocks {
    /// They are verified to read as zeros.
    AreVerified,
    /// They are not verified.
    AreForgotten,
}

#[cfg(test)]
mod tests;
