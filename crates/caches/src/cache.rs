//! One cache: which lines it holds, which of them are dirty.
//!
//! A way is one word: the line's number above two bits. A line's number fits, for lines have eight
//! bytes at least. Under LRU the words of a set stand in the order of their use, which is both the
//! memory of the policy and what makes the common case, the line used last, the first that is
//! looked at.

use crate::geometry::Geometry;
use crate::policy::{Memory, draw, point_away, pointed_at};

const VALID: u64 = 1;
const DIRTY: u64 = 2;
const LINE_SHIFT: u32 = 2;

/// Whether what happens to a line leaves it other than what lies below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Clean,
    Dirty,
}

impl State {
    fn bit(self) -> u64 {
        match self {
            Self::Clean => 0,
            Self::Dirty => DIRTY,
        }
    }

    fn of(word: u64) -> Self {
        if word & DIRTY == 0 { Self::Clean } else { Self::Dirty }
    }

    /// Dirty where either is.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Dirty { self } else { other }
    }
}

/// A line that had to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    pub(crate) line: u64,
    pub(crate) state: State,
}

/// Makes the way the first, and moves those before it one on.
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
    /// The set is the line's number under this mask; where the sets are no power of two, `None`.
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

    /// Uses a line, and makes it dirty where `state` says so; whether it is there.
    #[inline]
    pub(crate) fn touch(&mut self, line: u64, state: State) -> bool {
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

    /// Brings a line in that is not there, as the one used last. An empty way is taken first, the
    /// lowest of several; else one leaves.
    pub(crate) fn insert(&mut self, line: u64, state: State) -> Option<Victim> {
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
        (old & VALID != 0).then(|| Victim { line: old >> LINE_SHIFT, state: State::of(old) })
    }

    /// Throws a line out, and says what it was; the policy's memory stays as it is.
    pub(crate) fn invalidate(&mut self, line: u64) -> Option<State> {
        let set = self.set_of(line);
        let words = &mut self.words[set * self.ways..][..self.ways];
        let wanted = line << LINE_SHIFT | VALID;
        let word = words.iter_mut().find(|word| **word & !DIRTY == wanted)?;
        Some(State::of(std::mem::take(word)))
    }

    /// How many lines it holds, and how many of them are dirty.
    pub(crate) fn resident_and_dirty(&self) -> (u64, u64) {
        let count = |bits| self.words.iter().filter(|&word| word & bits == bits).count() as u64;
        (count(VALID), count(VALID | DIRTY))
    }
}
