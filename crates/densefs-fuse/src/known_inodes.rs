//! The inodes that the kernel knows.
//!
//! The server keeps the number of each until the kernel forgets it, so that no request for it ever
//! reaches another inode. It does not keep the content: when library calls remove a file that
//! nobody has open, its space is free at once, however long the kernel remembers it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use densefs::modes::Caller;
use densefs::{Errno, Member, Node, Stat, flags};
use densefs_process::{DenseFs, ProcessSeams};

use crate::alarm::Alarm;
use crate::entry::{EntryAt, KnownEntry};

/// The kernel's number of the root.
pub(crate) const ROOT: u64 = 1;
/// After how many new inodes the next sweep is due at the earliest.
const NEW_MAX: usize = 1024;

/// An inode that the kernel knows.
#[derive(Debug)]
struct KnownInode {
    /// Keeps its number.
    descriptor: u32,
    /// Keeps its content as well, if its name is contested.
    whole: Mutex<Option<u32>>,
    /// How many lookups the kernel has not forgotten yet.
    lookups: AtomicU64,
    /// Where the kernel found it last; none for the root.
    entry: Mutex<Option<KnownEntry>>,
    /// Whether the kernel has been told that it is gone.
    is_told: AtomicBool,
}

impl KnownInode {
    fn new(descriptor: u32, lookups: u64) -> Self {
        let (lookups, is_told) = (AtomicU64::new(lookups), AtomicBool::new(false));
        let (whole, entry) = (Mutex::new(None), Mutex::new(None));
        Self { descriptor, whole, lookups, entry, is_told }
    }

    fn whole(&self) -> MutexGuard<'_, Option<u32>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self) -> MutexGuard<'_, Option<KnownEntry>> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a lookup.
    fn find(&self, at: EntryAt<'_>) {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        let mut entry = self.entry();
        if !entry.as_ref().is_some_and(|known| known.is(at)) {
            *entry = Some(at.into());
        }
    }
}

/// All inodes that the kernel knows.
#[derive(Debug)]
pub(crate) struct KnownInodes {
    held: RwLock<HashMap<u64, KnownInode>>,
    /// How many were added since the last sweep.
    new: AtomicUsize,
    /// Whether some may keep their content.
    has_whole: AtomicBool,
    /// Whether the next sweep is far off.
    is_quiet: AtomicBool,
    /// Rings when a sweep is due.
    pub(crate) alarm: Alarm,
}

pub(crate) type Core = Member<'static, ProcessSeams>;

impl KnownInodes {
    /// Only the root, which the kernel never forgets.
    pub(crate) fn with_root(files: &DenseFs) -> Result<Self, Errno> {
        let descriptor = files.with_core(|core| keep_number(core, core.root()?))?;
        let root = KnownInode::new(descriptor, u64::MAX / 2);
        let held = RwLock::new(HashMap::from([(ROOT, root)]));
        let (has_whole, is_quiet) = (AtomicBool::new(false), AtomicBool::new(false));
        let (new, alarm) = (AtomicUsize::new(0), Alarm::default());
        Ok(Self { held, new, has_whole, is_quiet, alarm })
    }

    /// An inode by the kernel's number.
    ///
    /// # Errors
    /// [`Errno::NOENT`] if the kernel does not know it; [`Errno::STALE`] as [`Member::node`].
    pub(crate) fn node(&self, core: &Core, number: u64) -> Result<Node, Errno> {
        let descriptor = self.with_known(number, |known| known.descriptor);
        core.node(descriptor.ok_or(Errno::NOENT)?)
    }

    /// Where the kernel found an inode last.
    pub(crate) fn entry(&self, number: u64) -> Option<KnownEntry> {
        self.with_known(number, |known| known.entry().clone()).flatten()
    }

    fn with_known<T>(&self, number: u64, look: impl FnOnce(&KnownInode) -> T) -> Option<T> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.get(&number).map(look)
    }

    /// Counts a lookup of an inode by the kernel, which has found it there.
    ///
    /// # Errors
    /// [`Errno::STALE`] if it must be looked up again.
    pub(crate) fn enter(&self, core: &Core, found: Node, at: EntryAt<'_>) -> Result<Stat, Errno> {
        let number = self.number(core, core.ino(found))?;
        if self.with_known(number, |known| known.find(at)).is_none() {
            return self.enter_new(core, found, at);
        }
        // From here on, no other inode can get this number. What was found has it only if it is
        // still there.
        match core.stat(found) {
            Ok(stat) => Ok(Stat { ino: number, ..stat }),
            Err(why) => {
                self.forget(core, number, 1)?;
                Err(why)
            }
        }
    }

    /// Like [`Self::enter`], but the inode keeps its content until the kernel forgets it, or until
    /// [`Self::let_content_go`].
    pub(crate) fn enter_whole(
        &self,
        core: &Core,
        found: Node,
        at: EntryAt<'_>,
    ) -> Result<Stat, Errno> {
        let how = flags::PATH | flags::NO_FOLLOW;
        let descriptor = core.open_node(&Caller::ROOT, found, how)?;
        let entered = self.enter(core, found, at);
        let spare = match entered {
            Ok(stat) => {
                self.has_whole.store(true, Ordering::Relaxed);
                let keep = |known: &KnownInode| known.whole().replace(descriptor);
                self.with_known(stat.ino, keep).unwrap_or(Some(descriptor))
            }
            Err(_) => Some(descriptor),
        };
        spare.map_or(Ok(()), |spare| core.close(spare))?;
        entered
    }

    /// Whether some may keep their content.
    pub(crate) fn has_whole(&self) -> bool {
        self.has_whole.load(Ordering::Relaxed)
    }

    /// Keeps the content of none any more.
    pub(crate) fn let_content_go(&self, core: &Core) -> Result<(), Errno> {
        if !self.has_whole.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let whole: Vec<_> = {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            held.values().filter_map(|known| known.whole().take()).collect()
        };
        whole.into_iter().try_for_each(|descriptor| core.close(descriptor))
    }

    fn enter_new(&self, core: &Core, found: Node, at: EntryAt<'_>) -> Result<Stat, Errno> {
        let descriptor = keep_number(core, found)?;
        let stat = core.retry(|| core.stat(core.node(descriptor)?))?;
        let number = self.number(core, stat.ino)?;
        let is_new = {
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            let due = NEW_MAX.max(held.len() / 2);
            let mut is_new = false;
            let one = held.entry(number).or_insert_with(|| {
                is_new = true;
                KnownInode::new(descriptor, 0)
            });
            one.find(at);
            is_new.then_some(due)
        };
        match is_new {
            Some(due) => self.count_new(due),
            None => core.close(descriptor)?,
        }
        Ok(Stat { ino: number, ..stat })
    }

    /// Counts an inode that was added; a sweep is due after this many.
    fn count_new(&self, due: usize) {
        let before = self.new.fetch_add(1, Ordering::Relaxed);
        let was_quiet = before == 0 && self.is_quiet.swap(false, Ordering::Relaxed);
        if before == due || was_quiet {
            self.alarm.ring();
        }
    }

    /// The kernel's number of the inode with this number in the arena.
    pub(crate) fn number(&self, core: &Core, ino: u64) -> Result<u64, Errno> {
        Ok(if core.ino(core.root()?) == ino { ROOT } else { ino })
    }

    /// Subtracts lookups that the kernel forgets.
    pub(crate) fn forget(&self, core: &Core, number: u64, times: u64) -> Result<(), Errno> {
        let gone = {
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            let Some(one) = held.get_mut(&number).filter(|_| number != ROOT) else { return Ok(()) };
            let lookups = one.lookups.get_mut();
            *lookups = lookups.saturating_sub(times);
            let is_gone = *lookups == 0;
            if is_gone { held.remove(&number) } else { None }
        };
        let Some(one) = gone else { return Ok(()) };
        let whole = one.whole().take();
        whole.map_or(Ok(()), |whole| core.close(whole))?;
        core.close(one.descriptor)
    }

    /// Sleeps until the next sweep is due, after this time at the latest; false if there is to be
    /// none. If `is_quiet`, the next inode that is added ends the sleep.
    pub(crate) fn await_sweep(&self, at_most: Duration, is_quiet: bool) -> bool {
        self.is_quiet.store(is_quiet, Ordering::Relaxed);
        self.alarm.wait(at_most)
    }

    /// How many inodes were added since the last call of this.
    pub(crate) fn take_new(&self) -> usize {
        self.new.swap(0, Ordering::Relaxed)
    }

    /// The entries of inodes without names, if the kernel has not been told that they are gone.
    pub(crate) fn take_gone(&self, core: &Core) -> Vec<KnownEntry> {
        // A copy, so that requests need not wait.
        let known: Vec<_> = {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            held.iter().map(|(&number, known)| (number, known.descriptor)).collect()
        };
        let is_gone = |&(number, descriptor): &(u64, u32)| {
            let stat = core.node(descriptor).and_then(|node| core.stat(node));
            // It may be another's descriptor by now.
            stat.is_ok_and(|stat| stat.links == 0 && stat.ino == number)
        };
        let tell = |one: &KnownInode| {
            let is_told = one.is_told.swap(true, Ordering::Relaxed);
            if is_told { None } else { one.entry().clone() }
        };
        let gone = known.into_iter().filter(is_gone);
        gone.filter_map(|(number, _)| self.with_known(number, tell)?).collect()
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.held.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Opens an inode in a way that only keeps its number.
fn keep_number(core: &Core, node: Node) -> Result<u32, Errno> {
    core.open_node(&Caller::ROOT, node, flags::NUMBER_ONLY | flags::NO_FOLLOW)
}
