//! Suites for file systems, by the library: pjdfstest for what POSIX demands, fsx for content.

#[path = "../../../../densefs-fuse/tests/exerciser/mod.rs"]
mod exerciser;
#[path = "../../../../densefs-fuse/tests/peer/mod.rs"]
mod peer;
#[path = "../../../../densefs-fuse/tests/pjdfstest/mod.rs"]
mod pjdfstest;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Dense;
use crate::process::Outcome;
use peer::installed;
use pjdfstest::{Outcome as Ended, PASSED_MIN, Places, Results, choose};

/// What a tmpfs passes and the library does not.
struct Exception {
    /// The name of a test, or how it ends.
    name: &'static str,
    reason: Reason,
}

/// Why the library does not pass a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// Only the kernel knows who executes a file.
    Executed,
    /// Only the kernel knows on which directories something is mounted.
    MountPoint,
    /// The kernel has to go to the file itself: with a mount, this is passed.
    ByTheMount,
}

const EXCEPTIONS: &[Exception] = &[
    Exception { name: "open::etxtbsy", reason: Reason::Executed },
    Exception { name: "truncate::etxtbsy", reason: Reason::Executed },
    Exception { name: "rmdir::ebusy", reason: Reason::MountPoint },
    Exception { name: "open::fifo_nonblock_wronly", reason: Reason::ByTheMount },
    // bind(2) makes sockets.
    Exception { name: "open::socket_error", reason: Reason::ByTheMount },
    Exception { name: "::socket", reason: Reason::ByTheMount },
];

/// Whether a test is one of those that are not passed, with a mount or without.
fn is_expected(name: &str, has_mount: bool) -> bool {
    EXCEPTIONS
        .iter()
        .any(|one| name.ends_with(one.name) && !(has_mount && one.reason == Reason::ByTheMount))
}

fn results(printed: &str) -> Results {
    let mut results = Results::default();
    results.add(printed);
    results
}

/// A command as a line for a shell.
fn line(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words = words.map(|word| format!("'{}'", word.to_str().expect("plain text")));
    words.collect::<Vec<_>>().join(" ")
}

/// Runs all tests on a tmpfs.
fn on_tmpfs(dense: &Dense, program: &Path, other: &Path) -> Results {
    let within = dense.place.make("tmpfs");
    let mut command = Command::new("unshare");
    let run = "mount -t tmpfs -o mode=755 tmpfs \"$0\" && exec \"$@\"";
    command.args(["--mount", "sh", "-c", run]).arg(&within).arg(program);
    choose(&mut command, &Places { within: &within, other }, "", false);
    results(&String::from_utf8_lossy(&command.output().expect("it is installed").stdout))
}

#[test]
fn the_library_passes_what_a_tmpfs_passes() {
    let what = "the_library_passes_what_a_tmpfs_passes";
    let Some(program) = installed(what, "pjdfstest") else { return };
    let Some(dense) = Dense::sized(what, "256m") else { return };
    let other = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let theirs = on_tmpfs(&dense, &program, other.path());
    let wanted = theirs.that(Ended::Passed);
    assert!(wanted.len() >= PASSED_MIN, "{}", theirs.complaints);
    let mut command = Command::new(&program);
    choose(&mut command, &Places { within: &dense.prefix, other: other.path() }, "", false);
    let run = format!("NO_COLOR=1 {} 2>&1", line(&command));
    for has_mount in [false, true] {
        let outcome: Outcome =
            if has_mount { dense.shell(&run) } else { dense.alone(&format!("cd / && {run}")) };
        let ours = results(&outcome.stdout);
        println!("on a tmpfs: {}; by the library: {}", theirs.summary(), ours.summary());
        let passed = ours.that(Ended::Passed);
        let failed: BTreeSet<_> = wanted.difference(&passed).copied().collect();
        let expected = wanted.iter().filter(|name| is_expected(name, has_mount));
        assert_eq!(failed, expected.copied().collect(), "{}", ours.complaints);
        dense.assert_gone();
    }
}

#[test]
fn files_hold_what_fsx_has_written_by_the_library() {
    let what = "files_hold_what_fsx_has_written_by_the_library";
    let operations = std::env::var("FSPRISM_FSX_OPERATIONS").unwrap_or_else(|_| "5000".to_owned());
    let Some(program) = installed(what, "fsx") else { return };
    let Some(dense) = Dense::mounted(what) else { return };
    for waits in [true, false] {
        let settings: PathBuf = dense.place.path("fsx.toml");
        fs::write(&settings, exerciser::configuration(waits)).expect("there is room");
        let (artifacts, seed) = (dense.place.path(""), u32::from(waits));
        let mut command = Command::new(&program);
        command.args(["-N", &operations, "-S", &seed.to_string(), "-P"]).arg(artifacts);
        command.arg("-f").arg(settings).arg("file");
        let outcome = dense.alone(&format!("{} 2>&1 && rm file", line(&command)));
        let said = outcome.assert_code(0).stdout.contains("All operations completed");
        assert!(said, "{outcome:?}");
        dense.assert_gone();
    }
}
