//! Renaming an entry, within a directory or across directories, in one step.

use super::{EntryName, LINKS_MOST, Parent, may_remove};
use crate::arena::{Line, Ref, Word};
use crate::directory::{Entry, Search, Vacancy};
use crate::errno::Errno;
use crate::layout::{cell, superblock};
use crate::member::{Member, Node};
use crate::modes::{Caller, Mode, WRITE};
use crate::name::Name;
use crate::seams::Seams;

/// How deep a directory may be before the arena is considered corrupt.
const DEPTH_MOST: u32 = 1 << 20;

/// What happens to an entry that already has the new name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rename {
    /// It is replaced.
    Replace,
    /// It stays, and the call fails: `RENAME_NOREPLACE`.
    NoReplace,
    /// It gets the old name: `RENAME_EXCHANGE`.
    Exchange,
}

/// An entry and its inode, which is locked.
#[derive(Clone, Copy, Debug)]
struct Side<'a> {
    entry: Entry<'a>,
    at: Ref,
    inode: Line<'a>,
    mode: Mode,
}

/// A rename of one entry.
#[derive(Clone, Copy, Debug)]
struct Move<'a, 'n> {
    from: Parent<'a>,
    to: Parent<'a>,
    old: Name<'n>,
    new: Name<'n>,
}

impl Move<'_, '_> {
    fn is_across(&self) -> bool {
        self.from.at != self.to.at
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
        let taken = if how == Rename::NoReplace { Errno::EXIST } else { Errno::BUSY };
        let (from, to) = (old.directory, new.directory);
        let (old, new) = (self.new_name(old.name, Errno::BUSY)?, self.new_name(new.name, taken)?);
        self.ready(0)?;
        let done = self.lock_both(caller, from, to).and_then(|(from, to)| {
            let one = Move { from, to, old, new };
            match how {
                Rename::Exchange => self.exchange(caller, &one),
                Rename::Replace | Rename::NoReplace => self.move_entry(caller, &one, how),
            }
        });
        if done.is_ok() {
            self.commit();
        } else {
            self.forget();
        }
        self.unlock_all();
        self.settle_if_possible();
        done
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
        for _ in 0..DEPTH_MOST {
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
    fn side(&self, entry: Entry<'a>) -> Result<Side<'a>, Errno> {
        let (at, _) = self.inode_of(&entry)?;
        let inode = self.lock(at)?;
        let mode = self.mode(inode.load(cell::MODE))?;
        Ok(Side { entry, at, inode, mode })
    }

    /// Locks both inodes, in the order of their numbers.
    fn sides(&self, source: Entry<'a>, target: Entry<'a>) -> Result<(Side<'a>, Side<'a>), Errno> {
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
        one: &Move<'a, '_>,
        how: Rename,
    ) -> Result<(), Errno> {
        let (source, target) = loop {
            let source = self.find(one.from.line, &one.old)?.ok_or(Errno::NOENT)?;
            match self.search(one.to.at, one.to.line, &one.new)? {
                Search::Found(target) => break (source, target),
                Search::Vacant(vacancy) => {
                    let run = self.obtain_name(&one.new)?;
                    self.check_ends(one, &source, None)?;
                    let source = self.side(source)?;
                    return self.move_to_new(caller, one, &source, &vacancy, run);
                }
                // Growing the table moves both entries.
                Search::Full => self.grow(one.to.at, one.to.line)?,
            }
        };
        if how == Rename::NoReplace {
            return Err(Errno::EXIST);
        }
        self.check_ends(one, &source, Some(&target))?;
        if self.inode_of(&source)?.0 == self.inode_of(&target)?.0 {
            return Ok(());
        }
        let is_short = one.new.is_short();
        let run = if is_short { Ref::NONE } else { self.obtain_run(one.new.lines())? };
        let (source, target) = self.sides(source, target)?;
        self.move_over(caller, one, &source, &target, run)
    }

    /// Checks that no directory would move into itself, and that no directory above the source
    /// would be replaced.
    fn check_ends(
        &self,
        one: &Move<'a, '_>,
        source: &Entry<'a>,
        target: Option<&Entry<'a>>,
    ) -> Result<(), Errno> {
        if !one.is_across() {
            return Ok(());
        }
        if self.is_below(one.to.at, self.inode_of(source)?.0)? {
            return Err(Errno::INVAL);
        }
        match target {
            Some(target) if self.is_below(one.from.at, self.inode_of(target)?.0)? => {
                Err(Errno::NOTEMPTY)
            }
            _ => Ok(()),
        }
    }

    /// Moves the entry to a name that is not taken.
    fn move_to_new(
        &self,
        caller: &Caller<'_>,
        one: &Move<'a, '_>,
        source: &Side<'a>,
        vacancy: &Vacancy,
        run: Ref,
    ) -> Result<(), Errno> {
        self.check_source(caller, one, source)?;
        let is_directory = source.mode.is_directory();
        let to_links = one.to.line.load(cell::LINKS);
        if is_directory && one.is_across() && to_links >= LINKS_MOST {
            return Err(Errno::MLINK);
        }
        let now = self.seams().now_ns();
        self.put_name(source, &one.new, run)?;
        self.place_entry(vacancy, source.entry.cell);
        let entries = one.from.entries();
        if one.is_across() {
            let left = entries.wrapping_sub(1);
            self.clear_entry(one.from.at, one.from.line, &source.entry, left)?;
            self.put(one.from.at, cell::ENTRIES, left);
            self.put(one.to.at, cell::ENTRIES, one.to.entries().wrapping_add(1));
            if is_directory {
                self.put(one.to.at, cell::LINKS, to_links.wrapping_add(1));
            }
        } else {
            self.clear_entry(one.from.at, one.from.line, &source.entry, entries)?;
        }
        self.arrive(one, source, now);
        Ok(())
    }

    /// Moves the entry to a name that is taken, which its holder loses.
    fn move_over(
        &self,
        caller: &Caller<'_>,
        one: &Move<'a, '_>,
        source: &Side<'a>,
        target: &Side<'a>,
        run: Ref,
    ) -> Result<(), Errno> {
        self.check_source(caller, one, source)?;
        may_remove(one.to.mode, target.mode, caller)?;
        match (source.mode.is_directory(), target.mode.is_directory()) {
            (true, false) => return Err(Errno::NOTDIR),
            (false, true) => return Err(Errno::ISDIR),
            (true, true) if target.inode.load(cell::ENTRIES) != 0 => return Err(Errno::NOTEMPTY),
            (true, true) | (false, false) => {}
        }
        let now = self.seams().now_ns();
        self.put_name(source, &one.new, run)?;
        self.replace_entry(one.to.at, one.to.line, &target.entry, source.entry.cell)?;
        let left = one.from.entries().wrapping_sub(1);
        self.clear_entry(one.from.at, one.from.line, &source.entry, left)?;
        self.put(one.from.at, cell::ENTRIES, left);
        self.drop_name(&target.entry, target.at)?;
        self.lose_link(target.at, target.inode, target.mode, now)?;
        if !one.is_across() && target.mode.is_directory() {
            let links = one.from.line.load(cell::LINKS).wrapping_sub(1);
            self.put(one.from.at, cell::LINKS, links);
        }
        self.arrive(one, source, now);
        Ok(())
    }

    /// Checks that the caller may remove an entry from its directory.
    fn check_source(
        &self,
        caller: &Caller<'_>,
        one: &Move<'a, '_>,
        source: &Side<'a>,
    ) -> Result<(), Errno> {
        one.from.mode.allow(caller, WRITE)?;
        one.to.mode.allow(caller, WRITE)?;
        may_remove(one.from.mode, source.mode, caller)?;
        if one.is_across() && source.mode.is_directory() {
            // Its `..` changes.
            source.mode.allow(caller, WRITE)?;
        }
        Ok(())
    }

    /// Logs the new parent of a moved directory and the old parent's link count, and all new times.
    /// The caller updates the new parent's counts.
    fn arrive(&self, one: &Move<'a, '_>, source: &Side<'a>, now: u64) {
        if one.is_across() && source.mode.is_directory() {
            self.put(source.at, cell::PARENT, one.to.at.0);
            let links = one.from.line.load(cell::LINKS).wrapping_sub(1);
            self.put(one.from.at, cell::LINKS, links);
        }
        self.put_changed(source.at, source.inode, now);
        self.touch(&one.from, now);
        if one.is_across() {
            self.touch(&one.to, now);
        }
    }

    /// Logs the new name of an entry.
    fn put_name(&self, side: &Side<'a>, name: &Name<'_>, run: Ref) -> Result<(), Errno> {
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
        self.put(cell, cell::NAME_LENGTH, u8::of_bits(name.bytes().len() as u64));
        Ok(())
    }

    /// Swaps the names of two entries.
    fn exchange(&self, caller: &Caller<'_>, one: &Move<'a, '_>) -> Result<(), Errno> {
        let source = self.find(one.from.line, &one.old)?.ok_or(Errno::NOENT)?;
        let target = self.find(one.to.line, &one.new)?.ok_or(Errno::NOENT)?;
        self.check_ends(one, &source, None)?;
        if one.is_across() && self.is_below(one.from.at, self.inode_of(&target)?.0)? {
            return Err(Errno::INVAL);
        }
        if self.inode_of(&source)?.0 == self.inode_of(&target)?.0 {
            return Ok(());
        }
        let (source, target) = self.sides(source, target)?;
        self.check_source(caller, one, &source)?;
        self.check_source(caller, &Move { from: one.to, to: one.from, ..*one }, &target)?;
        let now = self.seams().now_ns();
        for (gets, of) in [(&source, &target), (&target, &source)] {
            for word in 0..cell::NAME_WORDS {
                let field = cell::NAME.element(word);
                self.put(gets.entry.cell, field, of.entry.line.load(field));
            }
            let length = of.entry.line.load(cell::NAME_LENGTH);
            self.put(gets.entry.cell, cell::NAME_LENGTH, length);
            self.put_changed(gets.at, gets.inode, now);
        }
        self.replace_entry(one.from.at, one.from.line, &source.entry, target.entry.cell)?;
        self.replace_entry(one.to.at, one.to.line, &target.entry, source.entry.cell)?;
        self.exchange_parents(one, &source, &target);
        self.touch(&one.from, now);
        self.touch(&one.to, now);
        Ok(())
    }

    fn exchange_parents(&self, one: &Move<'a, '_>, source: &Side<'a>, target: &Side<'a>) {
        let is_directory = (source.mode.is_directory(), target.mode.is_directory());
        if !one.is_across() {
            return;
        }
        if is_directory.0 {
            self.put(source.at, cell::PARENT, one.to.at.0);
        }
        if is_directory.1 {
            self.put(target.at, cell::PARENT, one.from.at.0);
        }
        let (from, to) = (one.from.line.load(cell::LINKS), one.to.line.load(cell::LINKS));
        match is_directory {
            (true, false) => {
                self.put(one.from.at, cell::LINKS, from.wrapping_sub(1));
                self.put(one.to.at, cell::LINKS, to.wrapping_add(1));
            }
            (false, true) => {
                self.put(one.from.at, cell::LINKS, from.wrapping_add(1));
                self.put(one.to.at, cell::LINKS, to.wrapping_sub(1));
            }
            (true, true) | (false, false) => {}
        }
    }
}
