//! What recording costs beyond the two clock readings that any measurement must make.
//!
//! One process runs short blocks in turn: (a) two readings and nothing else, (b) two readings and
//! [`Recorder::record`]. Each pair of neighbouring blocks gives one ratio, so that whatever
//! disturbs the machine disturbs both; the median of the ratios is printed with its exact 95 %
//! order-statistic interval.
//!
//! Run with `cargo run --release -p fsprism-measure --example recorder_cost`.

use measure::{Clock, ClockReport, MonotonicClock, Recorder, SystemClock};
use std::hint::black_box;

/// Pairs of blocks.
const PAIRS: usize = 401;
/// Operations per block: long enough that the readings around it do not matter, short enough to fit
/// into a time slice of the scheduler.
const OPERATIONS: u64 = 20_000;

/// The median of a sample and its interval.
struct Estimate {
    median: f64,
    low: f64,
    high: f64,
}

fn main() {
    let (clock, report) = SystemClock::calibrate();
    print_clock(&report);
    match clock {
        SystemClock::Tsc(tsc) => compare("TSC", &tsc),
        SystemClock::Monotonic(_) => {}
    }
    compare("CLOCK_MONOTONIC", &MonotonicClock);
    compare("either, matched at each reading", &clock);
}

fn print_clock(report: &ClockReport) {
    println!("clock: {}", report.source);
    println!("  frequency {:.3} MHz", report.frequency_hz / 1e6);
    println!("  calibration error {:.2} ppm", report.calibration_error_ppm);
    println!("  precision {:.1} ns, one reading {:.1} ns", report.precision_ns, report.cost_ns);
}

fn compare(name: &str, clock: &impl Clock) {
    let mut recorder = Recorder::new(clock.ticks(), clock.ticks_of(10_000_000));
    let mut bare_ns = Vec::with_capacity(PAIRS);
    let mut recording_ns = Vec::with_capacity(PAIRS);
    // The first pair warms the caches and is dropped.
    for _ in 0..=PAIRS {
        bare_ns.push(per_operation_ns(clock, || readings_only(clock)));
        recording_ns.push(per_operation_ns(clock, || readings_recorded(clock, &mut recorder)));
    }
    let pairs = bare_ns.iter().zip(&recording_ns).skip(1);
    let ratio = estimate(pairs.clone().map(|(bare, recording)| recording / bare).collect());
    let extra = estimate(pairs.map(|(bare, recording)| recording - bare).collect());
    let bare = estimate(bare_ns);
    println!("{name}: {} operations recorded", recorder.operations());
    println!("  two readings      {:7.2} ns [{:.2}, {:.2}]", bare.median, bare.low, bare.high);
    println!("  record adds       {:7.2} ns [{:.2}, {:.2}]", extra.median, extra.low, extra.high);
    println!("  ratio             {:7.3}    [{:.3}, {:.3}]", ratio.median, ratio.low, ratio.high);
}

fn per_operation_ns(clock: &impl Clock, block: impl FnOnce()) -> f64 {
    let start_ticks = clock.start();
    block();
    let end_ticks = clock.end();
    clock.nanos(end_ticks - start_ticks) as f64 / OPERATIONS as f64
}

#[inline(never)]
fn readings_only(clock: &impl Clock) {
    for _ in 0..OPERATIONS {
        black_box(clock.start());
        black_box(clock.end());
    }
}

#[inline(never)]
fn readings_recorded(clock: &impl Clock, recorder: &mut Recorder) {
    for _ in 0..OPERATIONS {
        let start_ticks = clock.start();
        let end_ticks = clock.end();
        black_box(recorder.record(start_ticks, end_ticks, clock));
    }
}

fn estimate(mut sample: Vec<f64>) -> Estimate {
    sample.sort_unstable_by(f64::total_cmp);
    let below = ranks_outside(sample.len());
    Estimate {
        median: sample[sample.len() / 2],
        low: sample[below],
        high: sample[sample.len() - 1 - below],
    }
}

/// How many order statistics to leave out at either end for an interval of at least 95 %: with
/// `k` left out, it misses the median with probability `2 P(B <= k)`, B binomial with p = 1/2.
fn ranks_outside(sample_size: usize) -> usize {
    let mut term = 0.5_f64.powf(sample_size as f64);
    let mut missed = term;
    let mut left_out = 0;
    loop {
        term *= (sample_size - left_out) as f64 / (left_out + 1) as f64;
        missed += term;
        if 2.0 * missed > 0.05 {
            return left_out;
        }
        left_out += 1;
    }
}
