//! The libraries as they are shipped: built and installed by `make densefs-install`.

mod installed;
#[cfg(target_arch = "x86_64")]
mod lines;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use densefs_process::{DenseFs, NewArena, make};

/// What has been installed.
struct Installed {
    /// The directory that everything is below.
    prefix: PathBuf,
    /// Whether the library was trained; otherwise it differs from what is shipped.
    is_trained: bool,
}

/// Installs the libraries in the build directory, once for all tests.
fn installed() -> &'static Installed {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let test = std::env::current_exe().expect("it runs");
        // target/PROFILE/deps/TEST
        let target = test.ancestors().nth(3).expect("it is in a build directory");
        let prefix = target.join("densefs-installed");
        if prefix.exists() {
            std::fs::remove_dir_all(&prefix).expect("it is ours");
        }
        let made = Command::new("make")
            .args(["--silent", "densefs-install", "DESTDIR="])
            .arg(format!("PREFIX={}", prefix.display()))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .env("CARGO_TARGET_DIR", target)
            .env_remove("MAKEFLAGS")
            .output()
            .expect("make can be started");
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{said}");
        Installed { prefix, is_trained: !said.contains("llvm-tools") }
    })
}

/// An arena in a new directory.
fn new_arena(directory: &Path) -> PathBuf {
    let arena = directory.join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena::new(32 << 20, root)).expect("there is room");
    arena
}
