//! Random calls of a C program have the same answers in an arena as in a tmpfs.
//!
//! `FSPRISM_PRELOADED_CALLS` is how many are made.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Dense;

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

/// A call with its answer, which may have more than one line.
struct Answered<'a> {
    /// Which sequence it is part of. Each begins with empty directories.
    sequence: u32,
    lines: &'a str,
}

/// The sequence of a line, if a call begins there.
fn sequence(line: &str) -> Option<u32> {
    let (sequence, rest) = line.split_once('.')?;
    rest.split(' ').next()?.parse::<u32>().ok()?;
    sequence.parse().ok()
}

fn answered(text: &str) -> Vec<Answered<'_>> {
    let mut at = 0;
    let mut starts = Vec::new();
    for line in text.split_inclusive('\n') {
        starts.extend(sequence(line).map(|sequence| (at, sequence)));
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|&(start, _)| start).chain([text.len()]);
    let all = starts.iter().zip(ends);
    all.map(|(&(start, sequence), end)| Answered { sequence, lines: &text[start..end] }).collect()
}

/// Checks that the answers are the same, and returns how many were compared: in each sequence, all
/// up to the first for which the kernel itself went into the arena, where the mount is dead, as by
/// a link from elsewhere.
fn compare(ours: &str, theirs: &str) -> usize {
    let (ours, theirs) = (answered(ours), answered(theirs));
    assert_eq!(ours.len(), theirs.len());
    let (mut ended, mut compared) = (None, 0);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        if ours.lines != theirs.lines && ours.lines.contains(" ENOTCONN ") {
            ended = Some(ours.sequence);
        }
        if Some(ours.sequence) != ended {
            assert_eq!(ours.lines, theirs.lines);
            compared += 1;
        }
    }
    compared
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
    let ours = dense.alone(&format!("cd / && exec {program} % 1 {calls} {USER}"));
    ours.assert_code(0);
    let compared = compare(&ours.stdout, &theirs.stdout);
    let calls: usize = calls.parse().expect("it is a number");
    println!("{compared} of {calls} calls compared");
    assert!(compared > calls / 20 * 19, "only {compared} of {calls} are served");
    dense.assert_gone();
}
