//! Names: creating, linking, renaming and removing files, and following symbolic links.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use densefs::modes::{Caller, DIRECTORY};
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
        self.with_last(base, path, |member, caller, last| {
            member.make_last(caller, last, mode, device)
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
        self.with_last(base, path, |member, caller, last| member.remove_last(caller, last, what))
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
                member.rename_last(caller, &from, &to, how)
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
                member.link_last(caller, node, &to)
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
            member.symlink_last(caller, last, target.as_os_str().as_bytes())
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
