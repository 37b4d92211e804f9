//! Programs in C that do what others seldom do.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Dense;
use crate::place::say_skipped;

/// Compiles one of the programs for these tests.
pub(super) fn compiled(name: &str, within: &Path) -> PathBuf {
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/exec/programs");
    let program = within.join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-nonnull", "-D_GNU_SOURCE", "-o"]);
    compiler.arg(&program).arg(Path::new(programs).join(name).with_extension("c"));
    let built = compiler.output().expect("cc can be started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// Runs a program in an arena, and checks that it prints what it prints in a tmpfs.
#[track_caller]
fn assert_same(test: &str, name: &str) {
    let Some(dense) = Dense::mounted(test) else { return };
    let program = compiled(name, dense.arena.parent().expect("it is in the place"));
    // A tmpfs: how space runs out, and which order names have, differs elsewhere.
    let elsewhere = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let mut command = Command::new(&program);
    command.current_dir(elsewhere.path());
    let theirs = dense.place.finish(command);
    theirs.assert_code(0);
    let ours = dense.alone(&format!("exec {}", program.display()));
    assert_eq!(ours.assert_code(0).stdout, theirs.stdout, "{ours:?}");
    dense.assert_gone();
}

#[test]
fn handlers_of_signals_make_calls_and_leave_others() {
    assert_same("handlers_of_signals_make_calls_and_leave_others", "signals");
}

#[test]
fn bad_addresses_make_calls_fail() {
    assert_same("bad_addresses_make_calls_fail", "faults");
}

/// Numbers of closed files are kept for the next ones, and must still be the lowest that are free.
#[test]
fn files_here_and_elsewhere_get_the_lowest_numbers() {
    assert_same("files_here_and_elsewhere_get_the_lowest_numbers", "numbers");
}

#[test]
fn walks_patterns_and_temporary_names_are_the_same() {
    assert_same("walks_patterns_and_temporary_names_are_the_same", "names");
}

#[test]
fn streams_transfers_and_children_are_the_same() {
    assert_same("streams_transfers_and_children_are_the_same", "streams");
}

/// What the manual says that the library refuses.
#[test]
fn what_cannot_be_served_is_refused() {
    let Some(dense) = Dense::mounted("what_cannot_be_served_is_refused") else { return };
    let program = compiled("refused", dense.arena.parent().expect("it is in the place"));
    let outcome = dense.alone(&format!("exec {}", program.display()));
    let expected = [
        "write: 8192 ",
        "inotify: -1 ENOSYS",
        "inotify elsewhere: 1 ",
        "io_uring: -1 ENOSYS",
        "handle: -1 EOPNOTSUPP",
        "io_submit: -1 EINVAL",
        "sendmsg: -1 EBADF",
        "mremap: -1 ENOMEM",
        "chroot: -1 EPERM",
        "pivot_root: -1 EPERM",
        "openat2: -1 ENOSYS",
        "clone: -1 ENOSYS",
        "read: 8192 ",
        "unlink: 0 ",
    ];
    assert_eq!(outcome.assert_code(0).stdout.lines().collect::<Vec<_>>(), expected);
    dense.assert_gone();
}

/// Where code cannot be changed, the mount serves all calls.
#[test]
fn programs_whose_code_may_not_be_changed_see_the_arena_as_well() {
    let name = "programs_whose_code_may_not_be_changed_see_the_arena_as_well";
    let Some(dense) = Dense::mounted(name) else { return };
    let program = compiled("policy", dense.arena.parent().expect("it is in the place"));
    let script = format!("echo seen >%/file && exec {} cat %/file", program.display());
    let seen = dense.shell(&script);
    if seen.code == Some(77) {
        return say_skipped(name, "the kernel has no PR_SET_MDWE");
    }
    assert_eq!((&*seen.assert_code(0).stdout, &*seen.stderr), ("seen\n", ""));
    // With a file open in the arena, that program would be wrong, so it is refused.
    let script = format!("exec 3<%/file && exec {} cat", program.display());
    let refused = dense.shell(&script);
    refused.assert_code(2);
    assert!(
        refused.stderr.starts_with("fsprism: this program cannot use the arena"),
        "{refused:?}"
    );
    dense.assert_gone();
}

#[test]
fn sizes_of_files_are_limited() {
    assert_same("sizes_of_files_are_limited", "limits");
}

#[test]
fn threads_are_cancelled_between_calls() {
    assert_same("threads_are_cancelled_between_calls", "cancel");
}
