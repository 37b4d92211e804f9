//! Which files nobody can change but their user and root.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Others may not write, or what they write there does not touch what is somebody else's.
const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Whether only this user and root decide what is at a path without symbolic links: whether
/// everything along it belongs to one of them, and nobody else may change it.
pub(crate) fn is_safe(path: &Path, user: u32) -> io::Result<bool> {
    for part in path.ancestors() {
        let found = fs::symlink_metadata(part)?;
        let is_sticky = found.is_dir() && found.mode() & STICKY != 0;
        let is_closed = found.mode() & WRITABLE_BY_OTHERS == 0 || is_sticky;
        if !(is_closed && [0, user].contains(&found.uid())) || found.is_symlink() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    #[test]
    fn what_others_could_change_is_not_safe() {
        let user = rustix::process::geteuid().as_raw();
        let place = tempfile::tempdir().expect("there is room");
        let directory = place.path().canonicalize().expect("it is there").join("directory");
        let file = directory.join("file");
        fs::create_dir(&directory).expect("the place is ours");
        fs::write(&file, "").expect("there is room");
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        let check = |directory_mode: u32, file_mode: u32, wanted: bool| {
            set(&directory, directory_mode).expect("it is ours");
            set(&file, file_mode).expect("it is ours");
            let found = is_safe(&file, user).expect("it is there");
            assert_eq!(found, wanted, "{directory_mode:o} {file_mode:o}");
        };
        check(0o755, 0o444, true);
        check(0o755, 0o464, false);
        check(0o755, 0o446, false);
        check(0o775, 0o444, false);
        check(0o757, 0o444, false);
        // In such a directory, a name is its owner's.
        check(0o1777, 0o444, true);
        // The sticky bit of a file says nothing.
        check(0o755, 0o1446, false);
        let link = directory.join("link");
        std::os::unix::fs::symlink(&file, &link).expect("there is room");
        assert!(!is_safe(&link, user).expect("it is there"));
        if user == 0 {
            set(&directory, 0o755).expect("it is ours");
            set(&file, 0o444).expect("it is ours");
            chown(&file, Some(65_534), None).expect("root may");
            assert!(!is_safe(&file, user).expect("it is there"));
            assert!(is_safe(&file, 65_534).expect("it is there"));
            chown(&file, Some(0), None).expect("root may");
            chown(&directory, Some(65_534), None).expect("root may");
            assert!(!is_safe(&file, user).expect("it is there"));
        }
    }
}
