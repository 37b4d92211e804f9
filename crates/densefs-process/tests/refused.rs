//! Arenas that cannot be attached, or have no room for more open files or threads.

use std::path::Path;
use std::process::Command;
use std::sync::Barrier;

use densefs_process::{ArenaError, Base, DenseFs, Errno, NewArena, flags, make};

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
    make(&arena, &NewArena::new(1 << 20, root)).expect("there is room");
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

#[test]
#[ignore = "what another test starts to open as much as can be"]
fn opens_all_that_can_be_opened_and_dies() {
    let Some(arena) = std::env::var_os(ARENA) else { return };
    let files = DenseFs::attach(&arena).expect("it is whole");
    let open = || files.open_descriptor(Base::Working, Path::new("/"), 0, 0);
    let why = std::iter::repeat_with(open).find_map(Result::err);
    println!("open: {why:?}");
    std::process::abort();
}

/// In a full arena, what a dead process had open makes room for what others open.
#[test]
fn a_full_arena_can_be_opened_after_another_process_has_died() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    make(&arena, &NewArena::new(1 << 20, DenseFs::new_root(0o755))).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it is whole");
    let all = files.open("all", flags::CREATE | flags::WRITE, 0o600).expect("there is room");
    while all.write(&[1; 4096]).is_ok() {}
    while all.write(&[1; 64]).is_ok() {}
    let made = (0..10_000)
        .take_while(|number| files.open(format!("{number}"), flags::CREATE, 0o600).is_ok());
    assert!(made.count() < 10_000);
    let test = std::env::current_exe().expect("it runs");
    let mut child = Command::new(test);
    child.args(["opens_all_that_can_be_opened_and_dies", "--exact", "--ignored", "--nocapture"]);
    let ran = child.env(ARENA, &arena).output().expect("it can be started");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(!ran.status.success() && said.contains("Errno(23)"), "{said}");
    // More than this thread has in stock.
    let opened: Result<Vec<_>, _> = (0..40).map(|_| files.open("all", 0, 0)).collect();
    assert_eq!(opened.map(|opened| opened.len()), Ok(40));
}

/// As many threads as an arena was made for can use it, and the next ones are told what to do.
#[test]
fn an_arena_has_as_many_threads_as_it_was_made_for() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    let request = NewArena::new(1 << 20, DenseFs::new_root(0o755));
    for threads in [0, 1 << 10, 1 << 15] {
        let why = make(&arena, &NewArena { threads: Some(threads), ..request });
        let why = why.expect_err("there is no room for so many").to_string();
        assert!(why.contains("--threads"), "{why}");
    }
    make(&arena, &NewArena { threads: Some(7), ..request }).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it is whole");
    assert_eq!(files.usage().map(|usage| (usage.threads, usage.threads_used)), Ok((8, 1)));
    let barrier = Barrier::new(9);
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..9)
            .map(|_| {
                scope.spawn(|| {
                    let done = files.stat("/").map(drop);
                    barrier.wait();
                    done
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    // The main thread has one as well.
    let refused = results.iter().filter(|done| **done == Err(Errno::NFILE)).count();
    assert_eq!((refused, results.len()), (2, 9));
    assert_eq!(files.usage().map(|usage| usage.threads_used), Ok(1));
    let why = std::thread::scope(|scope| {
        let held: Vec<_> = (0..7)
            .map(|_| {
                scope.spawn(|| {
                    files.stat("/").expect("there are threads left");
                    barrier.wait();
                    barrier.wait();
                })
            })
            .collect();
        let attached = scope.spawn(|| {
            barrier.wait();
            let attached = DenseFs::attach(&arena).map(drop);
            barrier.wait();
            attached
        });
        barrier.wait();
        barrier.wait();
        drop(held);
        attached.join().expect("it does not panic")
    });
    let why = why.expect_err("all threads are taken").to_string();
    assert!(why.contains("room for 8 threads") && why.contains("--threads"), "{why}");
}
