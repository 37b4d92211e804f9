//! The descriptors by which owners of the kernel's hold locks of ranges.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use densefs::modes::Caller;
use densefs::{Errno, flags};
use densefs_process::{DenseFs, LockHolder, LockRange};

/// An owner of locks of an inode, both by the kernel's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) inode: u64,
    pub(crate) owner: u64,
}

/// An owner that has locks of a file, or is about to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    pub(crate) owner: u64,
    /// What it holds them by.
    descriptor: u32,
    /// The open file by which it took one last.
    pub(crate) file: Option<u32>,
    /// How many threads use the descriptor.
    users: u32,
    /// Whether it may have locks.
    has_locks: bool,
    /// How often it took one.
    taken: u64,
}

/// What a thread has done with a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Nothing,
    /// Taken a lock by this open file.
    Taken {
        file: u32,
    },
    /// Released all of them, after as many had been taken.
    Released {
        taken: u64,
    },
}

/// All holders.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    of_inodes: Mutex<HashMap<u64, Vec<Holder>>>,
    /// How many there are. Usually there are none, and closing a file takes no lock of the table.
    count: AtomicUsize,
}

impl Holders {
    fn of_inodes(&self) -> MutexGuard<'_, HashMap<u64, Vec<Holder>>> {
        self.of_inodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an owner may have locks.
    pub(crate) fn has(&self, key: Key) -> bool {
        let of_inodes = self.of_inodes();
        let mut all = of_inodes.get(&key.inode).into_iter().flatten();
        all.any(|holder| holder.owner == key.owner)
    }

    /// Does something with the locks that an owner has or is to have, by a descriptor that they
    /// belong to. `file` is the open file that the owner uses. The closure returns whether it has
    /// taken a lock.
    pub(crate) fn change(
        &self,
        files: &DenseFs,
        key: Key,
        file: u32,
        change: impl FnOnce(u32) -> Result<bool, Errno>,
    ) -> Result<(), Errno> {
        let changed = change(self.enter(files, key, file)?);
        let done = if changed == Ok(true) { Done::Taken { file } } else { Done::Nothing };
        self.leave(files, key, done)?;
        changed.map(drop)
    }

    /// Releases all locks that some owners have of a file.
    pub(crate) fn release_of(
        &self,
        files: &DenseFs,
        inode: u64,
        is_meant: impl Fn(&Holder) -> bool,
    ) -> Result<(), Errno> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        let meant: Vec<Holder> = {
            let mut of_inodes = self.of_inodes();
            let all = of_inodes.get_mut(&inode).into_iter().flatten();
            all.filter(|holder| is_meant(holder))
                .map(|holder| {
                    holder.users += 1;
                    *holder
                })
                .collect()
        };
        // Released before the descriptor is closed, by which time the owner may have another one.
        let range = LockRange { start: 0, end: u64::MAX, holder: LockHolder::Description };
        let mut all = Ok(());
        for Holder { owner, descriptor, taken, .. } in meant {
            let released = files.lock_range(descriptor, range, None, false);
            let left = self.leave(files, Key { inode, owner }, Done::Released { taken });
            all = all.and(released).and(left);
        }
        all
    }

    /// Begins to use the descriptor of a holder.
    fn enter(&self, files: &DenseFs, key: Key, file: u32) -> Result<u32, Errno> {
        if let Some(descriptor) = self.enter_if_there(key) {
            return Ok(descriptor);
        }
        let descriptor = files.with_core(|core| {
            core.retry(|| core.open_node(&Caller::ROOT, core.node(file)?, flags::READ_WRITE))
        })?;
        let mut of_inodes = self.of_inodes();
        let all = of_inodes.entry(key.inode).or_default();
        if let Some(holder) = all.iter_mut().find(|holder| holder.owner == key.owner) {
            // Another thread was faster.
            holder.users += 1;
            let theirs = holder.descriptor;
            drop(of_inodes);
            files.with_core(|core| core.close(descriptor))?;
            return Ok(theirs);
        }
        let (owner, users, file, has_locks, taken) = (key.owner, 1, None, false, 0);
        all.push(Holder { owner, descriptor, file, users, has_locks, taken });
        self.count.fetch_add(1, Ordering::Release);
        Ok(descriptor)
    }

    fn enter_if_there(&self, key: Key) -> Option<u32> {
        let mut of_inodes = self.of_inodes();
        let holder =
            of_inodes.get_mut(&key.inode)?.iter_mut().find(|one| one.owner == key.owner)?;
        holder.users += 1;
        Some(holder.descriptor)
    }

    /// Ends to use it. The last user closes it, unless the owner has locks.
    fn leave(&self, files: &DenseFs, key: Key, done: Done) -> Result<(), Errno> {
        let unused = self.note(key, done);
        unused.map_or(Ok(()), |descriptor| files.with_core(|core| core.close(descriptor)))
    }

    /// Notes what has been done. Returns the descriptor if nobody needs it any more.
    fn note(&self, key: Key, done: Done) -> Option<u32> {
        let mut of_inodes = self.of_inodes();
        let all = of_inodes.get_mut(&key.inode)?;
        let index = all.iter().position(|holder| holder.owner == key.owner)?;
        let holder = &mut all[index];
        holder.users -= 1;
        match done {
            Done::Nothing => {}
            Done::Taken { file } => {
                holder.has_locks = true;
                holder.taken += 1;
                holder.file = Some(file);
            }
            // If another thread of the owner is taking one, nobody can tell which came first.
            Done::Released { taken } if holder.taken == taken && holder.users == 0 => {
                holder.has_locks = false;
            }
            Done::Released { .. } => {}
        }
        if holder.users > 0 || holder.has_locks {
            return None;
        }
        let descriptor = all.swap_remove(index).descriptor;
        if all.is_empty() {
            of_inodes.remove(&key.inode);
        }
        self.count.fetch_sub(1, Ordering::Release);
        Some(descriptor)
    }
}
