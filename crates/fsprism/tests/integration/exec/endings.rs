//! Whatever ends in whichever way, nothing stays.

use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{Dense, until};

impl Dense {
    /// Starts a command that lives until it is killed, and waits until it has begun.
    fn start(&self) -> Child {
        let mut command = self.command(&["sh", "-c", "echo >%/begun; exec cat"]);
        let child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
        let child = child.expect("it can be started");
        let began = || self.processes("densefs-server").len() == 1 && is_cat(&child);
        until("the command has begun", began);
        child
    }
}

/// Whether the process has become the last program of the command.
fn is_cat(child: &Child) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{}/comm", child.id()));
    name.is_ok_and(|name| name == "cat\n")
}

#[test]
fn a_command_that_is_killed_leaves_nothing() {
    let Some(dense) = Dense::mounted("a_command_that_is_killed_leaves_nothing") else { return };
    let mut child = dense.start();
    assert!(dense.prefix.exists());
    child.kill().expect("it lives");
    child.wait().expect("it is ours");
    dense.assert_gone();
    assert_eq!(dense.shell("kill -TERM $$").code, Some(-15));
    dense.assert_gone();
}

#[test]
fn a_server_that_is_killed_leaves_nothing_and_ends_only_the_mount() {
    let name = "a_server_that_is_killed_leaves_nothing_and_ends_only_the_mount";
    let Some(dense) = Dense::mounted(name) else { return };
    let mut child = dense.start();
    dense.kill("densefs-server");
    until("the directory is removed", || !dense.prefix.exists());
    drop(child.stdin.take());
    assert!(child.wait().expect("it is ours").success());
    dense.assert_gone();
    assert_eq!(dense.shell("ls %").assert_code(0).stdout, "begun\n");
}

#[test]
fn the_process_that_removes_the_directory_may_be_killed() {
    let name = "the_process_that_removes_the_directory_may_be_killed";
    let Some(dense) = Dense::mounted(name) else { return };
    let mut child = dense.start();
    dense.kill("densefs-remover");
    drop(child.stdin.take());
    assert!(child.wait().expect("it is ours").success());
    dense.assert_gone();
}

#[test]
fn killed_at_any_moment_it_leaves_nothing() {
    let Some(dense) = Dense::mounted("killed_at_any_moment_it_leaves_nothing") else { return };
    for microseconds in (0..40).map(|step| step * 700) {
        let exec = dense.command(&["cat"]);
        // Its input stays open, so it ends only because it is killed.
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL"]).arg(format!("0.{microseconds:06}1"));
        command.arg(exec.get_program()).args(exec.get_args()).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("coreutils are installed");
        child.wait().expect("it is ours");
        until("nothing is left", || {
            !dense.prefix.exists()
                && ["densefs-server", "densefs-remover", "fsprism", "cat"]
                    .iter()
                    .all(|name| dense.processes(name).is_empty())
        });
    }
    dense.assert_gone();
}

#[test]
fn descendants_keep_the_mount() {
    let Some(dense) = Dense::mounted("descendants_keep_the_mount") else { return };
    let (fifo, done) = (dense.place.text("fifo"), dense.place.text("done"));
    let script = format!(
        "mkfifo {fifo}; (read word <{fifo}; echo $word >%/late; cat %/late >{done}.part; \
         mv {done}.part {done}) >/dev/null 2>&1 &"
    );
    dense.shell(&script).assert_code(0);
    assert_eq!(dense.processes("densefs-server").len(), 1);
    std::fs::write(&fifo, "still there\n").expect("there is room");
    until("the descendant has ended", || std::path::Path::new(&done).exists());
    assert_eq!(std::fs::read_to_string(&done).expect("it is there"), "still there\n");
    dense.assert_gone();
}

#[test]
fn two_commands_on_one_prefix_do_not_disturb_each_other() {
    let name = "two_commands_on_one_prefix_do_not_disturb_each_other";
    let Some(dense) = Dense::mounted(name) else { return };
    let mut first = dense.start();
    let second = dense.command(&["sh", "-c", "ls %; read word; ls %"]);
    let mut second = { second }.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let second = second.as_mut().expect("it can be started");
    until("there are two", || dense.processes("densefs-server").len() == 2);
    // It has made the directory, which stays for the second.
    first.kill().expect("it lives");
    first.wait().expect("it is ours");
    until("one has ended", || {
        dense.processes("densefs-server").len() == 1 || !dense.prefix.exists()
    });
    let pid = Pid::from_child(second);
    kill_process(pid, Signal::CONT).expect("it lives");
    drop(second.stdin.take());
    let mut said = String::new();
    let mut output = second.stdout.take().expect("piped");
    std::io::Read::read_to_string(&mut output, &mut said).expect("plain text");
    second.wait().expect("it is ours");
    assert_eq!(said, "begun\nbegun\n");
    dense.assert_gone();
}
