//! The library in C programs: compiled against the header, linked and run.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use densefs_process::{DenseFs, NewArena, make};

/// The library that cargo has built next to this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("it runs");
    let places = test.ancestors().skip(1).take(2);
    let found = places.map(|offset| offset.join("libdensefs_c.so")).find(|path| path.exists());
    found.expect("it is built before its tests")
}

#[test]
fn a_c_program_finds_what_the_system_would_give_it() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let offset = tempfile::tempdir_in("/dev/shm").expect("there is room");
    symlink(library(), offset.path().join("libdensefs.so")).expect("the offset is ours");
    let program = offset.path().join("program");
    let built = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D_GNU_SOURCE", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/program.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(offset.path())
        .arg("-ldensefs")
        .output()
        .expect("cc can be started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let arena = offset.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena { bytes: 32 << 20, root, overwrites: false }).expect("there is room");
    let ran = Command::new(&program).arg(&arena).env("LD_LIBRARY_PATH", offset.path()).output();
    let ran = ran.expect("it was built");
    assert!(ran.status.success(), "{:?}: {}", ran.status, String::from_utf8_lossy(&ran.stderr));
    let files = DenseFs::attach(&arena).expect("it is there");
    let report = files.check().expect("there is memory").unwrap_or_else(|why| panic!("{why}"));
    // What the killed child had open is closed.
    assert_eq!(report.descriptions, 0);
}
