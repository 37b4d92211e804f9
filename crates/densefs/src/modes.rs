//! Modes: the owner, group, type and permissions of an inode, and what a caller may do with it.

use crate::errno::Errno;

/// The bits of a mode with the type of file.
pub const TYPE: u32 = 0o170_000;
/// A directory.
pub const DIRECTORY: u32 = 0o040_000;
/// A regular file.
pub const FILE: u32 = 0o100_000;
/// A symbolic link.
pub const SYMLINK: u32 = 0o120_000;
/// A character device.
pub const CHARACTERS: u32 = 0o020_000;
/// A block device.
pub const BLOCKS: u32 = 0o060_000;
/// A fifo.
pub const FIFO: u32 = 0o010_000;
/// A socket.
pub const SOCKET: u32 = 0o140_000;
/// Set-user-ID.
pub const SETUID: u32 = 0o4000;
/// Set-group-ID.
pub const SETGID: u32 = 0o2000;
/// The sticky bit.
pub const STICKY: u32 = 0o1000;

/// Permission to read.
pub const READ: u32 = 4;
/// Permission to write.
pub const WRITE: u32 = 2;
/// Permission to execute, or to search a directory.
pub const EXECUTE: u32 = 1;

/// Whether this is a device's mode.
#[inline(always)]
#[must_use]
pub fn is_device(mode: u32) -> bool {
    matches!(mode & TYPE, CHARACTERS | BLOCKS)
}

/// Owner, group, type and permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Type and permissions, as in `st_mode`.
    pub mode: u32,
}

/// Supplementary groups of a caller that has none.
pub const NO_GROUPS: &[u32] = &[];

/// The identity on whose behalf an operation is done.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'c> {
    /// The user.
    pub uid: u32,
    /// The primary group.
    pub gid: u32,
    /// Supplementary groups. Behind another reference, so that how many there are need not be read
    /// for a caller whose groups do not matter.
    pub groups: &'c &'c [u32],
    /// Permissions that new files do not get.
    pub umask: u32,
    /// Whether permissions have been checked elsewhere, as the kernel does for a mount.
    pub is_checked: bool,
    /// Whether the root directory has one above it, as that of a mount has: `..` of it, and
    /// symbolic links with an absolute target, then lead out of this file system, and walks along
    /// them end with [`Errno::OUTSIDE`]. Otherwise, the root is above itself.
    pub may_lead_out: bool,
}

/// Supplies the [`Caller`] only when it is needed.
pub trait AsCaller {
    /// The caller.
    fn as_caller(&self) -> Caller<'_>;
}

impl AsCaller for Caller<'_> {
    #[inline(always)]
    fn as_caller(&self) -> Caller<'_> {
        *self
    }
}

impl Caller<'_> {
    /// Root, which may do everything.
    pub const ROOT: Caller<'static> = Caller {
        uid: 0,
        gid: 0,
        groups: &NO_GROUPS,
        umask: 0o022,
        is_checked: true,
        may_lead_out: false,
    };

    /// Whether it may do everything.
    #[inline(always)]
    #[must_use]
    pub fn may_all(&self) -> bool {
        self.is_checked || self.uid == 0
    }

    /// Whether it is in this group.
    #[must_use]
    pub fn is_in(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.contains(&gid)
    }
}

impl Mode {
    /// Whether this is a directory's mode.
    #[inline(always)]
    #[must_use]
    pub fn is_directory(self) -> bool {
        self.mode & TYPE == DIRECTORY
    }

    /// Checks that the caller may do all of `wanted`: [`READ`], [`WRITE`], [`EXECUTE`].
    ///
    /// # Errors
    /// [`Errno::ACCES`].
    #[inline(always)]
    pub fn allow(self, caller: &impl AsCaller, wanted: u32) -> Result<(), Errno> {
        // If everybody has the permission, the caller does not matter.
        let all = wanted << 6 | wanted << 3 | wanted;
        if all & !self.mode == 0 { Ok(()) } else { self.allow_by_class(caller, wanted) }
    }

    /// Type and permissions after the caller has changed the content or the owner. Anything but a
    /// directory loses its set-user-ID bit, and its set-group-ID bit if the group may execute it
    /// (otherwise the bit means something else) or the caller is not in the group.
    #[must_use]
    pub fn without_set_ids(self, caller: &Caller<'_>) -> u32 {
        const GROUP_EXECUTES: u32 = 0o010;
        if self.is_directory() {
            return self.mode;
        }
        let may_keep = caller.may_all() || caller.is_in(self.gid);
        let loses_group = self.mode & GROUP_EXECUTES != 0 || !may_keep;
        self.mode & !SETUID & !(if loses_group { SETGID } else { 0 })
    }

    /// Checks that the caller may give this inode another name: if it is not the caller's, only a
    /// file that the caller may read and write, and that gives nobody its owner's rights. It is
    /// what Linux checks where `fs.protected_hardlinks` is 1, as distributions set it.
    ///
    /// # Errors
    /// [`Errno::PERM`].
    pub fn check_may_link(self, caller: &Caller<'_>) -> Result<(), Errno> {
        const SETGID_PROGRAM: u32 = SETGID | 0o010;
        if caller.uid == self.uid || caller.may_all() {
            return Ok(());
        }
        let lends_rights = self.mode & SETUID != 0 || self.mode & SETGID_PROGRAM == SETGID_PROGRAM;
        if self.mode & TYPE != FILE || lends_rights {
            return Err(Errno::PERM);
        }
        self.allow(caller, READ | WRITE).map_err(|_| Errno::PERM)
    }

    #[inline(never)]
    fn allow_by_class(self, caller: &impl AsCaller, wanted: u32) -> Result<(), Errno> {
        let caller = caller.as_caller();
        let granted = if caller.uid == self.uid {
            self.mode >> 6
        } else if caller.uid != 0 && caller.is_in(self.gid) {
            self.mode >> 3
        } else {
            self.mode
        };
        if wanted & !granted == 0 {
            return Ok(());
        }
        // Root may do everything, except execute a file that nobody may execute.
        let executes_nothing = wanted & EXECUTE != 0 && !self.is_directory();
        if caller.may_all() && !(executes_nothing && self.mode & 0o111 == 0) {
            return Ok(());
        }
        Err(Errno::ACCES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &[u32] = &[5];
    const TWO: &[u32] = &[5, 2];

    #[test]
    fn set_ids_go_when_the_content_or_the_owner_changes() {
        let member = Caller { is_checked: false, ..caller(1, 2, &NO_GROUPS) };
        let after =
            |caller: &Caller<'_>, mode| Mode { uid: 1, gid: 2, mode }.without_set_ids(caller);
        assert_eq!(after(&member, FILE | 0o6755), FILE | 0o755);
        // Not executable for the group, so the bit means something else, to members of the group.
        assert_eq!(after(&member, FILE | 0o6745), FILE | 0o2745);
        assert_eq!(after(&Caller { gid: 3, ..member }, FILE | 0o6745), FILE | 0o745);
        assert_eq!(after(&Caller::ROOT, FILE | 0o6745), FILE | 0o2745);
        assert_eq!(after(&member, DIRECTORY | 0o6755), DIRECTORY | 0o6755);
    }

    fn caller<'c>(uid: u32, gid: u32, groups: &'c &'c [u32]) -> Caller<'c> {
        Caller { uid, gid, groups, umask: 0, is_checked: false, may_lead_out: false }
    }

    #[test]
    fn what_is_not_ours_is_linked_only_if_we_may_read_and_write_it() {
        let stranger = caller(9, 9, &NO_GROUPS);
        for (mode, may) in [
            (FILE | 0o666, true),
            (FILE | 0o664, false),
            (FILE | 0o4666, false),
            (FILE | 0o2676, false),
            (FILE | 0o2666, true),
            (DIRECTORY | 0o777, false),
            (CHARACTERS | 0o666, false),
        ] {
            let mode = Mode { uid: 1, gid: 2, mode };
            assert_eq!(mode.check_may_link(&stranger).is_ok(), may, "{mode:?}");
            assert_eq!(mode.check_may_link(&caller(1, 2, &NO_GROUPS)), Ok(()));
            assert_eq!(mode.check_may_link(&Caller::ROOT), Ok(()));
        }
    }

    #[test]
    fn the_first_class_that_fits_decides() {
        let mode = Mode { uid: 1, gid: 2, mode: FILE | 0o074 };
        // The owner has fewer permissions than the group.
        assert_eq!(mode.allow(&caller(1, 2, &NO_GROUPS), READ), Err(Errno::ACCES));
        assert_eq!(mode.allow(&caller(3, 2, &NO_GROUPS), READ | WRITE | EXECUTE), Ok(()));
        assert_eq!(mode.allow(&caller(3, 4, &TWO), WRITE), Ok(()));
        assert_eq!(mode.allow(&caller(3, 4, &ONE), READ), Ok(()));
        assert_eq!(mode.allow(&caller(3, 4, &ONE), WRITE), Err(Errno::ACCES));
    }

    #[test]
    fn what_one_class_lacks_it_may_not() {
        let callers =
            [caller(1, 9, &NO_GROUPS), caller(9, 2, &NO_GROUPS), caller(9, 9, &NO_GROUPS)];
        for (class, lacking) in [0o077, 0o707, 0o770].into_iter().enumerate() {
            let mode = Mode { uid: 1, gid: 2, mode: FILE | lacking };
            for (place, one) in callers.iter().enumerate() {
                let expected = if place == class { Err(Errno::ACCES) } else { Ok(()) };
                assert_eq!(mode.allow(one, READ), expected, "{lacking:o} {one:?}");
            }
        }
    }

    #[test]
    fn root_may_everything_but_execute_what_nobody_may() {
        let root = Caller::ROOT;
        let file = Mode { uid: 1, gid: 1, mode: FILE };
        assert_eq!(file.allow(&root, READ | WRITE), Ok(()));
        assert_eq!(file.allow(&root, EXECUTE), Err(Errno::ACCES));
        assert_eq!(Mode { mode: FILE | 0o100, ..file }.allow(&root, EXECUTE), Ok(()));
        assert_eq!(Mode { mode: DIRECTORY, ..file }.allow(&root, EXECUTE), Ok(()));
    }
}
