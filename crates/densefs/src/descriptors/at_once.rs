//! Creating a file where stores are made in place: in the usual case, by a function that first
//! decides whether it is one, and then only stores.
//!
//! It is the usual case if the name is short and in the root or the working directory, and if that,
//! the stock and the table of descriptors have room. Everything else is left to the functions that
//! handle all cases.

use super::flags;
use super::table::{TableIndex, entry_of};
use crate::arena::{Line, Ref};
use crate::layout::{cell, description, slot};
use crate::member::Member;
use crate::modes::{Caller, EXECUTE, FILE, Mode, SETGID, WRITE};
use crate::name::Name;
use crate::seams::Seams;

/// Whether the caller may create files in a directory with this mode.
#[cold]
#[inline(never)]
fn may_create_in(parent: Mode, caller: &Caller<'_>) -> bool {
    parent.allow(caller, WRITE | EXECUTE).is_ok()
}

impl<'a, S: Seams> Member<'a, S> {
    /// Creates a file and opens it; none if there is something with this name, or if this is not
    /// the usual case.
    #[inline(always)]
    pub fn create_at_once(
        &self,
        caller: &Caller<'_>,
        path: &[u8],
        how: u32,
        mode: u32,
    ) -> Option<u32> {
        let left = self.cells.get().checked_sub(2)?;
        let is_usual = how & (flags::CREATE | flags::RARE) == flags::CREATE;
        if !Self::IN_PLACE || !is_usual || self.is_unsettled() {
            return None;
        }
        let (at, path) = match path {
            [b'/', rest @ ..] => (self.root().ok()?.at, rest),
            _ => (self.working_directory().ok()?.at, path),
        };
        let name = Name::only(path, self.secret())?;
        let directory = self.line(at).ok()?;
        let parent = self.mode(directory.load(cell::MODE)).ok()?;
        if directory.load(cell::LINKS) == 0 {
            return None;
        }
        // Root may do everything in a directory.
        if !caller.may_all() && !may_create_in(parent, caller) {
            return None;
        }
        let wanted = Mode { uid: caller.uid, gid: caller.gid, mode: FILE | mode };
        let index = self.last_mode.get()?;
        if parent.mode & SETGID != 0 || self.mode(index).ok()? != wanted {
            return None;
        }
        let room = self.room_for(directory, &name)?;
        let vacant = self.vacant(self.record(), TableIndex::WORKING).ok()?;
        let state = self.line(self.slot_line(slot::STATE)).ok()?;
        let stock = self.line(self.slot_line(slot::CELL_STOCK)).ok()?;
        let taken = |place: u32| Ref(stock.load(slot::CELL.element(place as usize)));
        let (new, opened) = (taken(left + 1), taken(left));
        let (inode, description) = (self.line(new).ok()?, self.line(opened).ok()?);
        // From here on, nothing fails.
        self.cells.set(left);
        self.fill(state, slot::CELLS, left);
        let now = self.seams().now_ns();
        self.fill_new_file(inode, index, &name, now);
        self.fill(description, cell::MODE, cell::DESCRIPTION_MARK);
        self.fill(description, description::REFERENCES, 1);
        self.fill(description, description::OFFSET, 0);
        self.fill(description, description::FLAGS, how);
        self.fill(description, description::INODE, new.0);
        self.fill(description, cell::NAME_LENGTH, 0);
        self.fill_room(&room, new);
        self.fill(directory, cell::ENTRIES, directory.load(cell::ENTRIES).wrapping_add(1));
        self.fill(directory, cell::MTIME, now);
        self.fill(directory, cell::CTIME, now);
        Some(self.put_entry(vacant, entry_of(opened, how)).descriptor())
    }

    /// Fills the cell of a new file, which is open once.
    #[inline(always)]
    fn fill_new_file(&self, line: Line<'a>, index: u16, name: &Name<'_>, now: u64) {
        self.fill(line, cell::MODE, index);
        self.fill(line, cell::LINKS, 1);
        self.fill(line, cell::SIZE, 0);
        self.fill(line, cell::MTIME, now);
        self.fill(line, cell::CTIME, now);
        self.fill(line, cell::DATA, 0);
        self.fill(line, cell::OPENS, 1);
        self.fill(line, cell::FORM, 0);
        self.fill_short_name(line, name);
    }
}
