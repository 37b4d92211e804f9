//! Users other than root.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::{Dense, PRINT_VARIABLES, variables};
use crate::place::{Place, say_skipped};
use crate::process::Outcome;

/// Who belongs to no group.
const NOBODY: u32 = 65534;

/// Has everybody able to open a device of its own for FUSE, if the first argument says so, and runs
/// a command as somebody else.
const AS_NOBODY: &str = "
    if [ \"$1\" = open ]; then
        mount -t tmpfs none \"$2\"
        mknod \"$2/fuse\" c 10 229
        chmod 666 \"$2/fuse\"
        mount --bind \"$2/fuse\" /dev/fuse
    fi
    cd \"$3\"
    shift 3
    exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"";

/// An arena of theirs, and a program that they may execute.
fn theirs(test: &str) -> Option<Dense> {
    let _root = Place::as_root(test)?;
    if !Path::new("/dev/fuse").exists() {
        say_skipped(test, "there is no /dev/fuse");
        return None;
    }
    let mut dense = Dense::new("16m");
    dense.place.install(env!("CARGO_BIN_EXE_fsprism").as_ref(), "program");
    let directory = dense.place.make("theirs");
    chown(&directory, Some(NOBODY), Some(NOBODY)).expect("root");
    dense.prefix = directory.join("dense");
    dense.arena = directory.join("arena");
    let mut made = dense.place.here(Command::new(dense.place.path("program")), "densefs mkfs");
    made.arg(&dense.arena).args(["--size", "16m"]).uid(NOBODY).gid(NOBODY);
    dense.place.finish(made).assert_code(0);
    Some(dense)
}

impl Dense {
    fn as_nobody(&self, device: &str, command: &[&str]) -> Outcome {
        self.watched_as_nobody(device, "", command)
    }

    fn watched_as_nobody(&self, device: &str, options: &str, command: &[&str]) -> Outcome {
        let mut shell = self.place.here(Command::new("unshare"), "-m sh -ec");
        shell.args([AS_NOBODY, "sh", device]).arg(self.place.path("scratch"));
        shell.arg(self.place.path("theirs")).arg(self.place.path("program"));
        let exec = self.watched(options, command);
        shell.args(exec.get_args()).env("HOME", self.place.path("theirs"));
        self.place.finish(shell)
    }
}

#[test]
fn a_user_mounts_in_a_namespace_of_their_own() {
    let name = "a_user_mounts_in_a_namespace_of_their_own";
    let Some(dense) = theirs(name) else { return };
    let may = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "-Um", "true"])
        .status();
    if !may.is_ok_and(|status| status.success()) {
        return say_skipped(name, "users may not have namespaces here");
    }
    let script = "echo hi >%/x && cat %/x && id -u && grep CapEff /proc/self/status";
    let script = format!("{PRINT_VARIABLES}; {script}");
    let seen = dense.as_nobody("open", &["sh", "-c", &script]);
    let said = &seen.assert_code(0).stdout;
    assert!(said.ends_with("hi\n65534\nCapEff:\t0000000000000000\n"), "{said}");
    assert!(variables(&seen)[1].starts_with("FSPRISM_DENSEFS_DEVICE="), "{said}");
    assert_eq!(seen.stderr, "");
    let proved = dense.watched_as_nobody("open", "--strict", &["cat", "%/x"]);
    assert_eq!(proved.assert_code(0).stdout, "hi\n");
    assert!(proved.stderr.starts_with("nothing bypassed the library"), "{proved:?}");
    dense.assert_gone();
    let library = dense.place.path("theirs/.cache/fsprism");
    let kept = std::fs::metadata(library).expect("it is there");
    assert_eq!(kept.permissions().mode() & 0o022, 0);
    // This one cannot be made.
    let mut closed = dense;
    closed.prefix = closed.place.path("dense");
    let refused = closed.as_nobody("open", &["true"]);
    refused.assert_refused(&["cannot make the directory", "Permission denied"]);
}

#[test]
fn a_user_who_may_not_mount_has_the_library() {
    let name = "a_user_who_may_not_mount_has_the_library";
    let Some(dense) = theirs(name) else { return };
    if std::fs::metadata("/dev/fuse").is_ok_and(|found| found.permissions().mode() & 0o6 != 0) {
        return say_skipped(name, "here they may");
    }
    let seen = dense.as_nobody("closed", &["sh", "-c", PRINT_VARIABLES]);
    let theirs = dense.place.path("theirs/.cache/fsprism/libdensefs_preload-");
    let (found, library) = (variables(&seen), format!("LD_PRELOAD={}", theirs.display()));
    assert!(found.len() == 2 && found[1].starts_with(&library), "{seen:?}");
    assert!(!seen.stderr.contains("fsprism"), "{seen:?}");
    let refused = dense.as_nobody("closed", &["/usr/bin/passwd"]);
    refused.assert_refused(&["rights that you lack", "that takes a mount", "Permission denied"]);
}

#[test]
fn an_arena_of_somebody_elses_is_refused() {
    let Some(dense) = theirs("an_arena_of_somebody_elses_is_refused") else { return };
    chown(&dense.arena, Some(0), Some(0)).expect("root");
    let refused = dense.as_nobody("closed", &["true"]);
    refused.assert_refused(&["cannot open", "arena", "Permission denied"]);
}
