//! What is refused, with which exit status.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{Dense, PRINT_VARIABLES, static_program, variables};
use crate::place::Place;

#[test]
fn what_no_command_could_see_is_refused() {
    let dense = Dense::new("16m");
    fs::write(dense.place.path("text"), "some text").expect("there is room");
    symlink("/usr", dense.place.path("link")).expect("there is room");
    let refused = |at: &str, words: &[&str]| {
        let outcome =
            dense.place.finish(dense.place.fsprism(&format!("densefs exec {at} -- true")));
        outcome.assert_refused(words);
    };
    let place = dense.place.path("");
    let place = place.display();
    refused("missing:/dense", &["missing: No such file"]);
    refused("text:/dense", &["text is not a DenseFS", "mkfs"]);
    refused("scratch:/dense", &["scratch"]);
    for at in ["arena", "arena:", "arena:dense", "arena:/", "arena:/dense/..", "/dense", ":/dense"]
    {
        refused(at, &["ARENA:PREFIX", "absolute path"]);
    }
    refused(
        &format!("arena:{place}link/dense"),
        &["link/dense goes through", "name it /usr/dense"],
    );
    refused(&format!("arena:{place}"), &["would hide the arena", "arena itself"]);
    let nothing = dense.place.fsprism(&format!("densefs exec {}", dense.at()));
    assert_eq!(dense.place.finish(nothing).code, Some(2));
}

#[test]
fn a_mount_point_that_cannot_be_is_refused() {
    let Some(dense) = Dense::mounted("a_mount_point_that_cannot_be_is_refused") else { return };
    fs::write(dense.place.path("text"), "some text").expect("there is room");
    let refused = |prefix: &str, words: &[&str]| {
        let at = format!("arena:{}", dense.place.path(prefix).display());
        let outcome =
            dense.place.finish(dense.place.fsprism(&format!("densefs exec {at} -- true")));
        outcome.assert_refused(words);
    };
    refused("text", &["text is not a directory"]);
    refused("text/below", &["cannot make the directory", "text/below", "name another prefix"]);
    refused("none/below", &["cannot make the directory", "none/below", "No such file"]);
}

#[test]
fn what_cannot_be_run_has_the_exit_status_that_shells_expect() {
    let dense = Dense::new("16m");
    fs::write(dense.place.path("text"), "some text").expect("there is room");
    for (command, status, words) in [
        ("./missing", 127, ["cannot run ./missing", "No such file"]),
        ("./text", 126, ["cannot run ./text", "Permission denied"]),
        ("./scratch", 126, ["cannot run ./scratch", "Permission denied"]),
    ] {
        let outcome = dense.run(&[command]);
        outcome.assert_code(status).assert_says(&words);
        dense.assert_gone();
    }
    let mut nowhere = dense.command(&["true"]);
    nowhere.env("PATH", "/nonexistent");
    dense.place.finish(nowhere).assert_code(127).assert_says(&["cannot run true"]);
}

/// Without a mount, what would not see the arena is refused, and everything else is run.
#[test]
fn without_a_mount_a_program_that_loads_no_library_is_refused() {
    let name = "without_a_mount_a_program_that_loads_no_library_is_refused";
    let Some(_root) = Place::as_root(name) else { return };
    let dense = Dense::new("16m");
    // For this command, the device is not what it should be.
    let outside = |command: &[&str]| {
        let mut hidden = dense.place.here(std::process::Command::new("unshare"), "-m sh -ec");
        hidden.arg("[ ! -e /dev/fuse ] || mount --bind /dev/null /dev/fuse; exec \"$@\"").arg("sh");
        let exec = dense.command(command);
        hidden.arg(exec.get_program()).args(exec.get_args());
        dense.place.finish(hidden)
    };
    let seen = outside(&["sh", "-c", PRINT_VARIABLES]);
    let found = variables(seen.assert_code(0));
    assert_eq!((found.len(), &*found[0]), (2, &*format!("FSPRISM_DENSEFS={}", dense.at())));
    assert_eq!(seen.stderr, "");
    assert!(!dense.prefix.exists(), "there is no mount point without a mount");
    let script = dense.place.path("script");
    let mut refused = vec![];
    if let Some(program) = static_program(&dense.place) {
        fs::write(&script, format!("#!{}\n", program.display())).expect("there is room");
        dense.place.install(&script, "executable");
        refused.push((program, "is a static program"));
        refused.push((dense.place.path("executable"), "static, which is a static program"));
    }
    let privileged = dense.place.install(Path::new("/bin/sleep"), "privileged");
    rustix::fs::chown(&privileged, Some(rustix::fs::Uid::from_raw(1)), None).expect("root may");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
    fs::set_permissions(&privileged, mode).expect("it is ours");
    refused.push((privileged, "runs with rights that you lack"));
    for (program, why) in refused {
        let outcome = outside(&[program.to_str().expect("plain text")]);
        outcome.assert_refused(&[why, "that takes a mount, and mounting fails"]);
    }
}
