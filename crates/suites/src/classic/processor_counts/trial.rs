//! Tries whether an event counts what it should: it is counted during work that triggers it often,
//! and during work that hardly ever does.

use std::hint::black_box;

use record::ProcessorCount;

/// How often each act is counted; the median is used.
const TIMES: usize = 3;
/// The acceptable ratio of counted to actual events when there are many. A cache may keep part of
/// an array that is several times larger, and may prefetch lines that are never used.
const MANY: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// The most that may be counted when there are none, since interrupts use caches too.
const FEW: f64 = 0.05;
/// The array is this many times as large as the cache, so that little of it survives from one walk
/// to the next.
const ARRAY_OVER_CACHE: usize = 8;
/// Number of accesses within a few lines.
const ACCESSES: usize = 1 << 16;
/// Size of those few lines.
const FEW_LINES_BYTES: usize = 4096;
const WORD_BYTES: usize = 8;

/// Work whose events are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Reads one word from each line of an array that is larger than the cache and was read before.
    ReadArray,
    /// Writes one word to each line of the same array.
    WriteArray,
    /// Reads a few lines, the same number of times.
    ReadFew,
    /// Reads words from a few lines.
    Loads(Alignment),
    /// Writes words to a few lines.
    Stores(Alignment),
}

/// Where words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alignment {
    Aligned,
    /// Each across two lines.
    AcrossLines,
}

/// Positions of words in memory, in bytes.
#[derive(Clone, Copy, Debug)]
struct WordPositions {
    /// Where the first word begins.
    first: usize,
    /// The distance to the next.
    step: usize,
}

impl WordPositions {
    /// The first `count` of them. After the last one that fits into `bytes`, they start over.
    fn take(self, bytes: usize, count: usize) -> impl Iterator<Item = usize> {
        (self.first..=bytes - WORD_BYTES).step_by(self.step).cycle().take(count)
    }
}

/// The memory that acts work on.
pub(super) struct EventTrial {
    array: Vec<u8>,
    few_lines: Vec<u8>,
    line_bytes: usize,
}

impl EventTrial {
    /// For a processor with a second-level cache of this size.
    pub(super) fn new(cache_bytes: usize, line_bytes: usize) -> Self {
        Self {
            array: vec![1; cache_bytes * ARRAY_OVER_CACHE],
            few_lines: vec![1; FEW_LINES_BYTES + line_bytes],
            line_bytes,
        }
    }

    /// Whether `count` agrees with what is done. It performs one act and returns how often the
    /// event occurred, or `None` if it cannot be counted.
    pub(super) fn agrees(
        &mut self,
        what: ProcessorCount,
        mut count: impl FnMut(&mut Self, Work) -> Option<u64>,
    ) -> bool {
        let (often, never) = match what {
            ProcessorCount::L2BytesIn => (Work::ReadArray, Work::ReadFew),
            ProcessorCount::L2BytesOut => (Work::WriteArray, Work::ReadArray),
            ProcessorCount::MisalignedLoads => {
                (Work::Loads(Alignment::AcrossLines), Work::Loads(Alignment::Aligned))
            }
            ProcessorCount::MisalignedStores => {
                (Work::Stores(Alignment::AcrossLines), Work::Stores(Alignment::Aligned))
            }
        };
        let mut share = |work: Work| {
            // Done once beforehand, so that it finds caches as it leaves them.
            self.perform(work);
            let mut all = [0; TIMES];
            for one in &mut all {
                *one = count(self, work)?;
            }
            all.sort_unstable();
            Some(all[TIMES / 2] as f64 / self.events(work) as f64)
        };
        share(often).is_some_and(|share| MANY.contains(&share))
            && share(never).is_some_and(|share| share <= FEW)
    }

    /// Performs an act.
    pub(super) fn perform(&mut self, work: Work) {
        let in_lines = WordPositions { first: 0, step: self.line_bytes };
        let lines = self.lines();
        match work {
            Work::ReadArray => read(&self.array, in_lines, lines),
            Work::WriteArray => write(&mut self.array, in_lines, lines),
            Work::ReadFew => read(&self.few_lines, in_lines, lines),
            Work::Loads(alignment) => read(&self.few_lines, self.words(alignment), ACCESSES),
            Work::Stores(alignment) => {
                let words = self.words(alignment);
                write(&mut self.few_lines, words, ACCESSES);
            }
        }
    }

    /// The number of accesses in an act.
    fn events(&self, work: Work) -> usize {
        match work {
            Work::ReadArray | Work::WriteArray | Work::ReadFew => self.lines(),
            Work::Loads(_) | Work::Stores(_) => ACCESSES,
        }
    }

    fn lines(&self) -> usize {
        self.array.len() / self.line_bytes
    }

    /// One word for each of the few lines.
    fn words(&self, alignment: Alignment) -> WordPositions {
        let to_line = self.few_lines.as_ptr().align_offset(self.line_bytes);
        let first = match alignment {
            Alignment::Aligned => to_line,
            Alignment::AcrossLines => to_line + self.line_bytes - WORD_BYTES / 2,
        };
        WordPositions { first, step: self.line_bytes }
    }
}

#[inline(never)]
fn read(memory: &[u8], words: WordPositions, count: usize) {
    for at in words.take(memory.len(), count) {
        let word = memory[at..].first_chunk::<WORD_BYTES>();
        black_box(word.map(|word| u64::from_ne_bytes(*word)));
    }
}

#[inline(never)]
fn write(memory: &mut [u8], words: WordPositions, count: usize) {
    for (value, at) in (0_u64..).zip(words.take(memory.len(), count)) {
        memory[at..at + WORD_BYTES].copy_from_slice(&black_box(value).to_ne_bytes());
        black_box(&mut *memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE_BYTES: usize = 64;

    /// What a correct processor would count for each.
    fn right(what: ProcessorCount, work: Work) -> u64 {
        let lines = (1 << 16) * ARRAY_OVER_CACHE as u64 / LINE_BYTES as u64;
        let is_counted = match what {
            ProcessorCount::L2BytesIn => {
                matches!(work, Work::ReadArray | Work::WriteArray)
            }
            ProcessorCount::L2BytesOut => work == Work::WriteArray,
            ProcessorCount::MisalignedLoads => work == Work::Loads(Alignment::AcrossLines),
            ProcessorCount::MisalignedStores => work == Work::Stores(Alignment::AcrossLines),
        };
        let events = match work {
            Work::ReadArray | Work::WriteArray | Work::ReadFew => lines,
            Work::Loads(_) | Work::Stores(_) => ACCESSES as u64,
        };
        if is_counted { events } else { events / 100 }
    }

    fn agrees(what: ProcessorCount, counts: impl Fn(Work) -> Option<u64>) -> bool {
        EventTrial::new(1 << 16, LINE_BYTES).agrees(what, |trial, work| {
            trial.perform(work);
            counts(work)
        })
    }

    #[test]
    fn an_event_that_counts_something_else_is_found_out() {
        for what in ProcessorCount::ALL {
            for other in ProcessorCount::ALL {
                let is_right = agrees(what, |work| Some(right(other, work)));
                assert_eq!(is_right, what == other, "{other:?} for {what:?}");
            }
            assert!(!agrees(what, |_| Some(0)), "a counter of a virtual machine that stands still");
            assert!(!agrees(what, |_| None));
            assert!(
                agrees(what, |work| Some(right(what, work) * 9 / 10)),
                "some stays in the cache"
            );
            assert!(!agrees(what, |work| Some(right(what, work) / 2)), "half are of another kind");
        }
        // Clean lines that leave the cache are not modified ones.
        let all_that_leave = |work| {
            let is_read = work == Work::ReadArray;
            let as_what =
                if is_read { ProcessorCount::L2BytesIn } else { ProcessorCount::L2BytesOut };
            Some(right(as_what, work))
        };
        assert!(!agrees(ProcessorCount::L2BytesOut, all_that_leave));
    }

    #[test]
    fn words_lie_in_one_line_or_in_two() {
        let trial = EventTrial::new(1 << 16, LINE_BYTES);
        let base = trial.few_lines.as_ptr().addr();
        let crossings = |alignment| {
            let all = trial.words(alignment).take(trial.few_lines.len(), 1000);
            let is_in_two = |at: &usize| (base + at) % LINE_BYTES > LINE_BYTES - WORD_BYTES;
            all.filter(is_in_two).count()
        };
        assert_eq!((crossings(Alignment::Aligned), crossings(Alignment::AcrossLines)), (0, 1000));
    }
}
