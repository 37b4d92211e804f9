//! How the nodes of a map are divided, joined and freed. Each change of the tree is one of its own,
//! which leaves all extents where they are.

use super::edit::{Edit, ExtentChange};
use super::map::{Entry, Map, MapNode, Way};
use super::wanted::Wanted;
use crate::annex::Inode;
use crate::errno::Errno;
use crate::layout::content;
use crate::member::Member;
use crate::seams::Seams;

/// Which nodes are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// Those with few entries, if there is room for more afterwards, so that they are not divided
    /// again soon.
    Small,
    /// Any two that fit into one, so that nothing is left of an edit that is undone.
    Any,
}

impl Joined {
    /// Whether a node with `count` entries is joined with one beside it, to one with `all`.
    fn includes(self, count: u32, all: u32) -> bool {
        let (few, most) = match self {
            Self::Small => (MapNode::ROOM / 3, MapNode::ROOM * 3 / 4),
            Self::Any => (MapNode::ROOM, MapNode::ROOM),
        };
        count < few && all <= most
    }
}

/// Lines of a node that is not the root.
const NODE_LINES: u32 = 1 << content::NODE_BITS;

impl<S: Seams> Member<'_, S> {
    /// Divides a full leaf, and those above it that are full, so that a change has room. Obtains
    /// first all runs that this and the change take, so if there is no space, nothing is divided.
    pub(super) fn make_room(
        &self,
        inode: &Inode<'_>,
        way: &Way,
        change: &ExtentChange,
    ) -> Result<(), Errno> {
        let (wanted, full) = Self::wanted_for(way)?;
        self.obtain_runs(wanted.as_slice(), change.run)?;
        for level in (0..full).rev() {
            let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
            let way = self.way_to(&map, change.page)?;
            self.divide(inode, &way, level, change)?;
        }
        Ok(())
    }

    /// The runs that it takes to add entries to the leaf of this way, which is full, and how many
    /// levels of nodes are divided for that.
    fn wanted_for(way: &Way) -> Result<(Wanted, u32), Errno> {
        let mut wanted = Wanted::default();
        // A copy of the leaf.
        wanted.add(NODE_LINES);
        for level in 0..=way.map.root.level {
            // The other half of this node.
            wanted.add(NODE_LINES);
            if level == way.map.root.level {
                wanted.add(1);
                let is_highest = level == content::LEVEL_MAX;
                return if is_highest { Err(Errno::FBIG) } else { Ok((wanted, level + 1)) };
            }
            let above = way.step(level + 1).node;
            if above.count < MapNode::ROOM {
                wanted.add(1 << above.bits_for(above.count + 1));
                return Ok((wanted, level + 1));
            }
        }
        Err(Errno::CORRUPT)
    }

    /// The runs that a map may take for two more entries at its end.
    pub(super) fn wanted_to_append(&self, map: &Map) -> Result<Wanted, Errno> {
        let (leaf, last) = self.last_extent(map)?;
        let count = last + 3;
        if count > MapNode::ROOM {
            return Ok(Self::wanted_for(&self.way_to(map, map.end)?)?.0);
        }
        let mut wanted = Wanted::default();
        if count > leaf.room() {
            wanted.add(1 << leaf.bits_for(count));
        }
        Ok(wanted)
    }

    /// Divides the node of this level, and commits that. The node above must have room.
    fn divide(
        &self,
        inode: &Inode<'_>,
        way: &Way,
        level: u32,
        change: &ExtentChange,
    ) -> Result<(), Errno> {
        let (map, node) = (&way.map, way.step(level).node);
        // Whoever appends will not come back to what is before.
        let last = node.count.checked_sub(1).filter(|&last| last > 0).ok_or(Errno::CORRUPT)?;
        let kept = if change.page < map.end { node.count / 2 } else { last };
        let half = self.obtain_run_besides(NODE_LINES, &[change.run])?;
        let entry = Entry { page: self.map_entry(&node, kept)?.page, at: half };
        let half = MapNode { at: half, count: node.count - kept, ..node };
        self.fill_entries(&node, kept..node.count, &half, 0)?;
        self.fill(self.line(half.at)?, content::WORD, half.header());
        let others = [change.run, half.at];
        if level < map.root.level {
            let mut edit = Edit::new(level + 1, way.step(level + 1).index + 1, 0);
            edit.add(entry);
            self.put_edit(inode, way, &edit, &others)?;
        } else {
            let at = self.obtain_run_besides(1, &others)?;
            let root = MapNode { at, bits: 0, level: level + 1, count: 2 };
            let page = self.map_entry(&node, 0)?.page;
            for (number, entry) in (1..).zip([Entry { page, at: node.at }, entry]) {
                let (at, field) = root.word(number);
                self.fill(self.line(at)?, field, entry.word());
            }
            let header = Map { root, ..*map }.header(root.count);
            self.fill(self.line(at)?, content::WORD, header);
            self.take_run(at)?;
            self.put_root(inode, &root);
        }
        self.take_run(half.at)?;
        let (at, field) = node.word(0);
        self.put_later(at, field, MapNode { count: kept, ..node }.header());
        self.commit();
        Ok(())
    }

    /// Joins what a new hole has left small: holes that follow each other, and nodes. The hole is
    /// there already, so this does only what there is space for.
    pub(super) fn tidy(&self, inode: &Inode<'_>, page: u32, joined: Joined) -> Result<(), Errno> {
        let done = self.join(inode, page, joined);
        self.forget();
        match done {
            Err(Errno::NOSPC) => Ok(()),
            done => done,
        }
    }

    fn join(&self, inode: &Inode<'_>, page: u32, joined: Joined) -> Result<(), Errno> {
        self.join_holes(inode, page)?;
        for level in 0..content::LEVEL_MAX {
            let Some(map) = self.map_of(inode.body)? else { break };
            if map.root.level <= level {
                break;
            }
            let way = self.way_to(&map, page)?;
            self.join_nodes(inode, &way, level, joined)?;
        }
        self.lower_root(inode)
    }

    /// Joins the hole with this page and those next to it in the same leaf.
    fn join_holes(&self, inode: &Inode<'_>, page: u32) -> Result<(), Errno> {
        let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
        let way = self.way_to(&map, page)?;
        let (leaf, number) = (way.leaf(), way.step(0).index);
        let is_hole = |number: Option<u32>| -> Result<bool, Errno> {
            let Some(number) = number.filter(|&number| number < leaf.count) else {
                return Ok(false);
            };
            Ok(!self.map_entry(leaf, number)?.at.is_some())
        };
        if !is_hole(Some(number))? {
            return Ok(());
        }
        let is_before = is_hole(number.checked_sub(1))?;
        let removed = u32::from(is_before) + u32::from(is_hole(number.checked_add(1))?);
        if removed == 0 {
            return Ok(());
        }
        self.ready_to_give()?;
        let edit = Edit::new(0, number + u32::from(!is_before), removed);
        self.put_edit(inode, &way, &edit, &[])?;
        self.commit();
        Ok(())
    }

    /// Joins the node of this level on a way with one beside it, if they are to be.
    fn join_nodes(
        &self,
        inode: &Inode<'_>,
        way: &Way,
        level: u32,
        joined: Joined,
    ) -> Result<(), Errno> {
        let (node, above) = (way.step(level).node, way.step(level + 1));
        // The second of the two goes.
        for second in [above.index, above.index + 1] {
            if second == 0 || second >= above.node.count {
                continue;
            }
            let first = self.node_of(self.map_entry(&above.node, second - 1)?, level)?;
            let goes = self.node_of(self.map_entry(&above.node, second)?, level)?;
            let count = first.count + goes.count;
            if !joined.includes(node.count, count) {
                continue;
            }
            self.ready_to_give()?;
            // Nobody reads entries after the last one.
            self.fill_entries(&goes, 0..goes.count, &first, first.count)?;
            self.put_edit(inode, way, &Edit::new(level + 1, second, 1), &[])?;
            let (at, field) = first.word(0);
            self.put_later(at, field, MapNode { count, ..first }.header());
            self.give_run(goes.at, goes.lines())?;
            self.commit();
            break;
        }
        Ok(())
    }

    /// Frees the root as long as it has nothing but one node below, which takes its place.
    pub(super) fn lower_root(&self, inode: &Inode<'_>) -> Result<(), Errno> {
        for _ in 0..content::LEVEL_MAX {
            let Some(map) = self.map_of(inode.body)? else { break };
            let Some(below) = map.root.level.checked_sub(1).filter(|_| map.root.count == 1) else {
                break;
            };
            self.ready_to_give()?;
            let root = self.node_of(self.map_entry(&map.root, 0)?, below)?;
            let (at, field) = root.word(0);
            self.put_later(at, field, Map { root, ..map }.header(root.count));
            self.put_root(inode, &root);
            self.give_run(map.root.at, map.root.lines())?;
            self.commit();
        }
        Ok(())
    }

    /// Moves the root to a run of 2^`bits` lines, if that is less than it has and enough.
    pub(super) fn shrink_root(&self, inode: &Inode<'_>, bits: u32) -> Result<(), Errno> {
        let Some(map) = self.map_of(inode.body)? else { return Ok(()) };
        let root = MapNode { bits, ..map.root };
        if bits >= map.root.bits || root.count > root.room() {
            return Ok(());
        }
        self.ready_to_give()?;
        let root = MapNode { at: self.obtain_run(root.lines())?, ..root };
        self.fill_entries(&map.root, 0..root.count, &root, 0)?;
        self.fill(self.line(root.at)?, content::WORD, map.header(root.count));
        self.take_run(root.at)?;
        self.give_run(map.root.at, map.root.lines())?;
        self.put_root(inode, &root);
        self.commit();
        Ok(())
    }

    /// Logs that the map ends with this page, and has lost its last extent if `is_whole` is set;
    /// frees the nodes that have no entries then.
    pub(super) fn put_shorter(&self, map: &Map, end: u32, is_whole: bool) -> Result<(), Errno> {
        let way = self.way_to(map, map.end)?;
        let mut new = Map { end, tail: 0, ..*map };
        for level in 0..map.root.level {
            let node = way.step(level).node;
            if !is_whole || node.count > 1 {
                let count = node.count - u32::from(is_whole);
                let (at, field) = node.word(0);
                self.put_later(at, field, MapNode { count, ..node }.header());
                let (at, field) = new.root.word(0);
                self.put_later(at, field, new.header(new.root.count));
                return Ok(());
            }
            self.give_run(node.at, node.lines())?;
        }
        let count = map.root.count.checked_sub(u32::from(is_whole)).ok_or(Errno::CORRUPT)?;
        if count == 0 {
            new.root.level = 0;
        }
        let (at, field) = new.root.word(0);
        self.put_later(at, field, new.header(count));
        Ok(())
    }
}
