//! Lists of directories.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_long};
use std::path::Path;
use std::ptr;

use densefs_process::{Base, Entry, Errno, Whence, flags};

use crate::answer::{fail, result};
use crate::{files, number, path};

/// Entries that are fetched at a time.
const BATCH: usize = 64;
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
    fetched: VecDeque<Entry>,
    /// The entry that was answered last.
    answer: libc::dirent,
}

impl Directory {
    fn of(descriptor: u32) -> Result<Self, Errno> {
        let position = files()?.seek(descriptor, 0, Whence::Current)?;
        // SAFETY: all zeros is a value of it.
        let answer = unsafe { std::mem::zeroed() };
        Ok(Self { descriptor, position, fetched: VecDeque::new(), answer })
    }

    fn seek(&mut self, position: u64) -> Result<(), Errno> {
        self.fetched.clear();
        files()?.seek(self.descriptor, position.cast_signed(), Whence::Start)?;
        self.position = position;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<&mut libc::dirent>, Errno> {
        let dots = |name: &[u8], directory: &str, next| -> Result<Entry, Errno> {
            let files = files()?;
            let path = Path::new(directory);
            let base = Base::Descriptor(self.descriptor);
            let stat = files.stat_from(base, path, densefs_process::Follow::No)?;
            Ok(Entry { name: name.to_vec(), ino: stat.ino, type_bits: libc::S_IFDIR, next })
        };
        let entry = match self.position {
            0 => dots(b".", ".", BEHIND_SELF)?,
            BEHIND_SELF => dots(b"..", "..", BEHIND_PARENT)?,
            _ => {
                if self.fetched.is_empty() {
                    self.fetched = files()?.list(self.descriptor, BATCH)?.into();
                }
                match self.fetched.pop_front() {
                    Some(entry) => entry,
                    None => return Ok(None),
                }
            }
        };
        self.position = entry.next;
        self.answer.d_ino = entry.ino;
        self.answer.d_off = entry.next.cast_signed();
        self.answer.d_reclen = RECORD_BYTES;
        self.answer.d_type = ((entry.type_bits & libc::S_IFMT) >> 12) as u8;
        let room = self.answer.d_name.len() - 1;
        for (to, from) in
            self.answer.d_name.iter_mut().zip(&entry.name[..entry.name.len().min(room)])
        {
            *to = from.cast_signed();
        }
        self.answer.d_name[entry.name.len().min(room)] = 0;
        Ok(Some(&mut self.answer))
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
