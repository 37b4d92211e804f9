//! The map of a file of more than a page: its extents in file order, including holes, so that each
//! ends where the next begins.
//!
//! A map is a B+-tree of nodes with up to 255 entries. A map of few extents is a single node, its
//! root, which alone may be smaller than a full node. An entry of a leaf is an extent; one of any
//! other node is a node of the level below, with the page with which that begins. Edits never
//! change the page with which a node begins, so they never go further up than the parent.

use crate::arena::{Field, LINE_BYTES, LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content};
use crate::member::Member;
use crate::seams::Seams;

/// A node of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct MapNode {
    pub(super) at: Ref,
    /// The base-2 logarithm of its number of lines.
    pub(super) bits: u32,
    /// How far it is from the leaves.
    pub(super) level: u32,
    /// How many entries it has.
    pub(super) count: u32,
}

/// A map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    pub(super) root: MapNode,
    /// The page after the last one.
    pub(super) end: u32,
    /// The number of lines of the last extent if that is a partial page; otherwise 0.
    pub(super) tail: u32,
}

/// An entry: the page of the file with which it begins, and where it is stored. For a leaf, that
/// is the first line of the extent, or none for a hole; for other nodes, the node below.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) page: u32,
    pub(super) at: Ref,
}

/// Where a page of a file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// Its first line; none for a hole.
    pub(super) at: Ref,
    /// How many pages from here on are contiguous, or all part of the hole.
    pub(super) pages: u32,
    /// How many bytes are stored there; less than a page for a partial page.
    pub(super) bytes: u64,
}

/// A node on the way to a page, and which of its entries leads there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) node: MapNode,
    pub(super) index: u32,
}

/// The way from the root of a map to the extent with a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) map: Map,
    /// By level, the leaf first.
    steps: [Step; content::LEVEL_MAX as usize + 1],
    /// The page after the extent.
    pub(super) end: u32,
}

impl MapNode {
    /// Entries that a node other than the root has room for.
    pub(super) const ROOM: u32 = Self::room_of(content::NODE_BITS);

    /// Entries that a node of 2^`bits` lines has room for.
    const fn room_of(bits: u32) -> u32 {
        (content::WORDS_PER_LINE << bits) - 1
    }

    /// The position of a word of the node, of which the first is its header.
    pub(super) fn word(&self, index: u32) -> (Ref, Field<u64>) {
        let within = (index % content::WORDS_PER_LINE) as usize;
        (self.at.plus(index / content::WORDS_PER_LINE), content::WORD.element(within))
    }

    /// How many entries it has room for.
    pub(super) fn room(&self) -> u32 {
        Self::room_of(self.bits)
    }

    /// How many lines it takes.
    pub(super) fn lines(&self) -> u32 {
        1 << self.bits
    }

    /// The least size with room for this many entries that is not smaller than this node's.
    pub(super) fn bits_for(&self, count: u32) -> u32 {
        let mut bits = self.bits;
        while bits != content::NODE_BITS && Self::room_of(bits) < count {
            bits += 1;
        }
        bits
    }
}

impl Map {
    /// Whether this page is the partial page at the end.
    pub(super) fn is_tail(&self, page: u32) -> bool {
        self.tail > 0 && page.checked_add(1) == Some(self.end)
    }

    /// The header of the root, with this many entries.
    pub(super) fn header(&self, count: u32) -> u64 {
        let tail = u64::from(self.tail) << content::TAIL_SHIFT;
        MapNode { count, ..self.root }.header() | tail | u64::from(self.end) << 32
    }
}

impl MapNode {
    /// The header of a node that is not the root.
    pub(super) fn header(&self) -> u64 {
        u64::from(self.count) | u64::from(self.level) << content::LEVEL_SHIFT
    }
}

impl Entry {
    /// A hole that begins with this page.
    pub(super) fn hole(page: u32) -> Self {
        Self { page, at: Ref::NONE }
    }

    pub(super) fn from_word(word: u64) -> Self {
        Self { page: u32::from_bits(word), at: Ref(u32::from_bits(word >> 32)) }
    }

    pub(super) fn word(self) -> u64 {
        u64::from(self.page) | u64::from(self.at.0) << 32
    }

    /// What is left of an extent from this page on.
    pub(super) fn rest_at(self, page: u32) -> Result<Self, Errno> {
        // A hole can be longer than any run of lines.
        let before = page.checked_sub(self.page).ok_or(Errno::CORRUPT)?;
        let at = if self.at.is_some() { self.at.plus(super::lines_of(before)?) } else { self.at };
        Ok(Self { page, at })
    }

    /// Whether this extent, if it ends where `next` begins, and `next` are one.
    pub(super) fn continues_in(self, next: Self) -> bool {
        let there = self.rest_at(next.page);
        self.at.is_some() == next.at.is_some() && there.is_ok_and(|there| there.at == next.at)
    }
}

impl Way {
    /// The step at this level; the leaf if there is no such level.
    pub(super) fn step(&self, level: u32) -> &Step {
        let [leaf, ..] = &self.steps;
        self.steps.get(level as usize).unwrap_or(leaf)
    }

    /// The header of the node at this level, with this many entries.
    pub(super) fn header(&self, level: u32, count: u32) -> u64 {
        if level == self.map.root.level {
            return self.map.header(count);
        }
        MapNode { count, ..self.step(level).node }.header()
    }

    pub(super) fn leaf(&self) -> &MapNode {
        &self.step(0).node
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// The map of the file with this body, if it has one.
    pub(super) fn map_of(&self, body: Line<'_>) -> Result<Option<Map>, Errno> {
        let Some(bits) = body.load(cell::FORM).checked_sub(content::MAP) else {
            return Ok(None);
        };
        let (at, bits) = (Ref(body.load(cell::DATA)), u32::from(bits));
        if bits > content::NODE_BITS {
            return Err(Errno::CORRUPT);
        }
        let root = MapNode { at, bits, level: 0, count: 0 };
        let header = self.line(root.at)?.load(content::WORD);
        let root = Self::filled_in(root, u32::from_bits(header))?;
        let tail = u32::from_bits(header) >> content::TAIL_SHIFT;
        Ok(Some(Map { root, end: u32::from_bits(header >> 32), tail }))
    }

    /// A node with the counts of its header.
    #[inline(always)]
    fn filled_in(node: MapNode, header: u32) -> Result<MapNode, Errno> {
        let count = header & content::COUNT;
        let level = header >> content::LEVEL_SHIFT & content::LEVEL;
        if count > node.room() {
            return Err(Errno::CORRUPT);
        }
        Ok(MapNode { count, level, ..node })
    }

    /// The node of a level to which an entry of the level above refers.
    pub(super) fn node_of(&self, entry: Entry, level: u32) -> Result<MapNode, Errno> {
        let node = MapNode { at: entry.at, bits: content::NODE_BITS, level: 0, count: 0 };
        let header = u32::from_bits(self.line(node.at)?.load(content::WORD));
        let node = Self::filled_in(node, header)?;
        let is_level = node.level == level && level < content::LEVEL_MAX;
        if node.count == 0 || !is_level || self.map_entry(&node, 0)?.page != entry.page {
            return Err(Errno::CORRUPT);
        }
        Ok(node)
    }

    /// An entry of a node.
    #[inline(always)]
    pub(super) fn map_entry(&self, node: &MapNode, number: u32) -> Result<Entry, Errno> {
        let (at, field) = node.word(number + 1);
        Ok(Entry::from_word(self.line(at)?.load(field)))
    }

    /// The last entry of a node that begins at or before a page.
    #[inline(always)]
    fn number_of_entry(&self, node: &MapNode, page: u32) -> Result<u32, Errno> {
        let (mut from, mut to) = (0, node.count);
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.map_entry(node, middle)?.page <= page { from = middle } else { to = middle }
        }
        Ok(from)
    }

    /// Looks up a page of the file.
    pub(super) fn locate_page(&self, map: &Map, page: u32) -> Result<Location, Errno> {
        if page >= map.end {
            let pages = u32::MAX - page;
            return Ok(Location {
                at: Ref::NONE,
                pages,
                bytes: u64::from(pages) * super::PAGE_BYTES,
            });
        }
        if map.root.level > 0 {
            return self.locate_below(map, page);
        }
        self.locate_in(&map.root, map.end, map, page)
    }

    /// Looks up a page in a map with several nodes.
    #[inline(never)]
    fn locate_below(&self, map: &Map, page: u32) -> Result<Location, Errno> {
        let (leaf, end) = self.leaf_with(map, page)?;
        self.locate_in(&leaf, end, map, page)
    }

    /// Looks up a page in a leaf, whose last extent ends before page `end`.
    #[inline(always)]
    fn locate_in(&self, leaf: &MapNode, end: u32, map: &Map, page: u32) -> Result<Location, Errno> {
        let number = self.number_of_entry(leaf, page)?;
        let Entry { page: first, at } = self.map_entry(leaf, number)?;
        let next = number + 1;
        let end = if next < leaf.count { self.map_entry(leaf, next)?.page } else { end };
        if first > page || end <= page {
            return Err(Errno::CORRUPT);
        }
        let at = if at.is_some() { at.plus(super::lines_of(page - first)?) } else { at };
        let pages = end - page;
        let is_tail = map.is_tail(page);
        let lines = if is_tail {
            u64::from(map.tail)
        } else {
            u64::from(pages) * u64::from(LINES_PER_PAGE)
        };
        Ok(Location { at, pages, bytes: lines * LINE_BYTES as u64 })
    }

    /// The leaf with a page, and the page after its last one.
    fn leaf_with(&self, map: &Map, page: u32) -> Result<(MapNode, u32), Errno> {
        let (mut node, mut end) = (map.root, map.end);
        for level in (0..map.root.level).rev() {
            let number = self.number_of_entry(&node, page)?;
            if number + 1 < node.count {
                end = self.map_entry(&node, number + 1)?.page;
            }
            node = self.node_of(self.map_entry(&node, number)?, level)?;
        }
        Ok((node, end))
    }

    /// The last leaf, and the number of its last extent.
    pub(super) fn last_extent(&self, map: &Map) -> Result<(MapNode, u32), Errno> {
        let mut node = map.root;
        for level in (0..map.root.level).rev() {
            let last = node.count.checked_sub(1).ok_or(Errno::CORRUPT)?;
            node = self.node_of(self.map_entry(&node, last)?, level)?;
        }
        Ok((node, node.count.checked_sub(1).ok_or(Errno::CORRUPT)?))
    }

    /// The way to a page, or to the last extent if that ends before.
    pub(super) fn way_to(&self, map: &Map, page: u32) -> Result<Way, Errno> {
        let root = Step { node: map.root, index: 0 };
        let mut way = Way { map: *map, steps: [root; _], end: map.end };
        let mut node = map.root;
        for level in (0..=map.root.level).rev() {
            let index = self.number_of_entry(&node, page)?;
            if index + 1 < node.count {
                way.end = self.map_entry(&node, index + 1)?.page;
            }
            *way.steps.get_mut(level as usize).ok_or(Errno::CORRUPT)? = Step { node, index };
            if level > 0 {
                node = self.node_of(self.map_entry(&node, index)?, level - 1)?;
            }
        }
        Ok(way)
    }

    /// Calls `act` for every node of the map, if the file has one, and for every extent that is not
    /// a hole.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if this is no map: if extents do not follow each other, or a node is not
    /// where its parent says.
    pub(crate) fn each_run(
        &self,
        body: Line<'_>,
        mut act: impl FnMut(Ref, u32),
    ) -> Result<(), Errno> {
        let Some(map) = self.map_of(body)? else { return Ok(()) };
        let mut last = None;
        self.each_extent(&map.root, &mut last, &mut act)?;
        let Some(last) = last else {
            return if map.end == 0 && map.tail == 0 { Ok(()) } else { Err(Errno::CORRUPT) };
        };
        let is_one_page = last.page.checked_add(1) == Some(map.end);
        if map.tail > 0 && !(is_one_page && last.at.is_some()) {
            return Err(Errno::CORRUPT);
        }
        extent_ends(last, map.end, map.tail, &mut act)
    }

    /// Calls `act` for a node and those below, and for every extent before the last one, which it
    /// leaves in `last`.
    fn each_extent(
        &self,
        node: &MapNode,
        last: &mut Option<Entry>,
        act: &mut impl FnMut(Ref, u32),
    ) -> Result<(), Errno> {
        act(node.at, node.lines());
        for number in 0..node.count {
            let entry = self.map_entry(node, number)?;
            if let Some(below) = node.level.checked_sub(1) {
                self.each_extent(&self.node_of(entry, below)?, last, act)?;
                continue;
            }
            match last.replace(entry) {
                Some(before) => extent_ends(before, entry.page, 0, act)?,
                None if entry.page > 0 => return Err(Errno::CORRUPT),
                None => {}
            }
        }
        Ok(())
    }
}

/// Calls `act` for an extent that ends before a page, and has only `tail` lines unless that is 0.
fn extent_ends(
    extent: Entry,
    end: u32,
    tail: u32,
    act: &mut impl FnMut(Ref, u32),
) -> Result<(), Errno> {
    let pages = end.checked_sub(extent.page).filter(|&pages| pages > 0).ok_or(Errno::CORRUPT)?;
    if extent.at.is_some() {
        let lines = super::lines_of(pages)?;
        act(extent.at, if tail > 0 { tail } else { lines });
    }
    Ok(())
}
