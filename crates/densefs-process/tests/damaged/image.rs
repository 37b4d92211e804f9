//! A whole arena with one of everything, as bytes that can be changed. Positions are those of
//! SPEC.md.

use std::path::{Path, PathBuf};

use densefs_process::{
    Base, DenseFs, Errno, Follow, Mode, NewArena, SetAttribute, XattrTarget, flags, make,
};

/// Bytes in a line.
const LINE: usize = 64;

/// The bytes of an arena, and where its inodes are.
#[derive(Clone)]
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    cells: Vec<(&'static str, usize)>,
}

const PATHS: [&str; 11] =
    ["/", "small", "large", "other", "link", "fifo", "device", "sub", "sub/below", "one", "marked"];

/// Makes files of all kinds in a new arena.
pub(crate) fn planted(path: &Path) -> DenseFs {
    let root = Mode { uid: 0, gid: 0, mode: 0o755 };
    let request = NewArena { overwrites: true, ..NewArena::new(2 << 20, root) };
    make(path, &request).expect("there is room");
    let files = DenseFs::attach(path).expect("it was just made");
    plant(&files).expect("there is room");
    files
}

fn plant(files: &DenseFs) -> Result<(), Errno> {
    for directory in ["sub", "sub/below", "one"] {
        files.make_directory(directory, 0o755)?;
    }
    let create = |name: &str| files.open(name, flags::WRITE | flags::CREATE, 0o600);
    files.write(create("small")?.descriptor(), &[3; 300])?;
    for name in ["large", "other"] {
        let file = create(name)?;
        for offset in [0, 30_000, 90_000, 200_000] {
            files.write_to(file.descriptor(), offset, &[7; 8_192])?;
        }
        files.truncate_descriptor(file.descriptor(), 300_000)?;
    }
    files.make_link("small", "link")?;
    files.make_node(Base::Working, Path::new("fifo"), 0o010_600, 0)?;
    files.make_node(Base::Working, Path::new("device"), 0o020_600, 0x0103)?;
    files.link("other", "one/further")?;
    create(&"long".repeat(40))?;
    files.write(create("marked")?.descriptor(), &[1; 10])?;
    let of = XattrTarget::Named(Path::new("marked"), Follow::Yes);
    files.set_attribute(of, b"user.mark", &[1; 100], SetAttribute::Any)
}

impl Image {
    /// What is in an arena that nobody uses any more.
    pub(crate) fn from_arena(path: &Path, files: DenseFs) -> Self {
        let inos = PATHS.map(|path| {
            let found = files.stat_from(Base::Working, Path::new(path), Follow::No);
            (path, found.expect("it was planted").ino)
        });
        files.leave();
        drop(files);
        let mut image = Self { bytes: std::fs::read(path).expect("it is there"), cells: vec![] };
        let secret = image.word(32);
        let at = |ino: u64| usize::try_from(ino ^ secret).expect("it is in the arena");
        image.cells = inos.into_iter().map(|(path, ino)| (path, at(ino))).collect();
        image
    }

    /// Where the cell of an inode begins.
    pub(crate) fn cell(&self, path: &str) -> usize {
        let found = self.cells.iter().find(|(known, _)| *known == path);
        found.unwrap_or_else(|| panic!("{path} was not planted")).1
    }

    /// The number of the line with the cell of an inode.
    pub(crate) fn line(&self, path: &str) -> u32 {
        u32::try_from(self.cell(path) / LINE).expect("arenas are small")
    }

    /// Where the line begins that the data of an inode refer to.
    pub(crate) fn data(&self, path: &str) -> usize {
        self.referred(self.cell(path) + 32)
    }

    /// Where the line begins that a reference refers to.
    pub(crate) fn referred(&self, at: usize) -> usize {
        self.half(at) as usize * LINE
    }

    /// The first byte of the arena's only zone that is used.
    pub(crate) fn zone(&self) -> usize {
        let slots = self.half(12) as usize;
        (64 + slots * 16 + slots.next_multiple_of(64)).next_multiple_of(64) * LINE
    }

    pub(crate) fn half(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
    }

    pub(crate) fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn put_half(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    pub(crate) fn put_word(&mut self, at: usize, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    /// An entry of the table of modes: that of an inode.
    pub(crate) fn mode_of(&self, path: &str) -> usize {
        let at = self.cell(path) + 4;
        let index = u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]);
        self.referred(16 * LINE) + 16 * usize::from(index)
    }

    /// Takes an entry out of the root's table, and says that there is one directory less.
    pub(crate) fn take_from_root(&mut self, path: &str) {
        let (root, line) = (self.cell("/"), self.line(path));
        let (table, lines) = (self.data("/"), 1 << (self.bytes[root + 38] - 1));
        for bucket in (0..lines).map(|number| table + number * LINE) {
            for place in 0..12 {
                let is_used = self.bytes[bucket + 4 + place] != 0;
                if is_used && self.half(bucket + 16 + 4 * place) == line {
                    self.bytes[bucket + 4 + place] = 0;
                }
            }
        }
        self.put_half(root + 8, self.half(root + 8) - 1);
        self.bytes[root + 6] -= 1;
    }
}

/// A directory for a test, in memory, and where its arena is to be; none unless this is root, as
/// there is a device in the arena.
pub(crate) fn place() -> Option<(tempfile::TempDir, PathBuf)> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root makes devices");
        return None;
    }
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let path = place.path().join("arena");
    Some((place, path))
}
