//! Renames within a directory: each thread has a share of the entries, and switches one of them to
//! its other name.
//!
//! No extra entries are needed for this, so a directory of 100 entries has 100 throughout.

use crate::arithmetic::index;
use crate::calls::Calls;
use crate::choose::{AnyChooser, Choose};
use crate::description::DirectorySync;
use crate::error::EngineError;
use crate::fault::Fault;
use crate::names::{EntryName, NameKind};
use crate::run_loop::Step;
use crate::steps::entries::{Directories, EntryOptions};

/// The entries of a directory that one thread may rename: every `stride`-th, beginning with
/// `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryShare {
    first: u64,
    stride: u64,
    pub(crate) count: u64,
}

impl EntryShare {
    /// The share of thread `thread` of `sharers` in `entries`. No share is empty if there are at
    /// least as many entries as sharers.
    pub(crate) fn for_thread(entries: u64, thread: u64, sharers: u64) -> Self {
        let count = entries.saturating_sub(thread).div_ceil(sharers);
        Self { first: thread, stride: sharers, count }
    }

    fn entry(&self, choice: u64) -> u64 {
        self.first + choice * self.stride
    }
}

/// `renameat` of an entry.
#[derive(Debug)]
pub(crate) struct Rename<K: Calls> {
    directories: Directories<K>,
    choose: AnyChooser,
    share: EntryShare,
    /// For each directory and each entry of the share, whether it currently has its other name.
    is_renamed: Vec<bool>,
    sync: DirectorySync,
    targets: Vec<(usize, EntryName, EntryName)>,
}

impl<K: Calls> Rename<K> {
    pub(crate) fn new(
        directories: Directories<K>,
        choose: AnyChooser,
        share: EntryShare,
        options: EntryOptions,
    ) -> Self {
        let is_renamed = vec![false; directories.all.len() * index(share.count)];
        let unnamed = EntryName::new(options.form);
        let targets = vec![(0, unnamed.clone(), unnamed); options.slots];
        Self { directories, choose, share, is_renamed, sync: options.sync, targets }
    }
}

impl<K: Calls> Step for Rename<K> {
    fn before(&mut self, _index: u64, slot: usize) -> Result<(), Fault> {
        let directory = self.directories.take_turn();
        let choice = self.choose.next_position().choice;
        let is_renamed = &mut self.is_renamed[directory * index(self.share.count) + index(choice)];
        let entry = self.share.entry(choice);
        let (usual, other) = (NameKind::Entry, NameKind::Renamed);
        let (from, to) = if *is_renamed { (other, usual) } else { (usual, other) };
        *is_renamed = !*is_renamed;
        let target = &mut self.targets[slot];
        target.0 = directory;
        target.1.set(from, entry);
        target.2.set(to, entry);
        Ok(())
    }

    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let (number, from, to) = &self.targets[slot];
        let directory = self.directories.start(*number);
        self.directories
            .calls
            .renameat(directory, from, to)
            .map_err(|errno| Fault::errno("renameat", errno))?;
        self.directories.sync(*number, self.sync)?;
        Ok(0)
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        let (directory, from, _) = &self.targets[slot];
        let name = from.name().to_string_lossy();
        fault.into_error(&self.directories.all[*directory].path.join(name.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_threads_are_each_entry_once() {
        for (entries, sharers) in [(1, 1), (10, 1), (10, 3), (9, 3), (3, 3)] {
            let mut all: Vec<u64> = (0..sharers)
                .map(|thread| EntryShare::for_thread(entries, thread, sharers))
                .flat_map(|share| (0..share.count).map(move |choice| share.entry(choice)))
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..entries).collect::<Vec<_>>());
        }
    }
}
