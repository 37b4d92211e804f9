//! Commands that are watched: `--report` and `--strict`.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::alone::InTime;
use super::in_c::compiled;
use super::{Dense, static_program, until};
use crate::process::Outcome;

fn run(dense: &Dense, way: &str, command: &[&str]) -> Outcome {
    let mut command = dense.watched(way, command);
    command.stdin(Stdio::null());
    InTime::start(command).finish()
}

/// What a report says about a call: how many were served, were on other files, and were refused.
#[track_caller]
fn counts(outcome: &Outcome, call: &str) -> [u64; 3] {
    let mut lines = outcome.stderr.lines().map(|line| line.split_whitespace());
    let mut line = lines.find(|line| line.clone().next() == Some(call)).expect("it is reported");
    line.next();
    let number = |text: &str| text.replace(',', "").parse().expect("a number");
    [(); 3].map(|()| line.next().filter(|&text| text != "-").map_or(0, number))
}

#[test]
fn a_report_counts_the_calls_of_all_programs() {
    let name = "a_report_counts_the_calls_of_all_programs";
    let Some(dense) = Dense::mounted(name) else { return };
    let script = "cd / && for i in 1 2 3; do env -i mkdir %/d$i; done; exit 5";
    let outcome = run(&dense, "--report", &["sh", "-c", script]);
    outcome.assert_code(5);
    assert_eq!(counts(&outcome, "mkdir"), [3, 0, 0], "{outcome:?}");
    // What the library has had the kernel do is not its own.
    assert!(!outcome.stderr.contains("chdir"), "{outcome:?}");
    // Each `env` becomes `mkdir`.
    let programs = outcome.stderr.lines().next().expect("it says how many");
    assert!(programs.starts_with("7 programs used the library"), "{outcome:?}");
    assert!(outcome.stderr.contains("\nno requests went to the mount"), "{outcome:?}");
    // What loads no library comes by the mount.
    if let Some(program) = static_program(&dense.place) {
        let program = program.to_str().expect("plain text").to_owned();
        dense.shell("echo text >%/x").assert_code(0);
        let outcome = run(&dense, "--report", &[&program, "%/x"]);
        assert_eq!(outcome.assert_code(0).stdout, "text\n");
        let line = outcome.stderr.lines().find(|line| line.contains("went to the mount"));
        let line = line.expect("it is reported");
        // It looks the file up, opens, reads and closes it.
        let count: u64 = line.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
        assert!(count > 3, "{line}");
    }
    // A refused call.
    let refusing = "import ctypes, os; l = ctypes.CDLL(None, use_errno=True)\n\
                    os.chdir('%'); l.inotify_add_watch(l.inotify_init(), b'.', 2)";
    let outcome = run(&dense, "--report", &["python3", "-c", refusing]);
    assert_eq!(counts(outcome.assert_code(0), "inotify_add_watch"), [0, 0, 1]);
    dense.assert_gone();
}

/// The process that waits passes on how the command has ended, and signals to it.
#[test]
fn a_watched_command_ends_as_it_would_alone() {
    let name = "a_watched_command_ends_as_it_would_alone";
    let Some(dense) = Dense::mounted(name) else { return };
    for way in ["--report", "--strict", "--report --strict"] {
        let outcome = run(&dense, way, &["sh", "-c", "cat; exit 7"]);
        assert_eq!(outcome.assert_code(7).stdout, "");
        assert_eq!(run(&dense, way, &["sh", "-c", "kill -KILL $$"]).code, Some(-9), "{way}");
        run(&dense, way, &["./missing"]).assert_code(127);
        let script = "trap 'echo asked; exit 3' TERM; echo ready >%/ready; while :; do :; done";
        let mut command = dense.watched(way, &["sh", "-c", script]);
        let child = command.stdout(Stdio::piped()).spawn().expect("it is there");
        until("the command runs", || dense.shell("cat %/ready").stdout == "ready\n");
        let pid = Pid::from_raw(child.id().cast_signed()).expect("it is positive");
        kill_process(pid, Signal::TERM).expect("it is ours");
        let outcome = Outcome::from_output(child.wait_with_output().expect("it is ours"));
        assert_eq!(outcome.assert_code(3).stdout, "asked\n", "{way}");
        dense.shell("rm %/ready").assert_code(0);
        dense.assert_gone();
    }
    // What has been stopped stays so until it is to go on.
    let script = "(while :; do echo >>%/lines; done) & one=$!
        until test -s %/lines; do :; done; kill -STOP $one; sleep 0.05
        before=$(wc -c <%/lines); sleep 0.05; after=$(wc -c <%/lines)
        test $after = $before || { kill -KILL $one; exit 4; }
        kill -CONT $one; until test $(wc -c <%/lines) != $before; do :; done
        kill -KILL $one; wait $one; test $? = 137";
    run(&dense, "--strict", &["sh", "-c", script]).assert_code(0);
    // If the one that waits is killed, so is what it traces.
    let mut command = dense.watched("--strict", &["sh", "-c", "echo >%/ready; exec sleep 600"]);
    let mut child = command.spawn().expect("it is there");
    until("the command runs", || dense.shell("test -e %/ready").code == Some(0));
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    dense.assert_gone();
}

#[test]
fn strict_stops_what_goes_past_the_library() {
    let name = "strict_stops_what_goes_past_the_library";
    let Some(dense) = Dense::mounted(name) else { return };
    dense.shell("mkdir %/d && echo text >%/x && echo text >%/d/x").assert_code(0);
    let program = compiled("past", dense.arena.parent().expect("it is in the place"));
    let program = program.to_str().expect("plain text").to_owned();
    let link = dense.place.path("link");
    symlink(&dense.prefix, &link).expect("the place is ours");
    let by_link = format!("{}/x", link.display());
    for (how, path, said) in [
        ("open", "%/x", "bypassed the library: openat on "),
        ("open", "%/none", "bypassed the library: openat on "),
        ("read", "%/x", "library: read on descriptor 3"),
        ("below", "%/d", "library: openat on descriptor 3"),
        ("working", "%/d", "library: openat on the working directory"),
        ("library", &by_link, "libc.so.6 at 0x"),
    ] {
        let outcome = run(&dense, "--strict", &[&program, how, path]);
        outcome.assert_refused(&["past (process ", said, "the command has been killed"]);
    }
    // It is the descendant of a command that is stopped.
    let script = format!("{program} open %/x; echo >%/later");
    run(&dense, "--strict", &["sh", "-c", &script]).assert_code(2);
    assert_eq!(dense.shell("test -e %/later").code, Some(1));
    if let Some(program) = static_program(&dense.place) {
        let program = program.to_str().expect("plain text").to_owned();
        run(&dense, "--strict", &[&program, "%/x"])
            .assert_refused(&["static (process ", "bypassed the library"]);
    }
    // These are as they should be.
    let place = dense.place.path("").display().to_string();
    for (how, path) in [
        ("library", "%/x".to_owned()),
        ("library", "dense/x".to_owned()),
        ("library", "./dense//d/../x".to_owned()),
        ("open", program.clone()),
        ("unlink", format!("{place}link")),
    ] {
        let outcome = run(&dense, "--strict", &[&program, how, &path]);
        outcome.assert_code(0);
        assert!(outcome.stderr.starts_with("nothing bypassed the library: "), "{outcome:?}");
    }
    dense.assert_gone();
}

#[test]
fn programs_in_the_arena_may_be_executed_in_strict_commands() {
    let name = "programs_in_the_arena_may_be_executed_in_strict_commands";
    let Some(dense) = Dense::mounted(name) else { return };
    let script = "cp /bin/cat %/cat; cd %; echo text >x; PATH=. cat x; (sleep 0; ./cat x) & wait";
    let outcome = run(&dense, "--strict", &["sh", "-c", script]);
    assert_eq!(outcome.assert_code(0).stdout, "text\ntext\n");
    dense.assert_gone();
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let name = "what_cannot_be_watched_is_refused";
    let Some(dense) = Dense::mounted(name) else { return };
    let exec = env!("CARGO_BIN_EXE_fsprism");
    for way in ["--report", "--strict"] {
        let inner = format!("{exec} densefs exec {way} {} -- true", dense.at());
        dense.shell(&inner).assert_refused(&["--report and --strict", "runs within one"]);
    }
    let mut hidden = dense.place.here(Command::new("unshare"), "-m sh -ec");
    hidden.arg("mount --bind /dev/null /dev/fuse; exec \"$@\"").arg("sh");
    let exec = dense.watched("--strict", &["true"]);
    hidden.arg(exec.get_program()).args(exec.get_args());
    dense.place.finish(hidden).assert_refused(&["--strict needs a mount, to see what bypasses"]);
}
