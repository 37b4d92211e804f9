//! Listing a directory, in parts between which it may change.
//!
//! Entries come in the order of their names' hashes, which is the order of the table, whatever its
//! size. A position is the beginning of such a hash. A listing that continues after a position has
//! every entry that was there all the time exactly once, and entries that came or went meanwhile at
//! most once.
//!
//! Most hashes need not be computed: a bucket and a tag are the first bits of one. If no other
//! entry of the directory has the same bits, an entry's position is the last one that begins with
//! them.

mod batch;
mod gathered;

use core::ops::Range;

use crate::arena::{Line, Ref, Word};
use crate::directory::{Table, bits, name_words, places_in_use};
use crate::errno::Errno;
use crate::layout::{bucket, cell, mode_entry};
use crate::member::{Member, Node};
use crate::modes::{Caller, READ, TYPE};
use crate::name::NAME_MAX;
use crate::seams::Seams;
pub use batch::Batch;
use gathered::{GROUPS_MAX, Gathered};

/// The first position that an entry can have. Lower ones are for `.` and `..`, which callers add.
pub const POSITION_FIRST: u64 = 4;

/// Bits of a tag.
const TAG_BITS: u32 = u8::BITS;
const TAG_MAX: u64 = u8::MAX as u64;

/// With this many entries gathered, no further bucket is added.
const GATHERED_ENOUGH: usize = 48;
/// A table of 2^this many buckets is large: its entries' cells do not fit into fast caches.
const LARGE_BITS: u32 = 12;
/// Per this many entries, the cells of one bucket are prefetched. A bucket has more entries.
const PACE: usize = 4;

/// An entry of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedEntry<'n> {
    /// Its name.
    pub name: &'n [u8],
    /// The name padded with zeros, if it is short enough.
    pub short: Option<&'n [u8; cell::NAME_MAX]>,
    /// Its inode number.
    pub ino: u64,
    /// The type bits of its `st_mode`.
    pub type_bits: u32,
    /// Its position, less than 2^63. To continue after the entry, begin at the position plus one.
    /// It need not be the same in the next listing, and a listing that begins at it does not always
    /// include the entry.
    pub position: u64,
}

/// Receives the entries of a listing as they are found. They may be changing at that moment, so an
/// entry only counts once it has been kept.
pub trait EntrySink {
    /// Takes an entry; false if there is no room for it, or no more are wanted. The name may be
    /// garbage if the entry is taken back later.
    fn take(&mut self, one: ListedEntry<'_>) -> bool;
    /// Drops the entries that have not been kept.
    fn take_back(&mut self);
    /// Keeps the entries taken so far.
    fn keep(&mut self);
}

/// How far a part of a listing got.
struct Progress {
    next: u64,
    /// Whether the listing ends here.
    is_last: bool,
}

/// What follows the gathered entries.
#[derive(Clone, Copy)]
enum Following {
    /// The bucket that begins with this position.
    Bucket(u64),
    /// More entries of the same bucket.
    Entry,
    /// Nothing.
    All,
}

/// How often to look for an inode's type while its mode changes. Only malice could change it that
/// often.
const TRIES: u32 = 1000;

/// The mode of the previous entry, and its type: most are the same.
struct LastType(u16, u32);

/// The position of a name with this hash: an even number, so that the position plus one is never
/// another's.
fn position_of(hash: u64) -> u64 {
    (hash >> 1 & !1).max(POSITION_FIRST)
}

impl<'a, S: Seams> Member<'a, S> {
    /// Passes entries from a position on to a sink, as long as it takes them, and advances the
    /// position past those that are kept. The directory may change meanwhile.
    ///
    /// # Errors
    /// [`Errno::NOTDIR`], [`Errno::ACCES`].
    pub fn list(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        next: &mut u64,
        sink: &mut impl EntrySink,
    ) -> Result<(), Errno> {
        self.read_node(directory, |line| self.directory_mode(line)?.allow(caller, READ))?;
        let (mut gathered, mut last_type) = (Gathered::new(), LastType(cell::LINK_MARK, 0));
        loop {
            let progress = self.read_node(directory, |line| {
                sink.take_back();
                self.list_part(self.body(line)?, *next, &mut gathered, &mut last_type, sink)
            });
            let progress = progress.inspect_err(|_| sink.take_back())?;
            sink.keep();
            *next = progress.next;
            if progress.is_last {
                return Ok(());
            }
        }
    }

    /// Passes some entries from a position on to a sink.
    #[inline(always)]
    fn list_part(
        &self,
        body: Line<'a>,
        from: u64,
        gathered: &mut Gathered,
        last_type: &mut LastType,
        sink: &mut impl EntrySink,
    ) -> Result<Progress, Errno> {
        gathered.clear();
        let following = match self.gather(body, from, gathered)? {
            Some(following) => following,
            None => self.gather_bucket(body, from, gathered)?,
        };
        let until = if let Following::Bucket(next) = following { next } else { u64::MAX };
        let mut ahead = self.buckets_ahead(body, following, gathered);
        let mut next = from;
        for number in 0..gathered.count {
            // A few at a time: a processor that waits for many cells at once does nothing else.
            if number % PACE == 0
                && let Some(bucket) = ahead.next()
            {
                self.fetch_cells(Ref(bucket));
            }
            let (position, cell) = gathered.entry(number);
            // These come before the position: they have been listed already, or the arena is
            // corrupt.
            if position < next {
                continue;
            }
            if position >= until {
                break;
            }
            if !self.tell(cell, position, last_type, sink)? {
                return Ok(Progress { next, is_last: true });
            }
            next = position + 1;
        }
        Ok(match following {
            Following::Bucket(next) => Progress { next, is_last: false },
            Following::Entry => Progress { next, is_last: false },
            Following::All => Progress { next, is_last: true },
        })
    }

    /// Gathers, in order, the entries that belong in the bucket with this position and in some of
    /// the following ones; none if there is not enough room.
    #[inline(never)]
    fn gather(
        &self,
        body: Line<'a>,
        from: u64,
        gathered: &mut Gathered,
    ) -> Result<Option<Following>, Errno> {
        let Some(table) = Table::from_body(body) else {
            let only = Ref(body.load(cell::DATA));
            if only.is_some() {
                gathered.add_lowest(position_of(self.hash_in(self.line(only)?)?), only);
            }
            return Ok(Some(Following::All));
        };
        let first = table.home(from << 1);
        let (mut last, mut reach) = (first, 0);
        loop {
            let line = self.line(table.after(last, 0))?;
            if !gathered.add_bucket(line) {
                return Ok(None);
            }
            // Entries that did not fit there are in the following buckets.
            let its_reach = u32::from(line.load(bucket::REACH));
            reach = if its_reach == 0 { reach } else { reach.max(last + its_reach) };
            let is_enough = gathered.count >= GATHERED_ENOUGH;
            if is_enough || gathered.groups >= GROUPS_MAX || last + 1 == table.buckets() {
                break;
            }
            last += 1;
        }
        gathered.fetch(self.arena());
        if reach > 0 && !self.gather_strangers(table, first, last, reach, gathered)? {
            return Ok(None);
        }
        self.locate(table, first, from, gathered)?;
        Ok(Some(table.following(last)))
    }

    /// The buckets whose cells will be needed after the gathered ones, if they are worth being
    /// prefetched: those of a small directory are in the processor's caches.
    #[inline(always)]
    fn buckets_ahead(&self, body: Line<'a>, next: Following, gathered: &Gathered) -> Range<u32> {
        match (Table::from_body(body), next) {
            (Some(table), Following::Bucket(position)) if table.bits >= LARGE_BITS => {
                let (first, groups) =
                    (table.home(position << 1), u32::from_bits(gathered.groups as u64));
                let start = table.start;
                start.plus(first).0..start.plus((first + groups).min(table.buckets())).0
            }
            _ => 0..0,
        }
    }

    /// Gathers the entries that belong in these buckets but are stored in others, up to the
    /// farthest that any of these buckets reaches; false if there is no room for them.
    #[cold]
    #[inline(never)]
    fn gather_strangers(
        &self,
        table: Table,
        first: u32,
        last: u32,
        reach: u32,
        gathered: &mut Gathered,
    ) -> Result<bool, Errno> {
        for bucket in first..=reach.min(first + table.buckets() - 1) {
            let line = self.line(table.after(bucket, 0))?;
            for place in bits(places_in_use(line).1) {
                let cell = Ref(line.load(bucket::ENTRY.element(place)));
                let hash = self.hash_in(self.line(cell)?)?;
                let group = table.home(hash).wrapping_sub(first);
                let is_one = group <= last - first;
                if is_one && !gathered.add_stranger(group, table.tag(hash), cell) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Determines the positions of the gathered entries, which start with this bucket.
    #[inline(always)]
    fn locate(
        &self,
        table: Table,
        first: u32,
        from: u64,
        gathered: &mut Gathered,
    ) -> Result<(), Errno> {
        let shift = table.position_bits() - TAG_BITS;
        let (before, low_bits) = (u64::from(first) << TAG_BITS, (1 << shift) - 1);
        let all_differ = gathered.locate(before, shift);
        // Normally a listing continues before or after all entries with the same tag.
        let is_between = ![0, low_bits].contains(&(from & low_bits));
        if all_differ && !is_between {
            return Ok(());
        }
        self.locate_alike(before, shift, from, gathered)
    }

    /// Computes the exact positions of entries with equal tags, and of those with the tag within
    /// which the listing continues.
    #[cold]
    #[inline(never)]
    fn locate_alike(
        &self,
        before: u64,
        shift: u32,
        from: u64,
        gathered: &mut Gathered,
    ) -> Result<(), Errno> {
        gathered.note_positions();
        let at_or_after = |number: &usize| gathered.entry(*number).0 >= from;
        if let Some(number) = (0..gathered.count).find(at_or_after) {
            let (prefix, _) = gathered.alike(number);
            // A tag of 1 also stands for 0.
            let lowest = before + if prefix & TAG_MAX == 1 { prefix - 1 } else { prefix };
            if lowest << shift < from {
                self.locate_run(number, gathered)?;
            }
        }
        let mut next = 0;
        while let Some(number) = gathered.next_alike(next) {
            next = self.locate_run(number, gathered)?;
        }
        Ok(())
    }

    /// Computes the positions of the entries from this one on that have its tag; returns the number
    /// of the next entry.
    fn locate_run(&self, begin: usize, gathered: &mut Gathered) -> Result<usize, Errno> {
        let end = begin + gathered.alike(begin).1;
        for number in begin..end {
            let (_, cell) = gathered.entry(number);
            let hash = self.hash_in(self.line(cell)?)?;
            gathered.relocate(begin, number, position_of(hash));
        }
        Ok(end)
    }

    /// Gathers, in order, only the entries that belong in the bucket with this position: as many as
    /// there is room for.
    #[cold]
    #[inline(never)]
    fn gather_bucket(
        &self,
        body: Line<'a>,
        from: u64,
        gathered: &mut Gathered,
    ) -> Result<Following, Errno> {
        gathered.clear();
        let Some(table) = Table::from_body(body) else { return Ok(Following::All) };
        let home = table.home(from << 1);
        let reach = self.line(table.after(home, 0))?.load(bucket::REACH);
        let mut all_fit = true;
        for distance in 0..=u32::from(reach).min(table.buckets() - 1) {
            let line = self.line(table.after(home, distance))?;
            let (natives, strangers) = places_in_use(line);
            for place in bits(natives | strangers) {
                let cell = Ref(line.load(bucket::ENTRY.element(place)));
                let hash = self.hash_in(self.line(cell)?)?;
                let position = position_of(hash);
                if table.home(hash) == home && position >= from {
                    all_fit &= gathered.add_lowest(position, cell);
                }
            }
        }
        Ok(if all_fit { table.following(home) } else { Following::Entry })
    }

    /// Passes an entry to a sink; returns whether it took it.
    #[inline(always)]
    fn tell(
        &self,
        cell: Ref,
        position: u64,
        last_type: &mut LastType,
        sink: &mut impl EntrySink,
    ) -> Result<bool, Errno> {
        let line = self.line(cell)?;
        let (inode, type_bits) = self.type_of(cell, line, last_type)?;
        let ino = self.ino_at(inode);
        let length = usize::from(line.load(cell::NAME_LENGTH));
        let short = short_of(name_words(line));
        match short.get(..length) {
            Some(name) => {
                Ok(sink.take(ListedEntry { name, short: Some(&short), ino, type_bits, position }))
            }
            None => self.tell_long(line, ino, type_bits, position, sink),
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_long(
        &self,
        line: Line<'a>,
        ino: u64,
        type_bits: u32,
        position: u64,
        sink: &mut impl EntrySink,
    ) -> Result<bool, Errno> {
        let mut bytes = [0; NAME_MAX];
        let name = self.name_of(line, &mut bytes)?;
        Ok(sink.take(ListedEntry { name, short: None, ino, type_bits, position }))
    }

    /// The inode that an entry refers to, and its type.
    #[inline(always)]
    fn type_of(&self, cell: Ref, line: Line<'a>, last: &mut LastType) -> Result<(Ref, u32), Errno> {
        let (mut inode, mut index) = (cell, line.load(cell::MODE));
        if index == cell::LINK_MARK {
            inode = Ref(line.load(cell::TARGET));
            index = self.line(inode)?.load(cell::MODE);
        }
        if index != last.0 {
            *last = self.look_type_up(self.line(inode)?, index)?;
        }
        Ok((inode, last.1))
    }

    /// The type of an inode that has this mode, or had it a moment ago.
    fn look_type_up(&self, inode: Line<'_>, mut index: u16) -> Result<LastType, Errno> {
        let mut type_bits = self.mode(index)?.mode & TYPE;
        if u32::from(index) < mode_entry::LASTING {
            return Ok(LastType(index, type_bits));
        }
        // When the inode gets another mode, this entry may get another meaning.
        for _ in 0..TRIES {
            let now = inode.load(cell::MODE);
            if now == index {
                break;
            }
            index = now;
            type_bits = self.mode(index)?.mode & TYPE;
        }
        Ok(LastType(cell::LINK_MARK, type_bits))
    }
}

impl Table {
    /// How many bits of a position follow those that select the bucket.
    fn position_bits(self) -> u32 {
        63 - self.bits
    }

    /// What follows this bucket.
    fn following(self, bucket: u32) -> Following {
        if bucket + 1 == self.buckets() {
            Following::All
        } else {
            Following::Bucket(u64::from(bucket + 1) << self.position_bits())
        }
    }
}

/// A short name as bytes.
#[inline(always)]
fn short_of(words: [u64; cell::NAME_WORDS]) -> [u8; cell::NAME_MAX] {
    let mut bytes = [0; cell::NAME_MAX];
    for (piece, word) in bytes.chunks_exact_mut(8).zip(words) {
        piece.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
