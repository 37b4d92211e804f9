//! Changing attributes of inodes, and the path of a directory.

use crate::annex::{Inode, NO_ATIME, stored_atime};
use crate::arena::Ref;
use crate::errno::Errno;
use crate::layout::{annex, cell};
use crate::member::{Member, Node};
use crate::modes::{Caller, Mode, SETGID, SYMLINK, TYPE, WRITE};
use crate::name::NAME_MAX;
use crate::seams::Seams;

/// New values for owner and group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The new owner, if it changes.
    pub uid: Option<u32>,
    /// The new group, if it changes.
    pub gid: Option<u32>,
}

/// A new value for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewTime {
    /// Unchanged.
    Same,
    /// The current time.
    Now,
    /// This time, in nanoseconds since 1970.
    At(i64),
}

impl NewTime {
    fn resolve(self, now: u64) -> Option<u64> {
        match self {
            Self::Same => None,
            Self::Now => Some(now),
            Self::At(time) => Some(time.cast_unsigned()),
        }
    }
}

/// New values for the times of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewTimes {
    /// The access time.
    pub accessed: NewTime,
    /// The modification time.
    pub changed: NewTime,
}

impl<'a, S: Seams> Member<'a, S> {
    /// Changes permissions: the lowest twelve bits of `mode`.
    ///
    /// # Errors
    /// [`Errno::PERM`] unless the caller owns the inode or is root; [`Errno::OPNOTSUPP`] for a
    /// symbolic link; [`Errno::NOSPC`] if the table of modes is full.
    pub fn set_mode(&self, caller: &Caller<'_>, node: Node, mode: u32) -> Result<(), Errno> {
        self.change_mode(node, |old| {
            if old.mode & TYPE == SYMLINK {
                return Err(Errno::OPNOTSUPP);
            }
            if caller.uid != old.uid && !caller.may_all() {
                return Err(Errno::PERM);
            }
            let mut mode = mode & 0o7777;
            if !caller.may_all() && !caller.is_in(old.gid) {
                mode &= !SETGID;
            }
            Ok(Mode { mode: old.mode & TYPE | mode, ..old })
        })
    }

    /// Changes owner and group.
    ///
    /// # Errors
    /// [`Errno::PERM`] unless the caller is root, or owns the inode, keeps the owner, and chooses a
    /// group it is in; [`Errno::NOSPC`] as for [`Self::set_mode`].
    pub fn set_owner(&self, caller: &Caller<'_>, node: Node, owner: Owner) -> Result<(), Errno> {
        self.change_mode(node, |old| {
            let new = Mode {
                uid: owner.uid.unwrap_or(old.uid),
                gid: owner.gid.unwrap_or(old.gid),
                mode: old.without_set_ids(caller),
            };
            let owns = caller.uid == old.uid;
            if new.mode != old.mode && !owns && !caller.may_all() {
                return Err(Errno::PERM);
            }
            let keeps_owner = owner.uid.is_none_or(|uid| owns && uid == old.uid);
            let keeps_group =
                owner.gid.is_none_or(|gid| owns && (gid == old.gid || caller.is_in(gid)));
            if caller.may_all() || (keeps_owner && keeps_group) {
                Ok(new)
            } else {
                Err(Errno::PERM)
            }
        })
    }

    /// Sets the modification time. The caller must have checked permissions.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if the arena is corrupt.
    pub fn set_mtime(&self, node: Node, mtime_ns: i64) -> Result<(), Errno> {
        self.set_times(node, NewTimes { accessed: NewTime::Same, changed: NewTime::At(mtime_ns) })
    }

    /// Sets times, with the permission checks of utimensat(2): setting both to the current time
    /// only needs permission to write.
    ///
    /// # Errors
    /// [`Errno::PERM`], [`Errno::ACCES`], [`Errno::STALE`]; [`Errno::NOSPC`] if there is no room to
    /// store an access time that differs from the modification time.
    pub fn touch_node(
        &self,
        caller: &Caller<'_>,
        node: Node,
        times: NewTimes,
    ) -> Result<(), Errno> {
        let mode = self.read_node(node, |line| self.mode(line.load(cell::MODE)))?;
        let owns = caller.uid == mode.uid || caller.may_all();
        match (times.accessed, times.changed) {
            (NewTime::Same, NewTime::Same) => return Ok(()),
            (NewTime::Now, NewTime::Now) if !owns => mode.allow(caller, WRITE)?,
            _ if !owns => return Err(Errno::PERM),
            _ => {}
        }
        self.set_times(node, times)
    }

    fn set_times(&self, node: Node, times: NewTimes) -> Result<(), Errno> {
        let line = self.lock_node(&node)?;
        let done = self.inode(node.at, line).and_then(|inode| self.write_times(inode, times));
        self.finish();
        done
    }

    fn write_times(&self, mut inode: Inode<'a>, times: NewTimes) -> Result<(), Errno> {
        let now = self.seams().now_ns();
        let changed = times.changed.resolve(now).unwrap_or_else(|| inode.line.load(cell::MTIME));
        if let Some(accessed) = times.accessed.resolve(now) {
            // No access time of its own: it is the modification time.
            let own = if accessed == changed { NO_ATIME } else { stored_atime(accessed) };
            if own != NO_ATIME {
                inode = self.with_annex(inode, Ref::NONE)?;
            }
            if inode.has_annex() {
                self.put(inode.body_at, annex::ATIME, own);
            }
        }
        self.put(inode.at, cell::MTIME, changed);
        self.put_changed(inode.at, inode.line, now);
        self.commit();
        Ok(())
    }

    /// The path of a directory from the root, written at the end of `into`.
    ///
    /// # Errors
    /// [`Errno::NOENT`] if it has been removed; [`Errno::RANGE`] if `into` is too short;
    /// [`Errno::STALE`].
    pub fn path_of<'b>(&self, directory: Node, into: &'b mut [u8]) -> Result<&'b [u8], Errno> {
        let root = self.root()?;
        let mut at = into.len();
        let mut here = directory;
        while here != root {
            let (parent, begin) = self.read_node(here, |line| {
                self.directory_mode(line)?;
                let mut bytes = [0; NAME_MAX];
                let name = self.name_of(line, &mut bytes)?;
                let begin = at.checked_sub(name.len() + 1).ok_or(Errno::RANGE)?;
                let place = into.get_mut(begin..at).ok_or(Errno::CORRUPT)?;
                if let Some((slash, rest)) = place.split_first_mut() {
                    *slash = b'/';
                    rest.copy_from_slice(name);
                }
                Ok((line.load(cell::PARENT), begin))
            })?;
            // What was read of its parent is valid as long as the directory does not change.
            here = self.step(&Caller::ROOT, here, b"..")?;
            if here.at.0 != parent {
                return Err(Errno::STALE);
            }
            at = begin;
        }
        if at == into.len() {
            at = at.checked_sub(1).ok_or(Errno::RANGE)?;
            into[at] = b'/';
        }
        into.get(at..).ok_or(Errno::CORRUPT)
    }

    fn change_mode(
        &self,
        node: Node,
        change: impl FnOnce(Mode) -> Result<Mode, Errno>,
    ) -> Result<(), Errno> {
        let inode = self.lock_node(&node)?;
        let old = self.mode(inode.load(cell::MODE));
        let changed = old.and_then(change).and_then(|new| self.index_of(new)).map(|index| {
            self.put(node.at, cell::MODE, index);
            self.put_changed(node.at, inode, self.seams().now_ns());
            self.commit();
        });
        self.forget();
        self.unlock_all();
        changed
    }
}
