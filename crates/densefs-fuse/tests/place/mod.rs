//! A place where a DenseFS is mounted.

#[path = "../../../densefs-process/tests/patience/mod.rs"]
mod patience;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use densefs_fuse::Mount;
use densefs_process::{DenseFs, Request, make};

/// Does something with a DenseFS that is mounted on a directory; nothing where that cannot be.
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
    make(&arena, &Request { bytes: 64 << 20, root, overwrites: false }).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    let mut mount = Mount::on(&point, DenseFs::attach(&arena).expect("it was made"))
        .unwrap_or_else(|why| panic!("{why}"));
    let mut unmounter = mount.unmounter();
    let server = std::thread::spawn(move || mount.serve());
    patience::with_patience(what, || act(&point, &files));
    // A program that another test starts has for a moment what is open here.
    let until = Instant::now() + Duration::from_secs(30);
    while let Err(why) = unmounter.unmount() {
        assert!(Instant::now() < until, "{why}");
        std::thread::yield_now();
    }
    server.join().expect("it does not panic").expect("the kernel is content");
}
