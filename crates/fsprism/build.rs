//! Tells the program which commit it is built from, for `fsprism --version`, and gives it a build
//! id.
//!
//! Only release builds name the commit: others would be compiled again after every one.

#[path = "build/commit.rs"]
mod commit;

use std::env;
use std::path::Path;

use commit::Commit;

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    for source in ["build.rs", "build/commit.rs", commit::ARCHIVED] {
        println!("cargo::rerun-if-changed={source}");
    }
    let mut version = variable("CARGO_PKG_VERSION");
    if variable("PROFILE") == "release" {
        if let Some(Commit { id, date }) = commit::of(&root) {
            version += &format!(" ({id} {date})");
        }
        for path in commit::changed_by_commits(&root) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    // What debuggers, and backtraces, find separate debug information by.
    println!("cargo::rustc-link-arg-bins=-Wl,--build-id=sha1");
    println!("cargo::rustc-env=FSPRISM_VERSION={version}");
}
