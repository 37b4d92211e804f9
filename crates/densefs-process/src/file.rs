//! The file of an arena: making, recognising and mapping it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;

use densefs::arena::LINE_BYTES;
use densefs::format::{self, InvalidArena, Shape};
use densefs::modes::Mode;
use densefs::{Errno, Life, Seams};

use crate::edge::{self, ByteLock, Mapping, lock_bytes};
use crate::numbers::out_of_the_way;
use crate::supply::{PAGE_BYTES, release, supply};
use crate::users::{Role, Users, is_unused_soon};

/// The byte of the file whose lock shows that a process has record 0; those of the other records
/// follow. The file never gets that large.
pub(crate) const RECORDS_AT: i64 = 1 << 62;
/// The largest possible number of these bytes.
pub(crate) const RECORDS_MAX: i64 = 1 << 32;

/// The smallest and the largest arena: a small zone, and as far as 32-bit references reach.
const BYTES_MIN: u64 = 1 << 20;
const BYTES_MAX: u64 = ((LINE_BYTES as u64) << 32) - PAGE_BYTES;

/// Why an arena cannot be made or attached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArenaError {
    /// A file cannot be made, opened or mapped.
    #[error("cannot {what} {path}: {why}")]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// It is read-only.
    #[error(
        "{path} can only be read, and DenseFS has to write to it even to read from it; make it \
         writable, or copy it to where you may write"
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It is not a DenseFS.
    #[error("{path} is not a DenseFS; `fsprism densefs mkfs` makes one in a new file")]
    NoDenseFs {
        /// The file.
        path: PathBuf,
    },
    /// A file exists where one was to be made, and is not a DenseFS.
    #[error("{path} exists and is not a DenseFS; remove it yourself, or choose another name")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A directory exists where one was to be made.
    #[error("{path} is a directory; name a new file, such as {}", .path.join("arena").display())]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// Something that is no file exists where one was to be made.
    #[error("{path} exists and is not a regular file; choose another name")]
    IsNoFile {
        /// Its path.
        path: PathBuf,
    },
    /// A DenseFS exists already.
    #[error("{path} is a DenseFS already; --overwrite makes a new one, without what is in it")]
    IsDenseFs {
        /// The file.
        path: PathBuf,
    },
    /// It has another version of the layout.
    #[error(
        "{path} is a DenseFS of version {found}, and this program reads version {ours} only; use \
         the program that made it, and export and import what is in it"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that this program supports.
        ours: u32,
    },
    /// The file is shorter or longer than its arena.
    #[error(
        "{path} has {bytes} bytes, but the DenseFS in it {arena_bytes}; it has been cut off or \
         added to"
    )]
    Size {
        /// The file.
        path: PathBuf,
        /// The size of the file, in bytes.
        bytes: u64,
        /// The size of the arena, in bytes.
        arena_bytes: u64,
    },
    /// Its superblock is inconsistent.
    #[error("the superblock of {path} is damaged; make a new DenseFS, and fill it again")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// No arena can have this size.
    #[error(
        "a DenseFS has from 1 MiB to just below 256 GiB, in whole pages of 4 KiB, not {bytes} \
         bytes; give another --size"
    )]
    BadSize {
        /// The size.
        bytes: u64,
    },
    /// No arena of this size can have this many threads.
    #[error(
        "a DenseFS of {bytes} bytes cannot be used by {threads} threads, each of which takes 1 KiB \
         of it; give from 1 to 32,764 --threads, or a larger --size"
    )]
    BadThreads {
        /// How many threads.
        threads: u32,
        /// The size.
        bytes: u64,
    },
    /// It is in use.
    #[error("{path} is in use; end the programs and unmount the mounts that use it first")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// There is no space for it.
    #[error(
        "there is no space for {path} where it is to be; make room there, or give a smaller --size"
    )]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// Too many processes or threads are using it.
    #[error(
        "{path} has room for {most} {what}, and as many use it; end some, or make one with more \
         --threads"
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// Processes or threads.
        what: &'static str,
        /// How many there are.
        most: u32,
    },
    /// What a program was to take over from the one that has executed it is not there.
    #[error("{path} cannot be taken over from the program that executed this one: {why}")]
    NotHandedOver {
        /// The file.
        path: PathBuf,
        /// What is missing.
        why: &'static str,
    },
    /// The core failed.
    #[error("{path}: {why}")]
    Core {
        /// The file.
        path: PathBuf,
        /// Why.
        why: Errno,
    },
}

impl ArenaError {
    /// The closest errno, for callers that cannot show the message.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match self {
            Self::File { why, .. } => why.raw_os_error().unwrap_or(libc::EIO),
            Self::NoDenseFs { .. }
            | Self::BadSize { .. }
            | Self::BadThreads { .. }
            | Self::Size { .. } => libc::EINVAL,
            Self::Exists { .. } | Self::IsDenseFs { .. } | Self::IsNoFile { .. } => libc::EEXIST,
            Self::IsDirectory { .. } => libc::EISDIR,
            Self::ReadOnly { .. } => libc::EROFS,
            Self::Version { .. } => libc::EPROTONOSUPPORT,
            Self::Damaged { .. } => libc::EUCLEAN,
            Self::InUse { .. } => libc::EBUSY,
            Self::NoSpace { .. } => libc::ENOSPC,
            Self::Full { .. } => libc::EUSERS,
            Self::NotHandedOver { .. } => libc::EBADF,
            Self::Core { why, .. } => why.0,
        }
    }
}

/// Adds the path and what was tried to an error.
pub(crate) fn at(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> ArenaError {
    move |why| ArenaError::File { what, path: path.to_owned(), why }
}

/// Parameters of a new arena.
#[derive(Clone, Copy, Debug)]
pub struct NewArena {
    /// Its size: whole pages of 4 KiB. Space is only taken as needed.
    pub bytes: u64,
    /// The root directory's owner, group and permissions.
    pub root: Mode,
    /// Whether to replace a DenseFS that already exists.
    pub overwrites: bool,
    /// How many threads of all processes may use it at the same time, rounded up to a multiple of
    /// 4. None for one for each 256 KiB, from 16 to 4,096.
    pub threads: Option<u32>,
}

impl NewArena {
    /// An arena of this size that replaces nothing.
    #[must_use]
    pub fn new(bytes: u64, root: Mode) -> Self {
        Self { bytes, root, overwrites: false, threads: None }
    }
}

/// Makes a DenseFS in a file that only its owner may access. The only thing it ever replaces is a
/// DenseFS that nobody uses, and only on request.
///
/// # Errors
/// [`ArenaError`].
///
/// # Examples
/// ```
/// use densefs_process::{DenseFs, Mode, NewArena, flags, make};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("arena");
/// let root = Mode { uid: 0, gid: 0, mode: 0o755 };
/// make(&path, &NewArena::new(64 << 20, root))?;
/// let files = DenseFs::attach(&path)?;
/// files.make_directory("notes", 0o755)?;
/// let file = files.open("notes/today", flags::READ_WRITE | flags::CREATE, 0o644)?;
/// file.write(b"it rains")?;
/// assert_eq!(files.stat("/notes/today")?.size, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn make(path: &Path, request: &NewArena) -> Result<(), ArenaError> {
    let pages = request.bytes / PAGE_BYTES;
    let fits = (BYTES_MIN..=BYTES_MAX).contains(&request.bytes);
    if !fits || !request.bytes.is_multiple_of(PAGE_BYTES) {
        return Err(ArenaError::BadSize { bytes: request.bytes });
    }
    let lines = u32::try_from(pages * (PAGE_BYTES / LINE_BYTES as u64)).unwrap_or(u32::MAX);
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
    match options.clone().create_new(true).open(path) {
        Ok(file) => {
            fill(path, &file, lines, request).inspect_err(|_| drop(std::fs::remove_file(path)))
        }
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
            replace(path, &options, lines, request)
        }
        Err(why) => Err(at(path, "make")(why)),
    }
}

/// Makes it in an existing file.
fn replace(
    path: &Path,
    options: &OpenOptions,
    lines: u32,
    request: &NewArena,
) -> Result<(), ArenaError> {
    let exists = || ArenaError::Exists { path: path.to_owned() };
    let there = std::fs::symlink_metadata(path).map_err(at(path, "look at"))?;
    if there.is_dir() {
        return Err(ArenaError::IsDirectory { path: path.to_owned() });
    }
    if !there.is_file() {
        return Err(ArenaError::IsNoFile { path: path.to_owned() });
    }
    let file = options.open(path).map_err(at(path, "open"))?;
    let bytes = file.metadata().map_err(at(path, "look at"))?.len();
    let lines_there = u32::try_from(bytes / LINE_BYTES as u64).unwrap_or(u32::MAX);
    if bytes > 0 {
        let is_one = bytes >= BYTES_MIN && begins_like_one(&file).map_err(at(path, "read"))?;
        if !is_one {
            return Err(exists());
        }
        let mapping = Mapping::new(file.as_fd(), lines_there).map_err(at(path, "map"))?;
        let shape = Shape::from_arena(&mapping.arena());
        if shape == Err(InvalidArena::NoDenseFs) {
            return Err(exists());
        }
        if !request.overwrites {
            return Err(ArenaError::IsDenseFs { path: path.to_owned() });
        }
        if let Ok(shape) = shape
            && !is_unused_soon(path, || users_of(&file, &mapping, shape))
        {
            return Err(ArenaError::InUse { path: path.to_owned() });
        }
    }
    // Any process that attaches it takes one of these locks.
    let is_free = lock_bytes(file.as_fd(), RECORDS_AT, RECORDS_MAX, ByteLock::Take);
    if !is_free.map_err(at(path, "lock"))? {
        return Err(ArenaError::InUse { path: path.to_owned() });
    }
    file.set_len(0).map_err(at(path, "empty"))?;
    fill(path, &file, lines, request)
}

/// Which processes use an arena that this process has not attached.
fn users_of(file: &File, mapping: &Mapping, shape: Shape) -> Users {
    let is_used = |&record: &u32| {
        let lock = |what| lock_bytes(file.as_fd(), RECORDS_AT + i64::from(record), 1, what);
        let is_free = lock(ByteLock::Take).unwrap_or(false);
        !(is_free && lock(ByteLock::GiveBack).is_ok())
    };
    let used = (0..shape.processes()).filter(is_used);
    used.map(|record| Role::from_record(&mapping.arena(), shape, record)).collect()
}

/// Whether a file begins with a superblock, without mapping an unknown file.
fn begins_like_one(file: &File) -> io::Result<bool> {
    let mut first = [0; 8];
    file.read_exact_at(&mut first, 0)?;
    Ok(&first == b"DENSEFS\n")
}

/// Makes it in an empty file.
fn fill(path: &Path, file: &File, lines: u32, request: &NewArena) -> Result<(), ArenaError> {
    file.set_len(request.bytes).map_err(at(path, "lengthen"))?;
    let mapping = Mapping::new(file.as_fd(), lines).map_err(at(path, "map"))?;
    let mut secrets = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut secrets))
        .map_err(at(Path::new("/dev/urandom"), "read"))?;
    let secret = |half: usize| {
        secrets[8 * half..][..8].iter().fold(0, |all, &byte| all << 8 | u64::from(byte))
    };
    let (secret, ino_secret) = (secret(0), secret(1));
    let format =
        format::FormatRequest { secret, ino_secret, root: request.root, threads: request.threads };
    let alone = SoleUser { file, mapping: &mapping };
    format::make(mapping.arena(), alone, &format).map_err(|why| match (why, request.threads) {
        (Errno::NOSPC, _) => ArenaError::NoSpace { path: path.to_owned() },
        (Errno::INVAL, Some(threads)) => ArenaError::BadThreads { threads, bytes: request.bytes },
        _ => ArenaError::Core { path: path.to_owned(), why },
    })
}

/// The open file of an arena, recognised and mapped.
#[derive(Debug)]
pub(crate) struct OpenedArena {
    pub(crate) file: File,
    pub(crate) mapping: Mapping,
    pub(crate) shape: Shape,
}

/// Opens the file of an arena again. Not by name, which may belong to another file by now.
pub(crate) fn open_again(file: BorrowedFd<'_>) -> Result<File, Errno> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let file = File::options().read(true).write(true).open(path).map_err(|_| Errno::NFILE)?;
    Ok(out_of_the_way(file))
}

/// Opens the file of an arena.
pub(crate) fn open(path: &Path) -> Result<OpenedArena, ArenaError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_CLOEXEC | libc::O_NONBLOCK);
    let file = options.open(path).map_err(|why| {
        let is_readable = std::fs::File::open(path).is_ok();
        match rustix::io::Errno::from_io_error(&why) {
            Some(rustix::io::Errno::ACCESS | rustix::io::Errno::ROFS) if is_readable => {
                ArenaError::ReadOnly { path: path.to_owned() }
            }
            _ => at(path, "open")(why),
        }
    })?;
    recognise(path, file)
}

/// Recognises the open file of an arena, and maps it.
pub(crate) fn recognise(path: &Path, file: File) -> Result<OpenedArena, ArenaError> {
    let metadata = file.metadata().map_err(at(path, "look at"))?;
    let no_dense_fs = || ArenaError::NoDenseFs { path: path.to_owned() };
    let is_special = metadata.file_type().is_fifo() || metadata.file_type().is_char_device();
    let bytes = metadata.size();
    if is_special || !metadata.is_file() || bytes < BYTES_MIN {
        return Err(no_dense_fs());
    }
    if !begins_like_one(&file).map_err(at(path, "read"))? {
        return Err(no_dense_fs());
    }
    let lines = u32::try_from(bytes / LINE_BYTES as u64).map_err(|_| no_dense_fs())?;
    let mapping = Mapping::new(file.as_fd(), lines).map_err(at(path, "map"))?;
    let shape = Shape::from_arena(&mapping.arena()).map_err(|why| match why {
        InvalidArena::NoDenseFs => no_dense_fs(),
        InvalidArena::Version(found) => {
            ArenaError::Version { path: path.to_owned(), found, ours: densefs::format::VERSION }
        }
        InvalidArena::Size(lines) => {
            let arena_bytes = u64::from(lines) * LINE_BYTES as u64;
            ArenaError::Size { path: path.to_owned(), bytes, arena_bytes }
        }
        InvalidArena::Damaged => ArenaError::Damaged { path: path.to_owned() },
    })?;
    Ok(OpenedArena { file: out_of_the_way(file), mapping, shape })
}

/// Identifies an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    ino: u64,
}

impl FileIdentity {
    pub(crate) fn from_file(file: BorrowedFd<'_>) -> Option<Self> {
        let stat = rustix::fs::fstat(file).ok()?;
        Some(Self { device: stat.st_dev, ino: stat.st_ino })
    }
}

/// The environment while an arena is made, which nobody else uses.
struct SoleUser<'m> {
    file: &'m File,
    mapping: &'m Mapping,
}

impl Seams for SoleUser<'_> {
    fn now_ns(&self) -> u64 {
        edge::now_ns()
    }

    fn supply(&self, first_page: u32, pages: u32) -> bool {
        supply(self.file, self.mapping, first_page, pages)
    }

    fn release(&self, first_page: u32, pages: u32) {
        release(self.file, first_page, pages);
    }

    fn life(&self, _slot: u32) -> Life {
        Life::Alive
    }

    fn after_repair(&self, _slot: u32) {}

    fn wait(&self, _word: &AtomicU32, _value: u32) -> bool {
        false
    }

    fn wake(&self, _word: &AtomicU32) {}
}
