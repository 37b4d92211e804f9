//! Files get memory that nobody has touched yet, as long as the system has some.

mod tmpfs;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use densefs_process::{DenseFs, Errno, NewArena, flags, make};
use tmpfs::Tmpfs;

const MIB: usize = 1 << 20;
/// The variable that tells the test started by the shell where the arena is.
const ARENA: &str = "DENSEFS_LIMITED_ARENA";

/// Bytes that differ from page to page.
fn content(seed: usize, length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| (seed.wrapping_add(at).wrapping_mul(0x9e37_79b1) >> 13).to_le_bytes()[0])
        .collect()
}

/// Writes a new file in pieces of these sizes, as far as there is room; returns its size.
fn write(files: &DenseFs, name: &str, seed: usize, pieces: &[usize]) -> (usize, Result<(), Errno>) {
    let create = flags::READ_WRITE | flags::CREATE;
    let mut size = 0;
    let written = files.open(name, create, 0o600).and_then(|file| {
        let all = content(seed, pieces.iter().sum());
        for &piece in pieces {
            let end = size + piece;
            while size < end {
                size += file.write(&all[size..end])?;
            }
        }
        Ok(())
    });
    (size, written)
}

#[track_caller]
fn assert_content(files: &DenseFs, name: &str, seed: usize, size: usize) {
    let file = files.open(name, 0, 0).expect("it is there");
    let mut bytes = vec![0; size + 1];
    assert_eq!(file.read(&mut bytes), Ok(size), "{name}");
    assert!(bytes[..size] == content(seed, size), "{name}");
}

fn free_bytes(place: &Path) -> u64 {
    let room = rustix::fs::statvfs(place).expect("it is there");
    room.f_bfree * room.f_frsize
}

fn check(files: &DenseFs) {
    files.check().expect("nobody else uses it").unwrap_or_else(|why| panic!("{why}"));
}

/// Pieces of all kinds: whole pages and parts of them, few and many.
#[test]
fn what_was_written_first_is_read_by_all() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    make(&arena, &NewArena::new(64 << 20, DenseFs::new_root(0o755))).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it is whole");
    let kinds: [&[usize]; 5] =
        [&[4_096; 500], &[65_536; 40], &[5 * MIB], &[100, 9_000, 70_001, 1], &[1_000]];
    let write_all = |thread: usize| {
        for (kind, &pieces) in kinds.iter().enumerate() {
            let name = format!("{thread}-{kind}");
            let whole = (pieces.iter().sum(), Ok(()));
            assert_eq!(write(&files, &name, 100 * thread + kind, pieces), whole);
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..3 {
            scope.spawn(move || write_all(thread));
        }
    });
    // Another mapping of the same file.
    let others = DenseFs::attach(&arena).expect("it is whole");
    for files in [&files, &others] {
        for thread in 0..3 {
            for (kind, pieces) in kinds.iter().enumerate() {
                let seed = 100 * thread + kind;
                assert_content(files, &format!("{thread}-{kind}"), seed, pieces.iter().sum());
            }
        }
    }
    others.leave();
    drop(others);
    check(&files);
}

/// Where the file system with the arena is full, so is the arena: a write fails, and does not end
/// the process. What is too little to be used is left to others.
#[test]
fn an_arena_is_full_when_its_file_system_is() {
    let Some(tmpfs) = Tmpfs::mounted(12) else { return };
    let arena = tmpfs.path().join("arena");
    make(&arena, &NewArena::new(64 << 20, DenseFs::new_root(0o755))).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it is whole");
    let (size, written) = write(&files, "all", 1, &[4_096; 16 * 256]);
    assert_eq!(written, Err(Errno::NOSPC));
    assert!(size > 10 * MIB, "{size}");
    let left = free_bytes(tmpfs.path());
    assert!((1..64 * 4_096).contains(&left), "{left}");
    for _ in 0..3 {
        assert_eq!(write(&files, "more", 2, &[MIB]).1, Err(Errno::NOSPC));
        assert_eq!(free_bytes(tmpfs.path()), left);
    }
    assert_content(&files, "all", 1, size);
    let mut other = File::create(tmpfs.path().join("other")).expect("there is room");
    while other.write_all(&[1; 4_096]).is_ok() {}
    assert_eq!(write(&files, "more", 3, &[MIB]).1, Err(Errno::NOSPC));
    files.remove("all").expect("it is there");
    assert_eq!(write(&files, "again", 4, &[4 * MIB]), (4 * MIB, Ok(())));
    assert_content(&files, "again", 4, 4 * MIB);
    check(&files);
    drop(other);
    files.leave();
    drop(files);
}

#[test]
#[ignore = "what another test starts with a limit for the size of files"]
fn writes_beyond_the_limit() {
    let Some(arena) = std::env::var_os(ARENA) else { return };
    let files = DenseFs::attach(&arena).expect("it is whole");
    assert_eq!(write(&files, "long", 5, &[8 * MIB]), (8 * MIB, Ok(())));
    assert_content(&files, "long", 5, 8 * MIB);
}

/// The limit for the size of files, which has the kernel kill who writes beyond it, is not for what
/// is in an arena.
#[test]
fn a_limit_for_the_size_of_files_kills_nobody() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    make(&arena, &NewArena::new(64 << 20, DenseFs::new_root(0o755))).expect("there is room");
    let test = std::env::current_exe().expect("it runs");
    let words = "ulimit -f 4096 && exec \"$0\" writes_beyond_the_limit --exact --ignored";
    let mut limited = Command::new("sh");
    let ran = limited.args(["-c", words]).arg(test).env(ARENA, &arena).output();
    let ran = ran.expect("there is a shell");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{:?}: {said}", ran.status);
    let files = DenseFs::attach(&arena).expect("it is whole");
    assert_content(&files, "long", 5, 8 * MIB);
}
