//! The caches again, as plainly as possible: lines are addresses with their time of last use, trees
//! are searched half by half, and every figure is counted where it arises.

use std::collections::{BTreeSet, HashMap};

use caches::{Access, Purpose};
use caches::{
    CachePolicy, FirstLevel, Geometry, Hierarchy, Inclusion, LevelReport, Lookups, PerPurpose,
    Report,
};

#[derive(Clone, Copy)]
struct Line {
    start: u64,
    is_dirty: bool,
    used_at: u64,
}

struct Level {
    name: String,
    geometry: Geometry,
    inclusion: Inclusion,
    sets: Vec<Vec<Option<Line>>>,
    /// By set and the ways under a node: whether the next victim is in the upper half.
    upper_half: HashMap<(usize, usize, usize), bool>,
    generator: u64,
    lookups: PerPurpose<Lookups>,
    write_backs: u64,
    back_invalidations: u64,
}

impl Level {
    fn new(name: &str, geometry: Geometry, inclusion: Inclusion) -> Self {
        let set = vec![None; geometry.ways() as usize];
        let generator = if let CachePolicy::Random { seed } = geometry.policy() { seed } else { 0 };
        Self {
            name: name.to_owned(),
            geometry,
            inclusion,
            sets: vec![set; index(geometry.sets())],
            upper_half: HashMap::new(),
            generator,
            lookups: PerPurpose::default(),
            write_backs: 0,
            back_invalidations: 0,
        }
    }

    fn start_of(&self, address: u64) -> u64 {
        address - address % u64::from(self.geometry.line_bytes())
    }

    fn set_of(&self, address: u64) -> usize {
        index(address / u64::from(self.geometry.line_bytes()) % self.geometry.sets())
    }

    fn way_of(&self, address: u64) -> Option<usize> {
        let start = self.start_of(address);
        let holds = |line: &Option<Line>| line.is_some_and(|line| line.start == start);
        self.sets[self.set_of(address)].iter().position(holds)
    }

    fn note_use(&mut self, set: usize, way: usize, now: u64) {
        self.sets[set][way].as_mut().expect("it is there").used_at = now;
        let (mut low, mut high) = (0, self.sets[set].len());
        while high - low > 1 && self.geometry.policy() == CachePolicy::TreePlru {
            let middle = usize::midpoint(low, high);
            self.upper_half.insert((set, low, high), way < middle);
            if way < middle { high = middle } else { low = middle }
        }
    }

    fn way_to_fill(&mut self, set: usize) -> usize {
        let ways = self.sets[set].len();
        if let Some(empty) = self.sets[set].iter().position(Option::is_none) {
            return empty;
        }
        match self.geometry.policy() {
            CachePolicy::TreePlru => {
                let (mut low, mut high) = (0, ways);
                while high - low > 1 {
                    let middle = usize::midpoint(low, high);
                    let is_upper = self.upper_half.get(&(set, low, high)).copied();
                    if is_upper.unwrap_or(false) { low = middle } else { high = middle }
                }
                low
            }
            CachePolicy::Random { .. } => {
                self.generator = self.generator.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let z = self.generator;
                let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                let z = z ^ (z >> 31);
                usize::try_from((u128::from(z) * ways as u128) / (1_u128 << 64)).expect("a way")
            }
            CachePolicy::Lru => {
                let used = |way: &usize| self.sets[set][*way].expect("full").used_at;
                (0..ways).min_by_key(used).expect("a way")
            }
        }
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("small")
}

fn outcome(lookups: &mut PerPurpose<Lookups>, purpose: Purpose) -> &mut Lookups {
    match purpose {
        Purpose::Fetch => &mut lookups.fetches,
        Purpose::Load => &mut lookups.loads,
        Purpose::Store => &mut lookups.stores,
    }
}

fn count(per_kind: &mut PerPurpose<u64>, purpose: Purpose) {
    match purpose {
        Purpose::Fetch => per_kind.fetches += 1,
        Purpose::Load => per_kind.loads += 1,
        Purpose::Store => per_kind.stores += 1,
    }
}

pub(crate) struct Plain {
    levels: Vec<Level>,
    /// For each level, the one below.
    below: Vec<Option<usize>>,
    instruction: Option<usize>,
    data: usize,
    now: u64,
    accesses: PerPurpose<u64>,
    straddling: PerPurpose<u64>,
    fetches_left_out: u64,
}

impl Plain {
    pub(crate) fn new(hierarchy: &Hierarchy) -> Self {
        let level = |name, geometry| Level::new(name, geometry, Inclusion::NonInclusive);
        let (mut levels, instruction, data) = match hierarchy.first() {
            FirstLevel::Split { instruction, data } => {
                (vec![level("l1i", instruction), level("l1d", data)], Some(0), 1)
            }
            FirstLevel::Unified(both) => (vec![level("l1", both)], Some(0), 0),
            FirstLevel::Data(data) => (vec![level("l1d", data)], None, 0),
        };
        let first = levels.len();
        for (lower, name) in hierarchy.lower().iter().zip(["l2", "l3"]) {
            levels.push(Level::new(name, lower.geometry, lower.inclusion));
        }
        let next = |at: usize| if at < first { first } else { at + 1 };
        let below = (0..levels.len()).map(|at| Some(next(at)).filter(|&at| at < levels.len()));
        let below = below.collect();
        let (accesses, straddling) = (PerPurpose::default(), PerPurpose::default());
        Self { levels, below, instruction, data, now: 0, accesses, straddling, fetches_left_out: 0 }
    }

    pub(crate) fn begin_region(&mut self) {
        self.accesses = PerPurpose::default();
        self.straddling = PerPurpose::default();
        self.fetches_left_out = 0;
        for level in &mut self.levels {
            level.lookups = PerPurpose::default();
            level.write_backs = 0;
            level.back_invalidations = 0;
        }
    }

    pub(crate) fn access(&mut self, access: Access) {
        if access.bytes == 0 {
            return;
        }
        let at = if access.purpose == Purpose::Fetch { self.instruction } else { Some(self.data) };
        let Some(at) = at else {
            self.fetches_left_out += 1;
            return;
        };
        let bytes = (0..access.bytes).map_while(|n| access.address.checked_add(u64::from(n)));
        let starts: BTreeSet<u64> = bytes.map(|byte| self.levels[at].start_of(byte)).collect();
        count(&mut self.accesses, access.purpose);
        if starts.len() > 1 {
            count(&mut self.straddling, access.purpose);
        }
        let mut missed = BTreeSet::new();
        for start in starts {
            self.look_up(at, access.purpose, start, &mut missed);
            if access.purpose == Purpose::Store {
                self.make_dirty(at, start);
            }
        }
        for at in missed {
            outcome(&mut self.levels[at].lookups, access.purpose).accesses_missed += 1;
        }
    }

    fn make_dirty(&mut self, at: usize, address: u64) {
        let level = &mut self.levels[at];
        let (set, way) = (level.set_of(address), level.way_of(address).expect("it is there"));
        level.sets[set][way].as_mut().expect("it is there").is_dirty = true;
    }

    fn look_up(&mut self, at: usize, purpose: Purpose, address: u64, missed: &mut BTreeSet<usize>) {
        self.now += 1;
        let (now, level) = (self.now, &mut self.levels[at]);
        if let Some(way) = level.way_of(address) {
            outcome(&mut level.lookups, purpose).hits += 1;
            level.note_use(level.set_of(address), way, now);
            return;
        }
        outcome(&mut level.lookups, purpose).misses += 1;
        missed.insert(at);
        if let Some(below) = self.below[at] {
            self.look_up(below, purpose, address, missed);
        }
        self.fill(at, address);
    }

    fn fill(&mut self, at: usize, address: u64) {
        let level = &mut self.levels[at];
        let set = level.set_of(address);
        let way = level.way_to_fill(set);
        let fresh = Line { start: level.start_of(address), is_dirty: false, used_at: 0 };
        let old = level.sets[set][way].replace(fresh);
        self.now += 1;
        let now = self.now;
        self.levels[at].note_use(set, way, now);
        if let Some(old) = old {
            self.leave(at, old);
        }
    }

    fn leave(&mut self, at: usize, old: Line) {
        let mut is_dirty = old.is_dirty;
        let end = old.start + u64::from(self.levels[at].geometry.line_bytes() - 1);
        if self.levels[at].inclusion == Inclusion::Inclusive {
            for above in &mut self.levels[..at] {
                for way in above.sets.iter_mut().flatten() {
                    if let Some(line) = *way
                        && (old.start..=end).contains(&line.start)
                    {
                        is_dirty |= line.is_dirty;
                        above.back_invalidations += 1;
                        *way = None;
                    }
                }
            }
        }
        if !is_dirty {
            return;
        }
        self.levels[at].write_backs += 1;
        let Some(below) = self.below[at] else { return };
        match self.levels[below].way_of(old.start) {
            Some(way) => {
                self.now += 1;
                let (now, level) = (self.now, &mut self.levels[below]);
                level.note_use(level.set_of(old.start), way, now);
                self.make_dirty(below, old.start);
            }
            None => {
                // What it displaces is written back before the line can be asked for.
                self.fill(below, old.start);
                self.make_dirty(below, old.start);
            }
        }
    }

    pub(crate) fn report(&self) -> Report {
        let level = |level: &Level| {
            let lines: Vec<Line> = level.sets.iter().flatten().flatten().copied().collect();
            let line_bytes = level.geometry.line_bytes();
            let dirty = lines.iter().filter(|line| line.is_dirty).count() as u64;
            LevelReport {
                name: level.name.clone(),
                size_bytes: level.geometry.size_bytes(),
                line_bytes,
                ways: level.geometry.ways(),
                policy: level.geometry.policy(),
                inclusion: level.inclusion,
                lookups: level.lookups,
                write_backs: level.write_backs,
                back_invalidations: level.back_invalidations,
                resident_lines: lines.len() as u64,
                dirty_bytes: dirty * u64::from(line_bytes),
            }
        };
        Report {
            accesses: self.accesses,
            straddling: self.straddling,
            fetches_left_out: self.fetches_left_out,
            levels: self.levels.iter().map(level).collect(),
        }
    }

    /// Checks that every line above an inclusive level is part of one of its lines.
    pub(crate) fn assert_inclusive(&self) {
        for (at, level) in self.levels.iter().enumerate() {
            if level.inclusion != Inclusion::Inclusive {
                continue;
            }
            for line in self.levels[..at].iter().flat_map(|above| above.sets.iter().flatten()) {
                let is_within = line.is_none_or(|line| level.way_of(line.start).is_some());
                assert!(is_within, "{} lacks a line that is above it", level.name);
            }
        }
    }
}
