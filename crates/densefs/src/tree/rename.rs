//! Renaming an entry, within a directory or across directories, in one step.

use super::{EntryName, LINKS_MAX, Parent, may_remove};
use crate::arena::{Line, Ref, Word};
use crate::directory::{Entry, Search, Vacancy};
use crate::errno::Errno;
use crate::layout::{cell, superblock};
use crate::member::{Member, Node};
use crate::modes::{Caller, Mode, WRITE};
use crate::name::Name;
use crate::seams::Seams;

/// How deep a directory may be before the arena is considered corrupt.
const DEPTH_MAX: u32 = 1 << 20;

/// What happens to an entry that already has the new name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rename {
    /// It is replaced.
    Replace,
    /// It stays, and the call fails: `RENAME_NOREPLACE`.
    NoReplace,
    /// It gets the old name: `RENAME_EXCHANGE`.
    Exchange,
    /// It is replaced, and a whiteout gets the old name: `RENAME_WHITEOUT`. That is a device with
    /// the number 0, which marks a name in an overlay as removed.
    Whiteout,
    /// It stays, and the call fails; otherwise a whiteout gets the old name: both flags.
    NoReplaceWhiteout,
}

impl Rename {
    /// Whether the new name must not be taken.
    pub fn needs_vacancy(self) -> bool {
        matches!(self, Self::NoReplace | Self::NoReplaceWhiteout)
    }

    fn leaves_whiteout(self) -> bool {
        matches!(self, Self::Whiteout | Self::NoReplaceWhiteout)
    }
}

/// An entry and its inode, which is locked.
#[derive(Clone, Copy, Debug)]
struct LockedEntry<'a> {
    entry: Entry<'a>,
    at: Ref,
    inode: Line<'a>,
    mode: Mode,
}

/// Both ends of a rename: the directories, and the names in them.
#[derive(Clone, Copy, Debug)]
struct RenameEnds<'a, 'n> {
    from: Parent<'a>,
    to: Parent<'a>,
    old: Name<'n>,
    new: Name<'n>,
}

/// The runs obtained for long names: the new one, and that of a whiteout, if there is to be one.
#[derive(Clone, Copy, Debug)]
struct NameRuns {
    new: Ref,
    whiteout: Option<Ref>,
}

impl RenameEnds<'_, '_> {
    fn is_across(&self) -> bool {
        self.from.at != self.to.at
    }

    /// Checks that the caller may give what moves another parent.
    fn check_move(&self, caller: &Caller<'_>, moved: &LockedEntry<'_>) -> Result<(), Errno> {
        // The `..` of a directory changes.
        let changes = self.is_across() && moved.mode.is_directory();
        if changes { moved.mode.allow(caller, WRITE) } else { Ok(()) }
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// Moves an entry to another name, in the same directory or another.
    ///
    /// # Errors
    /// [`Errno::NOENT`], [`Errno::EXIST`], [`Errno::ISDIR`], [`Errno::NOTDIR`],
    /// [`Errno::NOTEMPTY`], [`Errno::INVAL`] for moving a directory into itself, and others, as for
    /// the system call.
    #[inline]
    pub fn rename_at(
        &self,
        caller: &Caller<'_>,
        old: EntryName<'_>,
        new: EntryName<'_>,
        how: Rename,
    ) -> Result<(), Errno> {
        let taken = if how.needs_vacancy() { Errno::EXIST } else { Errno::BUSY };
        let (from, to) = (old.directory, new.directory);
        let old_name = match self.new_name(old.name, Errno::BUSY) {
            Err(_) if matches!(new.name, b"." | b"..") && !matches!(old.name, b"." | b"..") => {
                return Err(taken);
            }
            old_name => old_name?,
        };
        let new_name = match self.new_name(new.name, taken) {
            Err(Errno::NAMETOOLONG) => return Err(self.why_too_long(caller, old)),
            new_name => new_name?,
        };
        self.ready(u32::from(how.leaves_whiteout()))?;
        let done = self.lock_both(caller, from, to).and_then(|(from, to)| {
            let ends = RenameEnds { from, to, old: old_name, new: new_name };
            match how {
                Rename::Exchange => self.exchange(caller, &ends),
                Rename::Replace
                | Rename::NoReplace
                | Rename::Whiteout
                | Rename::NoReplaceWhiteout => self.move_entry(caller, &ends, how),
            }
        });
        self.conclude(done.is_ok());
        done
    }

    /// Why an entry cannot get a name that is too long: that there is none comes first.
    #[cold]
    #[inline(never)]
    fn why_too_long(&self, caller: &Caller<'_>, old: EntryName<'_>) -> Errno {
        self.stat_at(caller, *old.directory, old.name).err().unwrap_or(Errno::NAMETOOLONG)
    }

    /// Locks both directories; if one is above the other, that one first.
    fn lock_both(
        &self,
        caller: &Caller<'_>,
        from: &Node,
        to: &Node,
    ) -> Result<(Parent<'a>, Parent<'a>), Errno> {
        if from == to {
            let both = self.parent(caller, from)?;
            return Ok((both, both));
        }
        self.lock(superblock::RENAME)?;
        let order = self.is_below(from.at, to.at).and_then(|from_is_below| {
            Ok(from_is_below || (!self.is_below(to.at, from.at)? && to.at < from.at))
        });
        let to_first = match order {
            // An inode that is gone must not be mistaken for another one that is in its cell now.
            Err(Errno::NOENT) => {
                self.check_unchanged(from)?;
                self.check_unchanged(to)?;
                return Err(Errno::NOENT);
            }
            order => order?,
        };
        if to_first {
            let to = self.parent(caller, to)?;
            Ok((self.parent(caller, from)?, to))
        } else {
            let from = self.parent(caller, from)?;
            Ok((from, self.parent(caller, to)?))
        }
    }

    /// Whether a directory is `other`, or below it. The caller holds the rename lock.
    fn is_below(&self, directory: Ref, other: Ref) -> Result<bool, Errno> {
        let mut at = directory;
        for _ in 0..DEPTH_MAX {
            if at == other {
                return Ok(true);
            }
            let line = self.line(at)?;
            // The parent of a removed directory is meaningless.
            self.directory_mode(line).map_err(|_| Errno::NOENT)?;
            let parent = Ref(line.load(cell::PARENT));
            if parent == at {
                return Ok(false);
            }
            at = parent;
        }
        Err(Errno::CORRUPT)
    }

    /// Locks the inode of an entry. The caller has called [`Self::check_ends`].
    fn side(&self, entry: Entry<'a>) -> Result<LockedEntry<'a>, Errno> {
        let (at, _) = self.inode_of(&entry)?;
        let inode = self.lock(at)?;
        let mode = self.mode(inode.load(cell::MODE))?;
        Ok(LockedEntry { entry, at, inode, mode })
    }

    /// Locks both inodes, in the order of their numbers.
    fn sides(
        &self,
        source: Entry<'a>,
        target: Entry<'a>,
    ) -> Result<(LockedEntry<'a>, LockedEntry<'a>), Errno> {
        let source_first = self.inode_of(&source)?.0 < self.inode_of(&target)?.0;
        if source_first {
            let source = self.side(source)?;
            Ok((source, self.side(target)?))
        } else {
            let target = self.side(target)?;
            Ok((self.side(source)?, target))
        }
    }

    fn move_entry(
        &self,
        caller: &Caller<'_>,
        ends: &RenameEnds<'a, '_>,
        how: Rename,
    ) -> Result<(), Errno> {
        let (source, target) = loop {
            let source = self.find(ends.from.line, &ends.old)?.ok_or(Errno::NOENT)?;
            match self.search(ends.to.at, ends.to.line, &ends.new)? {
                Search::Found(target) => break (source, target),
                Search::Vacant(vacancy) => {
                    let runs = self.obtain_names(caller, ends, how)?;
                    self.check_ends(ends, &source, None)?;
                    let source = self.side(source)?;
                    return self.move_to_new(caller, ends, &source, &vacancy, runs);
                }
                // Growing the table moves both entries.
                Search::Full => {
                    let runs = self.obtain_names(caller, ends, how)?;
                    let others = [runs.new, runs.whiteout.unwrap_or(Ref::NONE)];
                    self.grow(ends.to.at, ends.to.line, &others)?;
                }
            }
        };
        if how.needs_vacancy() {
            return Err(Errno::EXIST);
        }
        self.check_ends(ends, &source, Some(&target))?;
        if self.inode_of(&source)?.0 == self.inode_of(&target)?.0 {
            return Ok(());
        }
        let runs = self.obtain_names(caller, ends, how)?;
        let (source, target) = self.sides(source, target)?;
        self.move_over(caller, ends, &source, &target, runs)
    }

    /// Makes sure that the runs for long names are in stock.
    #[inline]
    fn obtain_names(
        &self,
        caller: &Caller<'_>,
        ends: &RenameEnds<'a, '_>,
        how: Rename,
    ) -> Result<NameRuns, Errno> {
        let is_left = how.leaves_whiteout();
        if is_left {
            self.ready_for_whiteout(caller, &ends.from)?;
        }
        let new = self.obtain_name(&ends.new)?;
        let whiteout = is_left.then(|| self.obtain_name_besides(&ends.old, new)).transpose()?;
        Ok(NameRuns { new, whiteout })
    }

    /// Checks that no directory would move into itself, and that no directory above the source
    /// would be replaced.
    fn check_ends(
        &self,
        ends: &RenameEnds<'a, '_>,
        source: &Entry<'a>,
        target: Option<&Entry<'a>>,
    ) -> Result<(), Errno> {
        if !ends.is_across() {
            return Ok(());
        }
        if self.is_below(ends.to.at, self.inode_of(source)?.0)? {
            return Err(Errno::INVAL);
        }
        match target {
            Some(target) if self.is_below(ends.from.at, self.inode_of(target)?.0)? => {
                Err(Errno::NOTEMPTY)
            }
            _ => Ok(()),
        }
    }

    /// Moves the entry to a name that is not taken.
    fn move_to_new(
        &self,
        caller: &Caller<'_>,
        ends: &RenameEnds<'a, '_>,
        source: &LockedEntry<'a>,
        vacancy: &Vacancy,
        runs: NameRuns,
    ) -> Result<(), Errno> {
        self.check_source(caller, ends, source)?;
        ends.check_move(caller, source)?;
        let is_directory = source.mode.is_directory();
        let to_links = ends.to.line.load(cell::LINKS);
        if is_directory && ends.is_across() && to_links >= LINKS_MAX {
            return Err(Errno::MLINK);
        }
        let now = self.seams().now_ns();
        let whiteout = self.whiteout(caller, ends, runs.whiteout, now)?;
        self.put_name(source, &ends.new, runs.new)?;
        self.place_entry(vacancy, source.entry.cell);
        let entries = ends.from.entries();
        if ends.is_across() {
            self.leave(ends, source, whiteout, entries.wrapping_sub(1))?;
            self.put(ends.to.at, cell::ENTRIES, ends.to.entries().wrapping_add(1));
            if is_directory {
                self.put(ends.to.at, cell::LINKS, to_links.wrapping_add(1));
            }
        } else {
            self.leave(ends, source, whiteout, entries)?;
        }
        self.arrive(ends, source, now);
        Ok(())
    }

    /// Makes the whiteout that is to get the old name, if there is to be one.
    #[inline]
    fn whiteout(
        &self,
        caller: &Caller<'_>,
        ends: &RenameEnds<'a, '_>,
        run: Option<Ref>,
        now: u64,
    ) -> Result<Ref, Errno> {
        let Some(run) = run else { return Ok(Ref::NONE) };
        self.make_whiteout(caller, &ends.from, &ends.old, run, now)
    }

    /// Logs that the entry leaves its directory, in which `left` others remain, or that a whiteout
    /// takes its place.
    #[inline]
    fn leave(
        &self,
        ends: &RenameEnds<'a, '_>,
        source: &LockedEntry<'a>,
        whiteout: Ref,
        left: u32,
    ) -> Result<(), Errno> {
        let Parent { at, line, .. } = ends.from;
        let left = if whiteout.is_some() {
            self.replace_entry(at, line, &source.entry, whiteout)?;
            left.wrapping_add(1)
        } else {
            self.clear_entry(at, line, &source.entry, left)?;
            left
        };
        if left != ends.from.entries() {
            self.put(at, cell::ENTRIES, left);
        }
        Ok(())
    }

    /// Moves the entry to a name that is taken, which its holder loses.
    fn move_over(
        &self,
        caller: &Caller<'_>,
        ends: &RenameEnds<'a, '_>,
        source: &LockedEntry<'a>,
        target: &LockedEntry<'a>,
        runs: NameRuns,
    ) -> Result<(), Errno> {
        self.check_source(caller, ends, source)?;
        may_remove(ends.to.mode, target.mode, caller)?;
        match (source.mode.is_directory(), target.mode.is_directory()) {
            (true, false) => return Err(Errno::NOTDIR),
            (false, true) => return Err(Errno::ISDIR),
            (true, true) | (false, false) => {}
        }
        ends.check_move(caller, source)?;
        if target.mode.is_directory() && target.inode.load(cell::ENTRIES) != 0 {
            return Err(Errno::NOTEMPTY);
        }
        let now = self.seams().now_ns();
        let whiteout = self.whiteout(caller, ends, runs.whiteout, now)?;
        self.put_name(source, &ends.new, runs.new)?;
        self.replace_entry(ends.to.at, ends.to.line, &target.entry, source.entry.cell)?;
        self.leave(ends, source, whiteout, ends.from.entries().wrapping_sub(1))?;
        self.drop_name(&target.entry, target.at)?;
        self.lose_link(target.at, target.inode, target.mode, now)?;
        if !ends.is_across() && target.mode.is_directory() {
            let links = ends.from.line.load(cell::LINKS).wrapping_sub(1);
            self.put(ends.from.at, cell::LINKS, links);
        }
        self.arrive(ends, source, now);
        Ok(())
    }

    /// Checks that the caller may remove an entry from its directory.
    fn check_source(
        &self,
        caller: &Caller<'_>,
        ends: &RenameEnds<'a, '_>,
        source: &LockedEntry<'a>,
    ) -> Result<(), Errno> {
        ends.from.mode.allow(caller, WRITE)?;
        ends.to.mode.allow(caller, WRITE)?;
        may_remove(ends.from.mode, source.mode, caller)
    }

    /// Logs the new parent of a moved directory and the old parent's link count, and all new times.
    /// The caller updates the new parent's counts.
    fn arrive(&self, ends: &RenameEnds<'a, '_>, source: &LockedEntry<'a>, now: u64) {
        if ends.is_across() && source.mode.is_directory() {
            self.put(source.at, cell::PARENT, ends.to.at.0);
            let links = ends.from.line.load(cell::LINKS).wrapping_sub(1);
            self.put(ends.from.at, cell::LINKS, links);
        }
        self.put_changed(source.at, source.inode, now);
        self.touch(&ends.from, now);
        if ends.is_across() {
            self.touch(&ends.to, now);
        }
    }

    /// Logs the new name of an entry.
    fn put_name(&self, side: &LockedEntry<'a>, name: &Name<'_>, run: Ref) -> Result<(), Errno> {
        let cell = side.entry.cell;
        let [first, second, mut third] = name.words();
        if !name.is_short() {
            self.take_run(run)?;
            self.copy_in(run, 0, name.bytes())?;
            third |= u64::from(run.0) << 32;
        }
        self.drop_long_name(&side.entry)?;
        self.put(cell, cell::NAME, first);
        self.put(cell, cell::NAME.element(1), second);
        self.put(cell, cell::NAME.element(2), third);
        self.put(cell, cell::NAME_LENGTH, u8::from_bits(name.bytes().len() as u64));
        Ok(())
    }

    /// Swaps the names of two entries.
    fn exchange(&self, caller: &Caller<'_>, ends: &RenameEnds<'a, '_>) -> Result<(), Errno> {
        let source = self.find(ends.from.line, &ends.old)?.ok_or(Errno::NOENT)?;
        let target = self.find(ends.to.line, &ends.new)?.ok_or(Errno::NOENT)?;
        self.check_ends(ends, &source, None)?;
        if ends.is_across() && self.is_below(ends.from.at, self.inode_of(&target)?.0)? {
            return Err(Errno::INVAL);
        }
        if self.inode_of(&source)?.0 == self.inode_of(&target)?.0 {
            return Ok(());
        }
        let (source, target) = self.sides(source, target)?;
        self.check_source(caller, ends, &source)?;
        self.check_source(caller, &RenameEnds { from: ends.to, to: ends.from, ..*ends }, &target)?;
        ends.check_move(caller, &source)?;
        ends.check_move(caller, &target)?;
        let now = self.seams().now_ns();
        for (gets, of) in [(&source, &target), (&target, &source)] {
            for word in 0..cell::NAME_WORDS {
                let field = cell::NAME.element(word);
                self.put_later(gets.entry.cell, field, of.entry.line.load(field));
            }
            let length = of.entry.line.load(cell::NAME_LENGTH);
            self.put_later(gets.entry.cell, cell::NAME_LENGTH, length);
            self.put_changed(gets.at, gets.inode, now);
        }
        self.replace_entry(ends.from.at, ends.from.line, &source.entry, target.entry.cell)?;
        self.replace_entry(ends.to.at, ends.to.line, &target.entry, source.entry.cell)?;
        self.exchange_parents(ends, &source, &target);
        self.touch(&ends.from, now);
        self.touch(&ends.to, now);
        Ok(())
    }

    fn exchange_parents(
        &self,
        ends: &RenameEnds<'a, '_>,
        source: &LockedEntry<'a>,
        target: &LockedEntry<'a>,
    ) {
        let is_directory = (source.mode.is_directory(), target.mode.is_directory());
        if !ends.is_across() {
            return;
        }
        if is_directory.0 {
            self.put(source.at, cell::PARENT, ends.to.at.0);
        }
        if is_directory.1 {
            self.put(target.at, cell::PARENT, ends.from.at.0);
        }
        let (from, to) = (ends.from.line.load(cell::LINKS), ends.to.line.load(cell::LINKS));
        match is_directory {
            (true, false) => {
                self.put(ends.from.at, cell::LINKS, from.wrapping_sub(1));
                self.put(ends.to.at, cell::LINKS, to.wrapping_add(1));
            }
            (false, true) => {
                self.put(ends.from.at, cell::LINKS, from.wrapping_add(1));
                self.put(ends.to.at, cell::LINKS, to.wrapping_sub(1));
            }
            (true, true) | (false, false) => {}
        }
    }
}
