//! Listing directories, and the working directory.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::cell::Cell;
use std::ffi::{c_char, c_long};
use std::mem::offset_of;

use densefs_c::attached;
use densefs_process::{EntrySink, Errno, ListedEntry, Whence};

use super::files::with_number;
use super::paths::{FIRST, with_path};
use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Executed, Pass, Refused};
use crate::outcome::{answer, call as calling, error};
use crate::raw::int;
use crate::{links, mount, numbers, prefix, raw};

/// The size of an entry before the name.
const HEAD: usize = offset_of!(libc::dirent64, d_name);
/// The positions of `.` and `..`; everything else follows.
const SELF_POSITION: u64 = 0;
const PARENT_POSITION: u64 = 1;

/// Entries in the form of the kernel, one after another, in a buffer of the program.
struct Entries {
    start: *mut u8,
    room: usize,
    bytes: usize,
    kept: usize,
    /// The position after the last entry.
    next: u64,
    next_kept: u64,
    is_full: bool,
}

impl EntrySink for Entries {
    fn take(&mut self, one: ListedEntry<'_>) -> bool {
        let length = (HEAD + one.name.len() + 8) & !7;
        if self.room - self.bytes < length {
            self.is_full = true;
            return false;
        }
        // SAFETY: there is room for `length` bytes.
        unsafe {
            let entry = self.start.add(self.bytes);
            let name = entry.add(HEAD);
            entry.cast::<u64>().write_unaligned(one.ino);
            let next = (one.position + 1).cast_signed();
            entry.add(offset_of!(libc::dirent64, d_off)).cast::<i64>().write_unaligned(next);
            let at = entry.add(offset_of!(libc::dirent64, d_reclen)).cast::<u16>();
            at.write_unaligned(u16::try_from(length).unwrap_or(0));
            let kind = u8::try_from((one.type_bits & libc::S_IFMT) >> 12).unwrap_or(0);
            entry.add(offset_of!(libc::dirent64, d_type)).write(kind);
            name.copy_from_nonoverlapping(one.name.as_ptr(), one.name.len());
            name.add(one.name.len()).write_bytes(0, length - HEAD - one.name.len());
        }
        self.bytes += length;
        self.next = one.position + 1;
        true
    }

    fn take_back(&mut self) {
        (self.bytes, self.next, self.is_full) = (self.kept, self.next_kept, false);
    }

    fn keep(&mut self) {
        (self.kept, self.next_kept) = (self.bytes, self.next);
    }
}

pub(super) fn getdents64(call: &mut SystemCall) -> Decision {
    with_number(call, |file, &[_, to, room, ..]| {
        let start = std::ptr::with_exposed_provenance_mut(to);
        #[expect(clippy::cast_possible_truncation, reason = "the kernel takes an unsigned int")]
        let room = room as u32 as usize;
        answer(|| list(file.cast_unsigned(), start, room))
    })
}

/// The form of the entries before 2.4 of the kernel, which no C library of today asks for.
pub(super) fn getdents(call: &mut SystemCall) -> Decision {
    with_number(call, |_, _| error(libc::ENOSYS))
}

fn list(file: u32, start: *mut u8, room: usize) -> Result<usize, Errno> {
    let files = attached()?;
    let position = files.seek(file, 0, Whence::Current)?;
    let mut entries = Entries {
        start,
        room,
        bytes: 0,
        kept: 0,
        next: position,
        next_kept: position,
        is_full: false,
    };
    let mut add_dots = |name: &'static str, position: u64| -> Result<bool, Errno> {
        let ino = files.ino_of_dots(file, name)?;
        let (name, type_bits) = (name.as_bytes(), libc::S_IFDIR);
        Ok(entries.take(ListedEntry { name, short: None, ino, type_bits, position }))
    };
    let is_directory = files.stat_descriptor(file)?.mode.is_directory();
    if !is_directory {
        return Err(Errno::NOTDIR);
    }
    let has_room = match position {
        SELF_POSITION => add_dots(".", SELF_POSITION)? && add_dots("..", PARENT_POSITION)?,
        PARENT_POSITION => add_dots("..", PARENT_POSITION)?,
        _ => true,
    };
    entries.keep();
    if !has_room {
        files.seek(file, entries.next.cast_signed(), Whence::Start)?;
    } else if position <= PARENT_POSITION {
        // The library's own listing begins after them.
        files.seek(file, (PARENT_POSITION + 1).cast_signed(), Whence::Start)?;
    }
    if has_room {
        files.list_into(file, &mut entries)?;
    }
    match entries.bytes {
        0 if entries.is_full => Err(Errno::INVAL),
        bytes => Ok(bytes),
    }
}

pub(super) fn chdir(call: &mut SystemCall) -> Decision {
    let is_inside = Cell::new(false);
    let decision = with_path(call, FIRST, |_, inside| {
        // SAFETY: the program vouches for its strings.
        let done = calling(|| unsafe { densefs_c::names::dfs_chdir(inside.path) });
        is_inside.set(done == 0);
        done
    });
    match decision {
        Pass => go_outside(call),
        Done(0) | Executed(0) => {
            changed(is_inside.get());
            decision
        }
        Done(_) | Executed(_) | Refused(_) => decision,
    }
}

/// Notes a change of the working directory.
fn changed(is_inside: bool) {
    prefix::set_working_inside(is_inside);
    if is_inside {
        mount::leave_working_directory();
    } else {
        mount::note_working_directory();
    }
}

/// Has the kernel change the working directory.
fn go_outside(call: &SystemCall) -> Decision {
    // SAFETY: the program has asked for this.
    let done = unsafe { raw::system_call(call.number as c_long, call.arguments) };
    if done == 0 {
        changed(false);
    }
    Executed(done)
}

pub(super) fn fchdir(call: &mut SystemCall) -> Decision {
    match numbers::inside(int(call.arguments[0])) {
        Some(file) => {
            let done = calling(|| densefs_c::names::dfs_fchdir(file));
            if done == 0 {
                changed(true);
            }
            Done(done)
        }
        None if numbers::is_kept(int(call.arguments[0])) => Done(error(libc::EBADF)),
        None => go_outside(call),
    }
}

pub(super) fn getcwd(call: &mut SystemCall) -> Decision {
    if !prefix::is_working_inside() {
        return Pass;
    }
    let [into, room, ..] = call.arguments;
    let into = std::ptr::with_exposed_provenance_mut::<c_char>(into);
    Done(match links::working_directory() {
        Ok(path) if path.len() >= room => error(libc::ERANGE),
        // SAFETY: the program vouches for the room.
        Ok(path) => unsafe {
            into.cast::<u8>().copy_from_nonoverlapping(path.as_ptr(), path.len());
            into.add(path.len()).write(0);
            path.len() as Answer + 1
        },
        Err(why) => error(why),
    })
}

/// Another root would give every path another meaning.
pub(super) fn chroot(_: &mut SystemCall) -> Decision {
    Refused(libc::EPERM)
}
