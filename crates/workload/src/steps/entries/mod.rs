//! Calls on names: one kind of step, parameterized by the call and where its names come from.

pub(crate) mod each;

use std::fmt;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::calls::Calls;
use crate::choose::{AnyChooser, Choose};
use crate::content::mix;
use crate::description::DirectorySync;
use crate::error::EngineError;
use crate::fault::Fault;
use crate::names::{EntryName, NameForm, NameKind};
use crate::run_loop::Step;

/// An open directory of the directory set.
#[derive(Debug)]
pub(crate) struct Directory<F> {
    /// The directory that paths to its names are relative to.
    pub(crate) start: F,
    /// The directory itself, if that is a different one.
    pub(crate) end: Option<F>,
    pub(crate) path: PathBuf,
}

impl<F> Directory<F> {
    /// The directory itself.
    #[inline]
    pub(crate) fn itself(&self) -> &F {
        self.end.as_ref().unwrap_or(&self.start)
    }
}

/// The directories of one thread, taken in turn.
#[derive(Debug)]
pub(crate) struct Directories<K: Calls> {
    pub(crate) calls: K,
    pub(crate) all: Vec<Directory<K::Open>>,
    next: usize,
}

impl<K: Calls> Directories<K> {
    pub(crate) fn new(calls: K, all: Vec<Directory<K::Open>>) -> Self {
        Self { calls, all, next: 0 }
    }

    /// The number of the directory for the next operation: i modulo their count for operation i.
    #[inline]
    pub(crate) fn take_turn(&mut self) -> usize {
        let turn = self.next;
        self.next = if turn + 1 == self.all.len() { 0 } else { turn + 1 };
        turn
    }

    /// The directory that paths to the names of directory `number` are relative to.
    #[inline]
    pub(crate) fn start(&self, number: usize) -> &K::Open {
        &self.all[number].start
    }

    /// Makes changes in that directory durable, if this is done after each operation.
    #[inline]
    pub(crate) fn sync(&self, number: usize, sync: DirectorySync) -> Result<(), Fault> {
        match sync {
            DirectorySync::Never => Ok(()),
            DirectorySync::EachOperation => {
                let synced = self.calls.fsync(self.all[number].itself());
                synced.map_err(|errno| Fault::errno("fsync", errno))
            }
        }
    }
}

/// Where a name comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NameFrom {
    /// An entry, chosen by the access pattern.
    Chosen(NameKind),
    /// A name that does not exist, chosen by the access pattern.
    Missing,
    /// A different new one for each operation of each thread.
    Fresh(NameKind),
    /// There is none.
    Nowhere,
}

/// Names for one session that are not entries of the directory set, with a separate range for each
/// thread.
///
/// Numbers start at a different place for each seed and wrap around. The probability that two
/// sessions with up to 2^20 operations each collide is less than 1 in 2^22; with the shortest
/// names, two sessions of 300 operations collide once in 2800 times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FreshNames {
    /// How many different numbers the names can represent.
    numbers: u64,
    session_number: u64,
    thread_number: u64,
}

impl FreshNames {
    /// The names for one of `threads` threads, which divide the numbers among themselves.
    pub(crate) fn for_thread(seed: u64, form: NameForm, thread: usize, threads: usize) -> Self {
        let numbers = form.numbers();
        let session_number = mix(mix(seed)) % numbers;
        let thread_number = session_number + thread as u64 * (numbers / threads as u64);
        Self { numbers, session_number, thread_number }
    }

    /// The number of this thread's new name for operation `index`.
    #[inline]
    pub(crate) fn number(self, index: u64) -> u64 {
        (self.thread_number + index) % self.numbers
    }

    /// The number of a name that is never created, the same for all threads.
    #[inline]
    fn missing(self, choice: u64) -> u64 {
        (self.session_number + choice) % self.numbers
    }
}

/// A call on one or two names in one directory.
pub(crate) trait EntryCall: Send {
    const CALL: &'static str;
    const FIRST: NameFrom;
    const SECOND: NameFrom = NameFrom::Nowhere;
    /// What the call returns that must be released, untimed.
    type Held<K: Calls>: Send + fmt::Debug;

    fn call<K: Calls>(
        calls: &K,
        directory: &K::Open,
        first: &EntryName,
        second: &EntryName,
    ) -> Result<Self::Held<K>, Errno>;

    fn release<K: Calls>(calls: &K, held: Self::Held<K>);
}

#[derive(Debug)]
struct CallTarget {
    directory: usize,
    first: EntryName,
    second: EntryName,
}

/// A repeated [`EntryCall`].
#[derive(Debug)]
pub(crate) struct EntryStep<K: Calls, E: EntryCall> {
    directories: Directories<K>,
    choose: AnyChooser,
    fresh: FreshNames,
    sync: DirectorySync,
    targets: Vec<CallTarget>,
    held: Vec<Option<E::Held<K>>>,
}

/// What names look like, how many calls are prepared at a time, and whether each is made durable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryOptions {
    pub(crate) form: NameForm,
    pub(crate) slots: usize,
    pub(crate) sync: DirectorySync,
}

impl<K: Calls, E: EntryCall> EntryStep<K, E> {
    pub(crate) fn new(
        directories: Directories<K>,
        choose: AnyChooser,
        fresh: FreshNames,
        options: EntryOptions,
    ) -> Self {
        let EntryOptions { form, slots, sync } = options;
        let unnamed = || EntryName::new(form);
        let target = || CallTarget { directory: 0, first: unnamed(), second: unnamed() };
        let targets = (0..slots).map(|_| target()).collect();
        let held = (0..slots).map(|_| None).collect();
        Self { directories, choose, fresh, sync, targets, held }
    }

    /// The kind and number of the next name from that source; None if it has no names.
    #[inline]
    fn name(&mut self, from: NameFrom, index: u64) -> Option<(NameKind, u64)> {
        match from {
            NameFrom::Chosen(kind) => Some((kind, self.choose.next_position().choice)),
            NameFrom::Missing => {
                Some((NameKind::Missing, self.fresh.missing(self.choose.next_position().choice)))
            }
            NameFrom::Fresh(kind) => Some((kind, self.fresh.number(index))),
            NameFrom::Nowhere => None,
        }
    }

    /// Calls `act` with what the call returned.
    #[inline]
    pub(crate) fn with_held<T>(
        &self,
        slot: usize,
        act: impl FnOnce(&K, &E::Held<K>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match &self.held[slot] {
            Some(held) => act(&self.directories.calls, held),
            // Unreachable: the call either returned something or failed.
            None => Err(Fault::errno(E::CALL, Errno::BADF)),
        }
    }

    #[inline]
    pub(crate) fn release(&mut self, slot: usize) {
        if let Some(held) = self.held[slot].take() {
            E::release(&self.directories.calls, held);
        }
    }
}

/// After a failure, earlier operations of the batch still have something to release.
impl<K: Calls, E: EntryCall> Drop for EntryStep<K, E> {
    fn drop(&mut self) {
        (0..self.held.len()).for_each(|slot| self.release(slot));
    }
}

impl<K: Calls, E: EntryCall> Step for EntryStep<K, E> {
    #[inline]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        let directory = self.directories.take_turn();
        let first = self.name(E::FIRST, index);
        let second = self.name(E::SECOND, index);
        let target = &mut self.targets[slot];
        target.directory = directory;
        for (name, chosen) in [(&mut target.first, first), (&mut target.second, second)] {
            if let Some((kind, number)) = chosen {
                name.set(kind, number);
            }
        }
        Ok(())
    }

    #[inline]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let target = &self.targets[slot];
        let directory = self.directories.start(target.directory);
        match E::call(&self.directories.calls, directory, &target.first, &target.second) {
            Ok(held) => self.held[slot] = Some(held),
            Err(errno) => return Err(Fault::errno(E::CALL, errno)),
        }
        self.directories.sync(target.directory, self.sync)?;
        Ok(0)
    }

    #[inline]
    fn after(&mut self, _index: u64, slot: usize) -> Result<(), Fault> {
        self.release(slot);
        Ok(())
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        let target = &self.targets[slot];
        let name = target.first.name().to_string_lossy();
        let directory = &self.directories.all[target.directory].path;
        fault.into_error(&directory.join(name.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::choose::Access;
    use crate::description::{Sharing, Workload};
    use crate::file_set::{DirectorySet, FileSet, FileSetSpec};
    use crate::names::{NUMBERS, NUMBERS_PER_THREAD};
    use crate::operation::Operation;
    use crate::session::{AnyStep, CallStep, Plan};

    const USUAL: NameForm = NameForm { name_bytes: 12, steps: 0 };

    /// The second time, the kernel would remember that a name is missing.
    #[test]
    fn a_missing_name_is_looked_for_once_however_many_directories_there_are() {
        let root = std::env::temp_dir().join(format!("fsprism-missing-{}", std::process::id()));
        std::fs::create_dir(&root).expect("there is a directory for such");
        let directories = DirectorySet { count: 6, entries: 10, ..DirectorySet::default() };
        let spec = FileSetSpec { directories, ..FileSetSpec::default() };
        let never = std::sync::atomic::AtomicBool::new(false);
        let file_set = FileSet::create(&root, &spec, 1, &never).expect("there is room");
        for (threads, sharing, each) in [(1, Sharing::Own, 60), (2, Sharing::Same, 5)] {
            let access = Access::Shuffled;
            let workload = Workload::new(Operation::StatMissing);
            let workload = Workload { access, threads, sharing, ..workload };
            let plan = Plan { workload: &workload, file_set: &file_set, seed: 3, on_device: None };
            let mut seen = BTreeSet::new();
            for thread in 0..threads {
                let made = plan.step(thread).expect("the directories are there");
                let AnyStep::Kernel(CallStep::StatMissing(mut step)) = made else {
                    panic!("another step")
                };
                for index in 0..each {
                    step.before(index, 0).expect("it only chooses a name");
                    let CallTarget { directory, first, .. } = &step.targets[0];
                    assert!(seen.insert((*directory, first.name().to_owned())), "{index}");
                }
            }
        }
        std::fs::remove_dir_all(&root).expect("it is ours");
    }

    #[test]
    fn threads_share_the_numbers_of_short_names_out() {
        let short = NameForm { name_bytes: 5, steps: 0 };
        let per_thread = short.numbers() / 3;
        for seed in 0..20 {
            let mut all: Vec<u64> = (0..3)
                .map(|thread| FreshNames::for_thread(seed, short, thread, 3))
                .flat_map(|fresh| [0, per_thread - 1].map(|index| fresh.number(index)))
                .collect();
            assert!(all.iter().all(|&number| number < short.numbers()));
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 6);
        }
    }

    #[test]
    fn threads_have_names_of_their_own_and_seeds_have_others() {
        let most_threads = crate::arithmetic::index(NUMBERS / NUMBERS_PER_THREAD);
        let ends = [0, NUMBERS_PER_THREAD - 1];
        let mut all = Vec::new();
        for seed in 0..20 {
            for thread in [0, 1, most_threads - 1] {
                let fresh = FreshNames::for_thread(seed, USUAL, thread, most_threads);
                all.extend(ends.map(|index| fresh.number(index)));
            }
            let missing = |seed, thread| FreshNames::for_thread(seed, USUAL, thread, 2).missing(7);
            assert_eq!(missing(seed, 1), missing(seed, 0));
            assert_ne!(missing(seed, 1), missing(seed + 1, 0));
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), count), (120, 120));
    }
}
