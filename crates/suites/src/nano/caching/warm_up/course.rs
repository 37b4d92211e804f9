//! The course of a warm-up: every read goes into a histogram and a slice of time, with an
//! occasional look at how much is resident.

use measure::{Clock, Recorder};
use runner::Failure;

/// The least width of a time slice, and the time between two looks at what is resident. A look
/// takes some 100 microseconds, a small part of that.
const SLICE_NS: u64 = 4_000_000;
/// Once everything is resident, reading goes on for this share of the time that took: enough to
/// show that it is steady.
const AFTERWARDS: f64 = 0.5;
/// But for at least this many slices.
const SLICES_AFTERWARDS: u64 = 8;
/// Random reads reach the last page after `pages * (ln pages + 0.6)` reads on average, and hardly
/// ever need three times as many (the coupon collector's problem).
const READS_PER_EXPECTED: f64 = 3.0;
/// Looks that the record keeps at most.
const LOOKS_MAX: usize = 128;

/// What is read, in which order, and how much of it is resident.
pub(super) trait RandomAccess {
    /// Number of pages in the file.
    fn pages(&self) -> u64;

    /// Chooses the page to read next; not timed.
    fn choose(&mut self) -> u64;

    /// Reads a page.
    fn read(&mut self, page: u64) -> Result<(), Failure>;

    /// How many pages are resident. Ends the replicate if the run was told to stop.
    fn resident_pages(&mut self) -> Result<u64, Failure>;
}

/// A look at what is resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResidencySample {
    /// When it began, since the first read.
    pub(super) at_ticks: u64,
    /// How long it took, during which nothing was read.
    pub(super) took_ticks: u64,
    /// How many pages were resident.
    pub(super) resident_pages: u64,
}

/// A warm-up from the first read on.
#[derive(Debug)]
pub(super) struct Course {
    pub(super) pages: u64,
    pub(super) recorder: Recorder,
    pub(super) looks: Vec<ResidencySample>,
    /// When everything was first seen to be resident, since the first read.
    pub(super) resident_ticks: u64,
    pub(super) elapsed_ticks: u64,
}

impl Course {
    /// Reads until everything is resident, and on until the effect has shown.
    pub(super) fn run(clock: &impl Clock, reads: &mut impl RandomAccess) -> Result<Self, Failure> {
        let pages = reads.pages();
        let origin_ticks = clock.start();
        let mut recorder = Recorder::new(origin_ticks, clock.ticks_of(SLICE_NS));
        let mut looks: Vec<ResidencySample> = Vec::new();
        let mut resident_ticks = None;
        loop {
            let page = reads.choose();
            let start_ticks = clock.start();
            reads.read(page)?;
            let end_ticks = clock.end();
            if !recorder.record(start_ticks, end_ticks, clock) {
                continue;
            }
            let at_ticks = end_ticks.saturating_sub(origin_ticks);
            let resident_pages = reads.resident_pages()?;
            let took_ticks = clock.end().saturating_sub(end_ticks);
            looks.push(ResidencySample { at_ticks, took_ticks, resident_pages });
            if resident_pages == pages && resident_ticks.is_none() {
                resident_ticks = Some(at_ticks);
            }
            match resident_ticks {
                Some(since) if has_shown(since, at_ticks, &recorder) => {
                    let elapsed_ticks = at_ticks + took_ticks;
                    let resident_ticks = since;
                    return Ok(Self { pages, recorder, looks, resident_ticks, elapsed_ticks });
                }
                Some(_) => {}
                None => check_progress(pages, resident_pages, recorder.operations())?,
            }
        }
    }

    /// The looks that are kept, evenly spaced.
    pub(super) fn looks_thinned(&self) -> impl Iterator<Item = &ResidencySample> {
        self.looks.iter().step_by(self.looks.len().div_ceil(LOOKS_MAX).max(1))
    }
}

fn has_shown(resident_ticks: u64, at_ticks: u64, recorder: &Recorder) -> bool {
    let since = at_ticks.saturating_sub(resident_ticks);
    let slices = SLICES_AFTERWARDS * recorder.timeline().slice_ticks();
    since as f64 >= AFTERWARDS * resident_ticks as f64 && since >= slices
}

/// Gives up if pages leave again as fast as others come in.
fn check_progress(pages: u64, resident_pages: u64, reads: u64) -> Result<(), Failure> {
    let pages_f = pages as f64;
    let expected = pages_f * (pages_f.max(1.0).ln() + 0.6);
    if (reads as f64) < READS_PER_EXPECTED * expected.max(1000.0) {
        return Ok(());
    }
    let why = format!(
        "after {reads} random reads, {resident_pages} of {pages} pages are resident: the file does \
         not stay in memory (a larger memory= may help)"
    );
    Err(Failure::Cell { why })
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use measure::ManualClock;

    use super::*;

    /// A file whose cold pages take 100 microseconds to read, and warm ones one.
    pub(crate) struct Simulated {
        pub(crate) clock: ManualClock,
        pages: u64,
        state: u64,
        resident: BTreeSet<u64>,
        /// Pages that fit in memory.
        room: usize,
    }

    impl Simulated {
        pub(crate) fn new(pages: u64, room: usize) -> Self {
            let clock = ManualClock::with_step(50);
            Self { clock, pages, state: 1, resident: BTreeSet::new(), room }
        }
    }

    impl RandomAccess for Simulated {
        fn pages(&self) -> u64 {
            self.pages
        }

        fn choose(&mut self) -> u64 {
            // Knuth's MMIX generator; any would do.
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.state >> 33) % self.pages
        }

        fn read(&mut self, page: u64) -> Result<(), Failure> {
            let is_cold = self.resident.insert(page);
            if self.resident.len() > self.room {
                self.resident.pop_first();
            }
            self.clock.advance_ns(if is_cold { 100_000 } else { 1_000 });
            Ok(())
        }

        fn resident_pages(&mut self) -> Result<u64, Failure> {
            self.clock.advance_ns(100_000);
            Ok(self.resident.len() as u64)
        }
    }

    #[test]
    fn the_slices_add_up_to_the_histogram_and_all_becomes_resident() {
        let mut reads = Simulated::new(4096, 4096);
        let course = Course::run(&reads.clock.clone(), &mut reads).expect("nothing fails here");
        let total = course.recorder.operations();
        let slices: u64 = course.recorder.timeline().slices().map(|slice| slice.count()).sum();
        assert_eq!(slices, total);
        // Bucket by bucket: each value in the histogram is within its slice's octave.
        let mut octaves = [0; 64];
        for slice in course.recorder.timeline().slices() {
            for (sum, count) in octaves.iter_mut().zip(slice.counts) {
                *sum += count;
            }
        }
        let cold: u64 = octaves[16..].iter().sum();
        assert_eq!((cold, octaves[..16].iter().sum::<u64>()), (4096, total - 4096));
        let seen: Vec<u64> = course.looks.iter().map(|look| look.resident_pages).collect();
        assert!(seen.is_sorted(), "{seen:?}");
        assert_eq!(seen.last(), Some(&4096));
        // 4096 cold reads and the looks come first, then half of that time.
        let until_ms = course.resident_ticks as f64 / 1e6;
        assert!((430.0..520.0).contains(&until_ms), "{until_ms}");
        let share = course.elapsed_ticks as f64 / course.resident_ticks as f64;
        assert!((1.5..1.7).contains(&share), "{share}");
    }

    #[test]
    fn a_file_that_does_not_stay_is_refused() {
        let mut reads = Simulated::new(256, 128);
        let refused = Course::run(&reads.clock.clone(), &mut reads).expect_err("there is no room");
        let Failure::Cell { why } = refused else { panic!("{refused:?}") };
        assert!(why.contains("of 256 pages are resident"), "{why}");
    }
}
