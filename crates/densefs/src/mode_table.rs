//! The table of modes: every combination of owner, group, type and permissions that inodes have.
//! Inodes refer to it by index.
//!
//! The first half of the entries never change, so threads cache them. Whoever needs an entry of the
//! other half for an inode holds the table's lock until the inode has it, and whoever finds the
//! table full looks at all inodes, under the same lock, for entries that none has. When inodes have
//! 65,534 different modes, a call that needs another fails with `ENOSPC`.

use crate::arena::{LINES_PER_PAGE, Line, Ref};
use crate::errno::Errno;
use crate::layout::{cell, mode_entry, superblock, zone};
use crate::member::{MODES_CACHED, Member};
use crate::modes::Mode;
use crate::seams::Seams;

/// Words of a bitmap of the entries that may get a new meaning.
const WORDS: usize = ((mode_entry::MAX - mode_entry::LASTING) as usize).div_ceil(64);

impl<'a, S: Seams> Member<'a, S> {
    /// The mode with this index. An inode's index is only good while the inode does not change.
    #[inline(always)]
    pub(crate) fn mode(&self, index: u16) -> Result<Mode, Errno> {
        let known = &self.modes[usize::from(index) % MODES_CACHED];
        if known.index.get() == u32::from(index) {
            return Ok(Mode { uid: known.uid.get(), gid: known.gid.get(), mode: known.mode.get() });
        }
        self.load_mode(index)
    }

    #[cold]
    #[inline(never)]
    fn load_mode(&self, index: u16) -> Result<Mode, Errno> {
        let mode = self.mode_at(u32::from(index))?;
        let count = self.line(superblock::MODES)?.load(superblock::MODE_COUNT);
        if u32::from(index) < count.min(mode_entry::LASTING) {
            let known = &self.modes[usize::from(index) % MODES_CACHED];
            known.index.set(index.into());
            known.uid.set(mode.uid);
            known.gid.set(mode.gid);
            known.mode.set(mode.mode);
        }
        Ok(mode)
    }

    fn mode_at(&self, index: u32) -> Result<Mode, Errno> {
        let (line, place) = self.mode_line(index)?;
        Ok(Mode {
            uid: line.load(mode_entry::UID.element(4 * place)),
            gid: line.load(mode_entry::GID.element(4 * place)),
            mode: line.load(mode_entry::MODE.element(4 * place)),
        })
    }

    /// The line of an entry, and its index in the line.
    #[inline]
    fn mode_line(&self, index: u32) -> Result<(Line<'a>, usize), Errno> {
        let (page, within) = (index / mode_entry::PER_PAGE, index % mode_entry::PER_PAGE);
        let pages = self.line(superblock::MODE_PAGES.plus(page / 16))?;
        let page = Ref(pages.load(superblock::MODE_PAGE.element((page % 16) as usize)));
        if !page.is_some() {
            return Err(Errno::CORRUPT);
        }
        let line = self.line(page.plus(within / mode_entry::PER_LINE))?;
        Ok((line, (within % mode_entry::PER_LINE) as usize))
    }

    /// The index of a mode that an inode, whose lock or whose directory's lock is held, is about to
    /// get. The mode is added if it is not in the table yet. The log must be empty.
    ///
    /// If the entry may get another meaning when no inode has it, the table is left locked: the
    /// caller must release all locks, that one included, once the inode has the index.
    #[inline]
    pub(crate) fn index_of(&self, mode: Mode) -> Result<u16, Errno> {
        if let Some(last) = self.last_mode.get()
            && u32::from(last) < mode_entry::LASTING
            && self.mode(last)? == mode
        {
            return Ok(last);
        }
        let index = self.look_mode_up(mode)?;
        self.last_mode.set(Some(index));
        Ok(index)
    }

    #[cold]
    #[inline(never)]
    fn look_mode_up(&self, mode: Mode) -> Result<u16, Errno> {
        let table = self.line(superblock::MODES)?;
        let count = table.load(superblock::MODE_COUNT).min(mode_entry::MAX);
        let lasting = count.min(mode_entry::LASTING);
        // Even if the last one was of the second half, so that each mode is in the table once.
        if let Some(index) = self.mode_among(mode, 0, lasting)? {
            return Ok(index);
        }
        let is_new_lock = !self.holds(table);
        if is_new_lock {
            self.lock(superblock::MODES)?;
        }
        let found = self.find_or_add_mode(mode, lasting, table);
        self.forget();
        let stays_locked = found.is_ok_and(|index| u32::from(index) >= mode_entry::LASTING);
        if is_new_lock && !stays_locked {
            self.unlock();
        }
        found
    }

    fn mode_among(&self, mode: Mode, from: u32, to: u32) -> Result<Option<u16>, Errno> {
        for index in from..to {
            if self.mode_at(index)? == mode {
                return Ok(Some(u16::try_from(index).map_err(|_| Errno::CORRUPT)?));
            }
        }
        Ok(None)
    }

    /// The index of a mode that is not among the first `from` of the table, which must be locked.
    /// It is added unless it is there.
    fn find_or_add_mode(&self, mode: Mode, from: u32, table: Line<'a>) -> Result<u16, Errno> {
        let count = table.load(superblock::MODE_COUNT).min(mode_entry::MAX);
        let last = self.last_mode.get().map_or(0, u32::from);
        if (from..count).contains(&last) && self.mode_at(last)? == mode {
            return u16::try_from(last).map_err(|_| Errno::CORRUPT);
        }
        if let Some(index) = self.mode_among(mode, from, count)? {
            return Ok(index);
        }
        let index = if count < mode_entry::MAX { count } else { self.unused_mode()? };
        if index == count && count.is_multiple_of(mode_entry::PER_PAGE) {
            let run = self.obtain_run(LINES_PER_PAGE)?;
            let page = count / mode_entry::PER_PAGE;
            let at = superblock::MODE_PAGES.plus(page / 16);
            self.take_run(run)?;
            self.put(at, superblock::MODE_PAGE.element((page % 16) as usize), run.0);
            self.commit();
        }
        let (line, place) = self.mode_line(index)?;
        self.fill(line, mode_entry::UID.element(4 * place), mode.uid);
        self.fill(line, mode_entry::GID.element(4 * place), mode.gid);
        self.fill(line, mode_entry::MODE.element(4 * place), mode.mode);
        if index == count {
            self.put(superblock::MODES, superblock::MODE_COUNT, count + 1);
            self.commit();
        }
        u16::try_from(index).map_err(|_| Errno::CORRUPT)
    }

    /// An entry that no inode has, of the full table, which must be locked.
    fn unused_mode(&self) -> Result<u32, Errno> {
        const FREE: Mode = Mode { uid: 0, gid: 0, mode: 0 };
        if let Some(index) = self.mode_among(FREE, mode_entry::LASTING, mode_entry::MAX)? {
            return Ok(index.into());
        }
        let used = self.modes_in_use()?;
        for index in mode_entry::LASTING..mode_entry::MAX {
            let bit = index - mode_entry::LASTING;
            if used[(bit / 64) as usize] >> (bit % 64) & 1 == 0 {
                let (line, place) = self.mode_line(index)?;
                // The type goes first: an entry without one is no inode's.
                self.fill(line, mode_entry::MODE.element(4 * place), 0);
                self.fill(line, mode_entry::UID.element(4 * place), 0);
                self.fill(line, mode_entry::GID.element(4 * place), 0);
            }
        }
        let free = self.mode_among(FREE, mode_entry::LASTING, mode_entry::MAX)?;
        free.map(u32::from).ok_or(Errno::NOSPC)
    }

    /// Which entries of the second half some cell has. No cell gets one meanwhile, as the table is
    /// locked. Cells that were freed and are in stock count, which does no harm.
    fn modes_in_use(&self) -> Result<[u64; WORDS], Errno> {
        let mut used = [0_u64; WORDS];
        let geometry = self.geometry();
        let begun = self.line(superblock::GROWTH)?.load(superblock::ZONES).min(geometry.zones());
        for zone in (0..begun).map(|number| geometry.zone(number)) {
            for index in 0..zone.pages.div_ceil(64) {
                let word = |base, index| -> Result<u64, Errno> {
                    let (at, field) = zone.word(base, index);
                    Ok(self.line(at)?.load(field))
                };
                let mut pages = word(zone::CELLS, index)?;
                while pages != 0 {
                    let page = index * 64 + pages.trailing_zeros();
                    pages &= pages - 1;
                    let mut cells = word(zone::USED, page)?;
                    while cells != 0 {
                        let cell = zone.page(page).plus(cells.trailing_zeros());
                        cells &= cells - 1;
                        let mode = u32::from(self.line(cell)?.load(cell::MODE));
                        if let Some(bit) = mode.checked_sub(mode_entry::LASTING)
                            && let Some(word) = used.get_mut((bit / 64) as usize)
                        {
                            *word |= 1 << (bit % 64);
                        }
                    }
                }
            }
        }
        Ok(used)
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::format::{FormatRequest, make};
    use crate::memory::Memory;
    use crate::modes::{CHARACTERS, Caller, DIRECTORY, FILE};
    use crate::quiet::{Quiet, QuietMember};
    use crate::tree::{EntryName, Owner, Remove, Rename};

    fn formatted() -> Memory {
        let mut memory = Memory::of_pages(128);
        let root = Mode { uid: 0, gid: 0, mode: 0o755 };
        let request = FormatRequest { secret: 0x5eed, ino_secret: 0x1234, root, threads: None };
        make(memory.arena(), Quiet, &request).expect("there is room");
        memory
    }

    fn check(member: &QuietMember<'_>) {
        let mut seen = vec![0; member.arena().lines() as usize];
        member.check(&mut seen).unwrap_or_else(|problem| panic!("{problem}"));
    }

    /// Two threads give a file more modes than the table has entries, a few files keep theirs, and
    /// every file has the mode that it was given last.
    #[test]
    fn entries_that_no_inode_has_are_used_again() {
        let mut memory = formatted();
        let arena = memory.arena();
        let member = |slot| Member::new(arena, Quiet, slot, slot).expect("there are slots");
        let members = [member(0), member(1)];
        let root = members[0].root().expect("it is there");
        let names: Vec<_> = (0..20_u8).map(|number| [b'a' + number]).collect();
        for name in &names {
            members[0].make_at(&Caller::ROOT, root, name, FILE | 0o600).expect("there is room");
        }
        let mut uids = vec![0; names.len()];
        for uid in 1..4 * mode_entry::MAX {
            let member = &members[(uid / 3 % 2) as usize];
            // The first file changes most often.
            let file = if uid % 50 == 0 { uid as usize / 50 % names.len() } else { 0 };
            let node = member.step(&Caller::ROOT, root, &names[file]).expect("it is there");
            let owner = Owner { uid: Some(uid), gid: None };
            member.set_owner(&Caller::ROOT, node, owner).expect("entries are found");
            assert!(!member.holds_any());
            uids[file] = uid;
            for (name, &uid) in names.iter().zip(&uids).take(if uid % 50 == 0 { 20 } else { 1 }) {
                let stat = members[0].stat_at(&Caller::ROOT, root, name).expect("it is there");
                assert_eq!(stat.mode, Mode { uid, gid: 0, mode: FILE | 0o600 });
            }
        }
        check(&members[0]);
    }

    /// A thread that has seen an entry sees its new meaning when another inode has it.
    #[test]
    fn an_entry_with_a_new_meaning_is_read_again() {
        let mut memory = formatted();
        let arena = memory.arena();
        let member = |slot| Member::new(arena, Quiet, slot, slot).expect("there are slots");
        let (one, other) = (member(0), member(1));
        let root = one.root().expect("it is there");
        one.make_at(&Caller::ROOT, root, b"a", FILE | 0o600).expect("there is room");
        let file = || one.step(&Caller::ROOT, root, b"a").expect("it is there");
        let own = |uid| {
            let owner = Owner { uid: Some(uid), gid: None };
            one.set_owner(&Caller::ROOT, file(), owner).expect("there is an entry");
            let cell = one.line(file().at).expect("it is there");
            u32::from(cell.load(cell::MODE))
        };
        let uid = || other.stat_at(&Caller::ROOT, root, b"a").map(|stat| stat.mode.uid);
        // Not cached in the same place as the root's.
        let seen = (1..).map(own).find(|&index| index > mode_entry::LASTING);
        uid().expect("it is there");
        let again = (1000..4 * mode_entry::MAX).find(|&uid| Some(own(uid)) == seen);
        assert_eq!(uid().ok(), again);
    }

    /// Nobody gives an entry a new meaning between its being found and an inode's having it.
    #[test]
    fn the_table_stays_locked_while_an_inode_gets_an_entry_that_may_change() {
        let mut memory = formatted();
        let member = Member::new(memory.arena(), Quiet, 0, 0).expect("there are slots");
        let table = member.line(superblock::MODES).expect("it is there");
        for uid in 1..2 * mode_entry::LASTING {
            let index = member.index_of(Mode { uid, gid: 0, mode: FILE }).expect("there is room");
            assert_eq!(member.holds(table), u32::from(index) >= mode_entry::LASTING, "{uid}");
            // The last one is found without a search.
            let again = member.index_of(Mode { uid, gid: 0, mode: FILE });
            assert_eq!(again, Ok(index));
            member.unlock_all();
        }
    }

    /// A rename that leaves one holds as many locks as a thread can, and the table grows by pages.
    #[test]
    fn a_whiteout_gets_an_entry_that_may_change() {
        let mut memory = formatted();
        let member = Member::new(memory.arena(), Quiet, 0, 0).expect("there are slots");
        let root = member.root().expect("it is there");
        for uid in 1..mode_entry::LASTING {
            member.index_of(Mode { uid, gid: 0, mode: FILE }).expect("there is room");
            member.unlock_all();
        }
        let make = |at, name: &[u8], mode| {
            member.make_at(&Caller::ROOT, at, name, mode).expect("there is room");
            member.step(&Caller::ROOT, root, name).expect("it is there")
        };
        let below = make(root, b"below", DIRECTORY | 0o700);
        make(root, b"a", FILE);
        make(below, b"a", FILE);
        for uid in 1..3 * mode_entry::PER_PAGE {
            let caller = Caller { uid, is_checked: true, ..Caller::ROOT };
            let below = member.step(&Caller::ROOT, root, b"below").expect("it is there");
            let [old, new] = [&root, &below].map(|directory| EntryName { directory, name: b"a" });
            member.rename_at(&caller, old, new, Rename::Whiteout).expect("there is an entry");
            assert!(!member.holds_any());
            let stat = member.stat_at(&Caller::ROOT, root, b"a").expect("it is there");
            assert_eq!(stat.mode, Mode { uid, gid: 0, mode: CHARACTERS });
        }
        check(&member);
    }

    #[test]
    fn a_table_is_full_when_inodes_have_all_entries() {
        let mut memory = formatted();
        let member = Member::new(memory.arena(), Quiet, 0, 0).expect("there are slots");
        let root = member.root().expect("it is there");
        let name = |number: u32| std::format!("{number:03}").into_bytes();
        let own = |number: u32, uid| {
            let node = member.step(&Caller::ROOT, root, &name(number)).expect("it is there");
            member.set_owner(&Caller::ROOT, node, Owner { uid: Some(uid), gid: None })
        };
        // The root has an entry, and so have new files.
        let files = mode_entry::MAX - 2;
        for number in 0..=files {
            let made = member.make_at(&Caller::ROOT, root, &name(number), FILE | 0o600);
            made.expect("there is room");
            let owned = own(number, 1000 + number);
            assert_eq!(owned, if number < files { Ok(()) } else { Err(Errno::NOSPC) });
        }
        assert_eq!(own(7, 1), Err(Errno::NOSPC));
        let stat = member.stat_at(&Caller::ROOT, root, &name(7)).expect("it is there");
        assert_eq!(stat.mode, Mode { uid: 1007, gid: 0, mode: FILE | 0o600 });
        member.remove_at(&Caller::ROOT, root, &name(100), Remove::Name).expect("it is there");
        member.retire().expect("it is whole");
        for uid in 1..10 {
            assert_eq!(own(200, uid), Ok(()));
        }
        // There is one entry too many as long as no other file has it.
        let made = member.make_at(&Caller::ROOT, root, &name(100), FILE | 0o600);
        made.expect("there is room");
        assert_eq!(own(100, 5000), Ok(()));
        assert_eq!(own(7, 77), Err(Errno::NOSPC));
        check(&member);
    }
}
