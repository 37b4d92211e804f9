//! A tmpfs that only one test uses.

use std::path::Path;
use std::process::Command;

pub(crate) struct Tmpfs(tempfile::TempDir);

impl Tmpfs {
    /// A tmpfs of this many MiB; none without the permission to mount it.
    pub(crate) fn mounted(mib: u64) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: it takes root to mount a tmpfs");
            return None;
        }
        let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]).arg(place.path());
        assert!(mount.status().expect("util-linux is installed").success());
        Some(Self(place))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0.path()).status();
        assert!(unmounted.expect("util-linux is installed").success() || std::thread::panicking());
    }
}
