//! POSIX conformance, by the tests of pjdfstest: a mounted DenseFS passes every test that a tmpfs
//! passes.

mod peer;
mod pjdfstest;
mod place;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use peer::installed;
use pjdfstest::{Outcome, PASSED_MIN, Places, Results, choose, outcome};
use place::mounted;

/// A `PATH` where mount never uses helpers: an installed helper for FUSE cannot make a file system
/// read-only.
fn path_without_helpers(place: &Path) -> String {
    let (programs, path) = (place.join("programs"), std::env::var("PATH").expect("it is set"));
    let mount = programs.join("mount");
    fs::create_dir_all(&programs).expect("there is room");
    fs::write(&mount, "#!/bin/sh\nPATH=${PATH#*:} exec mount -i \"$@\"\n").expect("there is room");
    fs::set_permissions(&mount, Permissions::from_mode(0o755)).expect("it is ours");
    format!("{}:{path}", programs.display())
}

/// Runs all tests in a directory of the file system under test; some need a directory of another
/// one. Tests that make the file system read-only are run separately, since some of the others
/// leave files open.
fn run(program: &Path, places: &Places<'_>) -> Results {
    let mut results = Results::default();
    for (may_remount, pattern) in [(false, ""), (true, "erofs")] {
        let mut command = Command::new(program);
        choose(&mut command, places, pattern, may_remount);
        command.env("PATH", path_without_helpers(places.other));
        let output = command.output().expect("it is installed");
        results.add(&String::from_utf8_lossy(&output.stdout));
    }
    results
}

fn system(program: &str, arguments: &[&str], at: &Path) {
    let status = Command::new(program).args(arguments).arg(at).status();
    assert!(status.expect("every system has it").success(), "{program} {}", at.display());
}

/// Runs all tests on a tmpfs of their own, which they sometimes make read-only.
fn run_on_tmpfs(program: &Path, other: &Path) -> Results {
    let place = tempfile::tempdir().expect("there is room");
    system("mount", &["-t", "tmpfs", "-o", "mode=755", "tmpfs"], place.path());
    let results = run(program, &Places { within: place.path(), other });
    system("umount", &[], place.path());
    results
}

#[test]
fn each_test_that_a_tmpfs_passes_is_passed() {
    let what = "each_test_that_a_tmpfs_passes_is_passed";
    let Some(program) = installed(what, "pjdfstest") else { return };
    mounted(what, |point, _| {
        let other = tempfile::tempdir_in("/dev/shm").expect("there is room");
        let theirs = run_on_tmpfs(&program, other.path());
        let ours = run(&program, &Places { within: point, other: other.path() });
        println!("on a tmpfs: {}; on a mounted DenseFS: {}", theirs.summary(), ours.summary());
        let (wanted, passed) = (theirs.that(Outcome::Passed), ours.that(Outcome::Passed));
        assert!(wanted.len() >= PASSED_MIN, "{}", theirs.complaints);
        let failed: Vec<_> = wanted.difference(&passed).collect();
        assert!(failed.is_empty(), "{failed:?}:\n{}", ours.complaints);
    });
}

#[test]
fn outcomes_are_told_from_what_else_is_printed() {
    let passed = outcome("rename::changes::dir          ok");
    assert_eq!(passed, Some(("rename::changes::dir".to_owned(), Outcome::Passed)));
    let skipped = outcome("link::link_count_max skipped");
    assert_eq!(skipped.map(|(_, outcome)| outcome), Some(Outcome::Skipped));
    let failed = outcome("open::erofs_named   FAILED");
    assert_eq!(failed.map(|(_, outcome)| outcome), Some(Outcome::Failed));
    assert_eq!(outcome("\tCannot get value for LINK_MAX"), None);
    assert_eq!(outcome("Summary: 0 failed, 48 skipped, 350 passed"), None);
}
