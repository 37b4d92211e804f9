//! A program changes its credentials, and calls are made with the new ones; access(2) with the real
//! ones. Compared with what the system does for this thread.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use densefs_process::{Base, DenseFs, Errno, Follow, Ids, NewArena, Owner, flags, make};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

const PLACE: &str = "DENSEFS_CREDENTIALS_PLACE";
/// Owner, group and permissions of each file.
const FILES: [(u32, u32, u32); 6] = [
    (1001, 0, 0o600),
    (1002, 0, 0o600),
    (0, 71, 0o640),
    (0, 72, 0o640),
    (1001, 71, 0o060),
    (0, 0, 0o600),
];

/// The credentials of a thread: real and effective user, real and effective group, groups.
type Change = (u32, u32, u32, u32, &'static [u32]);
const CHANGES: [Change; 9] = [
    (0, 0, 0, 0, &[]),
    (1001, 1002, 0, 0, &[]),
    (1002, 1001, 0, 0, &[]),
    (1003, 1003, 71, 72, &[]),
    (1003, 1003, 72, 71, &[]),
    (1003, 1003, 0, 0, &[9, 71, 72]),
    (1001, 0, 0, 0, &[]),
    (0, 1001, 0, 0, &[]),
    (1001, 1001, 71, 71, &[72]),
];

fn change(&(real, effective, real_group, group, groups): &Change) {
    let (root, root_group) = (Uid::ROOT, Gid::ROOT);
    let groups: Vec<_> = groups.iter().map(|&group| Gid::from_raw(group)).collect();
    // Back to root, which may change the rest.
    set_thread_res_uid(root, root, root).expect("the saved ID is root's");
    set_thread_groups(&groups).expect("root may");
    set_thread_res_gid(Gid::from_raw(real_group), Gid::from_raw(group), root_group)
        .expect("root may");
    set_thread_res_uid(Uid::from_raw(real), Uid::from_raw(effective), root).expect("root may");
}

/// Whether a file can be opened, and what access(2) says, by the real and by the effective IDs.
fn found(files: &DenseFs, name: &str) -> [bool; 3] {
    let access = |ids| {
        let done = files.check_access_to(Base::Working, Path::new(name), Follow::Yes, 4, ids);
        assert!(matches!(done, Ok(()) | Err(Errno::ACCES)), "{done:?}");
        done.is_ok()
    };
    let real = access(Ids::Real);
    assert_eq!(files.check_access(Base::Working, Path::new(name), 4).is_ok(), real);
    [files.open(name, 0, 0).is_ok(), real, access(Ids::Effective)]
}

fn found_by_system(path: &Path) -> [bool; 3] {
    let access = |how| accessat(CWD, path, Access::READ_OK, how).is_ok();
    [fs::File::open(path).is_ok(), access(AtFlags::empty()), access(AtFlags::EACCESS)]
}

/// In a process of its own, as it ends with other credentials.
#[test]
#[ignore = "a process that another test starts"]
fn changes() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let place = Path::new(&place);
    let files = DenseFs::attach(place.join("arena")).expect("it was made");
    for (number, &(uid, gid, mode)) in FILES.iter().enumerate() {
        let name = format!("{number}");
        let path = place.join(&name);
        fs::write(&path, b"").expect("there is room");
        chown(&path, Some(uid), Some(gid)).expect("root may");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("root may");
        files.open(&name, flags::WRITE | flags::CREATE, 0o600).expect("there is room");
        let owner = Owner { uid: Some(uid), gid: Some(gid) };
        let (base, name) = (Base::Working, Path::new(&name));
        files.set_owner(base, name, Follow::Yes, owner).expect("root may");
        files.set_mode(base, name, mode).expect("root may");
    }
    let mut differing = 0;
    for one in CHANGES.iter().chain(&CHANGES) {
        let before: Vec<_> = (0..FILES.len()).map(|n| found(&files, &n.to_string())).collect();
        change(one);
        // Nothing changes until somebody says so.
        let unseen: Vec<_> = (0..FILES.len()).map(|n| found(&files, &n.to_string())).collect();
        assert_eq!(before, unseen, "{one:?}");
        files.refresh_credentials();
        for (number, file) in FILES.iter().enumerate() {
            let name = number.to_string();
            let expected = found_by_system(&place.join(&name));
            assert_eq!(found(&files, &name), expected, "{one:?}, {file:?}");
            differing += u32::from(expected[1] != expected[2]);
        }
        // New files are the effective user's and group's.
        files.remove("new").ok();
        files.open("new", flags::WRITE | flags::CREATE, 0o600).expect("everybody may");
        let mode = files.stat("new").expect("it was made").mode;
        assert_eq!((mode.uid, mode.gid), (one.1, one.3));
        change(&CHANGES[0]);
        files.refresh_credentials();
        files.remove("new").expect("root may");
    }
    assert!(differing > 10, "{differing}");
    change_in_calls(&files);
}

/// Other threads find old or new credentials, and nothing else.
fn change_in_calls(files: &DenseFs) {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut may, mut may_not) = (0, 0);
            while !is_done.load(Ordering::Relaxed) {
                match files.open("2", 0, 0) {
                    Ok(_) => may += 1,
                    Err(why) => {
                        assert_eq!(why, Errno::ACCES);
                        may_not += 1;
                    }
                }
            }
            assert!(may > 0 && may_not > 0, "{may} {may_not}");
        });
        for number in 0..20_000 {
            change(&CHANGES[if number % 2 == 0 { 1 } else { 5 }]);
            files.refresh_credentials();
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn calls_follow_the_credentials_of_the_program() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: it takes root to change credentials");
        return;
    }
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let root = DenseFs::new_root(0o777);
    make(&place.path().join("arena"), &NewArena::new(1 << 20, root)).expect("there is room");
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args(["changes", "--exact", "--ignored", "--nocapture"]).env(PLACE, place.path());
    let ran = command.output().expect("it can be started");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
