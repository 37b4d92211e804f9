//! The memory of deleted files goes back to the system.

mod tmpfs;

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use densefs_process::{DenseFs, Errno, NewArena, flags, make};
use tmpfs::Tmpfs;

const MIB: u64 = 1 << 20;

/// How much memory a file takes, in bytes.
fn taken(path: &Path) -> u64 {
    std::fs::metadata(path).expect("it is there").blocks() * 512
}

fn write(files: &DenseFs, name: &str, bytes: u64) -> Result<(), Errno> {
    let file = files.open(name, flags::READ_WRITE | flags::CREATE, 0o600)?;
    for piece in 0..u8::try_from(bytes / MIB).expect("it is small") {
        let content = vec![piece + 1; 1 << 20];
        let mut written = 0;
        while written < content.len() {
            written += file.write(&content[written..])?;
        }
    }
    Ok(())
}

fn assert_content(files: &DenseFs, name: &str, bytes: u64) {
    let file = files.open(name, 0, 0).expect("it is there");
    let mut content = vec![0; 1 << 20];
    for piece in 0..u8::try_from(bytes / MIB).expect("it is small") {
        assert_eq!(file.read(&mut content), Ok(1 << 20));
        assert!(content.iter().all(|&byte| byte == piece + 1), "{name}: {piece}");
    }
}

#[test]
fn deleted_files_take_no_memory_after_a_trim() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    make(&arena, &NewArena::new(256 * MIB, DenseFs::new_root(0o755))).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it is whole");
    for name in ["a", "kept", "b"] {
        write(&files, name, 40 * MIB).expect("there is room");
    }
    for name in ["a", "b"] {
        files.remove(name).expect("it is there");
    }
    // What this thread has in stock is returned by the trim as well.
    files.leave();
    let (before, usage) = (taken(&arena), files.usage().expect("it is whole"));
    let returned = files.trim().expect("it is whole");
    assert!(returned > 78 * MIB, "{returned}");
    assert_eq!(taken(&arena), before - returned);
    assert_eq!(files.usage(), Ok(usage));
    assert_eq!(files.trim(), Ok(0));
    assert_content(&files, "kept", 40 * MIB);
    write(&files, "c", 100 * MIB).expect("there is room");
    assert_content(&files, "c", 100 * MIB);
    assert_content(&files, "kept", 40 * MIB);
    files.check().expect("nobody else uses it").unwrap_or_else(|why| panic!("{why}"));
}

/// If others have taken the memory meanwhile, a write fails for lack of space, and does not end the
/// process.
#[test]
fn memory_that_others_have_taken_is_missed_by_writes_alone() {
    let Some(tmpfs) = Tmpfs::mounted(24) else { return };
    let arena = tmpfs.path().join("arena");
    make(&arena, &NewArena::new(64 * MIB, DenseFs::new_root(0o755))).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it is whole");
    write(&files, "kept", 2 * MIB).expect("there is room");
    write(&files, "a", 14 * MIB).expect("there is room");
    files.remove("a").expect("it is there");
    assert!(files.trim().expect("it is whole") > 13 * MIB);
    let others = tmpfs.path().join("others");
    let mut file = File::create(&others).expect("there is room");
    while file.write_all(&[1; 4096]).is_ok() {}
    drop(file);
    assert_eq!(write(&files, "b", 14 * MIB), Err(Errno::NOSPC));
    assert_content(&files, "kept", 2 * MIB);
    files.remove("b").expect("it is there");
    std::fs::remove_file(&others).expect("it is there");
    write(&files, "b", 14 * MIB).expect("there is room");
    assert_content(&files, "b", 14 * MIB);
    files.check().expect("nobody else uses it").unwrap_or_else(|why| panic!("{why}"));
    files.leave();
    drop(files);
}
