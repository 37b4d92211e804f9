//! Sites that are rewritten, in C programs.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The library that rewrites sites for this test, which cargo has built as an example.
fn library() -> PathBuf {
    let test = env::current_exe().expect("it runs");
    let place = test.ancestors().nth(2).expect("it is in target/debug/deps");
    place.join("examples/libsites.so")
}

/// Compiles a program from the file of this name next to this test.
fn compiled(name: &str, directory: &Path) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = own.join("tests").join(name);
    let program = directory.join(name).with_extension("");
    let built = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-pthread"])
        .arg("-I")
        .arg(own.join("../densefs-c/tests"))
        .arg(source)
        .arg("-o")
        .arg(&program)
        .output()
        .expect("cc can be started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// Runs a command with the library, which rewrites the sites of these calls.
fn run(command: &mut Command, which: &str) -> Output {
    command.env("LD_PRELOAD", library()).env("SITES", which).env("SITES_REPORT", "1");
    command.output().expect("it can be started")
}

/// Runs the program of this name; returns what it says in the end.
fn succeeds(name: &str, which: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let output = run(&mut Command::new(compiled(name, directory.path())), which);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {said}", output.status);
    said
}

#[test]
fn a_site_changes_what_the_instruction_changes() {
    succeeds("registers.c", "all");
}

#[test]
fn a_program_does_what_it_does_without() {
    let said = succeeds("program.c", "all");
    assert!(said.starts_with("libc.so.6: Rewritten"), "{said}");
    assert!(said.contains("\nld-linux-x86-64.so.2: Rewritten"), "{said}");
}

#[test]
fn programs_run_whose_every_call_is_looked_at() {
    let mut command = Command::new("sh");
    command.args(["-c", "ls -l /usr/bin | sort | tail -n 3 && date && (sleep 0 & wait)"]);
    let output = run(&mut command, "all");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().count(), 4, "{said}");
}

/// Where code may not be made, nothing has changed and the program runs.
#[test]
fn a_refusal_is_reported_and_harmless() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = compiled("refused.c", directory.path());
    let output = run(&mut Command::new(program), "all");
    if output.status.code() == Some(77) {
        return;
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "still here\n");
    let said = String::from_utf8_lossy(&output.stderr);
    // The first two lines are of the program that executes the other one.
    let refused = said.lines().filter(|line| line.contains("Refused(")).count();
    assert_eq!(refused, 2, "{said}");
}
