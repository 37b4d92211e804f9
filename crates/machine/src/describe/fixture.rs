//! Machines for tests: small trees of files in a temporary directory.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::Sources;

/// A machine made of files; it is removed when dropped.
pub(crate) struct Fixture {
    root: PathBuf,
}

impl Fixture {
    /// A machine with these files, each given as a path relative to its root and the content.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("fsprism-describe-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).expect("the temporary directory is writable");
        // It is compared with canonical paths, so it must be canonical itself.
        let root = root.canonicalize().expect("the directory was just made");
        let fixture = Self { root };
        fixture.add(files);
        fixture
    }

    /// Adds or replaces files.
    pub(crate) fn add(&self, files: &[(&str, &str)]) {
        for (path, content) in files {
            fs::write(self.with_parent(path), content).expect("the fixture is writable");
        }
    }

    /// Adds a symbolic link.
    pub(crate) fn link(&self, path: &str, to: &str) {
        symlink(to, self.with_parent(path)).expect("the fixture is writable");
    }

    /// Adds a shell script as a tool.
    pub(crate) fn tool(&self, name: &str, script: &str) {
        let path = format!("usr/sbin/{name}");
        self.add(&[(&path, &format!("#!/bin/sh\n{script}\n"))]);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.root.join(path), executable).expect("the fixture is ours");
    }

    /// The sources to read this machine from.
    pub(crate) fn sources(&self) -> Sources {
        Sources::rooted_at(&self.root).with_tool_timeout(Duration::from_secs(20))
    }

    fn with_parent(&self, path: &str) -> PathBuf {
        let path = self.root.join(path);
        let parent = path.parent().expect("a fixture's path has a parent");
        fs::create_dir_all(parent).expect("the fixture is writable");
        path
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and no other test depends on it.
        let _ = fs::remove_dir_all(&self.root);
    }
}
