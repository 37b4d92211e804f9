//! Looking up a name that is to be added, and finding room for it.

use super::{BITS_MAX, Entry, Table, places_with};
use crate::annex::Inode;
use crate::arena::{Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{bucket, cell};
use crate::member::Member;
use crate::name::Name;
use crate::seams::Seams;

/// Average number of entries per bucket at which a table of more than one bucket grows.
const FILL: u32 = 9;
/// Most entries of a table of one bucket.
const SINGLE_MAX: u32 = 12;
/// How many buckets an entry may be away from where it belongs.
pub(crate) const REACH_MAX: u32 = 255;

const _: () = assert!(SINGLE_MAX as usize == bucket::ENTRIES);

/// Where an entry can be put, as long as the directory stays locked and keeps its table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vacancy {
    /// The line with the directory's data and form.
    body_at: Ref,
    /// The bucket, and the place in it; no bucket if this will be the directory's only entry.
    bucket: Ref,
    place: usize,
    tag: u8,
    /// The bucket's new mask of entries that belong elsewhere, if it changes.
    strangers: Option<u16>,
    /// The new reach of the bucket where the entry belongs, if it changes.
    new_reach: Option<(Ref, u8)>,
}

/// Where an entry can be put, in the bucket where it belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room<'a> {
    bucket: Line<'a>,
    place: usize,
    tag: u8,
}

/// The result of a search for a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Search<'a> {
    /// The directory has this entry.
    Found(Entry<'a>),
    /// It does not, and there is room for it.
    Vacant(Vacancy),
    /// It does not, and must grow first.
    Full,
}

impl Table {
    /// Whether it must grow before an entry is added to this many.
    #[inline(always)]
    fn is_full_with(self, entries: u32) -> bool {
        match self.bits {
            BITS_MAX => false,
            0 => entries >= SINGLE_MAX,
            _ => entries >= FILL * self.buckets(),
        }
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// Searches a directory, which is locked, for a name.
    #[inline(always)]
    pub(crate) fn search(
        &self,
        at: Ref,
        directory: Line<'a>,
        name: &Name<'_>,
    ) -> Result<Search<'a>, Errno> {
        let Inode { body_at, body, .. } = self.inode(at, directory)?;
        let Some(table) = Table::from_body(body) else {
            let (cell, bucket, place) = (Ref(body.load(cell::DATA)), Ref::NONE, 0);
            if cell.is_some() {
                let line = self.line(cell)?;
                let entry = Entry { cell, line, bucket, place };
                let is_it = self.is_named(line, name)?;
                return Ok(if is_it { Search::Found(entry) } else { Search::Full });
            }
            let (tag, strangers, new_reach) = (0, None, None);
            let vacancy = Vacancy { body_at, bucket, place, tag, strangers, new_reach };
            return Ok(Search::Vacant(vacancy));
        };
        let (home, tag) = (table.home(name.hash()), table.tag(name.hash()));
        let home_line = self.line(table.after(home, 0))?;
        let reach = home_line.load(bucket::REACH).into();
        let (mut line, mut distance, mut room) = (home_line, 0, None);
        loop {
            for place in places_with(line, tag) {
                let cell = Ref(line.load(bucket::ENTRY.element(place)));
                let found = self.line(cell)?;
                if self.is_named(found, name)? {
                    let bucket = table.after(home, distance);
                    return Ok(Search::Found(Entry { cell, line: found, bucket, place }));
                }
            }
            if room.is_none() {
                room = places_with(line, 0).next().map(|place| (line, distance, place));
            }
            if distance >= reach {
                break;
            }
            distance += 1;
            line = self.line(table.after(home, distance))?;
        }
        if table.is_full_with(directory.load(cell::ENTRIES)) {
            return Ok(Search::Full);
        }
        let (line, distance, place) = match room {
            Some(room) => room,
            None => {
                let distance = self.room_behind(table, home, reach + 1)?;
                let line = self.line(table.after(home, distance))?;
                (line, distance, places_with(line, 0).next().ok_or(Errno::CORRUPT)?)
            }
        };
        let new_reach = (distance > reach).then(|| (table.after(home, 0), reach_of(distance)));
        let strangers = new_strangers(line, place, distance > 0);
        let bucket = table.after(home, distance);
        Ok(Search::Vacant(Vacancy { body_at, bucket, place, tag, strangers, new_reach }))
    }

    /// Room for a short name that the directory does not have, in the bucket where it belongs; none
    /// if it has the name, or if that takes more.
    #[inline(always)]
    pub(crate) fn room_for(&self, directory: Line<'a>, name: &Name<'_>) -> Option<Room<'a>> {
        let bits = u32::from(directory.load(cell::FORM)).checked_sub(1)?;
        let table = Table { start: Ref(directory.load(cell::DATA)), bits };
        // An annex has the table of its directory.
        if bits > BITS_MAX || table.is_full_with(directory.load(cell::ENTRIES)) {
            return None;
        }
        let tag = table.tag(name.hash());
        let bucket = self.line(table.after(table.home(name.hash()), 0)).ok()?;
        if bucket.load(bucket::REACH) != 0 {
            return None;
        }
        for place in places_with(bucket, tag) {
            let found = self.line(Ref(bucket.load(bucket::ENTRY.element(place)))).ok()?;
            if name.is_all_in(found) {
                return None;
            }
        }
        let place = places_with(bucket, 0).next()?;
        Some(Room { bucket, place, tag })
    }

    /// Enters a cell where there is room for its name. The caller updates the count of entries.
    #[inline(always)]
    pub(crate) fn fill_room(&self, room: &Room<'a>, cell: Ref) {
        let &Room { bucket, place, tag } = room;
        if let Some(strangers) = new_strangers(bucket, place, false) {
            self.fill(bucket, bucket::STRANGERS, strangers);
        }
        self.fill(bucket, bucket::ENTRY.element(place), cell.0);
        self.fill(bucket, bucket::TAG.element(place), tag);
    }

    /// The distance from where an entry belongs to the first bucket with room, from `distance` on.
    #[cold]
    #[inline(never)]
    fn room_behind(&self, table: Table, home: u32, distance: u32) -> Result<u32, Errno> {
        let farthest = REACH_MAX.min(table.buckets() - 1);
        for distance in distance..=farthest {
            let line = self.line(table.after(home, distance))?;
            if places_with(line, 0).next().is_some() {
                return Ok(distance);
            }
        }
        Err(Errno::NOSPC)
    }

    /// Doubles the number of buckets of a directory, which is locked, or gives it its first one.
    /// The log must be empty. The runs in `others` stay in stock, for what the entry needs.
    #[cold]
    #[inline(never)]
    pub(crate) fn grow(&self, at: Ref, directory: Line<'a>, others: &[Ref]) -> Result<(), Errno> {
        let inode = self.inode(at, directory)?;
        let bits = Table::from_body(inode.body).map_or(0, |table| table.bits + 1);
        self.grow_to(&inode, bits.min(BITS_MAX), others)
    }

    /// Moves a directory to a new table of 2^`bits` buckets.
    fn grow_to(&self, directory: &Inode<'a>, bits: u32, others: &[Ref]) -> Result<(), Errno> {
        let lines = 1 << bits;
        let start = self.obtain_run_besides(lines, others)?;
        let table = Table { start, bits };
        self.zero(start, lines)?;
        self.each_entry(directory.line, |member, cell| {
            let hash = member.hash_in(member.line(cell)?)?;
            let home = table.home(hash);
            let distance = member.room_behind(table, home, 0)?;
            let line = member.line(table.after(home, distance))?;
            let place = places_with(line, 0).next().ok_or(Errno::CORRUPT)?;
            let home = member.line(table.after(home, 0))?;
            if distance > home.load(bucket::REACH).into() {
                member.fill(home, bucket::REACH, reach_of(distance));
            }
            if let Some(strangers) = new_strangers(line, place, distance > 0) {
                member.fill(line, bucket::STRANGERS, strangers);
            }
            member.fill(line, bucket::ENTRY.element(place), cell.0);
            member.fill(line, bucket::TAG.element(place), table.tag(hash));
            Ok(())
        })?;
        self.take_run(start)?;
        if let Some(old) = Table::from_body(directory.body) {
            self.give_run(old.start, old.buckets())?;
        }
        self.put(directory.body_at, cell::DATA, start.0);
        self.put(directory.body_at, cell::FORM, u8::from_bits(u64::from(bits) + 1));
        self.commit();
        Ok(())
    }

    /// Logs an entry, for which there is room. The caller updates the count of entries.
    #[inline(always)]
    pub(crate) fn place_entry(&self, vacancy: &Vacancy, cell: Ref) {
        if !vacancy.bucket.is_some() {
            self.put(vacancy.body_at, cell::DATA, cell.0);
            return;
        }
        if let Some((home, reach)) = vacancy.new_reach {
            self.put(home, bucket::REACH, reach);
        }
        if let Some(strangers) = vacancy.strangers {
            self.put(vacancy.bucket, bucket::STRANGERS, strangers);
        }
        self.put(vacancy.bucket, bucket::ENTRY.element(vacancy.place), cell.0);
        self.put(vacancy.bucket, bucket::TAG.element(vacancy.place), vacancy.tag);
    }
}

/// A bucket's new mask of entries that belong elsewhere, once one at this place does or does not;
/// none if it stays the same.
#[inline(always)]
fn new_strangers(line: Line<'_>, place: usize, is_stranger: bool) -> Option<u16> {
    let before = line.load(bucket::STRANGERS);
    let now = before & !(1 << place) | u16::from(is_stranger) << place;
    (now != before).then_some(now)
}

/// A distance in buckets, as stored in a bucket.
#[inline(always)]
fn reach_of(distance: u32) -> u8 {
    u8::from_bits(distance.into())
}
