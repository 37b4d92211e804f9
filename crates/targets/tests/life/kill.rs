//! Sudden death: a process that makes targets is killed at each of its steps.
//!
//! The process announces each step on its standard output and waits for an answer, so that it is
//! killed at a known step; then the test waits for the guardian to end and examines the machine.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, test_kill_process,
};
use targets::{Step, Surroundings, TargetSpec, Workshop};

use super::support::{Place, leftovers, loop_devices, servers, spec, wait_for_end};

/// Announces a step and waits until the watcher answers.
fn pause(step: &str) {
    println!("{step}");
    std::io::stdin().read_exact(&mut [0]).expect("the watcher answers");
}

fn pause_at(spec: &TargetSpec, step: Step) {
    pause(&format!("{} {step:?}", spec.label));
}

/// The process that is killed: one target of each kind, written to under conditions.
pub(crate) fn take_steps(place: &Path) {
    let on_step = Some(pause_at as fn(&TargetSpec, Step));
    let image_bytes = 512 << 20;
    let scratch = place.to_owned();
    let surroundings = Surroundings { scratch, image_bytes, on_step, ..Default::default() };
    let workshop = Workshop::open(surroundings).expect("root, one thread");
    pause(&format!("{}", workshop.guardian().as_raw_nonzero()));
    let directory = place.join("directory");
    let mut targets = Vec::new();
    for text in ["ext4:memory=64m,read_bps=100m", "xfs", "btrfs", "tmpfs"] {
        targets.push(workshop.make(&spec(text)).expect(text));
    }
    targets.push(workshop.make(&spec(directory.to_str().expect("plain"))).expect("there"));
    targets.push(workshop.make(&spec("ext2:size=64m,delay=100us")).expect("root"));
    for target in &targets {
        fs::create_dir(target.root().join("inner")).expect("there is room");
        fs::write(target.root().join("inner/file"), vec![1; 1 << 20]).expect("there is room");
    }
    pause("written");
    let entered = targets[0].enter().expect("root");
    fs::write(targets[0].root().join("more"), vec![1; 1 << 20]).expect("there is room");
    pause("entered");
    entered.leave().expect("home is there");
    targets[1].remount().expect("nothing is open");
    targets[0].remake().expect("nothing is open");
    targets[4].remake().expect("nothing is open");
    targets[5].remount().expect("nothing is open");
    for target in &mut targets {
        target.close().expect("nothing is open");
    }
    drop(targets);
    workshop.close().expect("nothing is left");
    pause("closed");
}

/// A process in `take_steps`, with its guardian.
struct Victim {
    child: Child,
    guardian: Pid,
    guardian_fd: OwnedFd,
    steps: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Victim {
    fn start(place: &Place) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("it has a file"));
        Self::start_with(&mut command, place)
    }

    fn start_with(command: &mut Command, place: &Place) -> Self {
        fs::create_dir_all(place.path().join("directory")).expect("the place is ours");
        command.arg("--steps").arg(place.path()).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ok");
        let mut steps = BufReader::new(child.stdout.take().expect("piped")).lines();
        let first = steps.next().expect("the workshop opens").expect("plain text");
        let guardian = Pid::from_raw(first.parse().expect("the guardian's number")).expect("one");
        let guardian_fd = pidfd_open(guardian, PidfdFlags::empty()).expect("it lives");
        Self { child, guardian, guardian_fd, steps }
    }

    /// Lets it take its next step; `None` when it has ended.
    fn next_step(&mut self) -> Option<String> {
        self.child.stdin.as_mut().expect("piped").write_all(b".").expect("it waits");
        self.steps.next().map(|step| step.expect("plain text"))
    }

    fn go_to(&mut self, step: &str) {
        while self.next_step().expect("it comes to that step") != step {}
    }

    /// Kills its whole process group and waits until the guardian has done its work.
    fn kill(mut self) -> u32 {
        let pid = Pid::from_child(&self.child);
        kill_process_group(pid, Signal::KILL).expect("it lives");
        self.child.wait().expect("it is ours");
        wait_for_end(&self.guardian_fd);
        self.child.id()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // If a check has failed, it must not wait for answers forever.
        let _dead_already = self.child.kill();
    }
}

fn assert_nothing_is_left(pid: u32, place: &Place, step: &str) {
    let directory = place.path().join("directory");
    fs::remove_dir(&directory).unwrap_or_else(|error| panic!("killed at {step}: {error}"));
    let left = leftovers(pid, place.path());
    assert!(left.is_empty(), "killed at {step}: {left:?}");
}

pub(crate) fn at_every_step() {
    let mut killed = 0;
    loop {
        let place = Place::new();
        let mut victim = Victim::start(&place);
        let mut step = "the start".to_owned();
        for _ in 0..killed {
            match victim.next_step() {
                Some(next) => step = next,
                None => {
                    assert!(victim.child.wait().expect("ours").success(), "after {step}");
                    assert_nothing_is_left(victim.child.id(), &place, "its end");
                    assert!(killed > 30, "every step was there: {killed}");
                    println!("killed at {killed} steps");
                    return;
                }
            }
        }
        let pid = victim.kill();
        assert_nothing_is_left(pid, &place, &step);
        killed += 1;
    }
}

/// A mkfs that keeps the device open and never ends stands in for a slow one.
pub(crate) fn while_formatting() {
    let place = Place::new();
    let tools = Place::new();
    let fifo = tools.path().join("reached");
    super::support::run("mkfifo", &[fifo.to_str().expect("plain")]);
    let program = tools.path().join("mkfs.ext4");
    let script = format!(
        "#!/bin/sh\nfor device; do :; done\necho \"$device\" > {}\n\
         exec sleep 100000 3<\"$device\"\n",
        fifo.display()
    );
    fs::write(&program, script).expect("the place is ours");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    let path = std::env::var("PATH").expect("there is one");
    let mut command = Command::new(std::env::current_exe().expect("it has a file"));
    command.env("PATH", format!("{}:{path}", tools.path().display()));
    let mut victim = Victim::start_with(&mut command, &place);
    assert_eq!(victim.next_step().as_deref(), Some("ext4:memory=64m,read_bps=100m Bound"));
    victim.child.stdin.as_mut().expect("piped").write_all(b".").expect("it waits");
    let device = fs::read_to_string(&fifo).expect("mkfs comes so far");
    assert_eq!(loop_devices(place.path()), [device.trim().trim_start_matches("/dev/")]);
    // Not its process group: mkfs must die because its parent did.
    kill_process(Pid::from_child(&victim.child), Signal::KILL).expect("it lives");
    victim.child.wait().expect("it is ours");
    wait_for_end(&victim.guardian_fd);
    assert_nothing_is_left(victim.child.id(), &place, "mkfs");
}

/// A server that is stopped stands in for one that hangs: while it does, a file system with dirty
/// pages cannot be unmounted, and the dying process waits for that.
pub(crate) fn a_server_that_does_not_end() {
    let place = Place::new();
    let mut victim = Victim::start(&place);
    victim.go_to("written");
    let [server] = servers(place.path())[..] else { panic!("one target is delayed") };
    let server = Pid::from_raw(server.cast_signed()).expect("a process");
    kill_process(server, Signal::STOP).expect("it lives");
    let pid = Pid::from_child(&victim.child);
    kill_process_group(pid, Signal::KILL).expect("it lives");
    wait_for_end(&victim.guardian_fd);
    victim.child.wait().expect("it is ours");
    assert_nothing_is_left(victim.child.id(), &place, "a server was stopped");
}

pub(crate) fn guardian_ignores_signals() {
    let place = Place::new();
    let mut victim = Victim::start(&place);
    victim.go_to("written");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::PIPE] {
        kill_process(victim.guardian, signal).expect("it lives");
    }
    test_kill_process(victim.guardian).expect("it still lives");
    assert_holds_little(victim.guardian, &place);
    let pid = victim.kill();
    assert_nothing_is_left(pid, &place, "written");
}

/// The guardian keeps no terminal, output or private mount namespace alive; the only directory it
/// keeps open is the one that contains the work directory it has to remove.
fn assert_holds_little(guardian: Pid, place: &Place) {
    let around = place.path().join("directory");
    let proc = format!("/proc/{}", guardian.as_raw_nonzero());
    let descriptors = fs::read_dir(format!("{proc}/fd")).expect("root may look").flatten();
    for descriptor in descriptors {
        let file = fs::read_link(descriptor.path()).expect("root may look");
        let number: u32 = descriptor.file_name().to_string_lossy().parse().expect("a number");
        if number < 3 {
            assert_eq!(file, Path::new("/dev/null"));
        } else {
            let text = file.to_string_lossy();
            let is_its_own = text.starts_with("pipe:") || text.starts_with("anon_inode:");
            assert!(is_its_own || file == around, "{text}");
        }
    }
    assert_eq!(fs::read_link(format!("{proc}/cwd")).expect("root may look"), Path::new("/"));
    let namespace = |process: &str| fs::read_link(format!("{process}/ns/mnt")).expect("root");
    assert_eq!(namespace(&proc), namespace("/proc/self"));
}

pub(crate) fn leftovers_are_swept() {
    let place = Place::new();
    let mut victim = Victim::start(&place);
    victim.go_to("written");
    kill_process(victim.guardian, Signal::KILL).expect("it lives");
    wait_for_end(&victim.guardian_fd);
    let dead = victim.kill();
    let left = leftovers(dead, place.path());
    // The mount area and two groups, or one in the unified hierarchy; and the work directory.
    assert!(left.len() >= 2, "{left:?}");
    assert!(fs::read_dir(place.path().join("directory")).expect("there").next().is_some());

    let directory = place.path().join("directory");
    let theirs = ["fsprism-2026-11", "fsprism-2025-1-7", ".fsprism-2025-1-7"];
    for name in theirs {
        fs::create_dir_all(directory.join(name).join("results")).expect("the place is ours");
    }
    let mut next = Victim::start(&place);
    next.go_to("written");
    for name in theirs {
        assert!(directory.join(name).join("results").exists(), "{name} is a user's");
        fs::remove_dir_all(directory.join(name)).expect("the place is ours");
    }
    let mut left = leftovers(dead, place.path());
    // The place also has what belongs to live processes.
    left.retain(|name| !loop_devices(place.path()).contains(name));
    let [server] = servers(place.path())[..] else { panic!("that of the living alone") };
    left.retain(|name| *name != format!("the server {server}"));
    assert_eq!(left, [directory.display().to_string()], "nothing of the dead");
    let pid = next.kill();
    assert_nothing_is_left(pid, &place, "written");
}
