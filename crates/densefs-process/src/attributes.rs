//! Reads and changes file attributes.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use densefs::modes::{FILE, TYPE};
use densefs::{Errno, Follow, NewTime, NewTimes, Owner, Start, Stat};

use crate::credentials::Ids;
use crate::dense_fs::{Base, DenseFs};

impl DenseFs {
    /// The attributes of the file at a path, following symbolic links.
    ///
    /// # Errors
    /// As stat(2).
    #[inline]
    pub fn stat(&self, path: impl AsRef<Path>) -> Result<Stat, Errno> {
        self.stat_from(Base::Working, path.as_ref(), Follow::Yes)
    }

    /// Like [`Self::stat`], relative to a base, and optionally of a symbolic link itself.
    ///
    /// # Errors
    /// As fstatat(2).
    pub fn stat_from(&self, base: Base, path: &Path, follow: Follow) -> Result<Stat, Errno> {
        let mut told = Stat::default();
        self.tell_stat(base, path, follow, |stat| told = *stat)?;
        Ok(told)
    }

    /// Like [`Self::stat_from`], but passes the attributes to `tell`; more than once if the file
    /// changes meanwhile.
    ///
    /// # Errors
    /// As fstatat(2).
    #[inline]
    pub fn tell_stat(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        mut tell: impl FnMut(&Stat),
    ) -> Result<(), Errno> {
        let path = path.as_os_str().as_bytes();
        let told = match base {
            Base::Working => self.briefly(|member, caller| {
                member.stat_at_a_glance(caller, Start::Working, path, follow, &mut tell).ok()
            }),
            Base::Descriptor(descriptor) => {
                self.tell_stat_briefly(descriptor, path, follow, &mut tell)
            }
        };
        told.unwrap_or_else(|| self.tell_stat_carefully(base, path, follow, &mut tell))
    }

    #[inline(never)]
    fn tell_stat_briefly(
        &self,
        descriptor: u32,
        path: &[u8],
        follow: Follow,
        mut tell: &mut dyn FnMut(&Stat),
    ) -> Option<Result<(), Errno>> {
        self.briefly(|member, caller| {
            let from = member.node(descriptor).ok()?;
            member.stat_at_a_glance(caller, Start::At(&from), path, follow, &mut tell).ok()
        })
    }

    #[cold]
    #[inline(never)]
    fn tell_stat_carefully(
        &self,
        base: Base,
        path: &[u8],
        follow: Follow,
        tell: &mut dyn FnMut(&Stat),
    ) -> Result<(), Errno> {
        self.with(|member, caller| {
            member.retry(|| {
                let from = base.node(member, path)?;
                member.stat_path(caller, from, path, follow, &mut *tell)
            })
        })
    }

    /// Truncates a file, or extends it with zeros.
    ///
    /// # Errors
    /// As truncate(2).
    pub fn truncate(&self, path: impl AsRef<Path>, size: u64) -> Result<(), Errno> {
        self.with_node(Base::Working, path.as_ref(), Follow::Yes, |member, caller, node| {
            let Stat { mode, size: old_size, .. } = member.stat(node)?;
            if mode.is_directory() {
                return Err(Errno::ISDIR);
            }
            mode.allow(caller, densefs::modes::WRITE)?;
            let is_file = mode.mode & TYPE == FILE;
            if is_file && size == old_size {
                // Unlike ftruncate, this does not even set the modification time then.
                let left = mode.without_set_ids(caller);
                let keeps_mode = caller.may_all() || left == mode.mode;
                return if keeps_mode {
                    Ok(())
                } else {
                    member.set_mode(&densefs::modes::Caller::ROOT, node, left)
                };
            }
            member.truncate(node, size)
        })
    }

    /// Changes permissions.
    ///
    /// # Errors
    /// As fchmodat(2).
    pub fn set_mode(&self, base: Base, path: &Path, mode: u32) -> Result<(), Errno> {
        self.set_mode_at(base, path, Follow::Yes, mode)
    }

    /// Like [`Self::set_mode`], optionally without following a final symbolic link.
    ///
    /// # Errors
    /// As fchmodat(2); [`Errno::OPNOTSUPP`] for a symbolic link, which has no permissions.
    pub fn set_mode_at(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        mode: u32,
    ) -> Result<(), Errno> {
        self.with_node(base, path, follow, |member, caller, node| {
            member.set_mode(caller, node, mode)
        })
    }

    /// Changes owner and group, if given.
    ///
    /// # Errors
    /// As fchownat(2).
    pub fn set_owner(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        owner: Owner,
    ) -> Result<(), Errno> {
        self.with_node(base, path, follow, |member, caller, node| {
            member.set_owner(caller, node, owner)
        })
    }

    /// Changes the permissions of a base itself, which may be open with [`densefs::flags::PATH`].
    ///
    /// # Errors
    /// As fchmodat(2) with `AT_EMPTY_PATH`.
    pub fn set_mode_of_base(&self, base: Base, mode: u32) -> Result<(), Errno> {
        self.with(|member, caller| {
            member.retry(|| member.set_mode(caller, base.node(member, b"")?, mode))
        })
    }

    /// Changes owner and group of a base itself, if given.
    ///
    /// # Errors
    /// As fchownat(2) with `AT_EMPTY_PATH`.
    pub fn set_owner_of_base(&self, base: Base, owner: Owner) -> Result<(), Errno> {
        self.with(|member, caller| {
            member.retry(|| member.set_owner(caller, base.node(member, b"")?, owner))
        })
    }

    /// Sets the modification time, in nanoseconds since 1970; to the current time if none is given.
    ///
    /// # Errors
    /// As utimensat(2).
    pub fn set_mtime(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        mtime_ns: Option<i64>,
    ) -> Result<(), Errno> {
        let changed = mtime_ns.map_or(NewTime::Now, NewTime::At);
        self.set_times(base, path, follow, NewTimes { accessed: NewTime::Same, changed })
    }

    /// Sets the access and modification times.
    ///
    /// # Errors
    /// As utimensat(2); [`Errno::NOSPC`] if there is no room to store an access time that differs
    /// from the modification time.
    pub fn set_times(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        times: NewTimes,
    ) -> Result<(), Errno> {
        self.with_node(base, path, follow, |member, caller, node| {
            member.touch_node(caller, node, times)
        })
    }

    /// Sets the times of a base itself: an open file, which may have been opened with
    /// [`densefs::flags::PATH`], or the working directory.
    ///
    /// # Errors
    /// As utimensat(2) with `AT_EMPTY_PATH`.
    pub fn set_times_of(&self, base: Base, times: NewTimes) -> Result<(), Errno> {
        self.with(|member, caller| {
            member.retry(|| member.touch_node(caller, base.node(member, b"")?, times))
        })
    }

    /// The attributes of a base itself.
    ///
    /// # Errors
    /// As fstatat(2) with `AT_EMPTY_PATH`.
    pub fn stat_of(&self, base: Base) -> Result<Stat, Errno> {
        self.with_core(|member| member.retry(|| member.stat(base.node(member, b"")?)))
    }

    /// Whether the process may read (4), write (2) or execute (1) the file at a path, by its real
    /// IDs.
    ///
    /// # Errors
    /// As access(2).
    pub fn check_access(&self, base: Base, path: &Path, wanted: u32) -> Result<(), Errno> {
        self.check_access_to(base, path, Follow::Yes, wanted, Ids::Real)
    }

    /// Like [`Self::check_access`], optionally to a symbolic link itself, or by the effective IDs.
    ///
    /// # Errors
    /// As faccessat(2).
    pub fn check_access_to(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        wanted: u32,
        ids: Ids,
    ) -> Result<(), Errno> {
        let path = path.as_os_str().as_bytes();
        let caller = self.attachment.credentials.caller_by(ids);
        self.with_core(|member| {
            member.retry(|| {
                let node = member.walk(&caller, base.node(member, path)?, path, follow)?;
                member.stat(node)?.mode.allow(&caller, wanted & 7)
            })
        })
    }

    /// Like [`Self::check_access_to`], to a base itself.
    ///
    /// # Errors
    /// As faccessat(2) with `AT_EMPTY_PATH`.
    pub fn check_access_to_base(&self, base: Base, wanted: u32, ids: Ids) -> Result<(), Errno> {
        let caller = self.attachment.credentials.caller_by(ids);
        self.with_core(|member| {
            let stat = member.retry(|| member.stat(base.node(member, b"")?))?;
            stat.mode.allow(&caller, wanted & 7)
        })
    }
}
