//! Listing directories.

use std::ffi::{c_char, c_int, c_long};
use std::ptr;

use densefs_process::{Base, EntrySink, Errno, ListedEntry, Whence, flags};

use crate::answer::{fail, result};
use crate::arguments::{number, path};
use crate::attached::attached;

/// Bytes of entries fetched at a time.
const BATCH: usize = 16 << 10;
/// The positions of `.` and `..`; everything else follows.
const SELF_POSITION: u64 = 0;
const PARENT_POSITION: u64 = 1;

/// The size of a `dirent` before the name.
const HEAD: usize = std::mem::offset_of!(libc::dirent, d_name);
/// The size of a whole `dirent`, which a program may copy.
const ANSWER_BYTES: usize = size_of::<libc::dirent>();

/// The size of a short name with its padding.
const SHORT: usize = 24;
const _: () = assert!(HEAD + SHORT < ANSWER_BYTES);

/// An open directory stream: `DFS_DIR`.
pub struct Directory {
    descriptor: u32,
    /// The position of the next entry.
    position: u64,
    fetched: FetchedEntries,
}

/// Entries in the form of C, one after another, and how many have been returned.
struct FetchedEntries {
    /// Each entry is 8-byte aligned.
    words: Vec<u64>,
    bytes: usize,
    /// How many of these bytes are kept.
    kept: usize,
    next: usize,
}

/// The `d_type` of an inode.
fn d_type(type_bits: u32) -> u8 {
    u8::try_from((type_bits & libc::S_IFMT) >> 12).unwrap_or(libc::DT_UNKNOWN)
}

impl FetchedEntries {
    fn new() -> Self {
        Self { words: vec![0; (BATCH + ANSWER_BYTES) / 8], bytes: 0, kept: 0, next: 0 }
    }

    fn clear(&mut self) {
        (self.bytes, self.kept, self.next) = (0, 0, 0);
    }

    /// Returns the next entry.
    #[inline]
    fn pop(&mut self) -> Option<&mut libc::dirent> {
        if self.next >= self.bytes {
            return None;
        }
        // SAFETY: `take` has written an entry here.
        let entry =
            unsafe { &mut *self.words.as_mut_ptr().byte_add(self.next).cast::<libc::dirent>() };
        self.next += usize::from(entry.d_reclen);
        Some(entry)
    }
}

impl EntrySink for FetchedEntries {
    #[inline]
    fn take(&mut self, one: ListedEntry<'_>) -> bool {
        if self.bytes > BATCH {
            return false;
        }
        let length = (HEAD + one.name.len() + 8) & !7;
        // SAFETY: after each position up to `BATCH`, there is room for a whole entry. All its
        // fields are set.
        unsafe {
            let at: *mut libc::dirent = self.words.as_mut_ptr().byte_add(self.bytes).cast();
            (*at).d_ino = one.ino;
            (*at).d_off = (one.position + 1).cast_signed();
            (*at).d_reclen = u16::try_from(length).unwrap_or(0);
            (*at).d_type = d_type(one.type_bits);
            let to = (&raw mut (*at).d_name).cast::<u8>();
            // The padding of a short name stays within `ANSWER_BYTES`.
            match one.short {
                Some(short) => to.cast::<[u8; SHORT]>().write_unaligned(*short),
                None => to.copy_from_nonoverlapping(one.name.as_ptr(), one.name.len()),
            }
            to.add(one.name.len()).write(0);
        }
        self.bytes += length;
        true
    }

    fn take_back(&mut self) {
        self.bytes = self.kept;
    }

    fn keep(&mut self) {
        self.kept = self.bytes;
    }
}

impl Directory {
    fn new(descriptor: u32) -> Result<Self, Errno> {
        let position = attached()?.seek(descriptor, 0, Whence::Current)?;
        Ok(Self { descriptor, position, fetched: FetchedEntries::new() })
    }

    fn seek(&mut self, position: u64) -> Result<(), Errno> {
        self.fetched.clear();
        attached()?.seek(self.descriptor, position.cast_signed(), Whence::Start)?;
        self.position = position;
        Ok(())
    }

    /// Adds `.` or `..`.
    fn take_dots(&mut self, name: &str, position: u64) -> Result<(), Errno> {
        let (name, ino, type_bits) =
            (name.as_bytes(), attached()?.ino_of_dots(self.descriptor, name)?, libc::S_IFDIR);
        self.fetched.take(ListedEntry { name, short: None, ino, type_bits, position });
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<Option<&mut libc::dirent>, Errno> {
        if self.fetched.next == self.fetched.bytes {
            self.fetch()?;
        }
        let entry = self.fetched.pop();
        if let Some(entry) = &entry {
            self.position = entry.d_off.cast_unsigned();
        }
        Ok(entry)
    }

    #[cold]
    fn fetch(&mut self) -> Result<(), Errno> {
        self.fetched.clear();
        if self.position == SELF_POSITION {
            self.take_dots(".", SELF_POSITION)?;
        }
        if self.position <= PARENT_POSITION {
            self.take_dots("..", PARENT_POSITION)?;
        }
        self.fetched.keep();
        attached()?.list_into(self.descriptor, &mut self.fetched)
    }
}

/// Opens a directory stream.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_opendir(name: *const c_char) -> *mut Directory {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    let opened = name.and_then(|name| {
        let files = attached()?;
        let descriptor = files.open_descriptor(Base::Working, name, flags::DIRECTORY, 0)?;
        Directory::new(descriptor)
    });
    boxed(opened)
}

/// Like [`dfs_opendir`], for a directory that is open already.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_fdopendir(file: c_int) -> *mut Directory {
    boxed(number(file).and_then(|descriptor| {
        if !attached()?.stat_descriptor(descriptor)?.mode.is_directory() {
            return Err(Errno::NOTDIR);
        }
        Directory::new(descriptor)
    }))
}

fn boxed(opened: Result<Directory, Errno>) -> *mut Directory {
    match opened {
        Ok(directory) => Box::into_raw(Box::new(directory)),
        Err(why) => {
            fail(why.0);
            ptr::null_mut()
        }
    }
}

/// The next entry; null at the end or on failure, which `errno` distinguishes.
///
/// # Safety
/// `directory` must be open, and no other thread may use it.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_readdir(directory: *mut Directory) -> *mut libc::dirent {
    // SAFETY: guaranteed by the caller.
    match unsafe { &mut *directory }.next() {
        Ok(Some(entry)) => entry,
        Ok(None) => ptr::null_mut(),
        Err(why) => {
            fail(why.0);
            ptr::null_mut()
        }
    }
}

/// Goes back to the beginning.
///
/// # Safety
/// As for [`dfs_readdir`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_rewinddir(directory: *mut Directory) {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_seekdir(directory, 0) }
}

/// The position of the next entry.
///
/// # Safety
/// As for [`dfs_readdir`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_telldir(directory: *mut Directory) -> c_long {
    // SAFETY: guaranteed by the caller.
    unsafe { &*directory }.position.cast_signed()
}

/// Continues at a position from [`dfs_telldir`].
///
/// # Safety
/// As for [`dfs_readdir`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_seekdir(directory: *mut Directory, position: c_long) {
    // SAFETY: guaranteed by the caller.
    if let Err(why) = unsafe { &mut *directory }.seek(position.cast_unsigned()) {
        fail(why.0);
    }
}

/// The directory's descriptor.
///
/// # Safety
/// As for [`dfs_readdir`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_dirfd(directory: *mut Directory) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { &*directory }.descriptor.cast_signed()
}

/// Closes the stream.
///
/// # Safety
/// As for [`dfs_readdir`]; the stream must not be used again.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_closedir(directory: *mut Directory) -> c_int {
    // SAFETY: guaranteed by the caller.
    let directory = unsafe { Box::from_raw(directory) };
    result(attached().and_then(|files| files.close(directory.descriptor)))
}
