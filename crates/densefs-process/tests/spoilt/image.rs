//! Files with an arena that something has changed against the rules, and programs that use them
//! nevertheless.
//!
//! A change is 12 bytes: a position, which is the offset times 4 plus the base-2 logarithm of the
//! width, as in a redo log (4), and a value (8).

use std::fs::OpenOptions;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use densefs_process::{
    Base, DenseFs, Errno, Follow, NewArena, Rename, SetAttribute, XattrTarget, flags, make,
};

/// The size of an arena: the smallest possible.
pub(crate) const BYTES: usize = 1 << 20;
/// The size of a change in bytes.
pub(crate) const CHANGE: usize = 12;

/// Consistent arenas, as they are in files.
pub(crate) struct Images {
    place: tempfile::TempDir,
    /// A new one, one that was used, and one whose users all died with a lot open.
    whole: Vec<Vec<u8>>,
}

impl Images {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
        let path = place.path().join("arena");
        let root = DenseFs::new_root(0o755);
        let request = NewArena::new(BYTES as u64, root);
        make(&path, &request).expect("there is room");
        let read = || std::fs::read(&path).expect("it is there");
        let mut whole = vec![read()];
        let files = DenseFs::attach(&path).expect("it was made");
        plant(&files).expect("there is room");
        let how = flags::READ_WRITE | flags::CREATE;
        let open = ["large", "gone", "small"].map(|name| files.open(name, how, 0o600));
        files.write(open[1].as_ref().expect("there is room").descriptor(), &[9; 5_000]).ok();
        files.remove("gone").expect("it is there");
        let died = read();
        drop(open);
        files.leave();
        drop(files);
        whole.extend([read(), died]);
        Self { place, whole }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.place.path().join("arena")
    }

    /// One of them, with changes.
    pub(crate) fn spoilt(&self, which: usize, changes: &[u8]) -> Vec<u8> {
        let mut bytes = self.whole[which % self.whole.len()].clone();
        for change in changes.chunks_exact(CHANGE) {
            let (place, value) = change.split_at(4);
            let place = place.try_into().map_or(0, u32::from_le_bytes);
            let width = 1 << (place & 3);
            let at = (place >> 2) as usize % BYTES / width * width;
            bytes[at..at + width].copy_from_slice(&value[..width]);
        }
        bytes
    }

    /// Lets a program use these bytes; returns whether they could be attached.
    pub(crate) fn try_out(&self, bytes: &[u8]) -> bool {
        let path = self.path();
        let mut file = OpenOptions::new().write(true).open(&path).expect("it is there");
        file.rewind().and_then(|()| file.write_all(bytes)).expect("there is room");
        file.set_len(bytes.len() as u64).expect("there is room");
        let Ok(files) = DenseFs::attach(&path) else { return false };
        // It is consistent, or the problem is reported.
        files.check().ok();
        use_all(&files);
        files.check().ok();
        files.close_all().ok();
        files.leave();
        true
    }
}

fn plant(files: &DenseFs) -> Result<(), Errno> {
    for number in 0..20 {
        files.open(number.to_string(), flags::CREATE, 0o644)?;
    }
    files.make_directory("sub", 0o755)?;
    files.make_directory("sub/below", 0o755)?;
    files.make_link("sub/..", "link")?;
    files.link("3", "sub/further")?;
    files.rename("4", format!("sub/{}", "long".repeat(40)))?;
    let small = files.open("small", flags::WRITE | flags::CREATE, 0o600)?;
    files.write(small.descriptor(), &[3; 300])?;
    let large = files.open("large", flags::WRITE | flags::CREATE, 0o600)?;
    for offset in [0, 30_000, 90_000] {
        files.write_to(large.descriptor(), offset, &[7; 10_000])?;
    }
    let target = XattrTarget::Named(Path::new("large"), Follow::Yes);
    files.set_attribute(target, b"user.one", &[1; 200], SetAttribute::Any)
}

/// Makes calls that may fail, but must return.
fn use_all(files: &DenseFs) {
    for path in ["", "3", "small", "large", "link/small", "sub/below/..", "sub/further", "none"] {
        files.stat(path).ok();
        files.stat_from(Base::Working, Path::new(path), Follow::No).ok();
    }
    for path in ["/", "sub", "link"] {
        files.read_directory(path).ok();
    }
    files.read_link("link").ok();
    files.make_directory("sub/new", 0o700).ok();
    files.rename("5", "sub/5").ok();
    files.rename("sub/below", "below").ok();
    let (old, new) = (Path::new("6"), Path::new("sub/new"));
    files.rename_from(Base::Working, old, Base::Working, new, Rename::Exchange).ok();
    files.link("7", "sub/7").ok();
    files.remove("8").ok();
    files.remove(format!("sub/{}", "long".repeat(40))).ok();
    files.remove_directory("below").ok();
    files.change_directory("sub").ok();
    files.directory().ok();
    files.change_directory("/").ok();
    let target = || XattrTarget::Named(Path::new("large"), Follow::Yes);
    files.attribute(target(), b"user.one", &mut [0; 300]).ok();
    files.set_attribute(target(), b"user.two", &[2; 100], SetAttribute::Any).ok();
    files.attribute_names(target(), &mut [0; 300]).ok();
    for path in ["small", "large", "9", "new"] {
        use_file(files, path);
    }
    files.remove("large").ok();
    files.usage().ok();
}

fn use_file(files: &DenseFs, path: &str) {
    let Ok(file) = files.open(path, flags::READ_WRITE | flags::CREATE, 0o600) else { return };
    let open = file.descriptor();
    let mut bytes = [0; 9_000];
    files.read_from(open, 4_000, &mut bytes).ok();
    files.write_to(open, 25_000, &bytes).ok();
    files.read(open, &mut bytes).ok();
    files.write(open, &bytes[..100]).ok();
    files.duplicate(open, 40, 0).ok();
    files.lock(open, Some(true), false).ok();
    files.lock(open, None, false).ok();
    files.truncate_descriptor(open, 40_000).ok();
    files.punch(open, 5_000, 20_000).ok();
    files.allocate(open, 0, 10_000, false).ok();
    files.truncate_descriptor(open, 100).ok();
}
