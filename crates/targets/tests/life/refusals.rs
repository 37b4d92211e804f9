//! Targets that cannot be made are refused before anything is made; and tools that fail halfway.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::mount::{MountFlags, mount};
use targets::cache::cache_state;
use targets::cache::residency::{ResidencyError, resident_pages};
use targets::{Surroundings, Target, TargetError, Unavailable, Workshop, availability};

use super::support::{loop_devices, refusal, scratch, spec, surroundings, workshop};

pub(crate) fn what_cannot_be_made() {
    let workshop = workshop();
    let place = scratch();
    let file = place.join("file");
    fs::write(&file, "x").expect("the place can be written");
    let read_only = place.join("read-only");
    fs::create_dir(&read_only).expect("the place can be written");
    mount("none", &read_only, "tmpfs", MountFlags::RDONLY, None).expect("root");
    for (text, sentence) in [
        (format!("{}/missing", place.display()), "missing does not exist"),
        (file.display().to_string(), "file is not a directory"),
        (read_only.display().to_string(), "read-only cannot be written (Read-only file system"),
        ("ext4:size=999t".to_owned(), "give a smaller size= or another directory with --scratch"),
        ("tmpfs:size=999t".to_owned(), "does not fit in memory"),
        ("xfs:size=16m".to_owned(), "xfs needs at least 320 MiB; give a larger size="),
    ] {
        let error = refusal(&workshop, &text);
        assert!(matches!(error, TargetError::Unavailable(_)), "{error}");
        assert!(error.to_string().contains(sentence), "{text}: {error}");
    }
    let nowhere = Surroundings { scratch: place.join("missing"), ..surroundings() };
    let error = availability(&spec("ext4"), &nowhere).expect_err("no such scratch directory");
    assert!(error.to_string().contains("--scratch"), "{error}");
    rustix::mount::unmount(&read_only, rustix::mount::UnmountFlags::empty()).expect("ours");
    fs::remove_dir(&read_only).expect("ours");
    fs::remove_file(&file).expect("ours");
}

pub(crate) fn failing_tools_leave_nothing() {
    let workshop = workshop();
    let error = refusal(&workshop, "ext4:mkfs=-O nonesuch");
    assert!(matches!(error, TargetError::Mkfs { .. }), "{error}");
    assert!(
        error.to_string().contains("nonesuch") && error.to_string().contains("mkfs="),
        "{error}"
    );
    let error = refusal(&workshop, "ext4:mount=nonesuch");
    assert!(matches!(error, TargetError::Mount { .. }), "{error}");
    assert!(error.to_string().contains("`nonesuch`"), "{error}");
    assert_eq!(loop_devices(&scratch()), [""; 0]);
    let target = workshop.make(&spec("ext4")).expect("the workshop is still good");
    busy_is_reported(target);
    workshop.close().expect("nothing is left");
}

/// A target in use is detached, and disappears with its last user.
fn busy_is_reported(mut target: Target) {
    let path = target.root().join("file");
    fs::write(&path, "x").expect("there is room");
    let open = fs::File::open(&path).expect("just written");
    let error = target.close().expect_err("a file is open");
    assert!(matches!(error, TargetError::Unmount { .. }), "{error}");
    assert!(cache_state::residency(&open).expect("still there").is_full());
    drop(open);
    assert_eq!(loop_devices(&scratch()), [""; 0]);
}

pub(crate) fn a_second_thread_is_too_late() {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || stopped.recv());
    let error = Workshop::open(surroundings()).expect_err("two threads");
    assert!(matches!(error, TargetError::SeveralThreads { threads: 2 }), "{error}");
    drop(stop);
    thread.join().expect("it only waits").expect_err("nothing was sent");
}

pub(crate) fn plain_users_have_directories() {
    const NOBODY: u32 = 65534;
    let directory = scratch().join("theirs");
    fs::create_dir(&directory).expect("the place can be written");
    std::os::unix::fs::chown(&directory, Some(NOBODY), Some(NOBODY)).expect("root");
    // The program's own file may be where only root can read.
    let program = scratch().join("program");
    fs::copy(std::env::current_exe().expect("it has a file"), &program).expect("there is room");
    let mut child = Command::new(&program);
    child.args(["--as-plain-user", directory.to_str().expect("plain")]).uid(NOBODY).gid(NOBODY);
    assert!(child.status().expect("it can be started").success());
    fs::remove_file(&program).expect("ours");
    fs::remove_dir(&directory).expect("the work directory is gone from it");
}

/// The owner of the directory that root measures in can put anything at the work directory's path.
pub(crate) fn what_others_put_at_its_path_is_left_alone() {
    const NOBODY: u32 = 65534;
    let (directory, theirs) = (scratch().join("owned"), scratch().join("theirs"));
    fs::create_dir(&directory).expect("the place can be written");
    std::os::unix::fs::chown(&directory, Some(NOBODY), Some(NOBODY)).expect("root");
    let workshop = workshop();
    let mut target = workshop.make(&spec(directory.to_str().expect("plain"))).expect("root");
    let made = fs::read_dir(&directory).expect("it is there").next().expect("the work directory");
    let (top, moved) = (made.expect("it is there").path(), directory.join("moved"));
    fs::create_dir_all(theirs.join("work/kept")).expect("ours");
    fs::rename(&top, &moved).expect("they own the directory");
    symlink(&theirs, &top).expect("they own the directory");
    fs::write(target.root().join("file"), "x").expect("there is room");
    assert!(moved.join("work/file").exists(), "it is held");
    fs::remove_dir(target.root().join("kept")).expect_err("theirs is elsewhere");
    target.remake().expect("it is held");
    assert!(!target.root().join("file").exists());
    assert_eq!(fs::read_dir(theirs.join("work")).expect("theirs").count(), 1, "nothing was added");
    target.close().expect_err("what lies at its path is not ours");
    fs::remove_file(&top).expect("their link");
    fs::rename(&moved, &top).expect("they own the directory");
    drop(target);
    workshop.close().expect("the guardian has removed the rest");
    assert_eq!(fs::read_dir(&directory).expect("theirs").count(), 0);
    fs::remove_dir_all(&theirs).expect("ours");
    fs::remove_dir(&directory).expect("ours");
}

pub(crate) fn as_plain_user(directory: &Path) {
    let surroundings = Surroundings { scratch: directory.to_owned(), ..Default::default() };
    let workshop = Workshop::open(surroundings).expect("directories need no root");
    let error = refusal(&workshop, "ext4");
    assert!(matches!(error, TargetError::Unavailable(Unavailable::NotRoot { .. })), "{error}");
    assert!(error.to_string().contains("root"), "{error}");
    let target = workshop.make(&spec(directory.to_str().expect("plain"))).expect("it is theirs");
    fs::write(target.root().join("file"), "x").expect("there is room");
    drop(target);
    let error = refusal(&workshop, &format!("{}:memory=64m", directory.display()));
    assert!(matches!(error, TargetError::Conditions { .. }), "{error}");
    workshop.close().expect("nothing is left");
    a_file_of_others_is_not_looked_at();
}

/// The kernel would report all of it as being in memory.
fn a_file_of_others_is_not_looked_at() {
    let theirs = fs::File::open("/etc/passwd").expect("everybody may read it");
    let error = resident_pages(&theirs, 0..u64::MAX).expect_err("it is root's");
    assert!(matches!(error, ResidencyError::NotPermitted), "{error}");
}
