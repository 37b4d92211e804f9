//! Children that the C library does not know of: made by a bare system call, with what is called
//! around `fork()`.
#![expect(unsafe_code, reason = "the system call, and hooks of the C library")]

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use densefs_process::{
    Base, DenseFs, Errno, LockHolder, LockRange, NewArena, Whence, flags, fork, make,
};
use rustix::process::{Pid, WaitOptions, waitpid};

const CREATE: u32 = flags::READ_WRITE | flags::CREATE;
const RANGE: LockRange = LockRange { start: 0, end: 1, holder: LockHolder::Process };

/// How often a hook found that this thread had prepared, and how often that it had not.
static PREPARED: AtomicU32 = AtomicU32::new(0);
static UNPREPARED: AtomicU32 = AtomicU32::new(0);

extern "C" fn look() {
    let count = if fork::is_prepared() { &PREPARED } else { &UNPREPARED };
    count.fetch_add(1, Ordering::Relaxed);
    // Whoever makes a bare system call there has nothing to do.
    assert!(!fork::is_prepared() || !fork::before());
}

/// Makes a child by a bare system call, which does `act` and ends with what that returns.
fn child(act: impl FnOnce() -> Result<(), Errno>) -> Pid {
    assert!(fork::before(), "nobody else has prepared");
    // SAFETY: like fork(2), it copies everything, and nobody else holds locks that `act` needs.
    let made = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if made == 0 {
        fork::in_child();
        let status = act().map_or_else(|why| why.0, |()| 0);
        // SAFETY: it only ends the child.
        unsafe { libc::_exit(status) };
    }
    fork::in_parent();
    assert!(!fork::is_prepared());
    Pid::from_raw(i32::try_from(made).expect("it is a PID")).expect("a child was made")
}

fn status(child: Pid) -> Option<i32> {
    let (_, status) = waitpid(Some(child), WaitOptions::empty()).expect("it is ours")?;
    status.exit_status()
}

/// One test, as its hooks are the process'.
#[test]
fn a_child_of_a_bare_system_call_has_what_its_parent_has() {
    // What was registered first is called last before a fork.
    // SAFETY: functions stay valid.
    unsafe { libc::pthread_atfork(Some(look), None, None) };
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    make(&arena, &NewArena::new(1 << 20, DenseFs::new_root(0o755))).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    let open = |name: &str| files.open_descriptor(Base::Working, Path::new(name), CREATE, 0o600);
    let file = open("/file").expect("there is room");
    let locked = open("/locked").expect("there is room");
    files.lock_range(locked, RANGE, Some(true), false).expect("nobody has it");

    // There are 64 records.
    for number in 1..=200 {
        let made = child(|| {
            files.write(file, b".")?;
            // The lock is the parent's, and not the child's.
            let taken = files.lock_range(locked, RANGE, Some(true), false);
            assert_eq!(taken, Err(Errno::AGAIN));
            files.close(file)?;
            files.close(locked)?;
            let own = open("/own")?;
            files.lock_range(own, RANGE, Some(true), false)
        });
        assert_eq!(status(made), Some(0));
        assert_eq!(files.seek(file, 0, Whence::Current), Ok(number));
        // The child's lock is gone.
        let own = open("/own").expect("it is there");
        files.lock_range(own, RANGE, Some(true), false).expect("its owner is dead");
        files.close(own).expect("it is open");
    }

    // A child makes one itself.
    let made = child(|| {
        let grandchild = child(|| files.stat("/file").map(drop));
        (status(grandchild) == Some(0)).then_some(()).ok_or(Errno::IO)?;
        files.write(file, b".").map(drop)
    });
    assert_eq!(status(made), Some(0));
    assert_eq!(files.seek(file, 0, Whence::Current), Ok(201));

    // The C library's fork prepares on its own.
    assert_eq!((PREPARED.load(Ordering::Relaxed), UNPREPARED.load(Ordering::Relaxed)), (0, 0));
    // SAFETY: as above.
    let made = unsafe { libc::fork() };
    if made == 0 {
        let status = files.write(file, b".").map_or_else(|why| why.0, |_| 0);
        // SAFETY: it only ends the child.
        unsafe { libc::_exit(status) };
    }
    assert_eq!(status(Pid::from_raw(made).expect("a child was made")), Some(0));
    assert_eq!(files.seek(file, 0, Whence::Current), Ok(202));
    assert_eq!((PREPARED.load(Ordering::Relaxed), UNPREPARED.load(Ordering::Relaxed)), (1, 0));

    // If both are called, the second has nothing to do.
    assert!(fork::before());
    // SAFETY: as above.
    let made = unsafe { libc::fork() };
    if made == 0 {
        fork::in_child();
        let status = files.write(file, b".").map_or_else(|why| why.0, |_| 0);
        // SAFETY: it only ends the child.
        unsafe { libc::_exit(status) };
    }
    fork::in_parent();
    assert_eq!(status(Pid::from_raw(made).expect("a child was made")), Some(0));
    assert_eq!(files.seek(file, 0, Whence::Current), Ok(203));
    let report = files.check().unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(report.unwrap_or_else(|why| panic!("{why}")).descriptions, 2);
}
