//! Lists of directories.

use std::ffi::{c_char, c_int, c_long};
use std::path::Path;
use std::ptr;

use densefs_process::{Base, Errno, Follow, Listed, Whence, flags};

use crate::answer::{fail, result};
use crate::{files, number, path};

/// Bytes of entries that are fetched at a time.
const BATCH: usize = 16 << 10;
/// Where the list is behind `.` and behind `..`; all else follows.
const BEHIND_SELF: u64 = 1;
const BEHIND_PARENT: u64 = 2;

/// Bytes of what is answered.
const RECORD_BYTES: u16 = 280;
const _: () = assert!(size_of::<libc::dirent>() == RECORD_BYTES as usize);

/// A directory whose entries are being read: `DFS_DIR`.
pub struct Directory {
    descriptor: u32,
    /// Where the next entry is.
    position: u64,
    fetched: Fetched,
    /// The entry that was answered last.
    answer: libc::dirent,
}

/// Entries one behind the other, and how much of them has been answered.
#[derive(Default)]
struct Fetched {
    bytes: Vec<u8>,
    next: usize,
}

/// An entry as it is answered.
struct Entry<'n> {
    ino: u64,
    /// Where the list goes on behind it.
    next: u64,
    kind: u8,
    name: &'n [u8],
}

/// The type of an inode as directories tell it.
fn kind(type_bits: u32) -> u8 {
    u8::try_from((type_bits & libc::S_IFMT) >> 12).unwrap_or(libc::DT_UNKNOWN)
}

impl Fetched {
    /// Adds one; false if the batch is full.
    fn add(&mut self, one: &Listed<'_>) -> bool {
        if self.bytes.len() >= BATCH {
            return false;
        }
        self.bytes.extend_from_slice(&one.ino.to_le_bytes());
        self.bytes.extend_from_slice(&(one.position + 1).to_le_bytes());
        self.bytes.extend_from_slice(&[
            kind(one.type_bits),
            u8::try_from(one.name.len()).unwrap_or(u8::MAX),
        ]);
        self.bytes.extend_from_slice(one.name);
        true
    }

    /// The next one.
    fn take(&mut self) -> Option<Entry<'_>> {
        let (ino, rest) = self.bytes.get(self.next..)?.split_first_chunk()?;
        let (next, rest) = rest.split_first_chunk()?;
        let (&[kind, length], rest) = rest.split_first_chunk()?;
        let name = rest.get(..usize::from(length))?;
        self.next += 18 + name.len();
        Some(Entry { ino: u64::from_le_bytes(*ino), next: u64::from_le_bytes(*next), kind, name })
    }
}

impl Directory {
    fn of(descriptor: u32) -> Result<Self, Errno> {
        let position = files()?.seek(descriptor, 0, Whence::Current)?;
        // SAFETY: all zeros is a value of it.
        let answer = unsafe { std::mem::zeroed() };
        Ok(Self { descriptor, position, fetched: Fetched::default(), answer })
    }

    fn seek(&mut self, position: u64) -> Result<(), Errno> {
        self.fetched = Fetched::default();
        files()?.seek(self.descriptor, position.cast_signed(), Whence::Start)?;
        self.position = position;
        Ok(())
    }

    /// `.` or `..`.
    fn dots(&self, name: &'static str, next: u64) -> Result<Entry<'static>, Errno> {
        let base = Base::Descriptor(self.descriptor);
        let stat = files()?.stat_from(base, Path::new(name), Follow::No)?;
        Ok(Entry { ino: stat.ino, next, kind: libc::DT_DIR, name: name.as_bytes() })
    }

    fn next(&mut self) -> Result<Option<&mut libc::dirent>, Errno> {
        let entry = match self.position {
            0 => self.dots(".", BEHIND_SELF)?,
            BEHIND_SELF => self.dots("..", BEHIND_PARENT)?,
            _ => {
                if self.fetched.next == self.fetched.bytes.len() {
                    self.fetched.bytes.clear();
                    self.fetched.next = 0;
                    files()?.visit(self.descriptor, |one| self.fetched.add(&one))?;
                }
                match self.fetched.take() {
                    Some(entry) => entry,
                    None => return Ok(None),
                }
            }
        };
        let answer = &mut self.answer;
        self.position = entry.next;
        answer.d_ino = entry.ino;
        answer.d_off = entry.next.cast_signed();
        answer.d_reclen = RECORD_BYTES;
        answer.d_type = entry.kind;
        // A name has 255 bytes at most, and there is room for a zero behind.
        for (to, from) in answer.d_name.iter_mut().zip(entry.name.iter().chain(&[0])) {
            *to = from.cast_signed();
        }
        Ok(Some(answer))
    }
}

/// Opens a directory to read its entries.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_opendir(name: *const c_char) -> *mut Directory {
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    let opened = name.and_then(|name| {
        let files = files()?;
        let descriptor = files.open_descriptor(Base::Working, name, flags::DIRECTORY, 0)?;
        Directory::of(descriptor)
    });
    boxed(opened)
}

/// The same, of a directory that is open.
#[unsafe(no_mangle)]
pub extern "C" fn dfs_fdopendir(file: c_int) -> *mut Directory {
    boxed(number(file).and_then(|descriptor| {
        if !files()?.stat_descriptor(descriptor)?.mode.is_directory() {
            return Err(Errno::NOTDIR);
        }
        Directory::of(descriptor)
    }))
}

fn boxed(opened: Result<Directory, Errno>) -> *mut Directory {
    match opened {
        Ok(directory) => Box::into_raw(Box::new(directory)),
        Err(why) => {
            fail(why.0.into());
            ptr::null_mut()
        }
    }
}

/// The next entry; null at the end, and if it fails, which `errno` tells apart.
///
/// # Safety
/// `directory` must be open, and no other thread use it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_readdir(directory: *mut Directory) -> *mut libc::dirent {
    // SAFETY: the caller vouches for it.
    match unsafe { &mut *directory }.next() {
        Ok(Some(entry)) => entry,
        Ok(None) => ptr::null_mut(),
        Err(why) => {
            fail(why.0.into());
            ptr::null_mut()
        }
    }
}

/// Begins again.
///
/// # Safety
/// As for [`dfs_readdir`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_rewinddir(directory: *mut Directory) {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_seekdir(directory, 0) }
}

/// Where the list is.
///
/// # Safety
/// As for [`dfs_readdir`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_telldir(directory: *mut Directory) -> c_long {
    // SAFETY: the caller vouches for it.
    unsafe { &*directory }.position.cast_signed()
}

/// Goes on from where the list was.
///
/// # Safety
/// As for [`dfs_readdir`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_seekdir(directory: *mut Directory, position: c_long) {
    // SAFETY: the caller vouches for it.
    if let Err(why) = unsafe { &mut *directory }.seek(position.cast_unsigned()) {
        fail(why.0.into());
    }
}

/// Its descriptor.
///
/// # Safety
/// As for [`dfs_readdir`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_dirfd(directory: *mut Directory) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { &*directory }.descriptor.cast_signed()
}

/// Closes it.
///
/// # Safety
/// As for [`dfs_readdir`]; nobody must use it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_closedir(directory: *mut Directory) -> c_int {
    // SAFETY: the caller vouches for it.
    let directory = unsafe { Box::from_raw(directory) };
    result(files().and_then(|files| files.close(directory.descriptor)))
}
