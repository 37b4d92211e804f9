//! Where to find the programs that fsprism calls: mkfs, QEMU, modprobe.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Administrators' directories, which may not be in PATH, as for ordinary users on Debian.
const OF_ADMINISTRATORS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The directories that are searched, in order: those in PATH, then the administrators'.
#[must_use]
pub fn directories() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(OF_ADMINISTRATORS.map(PathBuf::from)).collect()
}

/// The path of a program, if it is installed. A name with a slash is used as a path.
#[must_use]
pub fn find(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let name = Path::new(name.as_ref());
    if name.components().count() > 1 {
        return Some(name.to_owned()).filter(|file| is_executable(file));
    }
    find_in(&directories(), name)
}

/// The first executable file with this name in these directories.
#[must_use]
pub fn find_in(directories: &[PathBuf], name: impl AsRef<Path>) -> Option<PathBuf> {
    let name = name.as_ref();
    directories.iter().map(|directory| directory.join(name)).find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_found_by_name_and_by_path() {
        let shell = find("sh").expect("every system has one");
        assert_eq!(find(&shell), Some(shell));
        assert_eq!(find("no-program-has-this-name"), None);
        assert_eq!(find("/etc/passwd"), None);
        assert_eq!(find_in(&[], "sh"), None);
    }
}
