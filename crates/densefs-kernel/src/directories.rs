//! Listing directories.
#![expect(unsafe_code, reason = "a name that C knows, and its buffer")]

use densefs::modes::{Caller, DIRECTORY};
use densefs::{EntrySink, Errno, ListedEntry, POSITION_FIRST, Whence};

use crate::answer::answer;
use crate::process::{Core, Process};

/// The size of a `linux_dirent64` before the name.
const HEAD: usize = 19;

/// Entries in the form of getdents64(2), one after another.
struct Entries<'b> {
    into: &'b mut [u8],
    bytes: usize,
    /// How many of these bytes are kept.
    kept: usize,
    /// Whether an entry did not fit.
    is_full: bool,
}

impl Entries<'_> {
    fn push(&mut self, name: &[u8], ino: u64, type_bits: u32, next: u64) -> bool {
        let length = (HEAD + name.len() + 8) & !7;
        let Some(room) = self.into.get_mut(self.bytes..self.bytes + length) else {
            self.is_full = true;
            return false;
        };
        let (head, tail) = room.split_at_mut(HEAD);
        head[..8].copy_from_slice(&ino.to_le_bytes());
        head[8..16].copy_from_slice(&next.to_le_bytes());
        head[16..18].copy_from_slice(&u16::try_from(length).unwrap_or(0).to_le_bytes());
        head[18] = u8::try_from(type_bits >> 12).unwrap_or(0);
        let (text, padding) = tail.split_at_mut(name.len());
        text.copy_from_slice(name);
        padding.fill(0);
        self.bytes += length;
        true
    }
}

impl EntrySink for Entries<'_> {
    fn take(&mut self, one: ListedEntry<'_>) -> bool {
        self.push(one.name, one.ino, one.type_bits, one.position + 1)
    }

    fn take_back(&mut self) {
        self.bytes = self.kept;
    }

    fn keep(&mut self) {
        self.kept = self.bytes;
    }
}

/// getdents64(2).
///
/// # Safety
/// `into` must have room for that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_getdents(
    process: &Process,
    descriptor: u32,
    into: *mut u8,
    length: usize,
) -> i64 {
    // SAFETY: guaranteed by the caller.
    let into = unsafe { core::slice::from_raw_parts_mut(into, length) };
    let mut entries = Entries { into, bytes: 0, kept: 0, is_full: false };
    let core = process.core();
    let listed = list_dots(core, descriptor, &mut entries).and_then(|()| {
        if entries.is_full { Ok(()) } else { core.list_on(descriptor, &mut entries) }
    });
    answer(match listed {
        Ok(()) if entries.kept == 0 && entries.is_full => Err(Errno::INVAL),
        Ok(()) => Ok(entries.kept),
        // What was listed before counts.
        Err(_) if entries.kept > 0 => Ok(entries.kept),
        Err(why) => Err(why),
    })
}

/// Lists `.` and `..`, if the descriptor's offset is that of one of them.
#[inline(always)]
fn list_dots(core: Core<'_>, descriptor: u32, entries: &mut Entries<'_>) -> Result<(), Errno> {
    let node = core.node(descriptor)?;
    let stat = core.stat(node)?;
    if !stat.mode.is_directory() {
        return Err(Errno::NOTDIR);
    }
    if stat.links == 0 {
        return Err(Errno::NOENT);
    }
    let mut next = core.seek(descriptor, 0, Whence::Current)?;
    while next < POSITION_FIRST {
        let (name, behind) = if next == 0 { (&b"."[..], 1) } else { (&b".."[..], POSITION_FIRST) };
        let found = core.step(&Caller::ROOT, node, name)?;
        if !entries.push(name, core.ino(found), DIRECTORY, behind) {
            break;
        }
        entries.keep();
        next = behind;
        core.seek(descriptor, next.cast_signed(), Whence::Start)?;
    }
    Ok(())
}
