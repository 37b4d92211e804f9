//! Pieces by file and offset, none of which overlap.

use std::collections::BTreeMap;

use super::Entry;

#[derive(Clone, Debug, Default)]
pub(super) struct Sorted {
    entries: BTreeMap<(u32, u64), Entry>,
}

impl Sorted {
    /// Puts a piece in, and takes out those that it overlaps.
    pub(super) fn replace(&mut self, entry: Entry) -> Vec<Entry> {
        let piece = entry.piece;
        let (file, begin) = (piece.file, piece.offset);
        let end = begin.saturating_add(piece.length);
        let mut replaced = Vec::new();
        let before = self.entries.range((file, 0)..(file, begin)).next_back();
        if let Some((key, before)) = before
            && before.piece.offset.saturating_add(before.piece.length) > begin
        {
            let key = *key;
            replaced.extend(self.entries.remove(&key));
        }
        while let Some((key, _)) = self.entries.range((file, begin)..(file, end)).next() {
            let key = *key;
            replaced.extend(self.entries.remove(&key));
        }
        replaced.extend(self.entries.insert((file, begin), entry));
        replaced
    }

    /// Takes the first piece, unless it is in flight.
    pub(super) fn take_first_landed(&mut self) -> Option<Entry> {
        let first = self.entries.first_entry()?;
        (!first.get().is_in_flight).then(|| first.remove())
    }

    pub(super) fn get_mut(&mut self, file: u32, offset: u64, id: u64) -> Option<&mut Entry> {
        self.entries.get_mut(&(file, offset)).filter(|entry| entry.id == id)
    }

    pub(super) fn take(&mut self, file: u32, offset: u64, id: u64) -> Option<Entry> {
        self.get_mut(file, offset, id)?;
        self.entries.remove(&(file, offset))
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}
