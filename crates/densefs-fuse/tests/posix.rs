//! POSIX conformance, by the tests of pjdfstest: a mounted DenseFS passes every test that a tmpfs
//! passes.

mod peer;
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use peer::installed;
use place::mounted;

/// The configuration of pjdfstest: everything that can be tested on Linux, and two users that exist
/// on every Debian. `naptime` is in seconds; the clocks of both file systems tick at least that
/// often.
fn configuration(may_remount: bool) -> String {
    format!(
        r#"
[features]
posix_fallocate = {{}}
rename_ctime = {{}}
stat_st_birthtime = {{}}
utime_now = {{}}
utimensat = {{}}

[settings]
naptime = 0.02
allow_remount = {may_remount}

[dummy_auth]
entries = [["nobody", "nogroup"], ["daemon", "daemon"]]
"#
    )
}

/// The least number of tests that a tmpfs passes. If it passes fewer, pjdfstest is not set up
/// correctly.
const PASSED_MIN: usize = 350;

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Skipped,
    Failed,
}

/// The outcome of each test, and other output, which shows why some failed.
struct Results {
    outcomes: BTreeMap<String, Outcome>,
    complaints: String,
}

impl Results {
    /// The names of the tests with this outcome.
    fn that(&self, ended: Outcome) -> BTreeSet<&str> {
        let those = self.outcomes.iter().filter(|(_, outcome)| **outcome == ended);
        those.map(|(name, _)| name.as_str()).collect()
    }

    fn summary(&self) -> String {
        let [passed, skipped, failed] =
            [Outcome::Passed, Outcome::Skipped, Outcome::Failed].map(|end| self.that(end).len());
        format!("{passed} passed, {skipped} skipped, {failed} failed")
    }
}

/// Parses a line of pjdfstest's output: the name of a test, and its outcome.
fn outcome(line: &str) -> Option<(String, Outcome)> {
    let (name, end) = line.split_once(' ')?;
    let outcome = match end.trim_start() {
        "ok" => Outcome::Passed,
        "skipped" => Outcome::Skipped,
        "FAILED" => Outcome::Failed,
        _ => return None,
    };
    Some((name.to_owned(), outcome))
}

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
fn run(program: &Path, within: &Path, other: &Path) -> Results {
    let mut results = Results { outcomes: BTreeMap::new(), complaints: String::new() };
    for (may_remount, pattern) in [(false, ""), (true, "erofs")] {
        let path = other.join("pjdfstest.toml");
        fs::write(&path, configuration(may_remount)).expect("there is room");
        let mut command = Command::new(program);
        command.arg("--configuration-file").arg(path);
        command.arg("--path").arg(within).arg("--secondary-fs").arg(other).arg("--").arg(pattern);
        command.env("PATH", path_without_helpers(other));
        command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
        let output = command.output().expect("it is installed");
        let printed = String::from_utf8_lossy(&output.stdout);
        for line in printed.lines() {
            let ended = outcome(line);
            if !matches!(ended, Some((_, Outcome::Passed | Outcome::Skipped))) {
                results.complaints.push_str(&format!("{line}\n"));
            }
            results.outcomes.extend(ended);
        }
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
    let results = run(program, place.path(), other);
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
        let ours = run(&program, point, other.path());
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
