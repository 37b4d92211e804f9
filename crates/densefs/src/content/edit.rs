//! Changes of a map. An edit replaces a few entries of one node: in place if hardly any others have
//! to move, otherwise in a new copy of the node, to which its parent then refers.

use super::map::{Entry, Map, MapNode, Way};
use crate::annex::Inode;
use crate::arena::{LINES_PER_PAGE, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content};
use crate::member::Member;
use crate::seams::Seams;

/// Pages of a file that move.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtentChange {
    pub(super) page: u32,
    pub(super) pages: u32,
    /// The run in stock that they move to; none for a hole.
    pub(super) run: Ref,
    /// The number of lines if it is a partial page; otherwise 0.
    pub(super) tail: u32,
    /// Whether they become an extent of their own even if they continue another one before the end
    /// of the file, so that they can be freed without space for another entry.
    pub(super) stays_apart: bool,
}

/// A change of the entries of one node. It never changes the page with which the node begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    /// The level of the node.
    level: u32,
    /// The first entry that is replaced.
    pub(super) from: u32,
    /// How many are.
    pub(super) removed: u32,
    added: [u64; ADDED_MAX],
    count: u32,
}

/// Most entries that an edit adds.
const ADDED_MAX: usize = 3;

/// Most entries that are moved within a node, which takes an entry of the log for each. Few in unit
/// tests, whose nodes are small.
const MOVED_MAX: u32 = if cfg!(test) { 2 } else { 12 };

impl Edit {
    pub(super) fn new(level: u32, from: u32, removed: u32) -> Self {
        Self { level, from, removed, added: [0; ADDED_MAX], count: 0 }
    }

    pub(super) fn add(&mut self, entry: Entry) {
        if let Some(next) = self.added.get_mut(self.count as usize) {
            *next = entry.word();
            self.count += 1;
        }
    }

    fn added(&self) -> &[u64] {
        self.added.get(..self.count as usize).unwrap_or_default()
    }

    /// How many entries a node has after the edit.
    pub(super) fn count_of(&self, node: &MapNode) -> Result<u32, Errno> {
        let left = node.count.checked_sub(self.removed).ok_or(Errno::CORRUPT)?;
        if self.from > left { Err(Errno::CORRUPT) } else { Ok(left + self.count) }
    }
}

impl<S: Seams> Member<'_, S> {
    /// Logs that pages of a file move. They must have been a hole, or all in one extent. No page
    /// can follow a partial page. The log must be empty. If there is no space for it, the map stays
    /// as it is.
    pub(super) fn put_extent(
        &self,
        inode: &Inode<'_>,
        map: &Map,
        change: ExtentChange,
    ) -> Result<(), Errno> {
        let behind = change.page.checked_add(change.pages).ok_or(Errno::FBIG)?;
        if self.lengthens_last(map, &change)? {
            let (at, field) = map.root.word(0);
            self.put_later(at, field, Map { end: behind, ..*map }.header(map.root.count));
            return self.take_run(change.run);
        }
        let mut map = *map;
        let mut way = self.way_to(&map, change.page)?;
        let mut edit = self.edit_for(&map, &way, &change)?;
        if edit.count_of(way.leaf())? > MapNode::ROOM {
            self.make_room(inode, &way, &change)?;
            map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
            way = self.way_to(&map, change.page)?;
            edit = self.edit_for(&map, &way, &change)?;
        }
        let tail = if behind < map.end { map.tail } else { change.tail };
        let new = Map { end: map.end.max(behind), tail, ..map };
        way.map = new;
        self.put_edit(inode, &way, &edit, &[change.run])?;
        if change.run.is_some() {
            self.take_run(change.run)?;
        }
        if (new.end, new.tail) != (map.end, map.tail) && map.root.level > 0 {
            let (at, field) = new.root.word(0);
            self.put_later(at, field, new.header(new.root.count));
        }
        Ok(())
    }

    /// Whether the last extent of a map of one node only becomes longer, as in a file that is
    /// written from its beginning to its end.
    fn lengthens_last(&self, map: &Map, change: &ExtentChange) -> Result<bool, Errno> {
        let Some(last) = map.root.count.checked_sub(1) else { return Ok(false) };
        let is_next = change.page == map.end && change.tail == 0 && map.tail == 0;
        if !is_next || map.root.level > 0 {
            return Ok(false);
        }
        let new = Entry { page: change.page, at: change.run };
        Ok(self.map_entry(&map.root, last)?.continues_in(new))
    }

    fn edit_for(&self, map: &Map, way: &Way, change: &ExtentChange) -> Result<Edit, Errno> {
        if change.page < map.end {
            self.edit_within(map, way, change)
        } else {
            self.edit_at_end(map, way.leaf(), change)
        }
    }

    fn edit_at_end(&self, map: &Map, leaf: &MapNode, change: &ExtentChange) -> Result<Edit, Errno> {
        let new = Entry { page: change.page, at: change.run };
        let mut edit = Edit::new(0, leaf.count, 0);
        let Some(last) = leaf.count.checked_sub(1) else {
            if new.page > 0 {
                edit.add(Entry::hole(0));
            }
            edit.add(new);
            return Ok(edit);
        };
        let last = self.map_entry(leaf, last)?;
        if new.page > map.end && last.at.is_some() {
            edit.add(Entry::hole(map.end));
        }
        let continues = new.page == map.end && change.tail == 0 && map.tail == 0;
        if !(continues && last.continues_in(new)) {
            edit.add(new);
        }
        Ok(edit)
    }

    /// The edit by which an extent is divided into up to three. Those at its ends become one with
    /// their neighbours where they can.
    fn edit_within(&self, map: &Map, way: &Way, change: &ExtentChange) -> Result<Edit, Errno> {
        let (leaf, number) = (way.leaf(), way.step(0).index);
        let old = self.map_entry(leaf, number)?;
        let new = Entry { page: change.page, at: change.run };
        let behind = change.page.checked_add(change.pages).ok_or(Errno::FBIG)?;
        if old.page > new.page || behind > way.end {
            return Err(Errno::CORRUPT);
        }
        let joins = change.tail == 0 && !change.stays_apart;
        let mut edit = Edit::new(0, number, 1);
        let mut is_joined = false;
        if old.page < new.page {
            edit.add(old);
        } else if let Some(before) = number.checked_sub(1) {
            is_joined = joins && self.map_entry(leaf, before)?.continues_in(new);
        }
        if !is_joined {
            edit.add(new);
        }
        if behind < way.end {
            edit.add(old.rest_at(behind)?);
        } else if joins && number + 1 < leaf.count {
            let next = self.map_entry(leaf, number + 1)?;
            edit.removed += u32::from(!map.is_tail(next.page) && new.continues_in(next));
        }
        Ok(edit)
    }

    /// Logs an edit of a node on this way, and the header of the way's map if the node is the root.
    /// Runs in `others` are needed as well.
    pub(super) fn put_edit(
        &self,
        inode: &Inode<'_>,
        way: &Way,
        edit: &Edit,
        others: &[Ref],
    ) -> Result<(), Errno> {
        let node = way.step(edit.level).node;
        let count = edit.count_of(&node)?;
        let behind = edit.from + edit.removed;
        let moved = if edit.removed == edit.count { 0 } else { node.count - behind };
        if count > node.room() || moved > MOVED_MAX {
            return self.put_copy(inode, way, edit, others);
        }
        for number in 0..moved {
            let entry = self.map_entry(&node, behind + number)?;
            let (at, field) = node.word(edit.from + edit.count + number + 1);
            self.put_later(at, field, entry.word());
        }
        for (number, &word) in (edit.from..).zip(edit.added()) {
            let (at, field) = node.word(number + 1);
            self.put_later(at, field, word);
        }
        if edit.level == way.map.root.level || count != node.count {
            let (at, field) = node.word(0);
            self.put_later(at, field, way.header(edit.level, count));
        }
        Ok(())
    }

    /// Logs that an edited copy takes the place of a node.
    fn put_copy(
        &self,
        inode: &Inode<'_>,
        way: &Way,
        edit: &Edit,
        others: &[Ref],
    ) -> Result<(), Errno> {
        let node = way.step(edit.level).node;
        let count = edit.count_of(&node)?;
        let mut new = MapNode { bits: node.bits_for(count), ..node };
        new.at = self.obtain_run_besides(new.lines(), others)?;
        self.fill_entries(&node, 0..edit.from, &new, 0)?;
        for (number, &word) in (edit.from..).zip(edit.added()) {
            let (at, field) = new.word(number + 1);
            self.fill(self.line(at)?, field, word);
        }
        let rest = edit.from + edit.removed..node.count;
        self.fill_entries(&node, rest, &new, edit.from + edit.count)?;
        self.fill(self.line(new.at)?, content::WORD, way.header(edit.level, count));
        self.take_run(new.at)?;
        self.give_run(node.at, node.lines())?;
        if edit.level == way.map.root.level {
            self.put_root(inode, &new);
        } else {
            let above = way.step(edit.level + 1);
            let page = self.map_entry(&node, 0)?.page;
            let (at, field) = above.node.word(above.index + 1);
            self.put_later(at, field, Entry { page, at: new.at }.word());
        }
        Ok(())
    }

    /// Logs that this node is the root of a file's map.
    pub(super) fn put_root(&self, inode: &Inode<'_>, root: &MapNode) {
        self.put_later(inode.body_at, cell::DATA, root.at.0);
        self.put_later(inode.body_at, cell::FORM, content::MAP + u8::from_bits(root.bits.into()));
    }

    /// Copies entries of a node to where nobody can reach them in another one, from entry `to` on.
    pub(super) fn fill_entries(
        &self,
        from: &MapNode,
        entries: core::ops::Range<u32>,
        into: &MapNode,
        to: u32,
    ) -> Result<(), Errno> {
        let byte_of = |number: u32| size_of::<u64>() * (number as usize + 1);
        let length = size_of::<u64>() * entries.len();
        if length > 0 {
            let (from_byte, into_byte) = (byte_of(entries.start), byte_of(to));
            self.arena().copy_between(from.at, from_byte, into.at, into_byte, length)?;
            self.seams().after_store();
        }
        Ok(())
    }

    /// Logs that pages become a hole: in place if they are a whole extent, which takes no space.
    pub(super) fn put_hole(
        &self,
        inode: &Inode<'_>,
        map: &Map,
        page: u32,
        pages: u32,
    ) -> Result<(), Errno> {
        let way = self.way_to(map, page)?;
        let number = way.step(0).index;
        let behind = page.checked_add(pages).ok_or(Errno::FBIG)?;
        if behind < way.end || self.map_entry(way.leaf(), number)?.page != page {
            let run = Ref::NONE;
            let change = ExtentChange { page, pages, run, tail: 0, stays_apart: false };
            return self.put_extent(inode, map, change);
        }
        let (at, field) = way.leaf().word(number + 1);
        self.put_later(at, field, Entry::hole(page).word());
        if behind == map.end && map.tail > 0 {
            let (at, field) = map.root.word(0);
            self.put_later(at, field, Map { tail: 0, ..*map }.header(map.root.count));
        }
        Ok(())
    }

    /// Logs that the last extent, which is one page, moves to another run, which is in stock and
    /// has this many lines.
    pub(super) fn put_tail(&self, map: &Map, run: Ref, lines: u32) -> Result<(), Errno> {
        let (leaf, last) = self.last_extent(map)?;
        let old = self.map_entry(&leaf, last)?;
        self.take_run(run)?;
        self.give_run(old.at, if map.tail > 0 { map.tail } else { LINES_PER_PAGE })?;
        let (at, field) = leaf.word(last + 1);
        self.put_later(at, field, Entry { at: run, ..old }.word());
        let tail = if lines < LINES_PER_PAGE { lines } else { 0 };
        let (at, field) = map.root.word(0);
        self.put_later(at, field, Map { tail, ..*map }.header(map.root.count));
        Ok(())
    }
}
