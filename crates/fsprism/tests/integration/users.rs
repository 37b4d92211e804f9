//! Ordinary users may measure directories; scratch targets need root.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::place::{Place, names_in, say_skipped};

const NOBODY: u32 = 65534;

impl Place {
    /// The program, run by an ordinary user in a directory of theirs.
    fn as_nobody(&self, arguments: &str) -> Command {
        let program = self.path("program");
        let theirs = self.path("theirs");
        if !theirs.exists() {
            // The original executable may be in a directory that only root can read.
            self.install(env!("CARGO_BIN_EXE_fsprism").as_ref(), "program");
            self.make("theirs");
            chown(&theirs, Some(NOBODY), Some(NOBODY)).expect("root");
            chown(self.path("scratch"), Some(NOBODY), Some(NOBODY)).expect("root");
        }
        let mut command = self.here(Command::new(&program), arguments);
        command.uid(NOBODY).gid(NOBODY).current_dir(&theirs);
        command
    }
}

#[test]
fn a_scratch_target_is_roots() {
    let Some(place) = Place::as_root("a_scratch_target_is_roots") else { return };
    for target in ["ext4", "tmpfs", "old=xfs:size=1g"] {
        let arguments = format!("survey {target} --scratch ../scratch");
        let outcome = place.finish(place.as_nobody(&arguments));
        outcome.assert_refused(&["needs root", "sudo", "directory"]);
    }
    let outcome = place.finish(place.as_nobody("survey .:memory=64m --blocks 1"));
    outcome.assert_refused(&["memory=", "run as root"]);
    let outcome = place.finish(place.as_nobody("survey ../scratch/.."));
    outcome.assert_refused(&["cannot be written", "a directory that can be"]);
    assert!(names_in(&place.path("theirs")).is_empty());
}

#[test]
fn a_papers_targets_are_roots() {
    let Some(place) = Place::as_root("a_papers_targets_are_roots") else { return };
    let outcome = place.finish(place.as_nobody("reproduce rocket-science --scratch ../scratch"));
    outcome.assert_refused(&["the paper is measured on", "none of which", "needs root"]);
    // Anybody may compute with a paper's own numbers.
    let outcome = place.finish(place.as_nobody("reproduce bonnie-anova --scratch ../scratch"));
    assert!(outcome.assert_code(0).stdout.contains("529.15"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("Measured here"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("only computed") && outcome.stderr.contains("needs root"));
    assert!(names_in(&place.path("theirs")).is_empty());
}

#[test]
fn without_root_the_defaults_are_directories() {
    let name = "without_root_the_defaults_are_directories";
    let Some(place) = Place::as_root(name) else { return };
    let shared = rustix::fs::statvfs("/dev/shm").map_or(0, |room| room.f_bavail * room.f_frsize);
    if shared < 128 << 20 {
        say_skipped(name, "it needs 128 MiB in /dev/shm");
        return;
    }
    let arguments = "survey --blocks 1 --budget 1s --size 1m --format json --out run";
    let outcome = place.finish(place.as_nobody(arguments));
    let document = outcome.assert_code(0).document();
    assert!(outcome.stderr.contains("as root, fsprism would make and measure tmpfs, ext4, xfs"));
    // The directory's name, which says more than a dot.
    assert_eq!(document["targets"][0]["label"], "theirs");
    assert_eq!(document["targets"][1]["label"], "/dev/shm");
    assert_eq!(document["targets"].as_array().map(Vec::len), Some(2));
    let skipped = document["skipped"].as_array().expect("a list");
    let ext4 = skipped.iter().find(|one| one["target"] == "ext4").expect("root would make it");
    assert!(ext4["why"].as_str().expect("a sentence").contains("root"), "{ext4}");
    assert_eq!(names_in(&place.path("theirs")), ["run"]);
}

/// As root in most containers.
#[test]
fn root_who_may_not_mount_is_told_what_the_container_lacks() {
    let name = "root_who_may_not_mount_is_told_what_the_container_lacks";
    let Some(place) = Place::as_root(name) else { return };
    let inside = |arguments: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]);
        command.arg(env!("CARGO_BIN_EXE_fsprism"));
        place.here(command, arguments)
    };
    for target in ["ext4", "tmpfs"] {
        let refused = place.finish(inside(&format!("survey {target} --scratch scratch")));
        refused.assert_refused(&["CAP_SYS_ADMIN", "--cap-add SYS_ADMIN", "give a directory"]);
    }
    let arguments = "survey --blocks 1 --budget 1s --size 1m --out run";
    let outcome = place.finish(inside(arguments));
    assert!(outcome.stderr.contains("would make and measure tmpfs, ext4, xfs"), "{outcome:?}");
    assert!(outcome.stderr.contains("--cap-add SYS_ADMIN"), "{outcome:?}");
    assert!(!outcome.stderr.contains("as root,"), "{outcome:?}");
}

/// Root of a user namespace may mount a tmpfs, but nothing that is on a device.
#[test]
fn root_of_a_user_namespace_is_told_what_it_may_not() {
    let name = "root_of_a_user_namespace_is_told_what_it_may_not";
    let Some(place) = Place::as_root(name) else { return };
    let inside = |arguments: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user"]).arg(env!("CARGO_BIN_EXE_fsprism"));
        let mut command = place.here(command, arguments);
        command.arg("--scratch").arg(place.path("scratch"));
        command
    };
    let possible = Command::new("unshare").args(["--user", "--map-root-user", "true"]).status();
    if !possible.is_ok_and(|status| status.success()) {
        say_skipped(name, "there are no user namespaces");
        return;
    }
    let refused = place.finish(inside("survey ext4 --blocks 1"));
    refused.assert_refused(&["ext4", "user namespace", "run as root outside it"]);
    let arguments = "survey --blocks 1 --budget 1s --size 1m --format json --out run";
    let document = place.finish(inside(arguments)).assert_code(0).document();
    let skipped = document["skipped"].as_array().expect("a list");
    let ext4 = skipped.iter().find(|one| one["target"] == "ext4").expect("it cannot be made");
    assert!(ext4["why"].as_str().expect("a sentence").contains("user namespace"), "{ext4}");
}
