//! Programs do the same in an arena as in a tmpfs: they print the same, end in the same way, and
//! leave the same tree.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Dense;
use super::alone::InTime;
use crate::place::say_skipped;
use crate::process::Outcome;

/// Where the scripts are.
fn scripts() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/exec/programs"))
}

/// The programs that a script needs, from its first line, and that are not installed.
fn missing(script: &Path) -> Vec<String> {
    let text = fs::read_to_string(script).expect("it is part of the tests");
    let needed = text.lines().next().and_then(|line| line.strip_prefix("# needs: "));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_installed =
        |name: &&str| std::env::split_paths(&path).any(|place| place.join(name).is_file());
    let needed = needed.expect("a script says what it needs").split(' ');
    needed.filter(|name| !is_installed(name)).map(str::to_owned).collect()
}

/// What a tree consists of: all but the times and what git keeps, whose names and sizes depend on
/// the former.
fn listed(tree: &Path) -> String {
    let mut find = Command::new("find");
    find.arg(".").args(["-path", "*/.git/*", "-prune", "-o"]);
    find.args(["-type", "d", "-printf", "%y %m %p\\n", "-o", "-printf", "%y %m %n %s %p %l\\n"]);
    let found = find.current_dir(tree).output().expect("every system has it");
    let mut lines: Vec<_> = str::from_utf8(&found.stdout).expect("plain names").lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Runs a script in a tmpfs at the prefix, and copies what it leaves to `left`.
fn on_tmpfs(dense: &Dense, script: &Path, left: &Path) -> Outcome {
    fs::create_dir(&dense.prefix).expect("the place is ours");
    let run = "mount -t tmpfs -o mode=755 tmpfs \"$1\" && cd \"$1\" || exit 99
        sh \"$2\"; status=$?; cp -a . \"$3\"; exit $status";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", run, "sh"]).arg(&dense.prefix).arg(script).arg(left);
    command.env("PROGRAMS", scripts()).stdin(Stdio::null());
    let outcome = InTime::start(command).finish();
    fs::remove_dir(&dense.prefix).expect("the mount is gone");
    outcome
}

/// Who serves a program's calls.
#[derive(Clone, Copy)]
enum Way {
    /// The library alone.
    Library,
    /// The library, and the mount for what the kernel itself does, such as executing programs that
    /// are in the arena; nothing else may come to the mount.
    LibraryAndMount,
}

#[track_caller]
fn assert_same(test: &str, script: &str, way: Way) {
    let script = scripts().join(script);
    let missing = missing(&script);
    if !missing.is_empty() {
        return say_skipped(test, &format!("it needs {}", missing.join(", ")));
    }
    let Some(dense) = Dense::sized(test, "256m") else { return };
    let (theirs, ours) = (dense.place.path("theirs"), dense.place.path("ours"));
    let expected = on_tmpfs(&dense, &script, &theirs);
    // Otherwise, what comes after a failure would not be tried.
    expected.assert_code(0);
    let programs = scripts().display();
    let run = format!("export PROGRAMS={programs} && exec sh {}", script.display());
    let outcome = match way {
        Way::Library => dense.alone(&run),
        Way::LibraryAndMount => {
            let run = format!("cd % && {run}");
            let mut outcome =
                InTime::start(dense.watched("--strict", &["sh", "-c", &run])).finish();
            let [.., proof] = *outcome.stderr.lines().collect::<Vec<_>>() else {
                panic!("no proof")
            };
            assert!(proof.starts_with("nothing bypassed the library: "), "{outcome:?}");
            outcome.stderr.truncate(outcome.stderr.len() - proof.len() - 1);
            outcome
        }
    };
    assert_eq!(outcome.stdout, expected.stdout, "{outcome:?}");
    assert_eq!(outcome.stderr, expected.stderr);
    outcome.assert_code(0);
    dense.assert_gone();
    // What is in the arena, by the library and without the programs.
    let export = format!("densefs export {} arena", ours.display());
    dense.place.finish(dense.place.fsprism(&export)).assert_code(0);
    assert_eq!(listed(&ours), listed(&theirs));
    let mut diff = Command::new("diff");
    diff.args(["-r", "--no-dereference", "--exclude", ".git"]).arg(&theirs).arg(&ours);
    let compared = diff.output().expect("every system has it");
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&compared.stdout));
}

macro_rules! programs {
    ($($name:ident, $script:literal, $way:ident;)*) => {
        $(
            #[test]
            fn $name() {
                assert_same(stringify!($name), $script, Way::$way);
            }
        )*
    };
}

/// Programs that take longer, and are run if `FSPRISM_PROGRAMS` is `all`.
macro_rules! longer_programs {
    ($($name:ident, $script:literal, $way:ident;)*) => {
        $(
            #[test]
            fn $name() {
                if !is_long() {
                    return say_skipped(stringify!($name), "FSPRISM_PROGRAMS is not `all`");
                }
                assert_same(stringify!($name), $script, Way::$way);
            }
        )*
    };
}

/// Whether tests may take long.
pub(super) fn is_long() -> bool {
    std::env::var_os("FSPRISM_PROGRAMS").is_some_and(|which| which == "all")
}

programs! {
    grep_find_and_ls_see_the_same_in_an_arena_and_a_tmpfs, "search.sh", Library;
    cp_mv_tar_and_rm_do_the_same_in_an_arena_and_a_tmpfs, "copy.sh", Library;
    other_ways_lead_to_an_arena_as_to_a_tmpfs, "ways.sh", Library;
    bash_does_the_same_in_an_arena_and_a_tmpfs, "shell.sh", Library;
    git_does_the_same_in_an_arena_and_a_tmpfs, "git.sh", Library;
    sqlite_does_the_same_in_an_arena_and_a_tmpfs, "database.sh", Library;
    make_and_cc_do_the_same_in_an_arena_and_a_tmpfs, "build.sh", Library;
    what_is_in_an_arena_is_executed_and_loaded_as_from_a_tmpfs, "executed.sh", LibraryAndMount;
    fifos_and_sockets_work_in_an_arena_as_in_a_tmpfs, "kernel.sh", LibraryAndMount;
    perl_and_sort_do_the_same_in_an_arena_and_a_tmpfs, "perl.sh", Library;
    node_does_the_same_in_an_arena_and_a_tmpfs, "node.sh", Library;
    python_does_the_same_in_an_arena_and_a_tmpfs, "python.sh", Library;
    rsync_does_the_same_in_an_arena_and_a_tmpfs, "rsync.sh", Library;
    vim_does_the_same_in_an_arena_and_a_tmpfs, "editor.sh", Library;
    ninja_does_the_same_in_an_arena_and_a_tmpfs, "ninja.sh", Library;
}

longer_programs! {
    make_builds_the_same_project_in_an_arena_and_a_tmpfs, "project.sh", Library;
    cargo_does_the_same_in_an_arena_and_a_tmpfs, "cargo.sh", LibraryAndMount;
}
