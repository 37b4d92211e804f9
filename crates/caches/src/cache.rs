//! One cache: which lines it holds, and which of them are dirty.
//!
//! A way is one word: the line number, shifted left by two flag bits. The line number always fits,
//! since lines have at least eight bytes. Under LRU the words of a set are kept in order of use,
//! which both serves as the state of the policy and means that the common case, the line used last,
//! is the first to be checked.

use crate::geometry::Geometry;
use crate::policy::{Memory, draw, point_away, pointed_at};

const VALID: u64 = 1;
const DIRTY: u64 = 2;
const LINE_SHIFT: u32 = 2;

/// Whether a line differs from its copy in the level below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineState {
    Clean,
    Dirty,
}

impl LineState {
    fn bit(self) -> u64 {
        match self {
            Self::Clean => 0,
            Self::Dirty => DIRTY,
        }
    }

    fn from_word(word: u64) -> Self {
        if word & DIRTY == 0 { Self::Clean } else { Self::Dirty }
    }

    /// Dirty if either is.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Dirty { self } else { other }
    }
}

/// A line that was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    pub(crate) line: u64,
    pub(crate) state: LineState,
}

/// Moves a way to the front, shifting those before it back by one.
#[inline]
fn move_to_front(words: &mut [u64], way: usize) {
    if way > 0 {
        let word = words[way];
        words.copy_within(..way, 1);
        words[0] = word;
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    words: Vec<u64>,
    ways: usize,
    sets: u64,
    /// The set is the line number and this mask; `None` if the number of sets is not a power of
    /// two.
    mask: Option<u64>,
    memory: Memory,
}

impl Cache {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let sets = geometry.sets();
        let count = usize::try_from(sets).expect("a geometry's lines fit into memory");
        let ways = geometry.ways() as usize;
        Self {
            words: vec![0; count * ways],
            ways,
            sets,
            mask: sets.is_power_of_two().then(|| sets - 1),
            memory: Memory::new(geometry.policy(), count),
        }
    }

    #[inline]
    fn set_of(&self, line: u64) -> usize {
        let set = self.mask.map_or_else(|| line % self.sets, |mask| line & mask);
        usize::try_from(set).expect("a geometry's sets fit into memory")
    }

    /// Uses a line, if it is there, and makes it dirty if `state` says so. Returns whether it is
    /// there.
    #[inline]
    pub(crate) fn touch(&mut self, line: u64, state: LineState) -> bool {
        let set = self.set_of(line);
        let words = &mut self.words[set * self.ways..][..self.ways];
        let wanted = line << LINE_SHIFT | VALID;
        let Some(way) = words.iter().position(|word| word & !DIRTY == wanted) else {
            return false;
        };
        words[way] |= state.bit();
        match &mut self.memory {
            Memory::Lru => move_to_front(words, way),
            Memory::TreePlru(trees) => point_away(&mut trees[set], self.ways, way),
            Memory::Random(_) => {}
        }
        true
    }

    /// Inserts a line that is not there, as the most recently used. It takes the lowest empty way
    /// if there is one; otherwise a line is evicted.
    pub(crate) fn insert(&mut self, line: u64, state: LineState) -> Option<Victim> {
        let set = self.set_of(line);
        let words = &mut self.words[set * self.ways..][..self.ways];
        let empty = words.iter().position(|&word| word & VALID == 0);
        let way = empty.unwrap_or_else(|| match &mut self.memory {
            Memory::Lru => self.ways - 1,
            Memory::TreePlru(trees) => pointed_at(trees[set], self.ways),
            Memory::Random(generator) => draw(generator, self.ways),
        });
        let old = std::mem::replace(&mut words[way], line << LINE_SHIFT | VALID | state.bit());
        match &mut self.memory {
            Memory::Lru => move_to_front(words, way),
            Memory::TreePlru(trees) => point_away(&mut trees[set], self.ways, way),
            Memory::Random(_) => {}
        }
        (old & VALID != 0)
            .then(|| Victim { line: old >> LINE_SHIFT, state: LineState::from_word(old) })
    }

    /// Removes a line and returns its state. The policy's state is not changed.
    pub(crate) fn invalidate(&mut self, line: u64) -> Option<LineState> {
        let set = self.set_of(line);
        let words = &mut self.words[set * self.ways..][..self.ways];
        let wanted = line << LINE_SHIFT | VALID;
        let word = words.iter_mut().find(|word| **word & !DIRTY == wanted)?;
        Some(LineState::from_word(std::mem::take(word)))
    }

    /// The numbers of resident lines and of dirty lines.
    pub(crate) fn resident_and_dirty(&self) -> (u64, u64) {
        let count = |bits| self.words.iter().filter(|&word| word & bits == bits).count() as u64;
        (count(VALID), count(VALID | DIRTY))
    }
}
