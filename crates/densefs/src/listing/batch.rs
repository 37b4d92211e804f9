//! Batches of directory entries, copied for callers that cannot take anything back.

use crate::errno::Errno;
use crate::layout::cell;
use crate::listing::{EntrySink, ListedEntry};
use crate::member::{Member, Node};
use crate::modes::Caller;
use crate::name::NAME_MAX;
use crate::seams::Seams;

/// Entries in a batch, if their names are short.
const ENTRIES: usize = 64;
const NAME_BYTES: usize = ENTRIES * cell::NAME_MAX;

const _: () = assert!(NAME_BYTES >= NAME_MAX, "any entry fits");

/// An entry whose name is in `Batch::bytes`.
#[derive(Clone, Copy, Debug, Default)]
struct CopiedEntry {
    position: u64,
    ino: u64,
    type_bits: u32,
    /// The end of its name; it begins where the previous one ends.
    end: usize,
}

/// Copies of some directory entries.
#[derive(Debug)]
pub struct Batch {
    copied: [CopiedEntry; ENTRIES],
    bytes: [u8; NAME_BYTES],
    count: usize,
    kept: usize,
    is_full: bool,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            copied: [CopiedEntry::default(); ENTRIES],
            bytes: [0; NAME_BYTES],
            count: 0,
            kept: 0,
            is_full: false,
        }
    }
}

impl Batch {
    /// Removes all entries.
    pub fn clear(&mut self) {
        (self.count, self.kept, self.is_full) = (0, 0, false);
    }

    /// Whether an entry did not fit.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The entries.
    pub fn entries(&self) -> impl Iterator<Item = ListedEntry<'_>> {
        let mut begin = 0;
        self.copied.iter().take(self.kept).map(move |one| {
            let name = self.bytes.get(begin..one.end).unwrap_or_default();
            begin = one.end;
            let CopiedEntry { position, ino, type_bits, .. } = *one;
            ListedEntry { name, short: None, ino, type_bits, position }
        })
    }

    /// Where the next name begins.
    fn end(&self) -> usize {
        self.count.checked_sub(1).and_then(|last| self.copied.get(last)).map_or(0, |one| one.end)
    }
}

impl EntrySink for Batch {
    #[inline]
    fn take(&mut self, one: ListedEntry<'_>) -> bool {
        let begin = self.end();
        let end = begin + one.name.len();
        let room = self.bytes.get_mut(begin..end);
        let (Some(room), Some(copied)) = (room, self.copied.get_mut(self.count)) else {
            self.is_full = true;
            return false;
        };
        room.copy_from_slice(one.name);
        let ListedEntry { position, ino, type_bits, .. } = one;
        *copied = CopiedEntry { position, ino, type_bits, end };
        self.count += 1;
        true
    }

    fn take_back(&mut self) {
        (self.count, self.is_full) = (self.kept, false);
    }

    fn keep(&mut self) {
        self.kept = self.count;
    }
}

impl<S: Seams> Member<'_, S> {
    /// Calls `visit` with each entry from a position on, until it returns false. The directory may
    /// change meanwhile.
    ///
    /// # Errors
    /// As [`Self::list`].
    pub fn list_each(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        mut from: u64,
        mut visit: impl FnMut(ListedEntry<'_>) -> bool,
    ) -> Result<(), Errno> {
        let mut batch = Batch::default();
        loop {
            batch.clear();
            self.list(caller, directory, &mut from, &mut batch)?;
            if !batch.entries().all(&mut visit) || !batch.is_full() {
                return Ok(());
            }
        }
    }
}
