//! The timeline: how operations were spread over time, in bounded memory.
//!
//! Time since the origin is divided into at most 64 *slices*, each with a histogram of one bucket
//! per octave. When a reading is later than the last slice, neighbouring slices are merged and the
//! width doubles, as often as needed. Widths are powers of two in ticks, so any two timelines can
//! be merged exactly, whatever widths they began with, by widening the narrower one first.
//!
//! The hot path must not divide. It keeps the *window*: the stretch of time for which the current
//! slice is known to be right. A reading inside it costs a subtraction and a comparison; a reading
//! outside moves the window. The window stays as wide as a slice was at first, so moving it also
//! gives the caller a steady, rare moment to check a stop flag, however wide slices become.

/// How many slices a timeline has at most.
const SLICES: usize = 64;
/// One bucket per octave of a `u64`.
const OCTAVES: usize = 64;
/// The greatest width is 2 to this power, with which the slices cover every possible reading.
const WIDTH_LOG2_MAX: u32 = u64::BITS - SLICES.ilog2();

/// The counts of one slice: bucket `k` is for values from `2^k` to `2^(k+1) - 1`, bucket 0 also for
/// 0.
pub type OctaveCounts = [u64; OCTAVES];

/// A log2 histogram per slice of time.
#[derive(Debug, Clone)]
pub struct Timeline {
    slices: Box<[OctaveCounts; SLICES]>,
    /// The slice that readings inside the window belong to.
    current: usize,
    window_start_ticks: u64,
    /// 0 if no window is known; no reading is inside it then.
    window_ticks: u64,
    origin_ticks: u64,
    slice_ticks_log2: u32,
    window_ticks_log2: u32,
}

/// One slice of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice<'a> {
    /// Where it begins, in ticks since the timeline's origin.
    pub start_ticks: u64,
    /// How many values are in each octave.
    pub counts: &'a OctaveCounts,
}

impl Slice<'_> {
    /// How many values are in this slice.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }
}

impl Timeline {
    /// The size of what [`new`](Self::new) allocates.
    pub(crate) const HEAP_BYTES: usize = size_of::<[OctaveCounts; SLICES]>();

    /// An empty timeline that begins at `origin_ticks`, with slices of at least `slice_ticks`: the
    /// next power of two.
    pub fn new(origin_ticks: u64, slice_ticks: u64) -> Self {
        let log2 = slice_ticks.max(1).checked_next_power_of_two().map_or(u64::BITS, u64::ilog2);
        let slice_ticks_log2 = log2.min(WIDTH_LOG2_MAX);
        Self {
            slices: zeroed_slices(),
            current: 0,
            window_start_ticks: 0,
            window_ticks: 0,
            origin_ticks,
            slice_ticks_log2,
            window_ticks_log2: slice_ticks_log2,
        }
    }

    /// Moves the origin of an empty timeline.
    ///
    /// # Panics
    /// In debug builds, if it is not empty, since the times recorded so far would be lost.
    pub fn begin_at(&mut self, origin_ticks: u64) {
        // Checked in debug builds only: a scan just before the first operation would disturb it.
        debug_assert!(self.slices().next().is_none(), "only an empty timeline can be moved");
        self.origin_ticks = origin_ticks;
        self.window_ticks = 0;
    }

    /// Counts a value at the time `at_ticks`; a time before the origin counts as the origin.
    ///
    /// Returns whether this reading is outside the window of the reading before it. In a thread
    /// whose time only increases, this happens at most once per initial slice width.
    #[inline]
    pub fn record(&mut self, at_ticks: u64, value: u64) -> bool {
        let moved = self.follow(at_ticks);
        self.slices[self.current % SLICES][octave_of(value)] += 1;
        moved
    }

    /// Counts a value `count` times at the time `at_ticks`. Counts saturate at `u64::MAX`.
    pub fn record_n(&mut self, at_ticks: u64, value: u64, count: u64) -> bool {
        let moved = self.follow(at_ticks);
        let bucket = &mut self.slices[self.current][octave_of(value)];
        *bucket = bucket.saturating_add(count);
        moved
    }

    /// Adds the contents of `other`, at the same times since its own origin.
    pub fn merge(&mut self, other: &Self) {
        while self.slice_ticks_log2 < other.slice_ticks_log2 {
            self.widen();
        }
        let narrower_by_log2 = self.slice_ticks_log2 - other.slice_ticks_log2;
        for (index, more) in other.slices.iter().enumerate() {
            add(&mut self.slices[index >> narrower_by_log2], more);
        }
        self.window_ticks = 0;
    }

    /// The slices from the origin to the last that is not empty.
    pub fn slices(&self) -> impl Iterator<Item = Slice<'_>> {
        let is_filled = |counts: &OctaveCounts| counts.iter().any(|&count| count > 0);
        let used = self.slices.iter().rposition(is_filled).map_or(0, |last| last + 1);
        (0_u64..)
            .zip(&self.slices[..used])
            .map(|(number, counts)| Slice { start_ticks: number << self.slice_ticks_log2, counts })
    }

    /// The current width of a slice, a power of two.
    pub fn slice_ticks(&self) -> u64 {
        1 << self.slice_ticks_log2
    }

    /// The reading that slices are counted from.
    pub fn origin_ticks(&self) -> u64 {
        self.origin_ticks
    }

    /// Makes `current` the slice of this time; returns whether the window had to move.
    #[inline(always)]
    fn follow(&mut self, at_ticks: u64) -> bool {
        // A time before the window wraps around to a large number, so one comparison checks both
        // sides.
        let is_outside = at_ticks.wrapping_sub(self.window_start_ticks) >= self.window_ticks;
        if is_outside {
            self.move_window(at_ticks);
        }
        is_outside
    }

    #[cold]
    #[inline(never)]
    fn move_window(&mut self, at_ticks: u64) {
        let elapsed_ticks = at_ticks.saturating_sub(self.origin_ticks);
        while elapsed_ticks >> self.slice_ticks_log2 >= SLICES as u64 {
            self.widen();
        }
        // A slice is a whole number of windows, so no window reaches into the next slice.
        let index = elapsed_ticks >> self.slice_ticks_log2;
        self.current = usize::try_from(index).expect("it is below the number of slices");
        let into_window_ticks = elapsed_ticks & ((1 << self.window_ticks_log2) - 1);
        // A reading before the origin gets the first window without being inside it, so the next
        // one moves the window again.
        self.window_start_ticks = self.origin_ticks + (elapsed_ticks - into_window_ticks);
        self.window_ticks = 1 << self.window_ticks_log2;
    }

    /// Merges neighbouring slices in pairs, which doubles the width.
    fn widen(&mut self) {
        for index in 0..SLICES {
            let counts = std::mem::replace(&mut self.slices[index], [0; OCTAVES]);
            add(&mut self.slices[index / 2], &counts);
        }
        self.slice_ticks_log2 += 1;
    }
}

/// The binary logarithm, rounded down; 0 is treated as 1.
#[inline(always)]
fn octave_of(value: u64) -> usize {
    (value | 1).ilog2() as usize
}

/// Empty slices on the heap, every page touched so that recording never faults.
fn zeroed_slices() -> Box<[OctaveCounts; SLICES]> {
    let mut slices = vec![[0; OCTAVES]; SLICES];
    // As in the histogram: pages are mapped at their first write, which must be this one.
    slices.fill([std::hint::black_box(0); OCTAVES]);
    slices.into_boxed_slice().try_into().expect("the vector was made with this length")
}

fn add(counts: &mut OctaveCounts, more: &OctaveCounts) {
    for (count, more) in counts.iter_mut().zip(more) {
        *count = count.saturating_add(*more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const ORIGIN: u64 = 1_000_000;

    /// Values of every magnitude.
    fn any_value() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0_u32..64).prop_map(|(bits, shift)| bits >> shift)
    }

    /// Readings as (time since the origin, value), in any order, of every magnitude of time.
    fn readings() -> impl Strategy<Value = Vec<(u64, u64)>> {
        vec(((0..u64::MAX - ORIGIN, 1_u32..64).prop_map(|(t, s)| t >> s), any_value()), 0..60)
    }

    fn timeline_of(slice_ticks: u64, readings: &[(u64, u64)]) -> Timeline {
        let mut timeline = Timeline::new(ORIGIN, slice_ticks);
        for &(elapsed, value) in readings {
            timeline.record(ORIGIN + elapsed, value);
        }
        timeline
    }

    /// The width needed for these times: the initial one, doubled until 64 slices cover them all.
    fn width_of(slice_ticks: u64, readings: &[(u64, u64)]) -> u64 {
        let last = readings.iter().map(|&(elapsed, _)| elapsed).max().unwrap_or(0);
        let mut width = slice_ticks.next_power_of_two();
        while last / width >= 64 {
            width *= 2;
        }
        width
    }

    #[test]
    fn an_empty_timeline_can_begin_later() {
        let mut timeline = Timeline::new(ORIGIN, 1000);
        timeline.begin_at(ORIGIN + 1_000_000);
        timeline.record(ORIGIN + 1_000_500, 5);
        let slices: Vec<u64> = timeline.slices().map(|slice| slice.count()).collect();
        assert_eq!((slices, timeline.slice_ticks()), (vec![1], 1024));
    }

    type Filled = BTreeMap<(u64, u32), u64>;

    /// The straightforward way: divide, and count in a map by slice and octave.
    fn expected(width: u64, readings: &[(u64, u64)]) -> Filled {
        let mut filled = Filled::new();
        for &(elapsed, value) in readings {
            *filled.entry((elapsed / width * width, value.max(1).ilog2())).or_default() += 1;
        }
        filled
    }

    fn filled(timeline: &Timeline) -> Filled {
        let buckets = timeline.slices().flat_map(|slice| {
            (0..)
                .zip(slice.counts)
                .map(move |(octave, &count)| ((slice.start_ticks, octave), count))
        });
        buckets.filter(|&(_, count)| count > 0).collect()
    }

    proptest! {
        #[test]
        fn every_reading_is_in_its_slice_and_octave(
            slice_ticks in 1_u64..1 << 40,
            readings in readings(),
        ) {
            let timeline = timeline_of(slice_ticks, &readings);
            prop_assert_eq!(timeline.slice_ticks(), width_of(slice_ticks, &readings));
            prop_assert_eq!(filled(&timeline), expected(timeline.slice_ticks(), &readings));
        }

        #[test]
        fn merging_equals_recording_all(
            widths in (1_u64..1 << 30, 1_u64..1 << 30),
            first in readings(),
            second in readings(),
            after in readings(),
        ) {
            let mut merged = timeline_of(widths.0, &first);
            merged.merge(&timeline_of(widths.1, &second));
            // Recording still works after a merge.
            for &(elapsed, value) in &after {
                merged.record(ORIGIN + elapsed, value);
            }
            let all = [first, second, after].concat();
            prop_assert_eq!(merged.slice_ticks(), width_of(widths.0.max(widths.1), &all));
            prop_assert_eq!(filled(&merged), expected(merged.slice_ticks(), &all));
        }

        #[test]
        fn recording_n_equals_recording_n_times(
            elapsed in 0_u64..1 << 40,
            value in any_value(),
            count in 0_u64..50,
        ) {
            let mut at_once = Timeline::new(ORIGIN, 1 << 20);
            at_once.record_n(ORIGIN + elapsed, value, count);
            let readings = vec![(elapsed, value); count.try_into().unwrap()];
            prop_assert_eq!(filled(&at_once), filled(&timeline_of(1 << 20, &readings)));
        }
    }

    #[test]
    fn the_window_moves_once_per_initial_slice_even_after_widening() {
        let mut timeline = Timeline::new(ORIGIN, 1024);
        let moves = (0..1024 * 200).step_by(16).filter(|t| timeline.record(ORIGIN + t, 1)).count();
        assert_eq!(moves, 200);
        assert_eq!(timeline.slice_ticks(), 4096);
        assert_eq!(timeline.slices().count(), 50);
        assert!(timeline.slices().all(|slice| slice.count() == 256));
    }

    #[test]
    fn a_reading_in_the_old_window_finds_its_slice_after_a_merge() {
        let reading = (40 * 1024, 1);
        let mut timeline = timeline_of(1024, &[reading]);
        timeline.merge(&timeline_of(4096, &[]));
        timeline.record(ORIGIN + reading.0, reading.1);
        assert_eq!(filled(&timeline), Filled::from([((reading.0, 0), 2)]));
    }

    #[test]
    fn times_before_the_origin_are_in_the_first_slice() {
        let mut timeline = Timeline::new(ORIGIN, 1024);
        for at_ticks in [ORIGIN + 1, ORIGIN - 1, 0, ORIGIN + 1023] {
            timeline.record(at_ticks, 5);
        }
        assert_eq!(filled(&timeline), Filled::from([((0, 2), 4)]));
    }

    #[test]
    fn the_whole_range_of_time_and_width_is_covered() {
        for slice_ticks in [0, 1, 1 << 57, u64::MAX] {
            let mut timeline = Timeline::new(0, slice_ticks);
            timeline.record(0, 0);
            timeline.record(u64::MAX, u64::MAX);
            assert_eq!(timeline.slice_ticks(), 1 << WIDTH_LOG2_MAX);
            let last = 63 << WIDTH_LOG2_MAX;
            assert_eq!(filled(&timeline), Filled::from([((0, 0), 1), ((last, 63), 1)]));
        }
        assert_eq!(Timeline::new(0, 1).slices().count(), 0);
    }
}
