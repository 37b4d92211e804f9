//! Operations on the last name of a path, whatever its form: it may be empty, `.` or `..`, and
//! slashes may follow, where Linux checks each of these in an order of its own.

use super::{LastName, Remove, Rename};
use crate::errno::Errno;
use crate::member::{Member, Node};
use crate::modes::{Caller, DIRECTORY, FILE, TYPE, is_device};
use crate::name::NAME_MAX;
use crate::seams::Seams;

/// Whether there is something with this name in any directory.
fn is_always_there(name: &[u8]) -> bool {
    matches!(name, b"" | b"." | b"..")
}

/// Whether a call may refuse a path for its last name alone, before it looks at the directory.
#[must_use]
pub fn is_refused_unseen(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    is_always_there(name) || name.len() > NAME_MAX
}

impl<S: Seams> Member<'_, S> {
    /// Checks that the caller may look for a name in its directory: the first thing that Linux
    /// checks, before the other path of a call, and before the name itself. For calls that have
    /// failed, which leave no evidence of what they found.
    ///
    /// # Errors
    /// [`Errno::NOTDIR`], [`Errno::ACCES`]; for a name that is too long, also [`Errno::NOENT`] if
    /// the directory has been removed.
    pub fn check_search_of_last(
        &self,
        caller: &Caller<'_>,
        last: &LastName<'_>,
    ) -> Result<(), Errno> {
        self.check_search(caller, last.directory)?;
        // Of a name that is too long, this comes first as well.
        let is_long = last.name.len() > NAME_MAX;
        let is_removed = is_long && self.stat(last.directory)?.links == 0;
        if is_removed { Err(Errno::NOENT) } else { Ok(()) }
    }

    /// Makes a directory, or an empty file of any type, a device with this number in Linux's 32-bit
    /// encoding.
    ///
    /// # Errors
    /// As mkdir(2) and mknod(2).
    #[inline(always)]
    pub fn make_last(
        &self,
        caller: &Caller<'_>,
        last: &LastName<'_>,
        mode: u32,
        device: u32,
    ) -> Result<(), Errno> {
        let mode = if mode & TYPE == 0 { mode | FILE } else { mode };
        if is_always_there(last.name) {
            return Err(Errno::EXIST);
        }
        if last.is_directory && mode & TYPE != DIRECTORY {
            return Err(self.missing(caller, last));
        }
        if is_device(mode) {
            let made = self.make_device_at(caller, last.directory, last.name, mode, device);
            return made.map(drop);
        }
        self.make_at(caller, last.directory, last.name, mode).map(drop)
    }

    /// Makes a symbolic link.
    ///
    /// # Errors
    /// As symlink(2).
    #[inline(always)]
    pub fn symlink_last(
        &self,
        caller: &Caller<'_>,
        last: &LastName<'_>,
        target: &[u8],
    ) -> Result<(), Errno> {
        if is_always_there(last.name) {
            return Err(Errno::EXIST);
        }
        if last.is_directory {
            return Err(self.missing(caller, last));
        }
        self.symlink_at(caller, last.directory, last.name, target).map(drop)
    }

    /// Gives an inode that was found a further name.
    ///
    /// # Errors
    /// As link(2) for its new name.
    #[inline(always)]
    pub fn link_last(
        &self,
        caller: &Caller<'_>,
        node: Node,
        last: &LastName<'_>,
    ) -> Result<(), Errno> {
        self.check_link(caller, last)?;
        self.link_at(caller, node, last.directory, last.name)
    }

    /// Gives a file that is open a name, which may be its first.
    ///
    /// # Errors
    /// As linkat(2) with `AT_EMPTY_PATH` for its new name.
    #[inline(always)]
    pub fn link_open_last(
        &self,
        caller: &Caller<'_>,
        descriptor: u32,
        last: &LastName<'_>,
    ) -> Result<(), Errno> {
        self.check_link(caller, last)?;
        self.link_open(caller, descriptor, last.directory, last.name)
    }

    #[inline(always)]
    fn check_link(&self, caller: &Caller<'_>, last: &LastName<'_>) -> Result<(), Errno> {
        if last.name.is_empty() {
            return Err(Errno::EXIST);
        }
        if last.is_directory { Err(self.missing(caller, last)) } else { Ok(()) }
    }

    /// Removes a name, or an empty directory.
    ///
    /// # Errors
    /// As unlink(2) and rmdir(2).
    #[inline(always)]
    pub fn remove_last(
        &self,
        caller: &Caller<'_>,
        last: &LastName<'_>,
        what: Remove,
    ) -> Result<(), Errno> {
        let is_directory = what == Remove::Directory;
        if last.name.is_empty() {
            return Err(if is_directory { Errno::BUSY } else { Errno::ISDIR });
        }
        if last.is_directory && !is_directory {
            return Err(self.not_removed(caller, last));
        }
        // Borrowed separately, so that the name itself need not be in memory.
        let directory = &last.directory;
        self.remove_at(caller, directory, last.name, what)
    }

    /// The error for a name with trailing slashes that is to be removed as anything but a
    /// directory.
    #[cold]
    #[inline(never)]
    fn not_removed(&self, caller: &Caller<'_>, last: &LastName<'_>) -> Errno {
        match self.stat_at(caller, last.directory, last.name) {
            Ok(stat) if !stat.mode.is_directory() => Errno::NOTDIR,
            // What is above the root is a directory, too.
            Ok(_) | Err(Errno::OUTSIDE) => Errno::ISDIR,
            Err(why) => why,
        }
    }

    /// The error for a name with trailing slashes that is to be given to something other than a
    /// directory.
    #[cold]
    #[inline(never)]
    fn missing(&self, caller: &Caller<'_>, last: &LastName<'_>) -> Errno {
        match self.stat_at(caller, last.directory, last.name) {
            // What is above the root is there, too.
            Ok(_) | Err(Errno::OUTSIDE) => Errno::EXIST,
            Err(why) => why,
        }
    }

    /// Renames.
    ///
    /// # Errors
    /// As renameat2(2).
    #[inline(never)]
    pub fn rename_last(
        &self,
        caller: &Caller<'_>,
        from: &LastName<'_>,
        to: &LastName<'_>,
        how: Rename,
    ) -> Result<(), Errno> {
        if is_always_there(from.name) {
            return Err(Errno::BUSY);
        }
        if is_always_there(to.name) {
            return Err(if how.needs_vacancy() { Errno::EXIST } else { Errno::BUSY });
        }
        if from.is_directory || to.is_directory {
            self.check_slashes(caller, from, to, how)?;
        }
        self.rename_at(caller, from.entry(), to.entry(), how)
    }

    /// Checks that names with trailing slashes are directories, where Linux checks that.
    #[cold]
    #[inline(never)]
    fn check_slashes(
        &self,
        caller: &Caller<'_>,
        from: &LastName<'_>,
        to: &LastName<'_>,
        how: Rename,
    ) -> Result<(), Errno> {
        let old = self.stat_at(caller, from.directory, from.name)?.mode;
        let new = self.stat_at(caller, to.directory, to.name);
        if new == Err(Errno::NOENT) && self.stat(to.directory)?.links == 0 {
            return Err(Errno::NOENT);
        }
        match (how, new) {
            (how, Ok(_)) if how.needs_vacancy() => return Err(Errno::EXIST),
            (Rename::Exchange, Err(why)) | (_, Err(why @ Errno::NAMETOOLONG)) => return Err(why),
            (Rename::Exchange, Ok(new)) if to.is_directory && !new.mode.is_directory() => {
                return Err(Errno::NOTDIR);
            }
            _ => {}
        }
        let needs_directory = from.is_directory || (to.is_directory && how != Rename::Exchange);
        if needs_directory && !old.is_directory() { Err(Errno::NOTDIR) } else { Ok(()) }
    }
}
