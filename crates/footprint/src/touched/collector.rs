//! Collects footprints from a walk.

use std::collections::HashMap;

use footprint_trace::BlockId;
use footprint_trace::event::{Access, AccessKind};
use smallvec::SmallVec;

use super::LINE_BYTES;
use super::footprint::{DataTouch, Execution, Footprint, RangeAccesses};
use crate::hash::BuildMix;
use crate::trace::{Code, Completeness, Observer, Region, StackId, StackTree, Step, Touch};

/// How to treat repetitions of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeated {
    /// Each has its own footprint.
    #[default]
    Apart,
    /// They share one, with everything that any of them touched.
    Merged,
}

/// Which footprints are collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// How many repetitions of each operation of a region to skip.
    pub warm_up: u32,
    /// How to treat the others.
    pub repeated: Repeated,
}

/// Observes a walk and collects what each region touches.
#[derive(Clone, Debug)]
pub struct Collector {
    selection: Selection,
    tables: Vec<RegionTables>,
    /// Indices of tables that have been taken and can be reused.
    free: Vec<usize>,
    /// Indices of tables whose region has ended and that no other region shares.
    ended: Vec<usize>,
    /// Number of tables opened so far.
    count: u32,
    /// The table of each vCPU that is in a region, unless the region is skipped.
    places: HashMap<u32, usize, BuildMix>,
    /// The vCPU of the last step, and its table.
    current: Option<(u32, usize)>,
    /// Where each block's latest execution and access were counted.
    latest: Vec<Latest>,
    /// The emptied indices of an ended region, for reuse: regions are short, and would spend most
    /// of their time growing new ones.
    spare: Option<Indices>,
}

#[derive(Clone, Debug)]
struct RegionTables {
    /// A unique number, since places are reused.
    number: u32,
    footprint: Footprint,
    indices: Indices,
}

/// Where entries are in a footprint's lists.
#[derive(Clone, Debug, Default)]
struct Indices {
    executions: HashMap<(StackId, BlockId), u32, BuildMix>,
    touches: HashMap<(u64, StackId, BlockId), u32, BuildMix>,
}

/// Cached indices into a footprint's lists, with the keys that they are valid for.
#[derive(Clone, Copy, Debug)]
struct Latest {
    execution: u32,
    touch: u32,
    execution_key: (u32, StackId),
    touch_key: (u32, StackId),
    line: u64,
}

const NEVER: (u32, StackId) = (u32::MAX, StackId(u32::MAX));

impl Collector {
    /// A collector that has collected nothing yet.
    #[must_use]
    pub fn new(selection: Selection) -> Self {
        Self {
            selection,
            tables: Vec::new(),
            free: Vec::new(),
            ended: Vec::new(),
            count: 0,
            places: HashMap::default(),
            current: None,
            latest: Vec::new(),
            spare: None,
        }
    }

    /// The footprints, in the order in which their regions began.
    #[must_use]
    pub fn into_footprints(mut self) -> Vec<Footprint> {
        self.take_all()
    }

    /// Takes all footprints that have not been taken yet, in the order in which their regions
    /// began.
    pub(crate) fn take_all(&mut self) -> Vec<Footprint> {
        let mut tables = std::mem::take(&mut self.tables);
        self.free.sort_unstable();
        self.free.drain(..).rev().for_each(|place| drop(tables.swap_remove(place)));
        self.ended.clear();
        self.places.clear();
        self.current = None;
        tables.sort_unstable_by_key(|tables| tables.number);
        tables.into_iter().map(|tables| tables.footprint).collect()
    }

    /// Takes the footprints of ended regions, if repetitions are kept apart. This bounds memory,
    /// however many regions there are.
    pub(crate) fn take_ended(&mut self) -> Vec<Footprint> {
        let mut taken = Vec::with_capacity(self.ended.len());
        for place in self.ended.drain(..) {
            let footprint = &mut self.tables[place].footprint;
            let empty = Footprint::empty(footprint.region);
            taken.push(std::mem::replace(footprint, empty));
            self.free.push(place);
        }
        taken
    }

    /// Opens a table for a region and returns its index.
    fn open(&mut self, region: Region) -> usize {
        let indices = self.spare.take().unwrap_or_default();
        let tables =
            RegionTables { number: self.count, footprint: Footprint::empty(region), indices };
        self.count += 1;
        match self.free.pop() {
            Some(place) => {
                self.tables[place] = tables;
                place
            }
            None => {
                self.tables.push(tables);
                self.tables.len() - 1
            }
        }
    }

    /// The index of the table for a vCPU's current region.
    #[inline]
    fn place(&mut self, vcpu: u32) -> Option<usize> {
        match self.current {
            Some((current, place)) if current == vcpu => Some(place),
            _ => {
                let place = *self.places.get(&vcpu)?;
                self.current = Some((vcpu, place));
                Some(place)
            }
        }
    }

    #[inline]
    fn latest(&mut self, block: BlockId) -> &mut Latest {
        let at = block.0 as usize;
        if self.latest.len() <= at {
            let never =
                Latest { execution: 0, touch: 0, execution_key: NEVER, touch_key: NEVER, line: 0 };
            self.latest.resize(at + 1, never);
        }
        &mut self.latest[at]
    }

    /// Counts an access to bytes of one line.
    #[inline]
    fn touch(&mut self, place: usize, step: &Step<'_>, line: u64, part: RangeAccesses) {
        let key = (self.tables[place].number, step.stack);
        let latest = self.latest(step.id);
        let is_latest = latest.touch_key == key && latest.line == line;
        let at = if is_latest { latest.touch } else { self.find_touch(place, step, line) };
        self.tables[place].footprint.touches[at as usize].add(part);
    }

    fn find_touch(&mut self, place: usize, step: &Step<'_>, line: u64) -> u32 {
        let tables = &mut self.tables[place];
        let key = (tables.number, step.stack);
        let at = tables.touch(line, step.stack, step.id);
        let latest = self.latest(step.id);
        (latest.touch_key, latest.line, latest.touch) = (key, line, at);
        at
    }

    fn find_execution(&mut self, place: usize, step: &Step<'_>) -> u32 {
        let tables = &mut self.tables[place];
        let key = (tables.number, step.stack);
        let at = tables.execution(step.stack, step.id);
        let latest = self.latest(step.id);
        (latest.execution_key, latest.execution) = (key, at);
        at
    }
}

impl RegionTables {
    fn execution(&mut self, stack: StackId, block: BlockId) -> u32 {
        let executions = &mut self.footprint.executions;
        *self.indices.executions.entry((stack, block)).or_insert_with(|| {
            executions.push(Execution { stack, block, count: 0 });
            index_of_last(executions.len())
        })
    }

    fn touch(&mut self, line: u64, stack: StackId, block: BlockId) -> u32 {
        let touches = &mut self.footprint.touches;
        *self.indices.touches.entry((line, stack, block)).or_insert_with(|| {
            touches.push(DataTouch::new(line, stack, block));
            index_of_last(touches.len())
        })
    }
}

fn index_of_last(length: usize) -> u32 {
    u32::try_from(length - 1).expect("fewer entries than 2^32")
}

impl DataTouch {
    fn new(line: u64, stack: StackId, block: BlockId) -> Self {
        Self { line, stack, block, loads: 0, stores: 0, accesses: SmallVec::new(), latest: 0 }
    }

    #[inline]
    fn add(&mut self, part: RangeAccesses) {
        // An instruction that returns to a line usually accesses the same bytes in the same order.
        let next = if self.latest + 1 < self.accesses.len() { self.latest + 1 } else { 0 };
        for at in [next, self.latest] {
            if let Some(known) = self.accesses.get_mut(at)
                && known.is_like(&part)
            {
                known.count += 1;
                self.latest = at;
                return;
            }
        }
        self.search(part);
    }

    #[cold]
    fn search(&mut self, part: RangeAccesses) {
        let touched = match part.kind {
            AccessKind::Load => &mut self.loads,
            AccessKind::Store => &mut self.stores,
        };
        // If some of the bytes are new, no existing part can match.
        let is_known = *touched & part.mask() == part.mask();
        *touched |= part.mask();
        let known = self.accesses.iter().position(|known| is_known && known.is_like(&part));
        self.latest = known.unwrap_or(self.accesses.len());
        match known {
            Some(at) => self.accesses[at].count += 1,
            None => self.accesses.push(part),
        }
    }
}

impl RangeAccesses {
    /// Whether both are the same kind of access to the same bytes.
    #[inline]
    fn is_like(&self, other: &Self) -> bool {
        (self.kind, self.offset, self.bytes, self.is_start)
            == (other.kind, other.offset, other.bytes, other.is_start)
    }
}

/// Whether two regions are repetitions of one operation.
fn is_repetition(one: Region, other: Region) -> bool {
    match (one, other) {
        (Region::Unmarked, Region::Unmarked) => true,
        (
            Region::Marked { region: a, operation: b, .. },
            Region::Marked { region: c, operation: d, .. },
        ) => (a, b) == (c, d),
        _ => false,
    }
}

impl Observer for Collector {
    fn begin(&mut self, vcpu: u32, region: Region) {
        self.current = None;
        self.places.remove(&vcpu);
        let merges = region == Region::Unmarked || self.selection.repeated == Repeated::Merged;
        if let Region::Marked { repetition, .. } = region
            && repetition < self.selection.warm_up
        {
            return;
        }
        let is_same = |tables: &RegionTables| is_repetition(tables.footprint.region, region);
        let known = if merges { self.tables.iter().position(is_same) } else { None };
        if let Some(known) = known.filter(|_| region != Region::Unmarked) {
            self.tables[known].footprint.repetitions += 1;
        }
        let place = known.unwrap_or_else(|| self.open(region));
        self.places.insert(vcpu, place);
    }

    #[inline]
    fn execute(&mut self, _: &Code, _: &StackTree, step: Step<'_>) {
        let Some(place) = self.place(step.vcpu) else { return };
        let key = (self.tables[place].number, step.stack);
        let latest = self.latest(step.id);
        let is_latest = latest.execution_key == key;
        let at = if is_latest { latest.execution } else { self.find_execution(place, &step) };
        self.tables[place].footprint.executions[at as usize].count += 1;
    }

    #[inline]
    fn access(&mut self, _: &Code, _: &StackTree, touch: Touch<'_>) {
        let Touch { step, access } = touch;
        let Some(place) = self.place(step.vcpu) else { return };
        split_by_line(access).for_each(|(line, part)| self.touch(place, &step, line, part));
    }

    fn end(&mut self, vcpu: u32, completeness: Completeness) {
        self.current = None;
        let Some(place) = self.places.remove(&vcpu) else { return };
        let tables = &mut self.tables[place];
        if completeness == Completeness::Cut {
            tables.footprint.completeness = completeness;
        }
        if self.selection.repeated == Repeated::Apart && tables.footprint.region != Region::Unmarked
        {
            // Nothing more will be added, so the indices can be reused.
            let mut indices = std::mem::take(&mut tables.indices);
            indices.executions.clear();
            indices.touches.clear();
            self.spare = Some(indices);
            self.ended.push(place);
        }
    }
}

/// Splits an access at line boundaries.
#[inline]
fn split_by_line(access: Access) -> impl Iterator<Item = (u64, RangeAccesses)> {
    let Access { kind, address, bytes } = access;
    let mut at = address;
    let mut left = u64::from(bytes);
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let offset = at % LINE_BYTES;
        let here = left.min(LINE_BYTES - offset);
        let part = RangeAccesses {
            kind,
            offset: (offset & 63) as u8,
            bytes: (here & 127) as u8,
            is_start: at == address,
            count: 1,
        };
        let line = at - offset;
        at = at.wrapping_add(here);
        left -= here;
        Some((line, part))
    })
}

#[cfg(test)]
mod tests {
    use super::super::footprint::mask;
    use super::*;

    #[test]
    fn what_was_taken_leaves_no_room_behind() {
        let mut collector = Collector::new(Selection::default());
        for repetition in 0..100 {
            let region = Region::Marked { region: 1, operation: 2, repetition };
            collector.begin(0, region);
            collector.end(0, Completeness::Whole);
            let taken: Vec<Region> =
                collector.take_ended().iter().map(|footprint| footprint.region).collect();
            assert_eq!(taken, [region]);
        }
        assert_eq!((collector.tables.len(), collector.free.len()), (1, 1));
        assert_eq!(collector.into_footprints(), []);
    }

    #[test]
    fn accesses_are_cut_at_lines() {
        let access = Access { kind: AccessKind::Store, address: 0x103c, bytes: 72 };
        let found: Vec<_> =
            split_by_line(access).map(|(line, part)| (line, part.offset, part.bytes)).collect();
        assert_eq!(found, [(0x1000, 60, 4), (0x1040, 0, 64), (0x1080, 0, 4)]);
        assert_eq!((mask(60, 4), mask(0, 64), mask(1, 2)), (0xf << 60, u64::MAX, 6));
    }
}
