//! Names: creating, linking, renaming and removing files, and following symbolic links.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use densefs::modes::{Caller, DIRECTORY, FILE, TYPE, is_device};
use densefs::{Errno, Follow, LastName, Node, Remove, Rename};

use crate::dense_fs::{Base, Core, DenseFs};

impl DenseFs {
    /// Creates a directory.
    ///
    /// # Errors
    /// As mkdir(2).
    pub fn make_directory(&self, path: impl AsRef<Path>, mode: u32) -> Result<(), Errno> {
        self.make_from(Base::Working, path.as_ref(), mode & 0o7777 | DIRECTORY)
    }

    /// Creates a directory, or an empty file of any type. A device gets the number 0.
    ///
    /// # Errors
    /// As mkdir(2) and mknod(2).
    pub fn make_from(&self, base: Base, path: &Path, mode: u32) -> Result<(), Errno> {
        self.make_node(base, path, mode, 0)
    }

    /// Like [`Self::make_from`], with a device number, in Linux's 32-bit encoding.
    ///
    /// # Errors
    /// As mkdir(2) and mknod(2).
    pub fn make_node(&self, base: Base, path: &Path, mode: u32, device: u32) -> Result<(), Errno> {
        let mode = if mode & TYPE == 0 { mode | FILE } else { mode };
        self.with_last(base, path, |member, caller, last| {
            let is_there = last.name.is_empty() || matches!(last.name, b"." | b"..");
            if is_there {
                return Err(Errno::EXIST);
            }
            if last.is_directory && mode & TYPE != DIRECTORY {
                return Err(missing(member, caller, last));
            }
            if is_device(mode) {
                let made = member.make_device_at(caller, last.directory, last.name, mode, device);
                return made.map(drop);
            }
            member.make_at(caller, last.directory, last.name, mode).map(drop)
        })
    }

    /// Removes a name of anything except a directory.
    ///
    /// # Errors
    /// As unlink(2).
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<(), Errno> {
        self.remove_from(Base::Working, path.as_ref(), false)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// As rmdir(2).
    pub fn remove_directory(&self, path: impl AsRef<Path>) -> Result<(), Errno> {
        self.remove_from(Base::Working, path.as_ref(), true)
    }

    /// Removes a name, or an empty directory.
    ///
    /// # Errors
    /// As unlinkat(2).
    #[inline]
    pub fn remove_from(&self, base: Base, path: &Path, is_directory: bool) -> Result<(), Errno> {
        let what = if is_directory { Remove::Directory } else { Remove::Name };
        self.with_last(base, path, |member, caller, last| {
            if last.name.is_empty() {
                return Err(if is_directory { Errno::BUSY } else { Errno::ISDIR });
            }
            if last.is_directory && !is_directory {
                return Err(match member.stat_at(caller, last.directory, last.name) {
                    Ok(stat) if !stat.mode.is_directory() => Errno::NOTDIR,
                    // What is above the root is a directory, too.
                    Ok(_) | Err(Errno::OUTSIDE) => Errno::ISDIR,
                    Err(why) => why,
                });
            }
            // Borrowed separately, as in `with_last`.
            let directory = &last.directory;
            member.remove_at(caller, directory, last.name, what)
        })
    }

    /// Renames a file or directory.
    ///
    /// # Errors
    /// As rename(2).
    pub fn rename(&self, old: impl AsRef<Path>, new: impl AsRef<Path>) -> Result<(), Errno> {
        let (old, new) = (old.as_ref(), new.as_ref());
        self.rename_from(Base::Working, old, Base::Working, new, Rename::Replace)
    }

    /// Like [`Self::rename`], relative to bases, and with flags.
    ///
    /// # Errors
    /// As renameat2(2).
    #[inline]
    pub fn rename_from(
        &self,
        old_base: Base,
        old: &Path,
        new_base: Base,
        new: &Path,
        how: Rename,
    ) -> Result<(), Errno> {
        let old = old.as_os_str().as_bytes();
        let new_name = new.as_os_str().as_bytes();
        self.with(|member, caller| {
            let done = member.retry(|| {
                if let Some(from) = old_base.only_name(member, old)?
                    && let Some(to) = new_base.only_name(member, new_name)?
                {
                    return member.rename_at(caller, from.entry(), to.entry(), how);
                }
                let (mut from, mut to) = (LastName::unknown(), LastName::unknown());
                old_base.find_last(member, caller, old, &mut from)?;
                new_base.find_last(member, caller, new_name, &mut to)?;
                rename_last(member, caller, &from, &to, how)
            });
            if done.is_err() {
                old_base.check_search_of_last(member, caller, old)?;
                new_base.check_search_of_last(member, caller, new_name)?;
            }
            done
        })
    }

    /// Checks that the directory of a path's last name is there.
    ///
    /// # Errors
    /// As rename(2) for its old name.
    pub fn check_directory(&self, base: Base, path: &Path) -> Result<(), Errno> {
        let path = path.as_os_str().as_bytes();
        self.with(|member, caller| base.check_search_of_last(member, caller, path))
    }

    /// Gives a file an additional name.
    ///
    /// # Errors
    /// As link(2).
    pub fn link(&self, old: impl AsRef<Path>, new: impl AsRef<Path>) -> Result<(), Errno> {
        let (old, new) = (old.as_ref(), new.as_ref());
        self.link_from(Base::Working, old, Base::Working, new, Follow::No)
    }

    /// Like [`Self::link`], relative to bases.
    ///
    /// # Errors
    /// As linkat(2).
    pub fn link_from(
        &self,
        old_base: Base,
        old: &Path,
        new_base: Base,
        new: &Path,
        follow: Follow,
    ) -> Result<(), Errno> {
        let old = old.as_os_str().as_bytes();
        self.link_found(new_base, new, |member, caller| {
            member.walk(caller, old_base.node(member, old)?, old, follow)
        })
    }

    /// Tries to give a base itself, which is a directory, another name.
    ///
    /// # Errors
    /// As linkat(2) with an empty path and `AT_EMPTY_PATH`.
    pub fn link_base(&self, base: Base, new_base: Base, new: &Path) -> Result<(), Errno> {
        self.link_found(new_base, new, |member, _| base.node(member, b""))
    }

    fn link_found(
        &self,
        new_base: Base,
        new: &Path,
        find: impl Fn(Core<'_>, &Caller<'_>) -> Result<Node, Errno>,
    ) -> Result<(), Errno> {
        let new_name = new.as_os_str().as_bytes();
        self.with(|member, caller| {
            let found = || find(member, caller);
            let done = member.retry(|| {
                let node = found()?;
                let mut to = LastName::unknown();
                new_base.find_last(member, caller, new_name, &mut to)?;
                if to.name.is_empty() {
                    return Err(Errno::EXIST);
                }
                if to.is_directory {
                    return Err(missing(member, caller, &to));
                }
                member.link_at(caller, node, to.directory, to.name)
            });
            if done.is_err() {
                member.retry(found)?;
                new_base.check_search_of_last(member, caller, new_name)?;
            }
            done
        })
    }

    /// Creates a symbolic link.
    ///
    /// # Errors
    /// As symlink(2).
    pub fn make_link(&self, target: impl AsRef<Path>, path: impl AsRef<Path>) -> Result<(), Errno> {
        self.make_link_from(target.as_ref(), Base::Working, path.as_ref())
    }

    /// Like [`Self::make_link`], relative to a base.
    ///
    /// # Errors
    /// As symlinkat(2).
    pub fn make_link_from(&self, target: &Path, base: Base, path: &Path) -> Result<(), Errno> {
        self.with_last(base, path, |member, caller, last| {
            if last.name.is_empty() || matches!(last.name, b"." | b"..") {
                return Err(Errno::EXIST);
            }
            if last.is_directory {
                return Err(missing(member, caller, last));
            }
            let target = target.as_os_str().as_bytes();
            member.symlink_at(caller, last.directory, last.name, target).map(drop)
        })
    }

    /// The target of a symbolic link that was opened with [`densefs::flags::PATH`].
    ///
    /// # Errors
    /// As readlinkat(2) with an empty path.
    pub fn read_link_of(&self, descriptor: u32) -> Result<PathBuf, Errno> {
        self.with_core(|member| {
            member.retry(|| {
                let mut target = [0; densefs::PATH_MAX];
                let read = member.read_link(member.node(descriptor)?, &mut target);
                let length =
                    read.map_err(|why| if why == Errno::INVAL { Errno::NOENT } else { why })?;
                Ok(PathBuf::from(OsStr::from_bytes(&target[..length])))
            })
        })
    }

    /// The target of a symbolic link.
    ///
    /// # Errors
    /// As readlink(2).
    pub fn read_link(&self, path: impl AsRef<Path>) -> Result<PathBuf, Errno> {
        self.read_link_from(Base::Working, path.as_ref())
    }

    /// Like [`Self::read_link`], relative to a base.
    ///
    /// # Errors
    /// As readlinkat(2).
    pub fn read_link_from(&self, base: Base, path: &Path) -> Result<PathBuf, Errno> {
        self.with_node(base, path, Follow::No, |member, _, node| {
            let mut target = [0; densefs::PATH_MAX];
            let length = member.read_link(node, &mut target)?;
            Ok(PathBuf::from(OsStr::from_bytes(&target[..length])))
        })
    }

    /// Changes the process' working directory in this file system.
    ///
    /// # Errors
    /// As chdir(2).
    pub fn change_directory(&self, path: impl AsRef<Path>) -> Result<(), Errno> {
        self.with_node(Base::Working, path.as_ref(), Follow::Yes, |member, caller, node| {
            let mode = member.stat(node)?.mode;
            if !mode.is_directory() {
                return Err(Errno::NOTDIR);
            }
            mode.allow(caller, densefs::modes::EXECUTE)?;
            member.set_working_directory(caller, node)
        })
    }

    /// The path of the working directory.
    ///
    /// # Errors
    /// As getcwd(3).
    pub fn directory(&self) -> Result<PathBuf, Errno> {
        self.with_core(|member| {
            member.retry(|| {
                let mut bytes = [0; densefs::PATH_MAX];
                let path = member.path_of(member.working_directory()?, &mut bytes)?;
                Ok(PathBuf::from(OsStr::from_bytes(path)))
            })
        })
    }
}

/// The error for a name with trailing slashes that is to be given to something other than a
/// directory.
pub(crate) fn missing(member: Core<'_>, caller: &Caller<'_>, last: &LastName<'_>) -> Errno {
    match member.stat_at(caller, last.directory, last.name) {
        // What is above the root is there, too.
        Ok(_) | Err(Errno::OUTSIDE) => Errno::EXIST,
        Err(why) => why,
    }
}

/// Renames, for last names of any form.
#[inline(never)]
fn rename_last(
    member: Core<'_>,
    caller: &Caller<'_>,
    from: &LastName<'_>,
    to: &LastName<'_>,
    how: Rename,
) -> Result<(), Errno> {
    let stays = |name: &[u8]| matches!(name, b"" | b"." | b"..");
    if stays(from.name) {
        return Err(Errno::BUSY);
    }
    if stays(to.name) {
        return Err(if how.needs_vacancy() { Errno::EXIST } else { Errno::BUSY });
    }
    if from.is_directory || to.is_directory {
        check_slashes(member, caller, from, to, how)?;
    }
    member.rename_at(caller, from.entry(), to.entry(), how)
}

/// Checks that names with trailing slashes are directories, where Linux checks that.
fn check_slashes(
    member: Core<'_>,
    caller: &Caller<'_>,
    from: &LastName<'_>,
    to: &LastName<'_>,
    how: Rename,
) -> Result<(), Errno> {
    let old = member.stat_at(caller, from.directory, from.name)?.mode;
    let new = member.stat_at(caller, to.directory, to.name);
    if new == Err(Errno::NOENT) && member.stat(to.directory)?.links == 0 {
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
