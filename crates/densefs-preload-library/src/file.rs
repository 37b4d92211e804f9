//! Where the library is kept for the programs that load it.
//!
//! Every descendant of a program loads it from the path that the first one was given, perhaps days
//! later, perhaps as another user. So it cannot be a file that ends with a process, and it must not
//! be one that only exists for one program, which would stay if that were killed. It is kept in a
//! cache instead, once for each version, under a name that its content gives it. There it must be
//! out of the reach of other users, who could otherwise have this one execute what they like.

use std::fmt;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};
use tempfile::Builder;

use crate::LIBRARY;
use crate::safe::is_safe;

/// Which library it is.
const HASH: &str = env!("DENSEFS_PRELOAD_HASH");

/// Why a library cannot be kept in a directory.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("{0}")]
    Refused(#[from] io::Error),
    #[error("other users could change what is there")]
    Unsafe,
    #[error("programs cannot be executed there (noexec)")]
    NotExecutable,
    #[error("its name has a colon, a space or a dollar sign, which LD_PRELOAD gives a meaning")]
    Unspeakable,
}

/// There is no directory in which the library could be kept.
#[derive(Debug)]
pub struct NoPlace {
    unfit: Vec<(PathBuf, Unfit)>,
}

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no place for the library that programs load")?;
        for (index, (directory, why)) in self.unfit.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "; " })?;
            write!(f, "{}: {why}", directory.display())?;
        }
        Ok(())
    }
}

impl std::error::Error for NoPlace {}

/// The file with the library, which is written if it is not there yet. Only this user and root can
/// change it, and its path is one that `LD_PRELOAD` can name.
///
/// # Errors
/// [`NoPlace`].
pub fn file() -> Result<PathBuf, NoPlace> {
    let user = rustix::process::geteuid().as_raw();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    first_of(places(user, variable), user)
}

fn first_of(places: Vec<PathBuf>, user: u32) -> Result<PathBuf, NoPlace> {
    let mut unfit = Vec::new();
    for directory in places {
        match keep_in(&directory, user) {
            Ok(file) => return Ok(file),
            Err(why) => unfit.push((directory, why)),
        }
    }
    Err(NoPlace { unfit })
}

/// The directories in which a user may keep it, the best one first. Root's are those that the users
/// can read that root's programs become. `TMPDIR` is not among them, as it often ends with a job.
fn places(user: u32, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let given = |name: &str| variable(name).filter(|path| path.is_absolute());
    let cache =
        || given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")));
    let mut places = Vec::new();
    if user == 0 {
        places.extend(["/var/cache", "/run"].map(PathBuf::from));
    } else {
        places.extend(cache());
        places.extend(given("XDG_RUNTIME_DIR"));
    }
    let mut places: Vec<_> = places.into_iter().map(|place| place.join("fsprism")).collect();
    let shared = ["/var/tmp", "/tmp", "/dev/shm"].map(Path::new);
    places.extend(shared.map(|place| place.join(format!("fsprism-{user}"))));
    places
}

/// Keeps it in a directory, which is made if it is not there.
fn keep_in(directory: &Path, user: u32) -> Result<PathBuf, Unfit> {
    make(directory)?;
    let directory = directory.canonicalize()?;
    if directory.as_os_str().as_bytes().iter().any(|byte| b": \t\n$".contains(byte)) {
        return Err(Unfit::Unspeakable);
    }
    if !is_safe(&directory, user)? {
        return Err(Unfit::Unsafe);
    }
    let flags = statvfs(&directory).map_err(io::Error::from)?.f_flag;
    if flags.contains(StatVfsMountFlags::NOEXEC) {
        return Err(Unfit::NotExecutable);
    }
    let file = directory.join(format!("libdensefs_preload-{HASH}.so"));
    // It may have been cut off when the computer lost power.
    let is_kept = is_safe(&file, user).unwrap_or(false) && fs::read(&file)? == LIBRARY;
    if !is_kept {
        write(&directory, &file)?;
    }
    Ok(file)
}

/// Makes a directory, in a home perhaps the first of its caches.
fn make(directory: &Path) -> io::Result<()> {
    if let Some(above) = directory.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(above)?;
    }
    match fs::create_dir(directory) {
        // Whatever the umask is.
        Ok(()) => fs::set_permissions(directory, Permissions::from_mode(0o755)),
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(why) => Err(why),
    }
}

/// Writes it, so that the file is either complete or missing.
fn write(directory: &Path, file: &Path) -> io::Result<()> {
    let mut part = Builder::new().prefix(".libdensefs_preload-").tempfile_in(directory)?;
    part.write_all(LIBRARY)?;
    part.as_file().set_permissions(Permissions::from_mode(0o444))?;
    part.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn it_is_written_once_and_again_only_if_it_is_not_whole() {
        let place = tempfile::tempdir().expect("there is room");
        let directory = place.path().join("home/.cache/fsprism");
        let kept = || keep_in(&directory, user()).unwrap_or_else(|why| panic!("{why}"));
        let inode = |file: &Path| fs::metadata(file).expect("it is there").ino();
        let file = kept();
        let first = inode(&file);
        assert_eq!((kept(), inode(&file)), (file.clone(), first));
        assert_eq!(fs::metadata(&file).expect("it is there").mode() & 0o7777, 0o444);
        fs::set_permissions(&file, Permissions::from_mode(0o646)).expect("it is ours");
        kept();
        assert_ne!(inode(&file), first, "others may have changed it");
        fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("it is ours");
        fs::write(&file, &LIBRARY[..LIBRARY.len() / 2]).expect("it is ours");
        assert_eq!(fs::read(kept()).expect("it is there"), LIBRARY);
        assert_eq!(fs::read_dir(&directory).expect("it is there").count(), 1);
    }

    #[test]
    fn a_directory_that_others_can_change_is_passed_over() {
        let place = tempfile::tempdir().expect("there is room");
        let [open, spaced, fit] = ["open", "a b", "fit"].map(|name| place.path().join(name));
        fs::create_dir(&open).expect("the place is ours");
        fs::set_permissions(&open, Permissions::from_mode(0o777)).expect("it is ours");
        let file = first_of(vec![open.clone(), spaced.clone(), fit.clone()], user());
        let file = file.unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(file.parent(), Some(&*fit.canonicalize().expect("it was made")));
        let missing = place.path().join("file/below");
        fs::write(place.path().join("file"), "").expect("there is room");
        let none = first_of(vec![open, spaced, missing], user()).expect_err("none is fit");
        let said = none.to_string();
        for words in ["other users could change", "a colon, a space", "File exists"] {
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn roots_is_where_every_user_can_read_it() {
        let variable = |name: &str| Some(PathBuf::from(format!("/h/it/{name}")));
        let named = |places: Vec<PathBuf>| {
            places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(named(places(0, variable))[..2], ["/var/cache/fsprism", "/run/fsprism"]);
        assert_eq!(named(places(7, variable))[0], "/h/it/XDG_CACHE_HOME/fsprism");
        let home = |name: &str| (name == "HOME").then(|| PathBuf::from("/h/it"));
        assert_eq!(named(places(7, home))[..2], ["/h/it/.cache/fsprism", "/var/tmp/fsprism-7"]);
        let relative = |_: &str| Some(PathBuf::from("somewhere"));
        assert_eq!(named(places(7, relative))[0], "/var/tmp/fsprism-7");
    }
}
