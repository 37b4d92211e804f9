//! Random calls of a C program have the same answers in an arena as in a tmpfs.
//!
//! `FSPRISM_PRELOADED_CALLS` is how many are made.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Dense;
use crate::process::Outcome;

/// The user that the program becomes.
const USER: &str = "1000";

/// Compiles the program from the sources of the test of DenseFS' own calls.
fn compiled(within: &Path) -> PathBuf {
    let sources =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../densefs-c/tests/differential"));
    let program = within.join("calls");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-DALONE"]);
    compiler.args(["-D_FILE_OFFSET_BITS=64", "-o"]).arg(&program);
    for name in ["alone.c", "calls.c", "attributes.c", "descriptors.c", "library.c"] {
        compiler.arg(sources.join(name));
    }
    let built = compiler.output().expect("cc can be started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// Makes the directories above the prefix anew, where everybody may write.
fn make_above(dense: &Dense) {
    let first = dense.place.path("1");
    if first.exists() {
        fs::remove_dir_all(&first).expect("the place is ours");
    }
    let above = dense.prefix.parent().expect("it is below the place");
    fs::create_dir_all(above).expect("there is room");
    for directory in above.ancestors().take_while(|directory| directory.starts_with(&first)) {
        fs::set_permissions(directory, Permissions::from_mode(0o777)).expect("it is ours");
    }
}

/// The lines of both that differ first.
fn difference<'a>(one: &'a Outcome, other: &'a Outcome) -> Option<[&'a str; 2]> {
    let pairs = one.stdout.lines().zip(other.stdout.lines());
    let first = pairs.map(|(one, other)| [one, other]).find(|[one, other]| one != other);
    let is_longer = one.stdout.len() != other.stdout.len();
    first.or_else(|| is_longer.then_some(["one is longer", ""]))
}

#[test]
fn random_calls_have_the_answers_that_a_tmpfs_gives() {
    let name = "random_calls_have_the_answers_that_a_tmpfs_gives";
    let Some(mut dense) = Dense::sized(name, "256m --mode 777") else { return };
    let calls = std::env::var("FSPRISM_PRELOADED_CALLS").unwrap_or_else(|_| "40000".to_owned());
    let place = dense.arena.parent().expect("it is in the place").to_owned();
    fs::set_permissions(&place, Permissions::from_mode(0o755)).expect("it is ours");
    fs::set_permissions(&dense.arena, Permissions::from_mode(0o666)).expect("it is ours");
    dense.prefix = dense.place.path("1/2/3/top");
    let program = compiled(&place);
    let program = program.to_str().expect("plain text");
    make_above(&dense);
    fs::create_dir(&dense.prefix).expect("it is ours");
    let run = "mount -t tmpfs -o mode=777 tmpfs \"$2\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", run, "sh", program]).arg(&dense.prefix);
    command.args(["1", &calls, USER]);
    let theirs = dense.place.finish(command);
    theirs.assert_code(0);
    make_above(&dense);
    let ours = dense.run(&[program, "%", "1", &calls, USER]);
    ours.assert_code(0);
    let difference = difference(&theirs, &ours);
    assert!(difference.is_none(), "{difference:?}");
    assert!(theirs.stdout.lines().count() >= calls.parse::<usize>().expect("it is a number"));
    dense.assert_gone();
}
