//! The host's mounts and ours: what users unmount goes away for us too, and they never see what we
//! mount.
//!
//! A mount namespace made for the case, with everything shared, stands in for the host.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use targets::{Surroundings, Workshop};

use super::support::{scratch, spec};

pub(crate) fn unmounting_comes_in_and_nothing_goes_out() {
    let program = std::env::current_exe().expect("it has a file");
    let mut host = Command::new("unshare");
    host.args(["--mount", "--propagation", "shared"]).arg(program).arg("--as-host").arg(scratch());
    assert!(host.status().expect("util-linux is installed").success());
}

fn mounts_of(process: &str) -> String {
    fs::read_to_string(format!("/proc/{process}/mountinfo")).expect("it lives")
}

/// As the host: mounts a stick, starts a guest that makes a target, unmounts the stick.
pub(crate) fn as_host(place: &Path) {
    let stick = place.join("stick");
    fs::create_dir(&stick).expect("the place can be written");
    mount("stick", &stick, "tmpfs", MountFlags::empty(), None).expect("root");
    let mut guest = Command::new(std::env::current_exe().expect("it has a file"))
        .arg("--as-guest")
        .arg(place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again");
    let mut lines = BufReader::new(guest.stdout.take().expect("piped")).lines();
    let root = lines.next().expect("the target is made").expect("plain text");
    let id = guest.id().to_string();
    let (stick_path, guests) = (stick.display().to_string(), mounts_of(&id));
    assert!(guests.contains(&stick_path) && guests.contains(&root), "{guests}");
    let ours = mounts_of("self");
    assert!(!ours.contains("fsprism-"), "a mount of the guest's came out: {ours}");

    unmount(&stick, UnmountFlags::empty()).expect("nobody uses it");
    let guests = mounts_of(&id);
    assert!(!guests.contains(&stick_path), "the guest holds it: {guests}");
    assert!(guests.contains(&root), "{guests}");
    fs::remove_dir(&stick).expect("ours");
    guest.stdin.as_mut().expect("piped").write_all(b".").expect("it waits");
    assert!(guest.wait().expect("ours").success());
}

pub(crate) fn as_guest(place: &Path) {
    let surroundings = Surroundings { scratch: place.to_owned(), ..Default::default() };
    let workshop = Workshop::open(surroundings).expect("root, one thread");
    let mut target = workshop.make(&spec("ext4:size=64m")).expect("ext4 is everywhere");
    println!("{}", target.root().display());
    std::io::stdin().read_exact(&mut [0]).expect("the host answers");
    target.remount().expect("nothing is open");
    target.close().expect("nothing is open");
    drop(target);
    workshop.close().expect("nothing is left");
}
