//! The table of descriptors of each process.

use super::flags;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::arena::{Field, LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::file_locks::LockOwner;
use crate::layout::{cell, description, process};
use crate::member::Member;
use crate::seams::Seams;

/// An index into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(pub(super) u32);

impl Place {
    /// The working directory's.
    pub(super) const WORKING: Self = Self(process::WORKING);

    /// A descriptor's.
    #[inline(always)]
    pub(super) fn of(descriptor: u32) -> Result<Self, Errno> {
        descriptor.checked_add(process::FIRST).map(Self).ok_or(Errno::BADF)
    }

    /// The descriptor at this place.
    pub(super) fn descriptor(self) -> u32 {
        self.0.wrapping_sub(process::FIRST)
    }
}

/// A table: where it begins, and its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) start: Ref,
    pub(super) bits: Option<u32>,
}

impl Table {
    pub(super) fn of_word(word: u64) -> Self {
        let bits = u32::of_bits(word >> 32).checked_sub(1);
        Self { start: Ref(u32::of_bits(word)), bits: bits.map(|bits| bits.min(process::BITS_MOST)) }
    }

    fn word(self) -> u64 {
        u64::from(self.start.0) | self.bits.map_or(0, |bits| u64::from(bits + 1) << 32)
    }

    pub(super) fn lines(self) -> u32 {
        self.bits.map_or(0, |bits| 1 << bits)
    }

    pub(super) fn places(self) -> u32 {
        self.lines() * process::ENTRIES_PER_LINE
    }

    /// The line and the index of a place in it; none if the table is too short.
    #[inline(always)]
    fn at(self, place: Place) -> Option<(Ref, u32)> {
        let line = self.start.plus(place.0 / process::ENTRIES_PER_LINE);
        (place.0 < self.places()).then_some((line, place.0 % process::ENTRIES_PER_LINE))
    }
}

/// The content of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The line of the place.
    pub(super) line: Ref,
    pub(super) place: u32,
    /// Its content.
    pub(super) value: u64,
    /// The word with the table's position, as it was then.
    table: u64,
}

impl Entry {
    pub(super) fn description(self) -> Ref {
        Ref(u32::of_bits(self.value))
    }

    fn field(self) -> Field<u64> {
        process::ENTRY.element(self.place as usize)
    }
}

/// What a process has open, for the check of an arena: its table, and the descriptions it refers
/// to.
pub(crate) struct Held {
    pub(super) table: Table,
}

impl Held {
    /// What the process with this record has open.
    pub(crate) fn by(record: Line<'_>) -> Self {
        Self { table: Table::of_word(record.load(process::TABLE)) }
    }

    /// The table's run; it may have no lines.
    pub(crate) fn run(&self) -> (Ref, u32) {
        (self.table.start, self.table.lines())
    }

    /// The positions of its places, including empty ones.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Ref, Field<u64>)> {
        let table = self.table;
        (0..table.places()).filter_map(move |place| {
            let (line, place) = table.at(Place(place))?;
            Some((line, process::ENTRY.element(place as usize)))
        })
    }
}

/// The table entry for a descriptor.
pub(super) fn entry_of(description: Ref, flags: u32) -> u64 {
    let closes_on_exec = u64::from(flags & flags::CLOSE_ON_EXEC != 0);
    u64::from(description.0) | closes_on_exec << 32
}

impl<'a, S: Seams> Member<'a, S> {
    /// The content of a place of a process' table.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it is empty.
    #[inline]
    pub(super) fn entry(&self, of: Ref, place: Place) -> Result<Entry, Errno> {
        let entry = self.place_in(of, place)?;
        if entry.value == 0 { Err(Errno::BADF) } else { Ok(entry) }
    }

    /// A place of a process' table, which may be empty.
    #[inline(always)]
    fn place_in(&self, of: Ref, place: Place) -> Result<Entry, Errno> {
        let record = self.line(of)?;
        let word = record.load(process::TABLE);
        let (line, place) = Table::of_word(word).at(place).ok_or(Errno::BADF)?;
        let value = self.line(line)?.load(process::ENTRY.element(place as usize));
        if record.load(process::TABLE) == word {
            Ok(Entry { line, place, value, table: word })
        } else {
            // The table has just grown.
            Err(Errno::STALE)
        }
    }

    /// Whether a place of a process' table still has this content.
    #[inline(always)]
    pub(crate) fn is_in_place(&self, of: Ref, place: u32, value: u64) -> Result<bool, Errno> {
        Ok(self.place_in(of, Place(place))?.value == value)
    }

    /// The inode of the description that a place of our own process refers to.
    ///
    /// # Errors
    /// [`Errno::STALE`] if the place has changed: the cell may have become anything since.
    #[inline(always)]
    pub(super) fn inode_of_entry(&self, place: Place, entry: &Entry) -> Result<Ref, Errno> {
        let inode = Ref(self.line(entry.description())?.load(description::INODE));
        compiler_fence(Ordering::SeqCst);
        let is_same = self.is_in_place(self.process(), place.0, entry.value)?;
        if is_same { Ok(inode) } else { Err(Errno::STALE) }
    }

    /// The first free place from `from` on. The record must be locked.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if the table has to grow first.
    #[inline(always)]
    pub(super) fn vacant(&self, record: Line<'a>, from: Place) -> Result<Entry, Errno> {
        let word = record.load(process::TABLE);
        let table = Table::of_word(word);
        let lowest = record.load(process::LOWEST).max(process::FIRST);
        let mut place = Place(lowest.max(from.0));
        while let Some((line, within)) = table.at(place) {
            let value = self.line(line)?.load(process::ENTRY.element(within as usize));
            if value == 0 {
                // Not logged: it is true whether or not this place gets used.
                if from.0 <= lowest && place.0 > lowest {
                    self.fill(record, process::LOWEST, place.0);
                }
                return Ok(Entry { line, place: within, value: place.0.into(), table: word });
            }
            place.0 += 1;
        }
        Err(Errno::AGAIN)
    }

    /// This place, if it is empty. The record must be locked.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if the table has to grow first; [`Errno::BUSY`] if it is not empty.
    pub(super) fn vacant_at(&self, of: Ref, place: Place) -> Result<Entry, Errno> {
        let entry = self.place_in(of, place).map_err(|_| Errno::AGAIN)?;
        if entry.value != 0 {
            return Err(Errno::BUSY);
        }
        Ok(Entry { value: place.0.into(), ..entry })
    }

    /// Logs that a vacant place refers to a description; returns the place.
    pub(super) fn put_entry(&self, vacant: Entry, value: u64) -> Place {
        self.put(vacant.line, vacant.field(), value);
        Place(u32::of_bits(vacant.value))
    }

    /// Grows a process' table: at least to twice its size, and enough to contain this place.
    ///
    /// # Errors
    /// [`Errno::MFILE`] if the table would be too large; [`Errno::NOSPC`].
    #[cold]
    #[inline(never)]
    pub(super) fn lengthen(&self, of: Ref, place: Place) -> Result<(), Errno> {
        let record = self.lock(of)?;
        let done = self.lengthen_locked(of, record.load(process::TABLE), place);
        self.forget();
        self.unlock();
        done
    }

    fn lengthen_locked(&self, of: Ref, word: u64, place: Place) -> Result<(), Errno> {
        let old = Table::of_word(word);
        let needed = old.places().max(place.0).saturating_add(1);
        let lines = needed.div_ceil(process::ENTRIES_PER_LINE).max(1);
        let bits = lines.checked_next_power_of_two().map_or(u32::MAX, u32::ilog2);
        // A run has fewer lines than a page, or whole pages; a power of two is always one of these.
        if bits > process::BITS_MOST {
            return Err(Errno::MFILE);
        }
        let lines = 1 << bits;
        debug_assert!(lines < LINES_PER_PAGE || lines.is_multiple_of(LINES_PER_PAGE));
        let start = self.obtain_run(lines)?;
        self.zero(start, lines)?;
        for line in 0..old.lines() {
            let (from, into) = (self.line(old.start.plus(line))?, self.line(start.plus(line))?);
            for entry in 0..process::ENTRIES_PER_LINE as usize {
                let field = process::ENTRY.element(entry);
                self.fill(into, field, from.load(field));
            }
        }
        self.take_run(start)?;
        if old.bits.is_some() {
            self.give_run(old.start, old.lines())?;
        }
        self.put(of, process::TABLE, Table { start, bits: Some(bits) }.word());
        self.commit();
        Ok(())
    }

    /// Closes a descriptor. An inode without names is freed with its last descriptor.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it is not open.
    #[inline]
    pub fn close(&self, descriptor: u32) -> Result<(), Errno> {
        self.close_place(self.process(), Place::of(descriptor)?)
    }

    /// Empties a place, if it is not empty.
    pub(super) fn close_if_open(&self, of: Ref, place: Place) -> Result<(), Errno> {
        match self.close_place(of, place) {
            Err(Errno::BADF) => Ok(()),
            done => done,
        }
    }

    #[inline]
    fn close_place(&self, of: Ref, place: Place) -> Result<(), Errno> {
        self.again(|| {
            self.ready(0)?;
            let entry = self.entry(of, place)?;
            let line = self.lock_description(entry)?;
            let inode = Ref(line.load(description::INODE));
            let done = self.lock(inode).and_then(|inode_line| {
                if inode_line.load(cell::FORM) == cell::ANNEX {
                    self.drop_locks_of_closed(of, entry, (inode, inode_line))?;
                }
                let record = self.lock(of)?;
                self.give_up((place, entry), (line, record), (inode, inode_line), 0)?;
                if place == Place::WORKING {
                    self.put_change(of, record);
                }
                Ok(())
            });
            if done.is_ok() {
                self.commit();
            }
            self.forget();
            self.unlock_all();
            self.settle_if_possible();
            done
        })
    }

    /// Releases the file locks that end with a descriptor: those of the process, and those of the
    /// description if this is its last descriptor.
    pub(super) fn drop_locks_of_closed(
        &self,
        of: Ref,
        entry: Entry,
        (inode, line): (Ref, Line<'a>),
    ) -> Result<(), Errno> {
        let closed = entry.description();
        let is_last = self.line(closed)?.load(description::REFERENCES) <= 1;
        self.drop_locks(inode, line, &|owner| match owner {
            LockOwner::Process { record } => record == of.0,
            LockOwner::Whole { description } | LockOwner::Description { description } => {
                is_last && description == closed.0
            }
        })
    }

    /// Locks the description that a place refers to.
    ///
    /// # Errors
    /// [`Errno::STALE`] if the place no longer refers to it.
    #[inline(always)]
    pub(super) fn lock_description(&self, entry: Entry) -> Result<Line<'a>, Errno> {
        let at = entry.description();
        let line = self.lock(at)?;
        if self.line(entry.line)?.load(entry.field()) == entry.value {
            return Ok(line);
        }
        self.unlock();
        Err(Errno::STALE)
    }

    /// Logs that a place gets new content, or 0 for none, with all that follows from that.
    /// Description, inode and record must be locked.
    #[inline(always)]
    pub(super) fn give_up(
        &self,
        (place, entry): (Place, Entry),
        (line, record): (Line<'a>, Line<'a>),
        (inode, inode_line): (Ref, Line<'a>),
        becomes: u64,
    ) -> Result<(), Errno> {
        // The table may have grown, and the place may have moved.
        let is_there = record.load(process::TABLE) == entry.table;
        if !is_there || self.line(entry.line)?.load(entry.field()) != entry.value {
            return Err(Errno::STALE);
        }
        // Not logged: it is true now, whatever happens to this place.
        let is_free = becomes == 0 && place.0 >= process::FIRST;
        if is_free && place.0 < record.load(process::LOWEST) {
            self.fill(record, process::LOWEST, place.0);
        }
        self.put(entry.line, entry.field(), becomes);
        let references = line.load(description::REFERENCES).wrapping_sub(1);
        if references != 0 {
            self.put(entry.description(), description::REFERENCES, references);
            return Ok(());
        }
        self.give_cell(entry.description())?;
        let opens = inode_line.load(cell::OPENS).checked_sub(1).ok_or(Errno::CORRUPT)?;
        self.put(inode, cell::OPENS, opens);
        let is_gone = opens == 0 && inode_line.load(cell::LINKS) == 0;
        if is_gone { self.let_go(inode, inode_line) } else { Ok(()) }
    }

    /// Duplicates a descriptor, to the lowest free one from `lowest` on.
    ///
    /// # Errors
    /// [`Errno::BADF`], [`Errno::MFILE`], [`Errno::NOSPC`].
    pub fn duplicate(&self, descriptor: u32, lowest: u32, flags: u32) -> Result<u32, Errno> {
        let lowest = Place::of(lowest).map_err(|_| Errno::INVAL)?;
        let of = self.process();
        loop {
            let done = self.copy_entry(of, Place::of(descriptor)?, flags, |member| {
                member.vacant(member.line(of)?, lowest)
            });
            match done {
                Err(Errno::AGAIN) => self.lengthen(of, lowest)?,
                done => return Ok(done?.descriptor()),
            }
        }
    }

    /// Copies all descriptors of this process to another, and the working directory: what a forked
    /// child starts with.
    ///
    /// # Errors
    /// [`Errno::NOSPC`], [`Errno::CORRUPT`].
    pub fn copy_descriptors(&self, to: u32) -> Result<(), Errno> {
        let (of, to) = (self.process(), self.geometry().process(to)?);
        let places = Table::of_word(self.line(of)?.load(process::TABLE)).places();
        for place in (0..places).map(Place) {
            let Ok(entry) = self.entry(of, place) else { continue };
            let flags = if entry.value >> 32 == 0 { 0 } else { flags::CLOSE_ON_EXEC };
            loop {
                match self.copy_entry(to, place, flags, |member| member.vacant_at(to, place)) {
                    Err(Errno::AGAIN) => self.lengthen(to, place)?,
                    // It has just been closed.
                    Err(Errno::BADF) => break,
                    Err(why) => return Err(why),
                    Ok(_) => break,
                }
            }
        }
        Ok(())
    }

    /// Copies the reference at place `from` of our own process to the place that the closure
    /// chooses, in a table that may be another process'.
    pub(super) fn copy_entry(
        &self,
        to: Ref,
        from: Place,
        flags: u32,
        vacant: impl Fn(&Self) -> Result<Entry, Errno>,
    ) -> Result<Place, Errno> {
        self.again(|| {
            let entry = self.entry(self.process(), from)?;
            let at = entry.description();
            let inode = self.inode_of_entry(from, &entry)?;
            self.lock(inode)?;
            let done = self.lock(to).and_then(|_| {
                let line = self.line(at)?;
                let is_same = self.entry(self.process(), from)?.value == entry.value;
                if !is_same || line.load(description::INODE) != inode.0 {
                    return Err(Errno::STALE);
                }
                let references = line.load(description::REFERENCES).checked_add(1);
                self.put(at, description::REFERENCES, references.ok_or(Errno::NFILE)?);
                let place = self.put_entry(vacant(self)?, entry_of(at, flags));
                Ok(place)
            });
            if done.is_ok() {
                self.commit();
            }
            self.forget();
            self.unlock_all();
            done
        })
    }
}
