//! Third-party programs that test file systems. `scripts/setup test` builds them.

use std::path::PathBuf;

/// The path of such a program. If it is not installed, prints that the test is skipped.
pub(crate) fn installed(what: &str, program: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().expect("it runs");
    // The test is in PROFILE/deps, in the build directory.
    let built = test.ancestors().nth(3).expect("cargo has put it there");
    let path = built.join("conformance/bin").join(program);
    if !path.is_file() {
        eprintln!("skipped: {what}: it needs {program}, which `scripts/setup test` installs");
        return None;
    }
    Some(path)
}
