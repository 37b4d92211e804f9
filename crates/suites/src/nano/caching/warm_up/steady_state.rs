//! Where in a warm-up the steady state begins.
//!
//! The series of throughputs, one per time slice, is split where its mean or variance changes, and
//! the segments are compared with the last one (Barrett et al., "Virtual Machine Warmup Blows Hot
//! and Cold", OOPSLA 2017, section 4, as in `stats::changepoint`).

use measure::Clock;
use record::Warning;
use stats::changepoint::pelt::{self, pelt};
use stats::changepoint::warmup::{self, BetterValues, classify};
use stats::steady_state::{Rule, steady_state};

use super::course::Course;

/// Throughputs within this share of the last segment's count as equal: what a virtual machine's
/// neighbours do to reads from memory is not warm-up.
const TOLERANCE: f64 = 0.1;
/// The share of the time, at the end, that must be steady. Less than what follows the last cold
/// read, which is a third.
const STEADY_SHARE: f64 = 0.2;

/// The steady state of a warm-up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SteadyState {
    /// The start of each slice, in nanoseconds since the first read, and its reads per second.
    pub(super) throughput: Vec<(f64, f64)>,
    /// When the steady state begins; the whole time if there is none.
    pub(super) time_until_steady_ns: f64,
    /// Reads per second before and after that.
    pub(super) throughput_before: f64,
    pub(super) throughput_steady: f64,
    /// A warning that describes the end, if it is not steady.
    pub(super) unsteady: Option<Warning>,
}

impl SteadyState {
    pub(super) fn find(course: &Course, clock: &impl Clock) -> Self {
        let slices = slices(course, clock);
        let rates: Vec<f64> = slices.iter().map(TimeSlice::rate_per_s).collect();
        let elapsed_ns = clock.nanos(course.elapsed_ticks) as f64;
        let steady_from = steady_from(&rates);
        let from = steady_from.unwrap_or(rates.len());
        let before = mean_rate(&slices[..from]).or_else(|| rates.first().copied());
        let steady = mean_rate(&slices[from..]).or_else(|| rates.last().copied());
        Self {
            time_until_steady_ns: slices.get(from).map_or(elapsed_ns, |slice| slice.start_ns),
            throughput_before: before.unwrap_or(0.0),
            throughput_steady: steady.unwrap_or(0.0),
            unsteady: if steady_from.is_some() { None } else { unsteady(&rates) },
            throughput: slices.iter().map(|slice| (slice.start_ns, slice.rate_per_s())).collect(),
        }
    }
}

/// Index of the first slice in the steady state.
fn steady_from(rates: &[f64]) -> Option<usize> {
    let found = pelt(rates, pelt::Options::default()).ok()?;
    let options = warmup::Options {
        tolerance: TOLERANCE,
        steady_share: STEADY_SHARE,
        better: BetterValues::Larger,
    };
    classify(&found, options).ok()?.steady_from
}

/// How much the end of the series spread and drifted.
fn unsteady(rates: &[f64]) -> Option<Warning> {
    let rounds = Rule::default().rounds;
    let last = &rates[rates.len().saturating_sub(rounds)..];
    let end = steady_state(last, Rule::default()).ok()?;
    let (range_percent, excursion_percent) = (end.range_percent, end.excursion_percent);
    Some(Warning::NoSteadyState { range_percent, excursion_percent })
}

/// A slice of time and the reads that ended in it.
struct TimeSlice {
    start_ns: f64,
    /// Its width, less the looks at what is resident.
    reading_ns: f64,
    reads: u64,
}

impl TimeSlice {
    fn rate_per_s(&self) -> f64 {
        self.reads as f64 / self.reading_ns * 1e9
    }
}

fn mean_rate(slices: &[TimeSlice]) -> Option<f64> {
    let reads: u64 = slices.iter().map(|slice| slice.reads).sum();
    let reading_ns: f64 = slices.iter().map(|slice| slice.reading_ns).sum();
    (reading_ns > 0.0).then(|| reads as f64 / reading_ns * 1e9)
}

/// All slices except the last, which is cut short.
fn slices(course: &Course, clock: &impl Clock) -> Vec<TimeSlice> {
    let timeline = course.recorder.timeline();
    let width_ticks = timeline.slice_ticks();
    let slice = |slice: measure::Slice<'_>| {
        let inside = slice.start_ticks..slice.start_ticks + width_ticks;
        let looks = course.looks.iter().filter(|look| inside.contains(&look.at_ticks));
        let looking_ticks: u64 = looks.map(|look| look.took_ticks).sum();
        let reading_ticks = width_ticks.saturating_sub(looking_ticks).max(1);
        TimeSlice {
            start_ns: clock.nanos(slice.start_ticks) as f64,
            reading_ns: clock.nanos(reading_ticks) as f64,
            reads: slice.count(),
        }
    };
    let whole =
        |slice: &measure::Slice<'_>| slice.start_ticks + width_ticks <= course.elapsed_ticks;
    timeline.slices().filter(whole).map(slice).collect()
}

#[cfg(test)]
mod tests {
    use super::super::course::tests::Simulated;
    use super::*;

    #[test]
    fn the_steady_state_begins_when_the_last_cold_pages_have_come() {
        let mut reads = Simulated::new(4096, 4096);
        let clock = reads.clock.clone();
        let course = Course::run(&clock, &mut reads).expect("nothing fails here");
        let steady_state = SteadyState::find(&course, &clock);
        assert_eq!(steady_state.unsteady, None);
        let resident_ns = course.resident_ticks as f64;
        let share = steady_state.time_until_steady_ns / resident_ns;
        assert!((0.85..1.1).contains(&share), "steady at {share} of the time until resident");
        // A read of a resident page takes 1,000 ns and two clock readings.
        assert!((0.85e6..1.0e6).contains(&steady_state.throughput_steady), "{steady_state:?}");
        assert!(
            steady_state.throughput_before < steady_state.throughput_steady / 4.0,
            "{steady_state:?}"
        );
        let rates: Vec<f64> = steady_state.throughput.iter().map(|(_, rate)| *rate).collect();
        assert!(rates[0] < 20_000.0, "the first reads are cold: {rates:?}");
    }

    #[test]
    fn what_does_not_settle_is_said_not_to() {
        let steps = [(100.0, 10), (200.0, 10), (400.0, 10), (800.0, 6), (1600.0, 3)];
        let rising: Vec<f64> = steps.into_iter().flat_map(|(rate, n)| vec![rate; n]).collect();
        assert_eq!(steady_from(&rising), None);
        let Some(Warning::NoSteadyState { excursion_percent, .. }) = unsteady(&rising) else {
            panic!("it is said")
        };
        assert!(excursion_percent > 10.0, "{excursion_percent}");
        let flat = [1000.0, 1001.0, 999.0, 1000.0, 1002.0, 998.0, 1000.0, 1001.0];
        assert_eq!(steady_from(&flat), Some(0));
    }
}
