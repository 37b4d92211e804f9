//! A DenseFS mounted for a test.

#[path = "../../../densefs-process/tests/patience/mod.rs"]
mod patience;

use std::fmt::Display;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use densefs_fuse::Mount;
use densefs_process::{DenseFs, NewArena, make};
use rustix::mount::UnmountFlags;

/// Runs `act` with a DenseFS mounted on a directory, then checks the arena. Skips the test where
/// mounting is not possible.
pub(crate) fn mounted(what: &str, act: impl FnOnce(&Path, &DenseFs)) {
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
        eprintln!("skipped: {what}: it needs root and /dev/fuse");
        return;
    }
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let (arena, point) = (place.path().join("arena"), place.path().join("point"));
    fs::create_dir(&point).expect("the place is ours");
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let root = DenseFs::new_root(0o777);
    make(&arena, &NewArena::new(64 << 20, root)).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    let (tell, told) = mpsc::channel();
    let (at, on) = (arena.clone(), point.clone());
    // All work of the mount is done by threads that end with it.
    let server = std::thread::spawn(move || {
        let mount = Mount::on(&on, DenseFs::attach(at).expect("it was made"));
        let mut mount = mount.unwrap_or_else(|why| panic!("{why}"));
        tell.send(mount.unmounter()).expect("it is awaited");
        mount.serve()
    });
    let mut unmounter = told.recv().expect("it is mounted");
    let acted = catch_unwind(AssertUnwindSafe(|| {
        patience::with_patience(what, || act(&point, &files));
    }));
    if let Err(panic) = acted {
        rustix::mount::unmount(&point, UnmountFlags::DETACH).expect("it is mounted");
        resume_unwind(panic);
    }
    let in_use = fs::File::open(&point).expect("it is mounted");
    let busy = unmounter.unmount().expect_err("it is in use");
    assert_eq!(busy.raw_os_error(), Some(libc::EBUSY));
    drop(in_use);
    at_last(|| unmounter.unmount());
    server.join().expect("it does not panic").expect("the kernel is content");
    let report = at_last(|| files.check()).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(report.descriptions, 0, "what the kernel had open is closed");
}

/// Retries `act` until it succeeds. For a moment, a program started by another test may have the
/// files open that are open here.
pub(crate) fn at_last<T, E: Display>(mut act: impl FnMut() -> Result<T, E>) -> T {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        match act() {
            Ok(given) => return given,
            Err(why) => assert!(Instant::now() < until, "{why}"),
        }
        std::thread::yield_now();
    }
}
