//! How many bytes of an arena files take in total, including their names, tables and unused space
//! in pages.

use densefs_process::{DenseFs, NewArena, flags, make};

/// An attached arena of this size.
fn arena(bytes: u64) -> (tempfile::TempDir, DenseFs) {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let path = place.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&path, &NewArena::new(bytes, root)).expect("there is room");
    let files = DenseFs::attach(&path).expect("it was made");
    (place, files)
}

fn used(files: &DenseFs) -> u64 {
    let usage = files.usage().expect("it is whole");
    usage.bytes - usage.free_bytes
}

fn write(files: &DenseFs, path: &str, length: usize) {
    let how = flags::WRITE | flags::CREATE | flags::EXCLUSIVE;
    let file = files.open(path, how, 0o644).expect("there is room");
    assert_eq!(file.write(&vec![7; length]).expect("there is room"), length);
}

#[test]
fn an_empty_file_takes_eighty_bytes_at_most() {
    const FILES: u64 = 50_000;
    let (_place, files) = arena(64 << 20);
    let before = used(&files);
    for number in 0..FILES {
        files.open(format!("file-{number:07}"), flags::CREATE, 0o644).expect("there is room");
    }
    let bytes = used(&files) - before;
    println!("{} bytes a file", bytes / FILES);
    assert!(bytes <= 80 * FILES, "{bytes} bytes for {FILES} files");
}

/// A tree with about as many bytes per file as a source tree: small files, and a few large ones.
#[test]
fn a_tree_of_small_files_takes_little_more_than_their_bytes() {
    const FILES: u64 = 24_227;
    const PER_DIRECTORY: u64 = 16;
    let (_place, files) = arena(256 << 20);
    let before = used(&files);
    let (mut bytes, mut state) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    for number in 0..FILES {
        let directory = format!("directory-{}", number / PER_DIRECTORY);
        if number.is_multiple_of(PER_DIRECTORY) {
            files.make_directory(&directory, 0o755).expect("there is room");
        }
        // Each doubling of the length is half as likely as the one before, so large files have as
        // many bytes in total as small ones.
        let mut length = 64;
        loop {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if length >= 1 << 20 || state >> 63 == 0 {
                break;
            }
            length *= 2;
        }
        let length = length * 3 + (state >> 33) % length * 3;
        let length = usize::try_from(length).expect("it is small");
        write(&files, &format!("{directory}/file-{number}"), length);
        bytes += length as u64;
    }
    let taken = used(&files) - before;
    let most = bytes * 105 / 100 + 80 * FILES;
    println!("{FILES} files of {bytes} bytes take {taken}: {most} at most");
    assert!(bytes / FILES > 2_500 && bytes / FILES < 4_000, "{bytes} bytes in {FILES} files");
    assert!(taken <= most, "{taken} bytes for {bytes} in {FILES} files");
    let report = files.check().expect("there is memory");
    report.unwrap_or_else(|why| panic!("{why}"));
}
