//! Arenas that cannot be attached.

use std::path::Path;
use std::process::Command;

use densefs_process::{ArenaError, DenseFs, NewArena, make};

/// The variable that tells the test started by the shell where the arena is.
const ARENA: &str = "DENSEFS_REFUSED_ARENA";

#[test]
#[ignore = "what another test starts where the arena can only be read"]
fn attached_where_it_can_only_be_read() {
    let Some(arena) = std::env::var_os(ARENA) else { return };
    let why = DenseFs::attach(&arena).expect_err("it cannot be written to");
    assert!(matches!(why, ArenaError::ReadOnly { .. }), "{why}");
    assert!(why.to_string().contains("make it writable"), "{why}");
}

#[test]
fn one_that_can_only_be_read_is_refused_with_advice() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: it takes root to mount a directory to be read only");
        return;
    }
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena { bytes: 1 << 20, root, overwrites: false }).expect("there is room");
    let test = std::env::current_exe().expect("it runs");
    let words = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && \
                 exec \"$2\" attached_where_it_can_only_be_read --exact --ignored";
    let mut unshared = Command::new("unshare");
    unshared.args(["--mount", "sh", "-c", words, "sh"]).arg(place.path()).arg(test);
    let ran = unshared.env(ARENA, &arena).output().expect("util-linux is installed");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    assert!(Path::new(&arena).exists(), "the mount is another's");
}
