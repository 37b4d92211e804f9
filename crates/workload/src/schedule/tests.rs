//! A manually advanced clock makes every latency known.

use std::cell::Cell;
use std::convert::Infallible;

use measure::ManualClock;

use super::*;

/// Waits by advancing the clock.
struct Moved;

impl Wait<ManualClock> for Moved {
    fn wait(&mut self, until_ticks: u64, clock: &ManualClock) {
        clock.advance_ns(until_ticks.saturating_sub(clock.now_ns()));
    }
}

/// Runs operations whose duration is given by `service_ns` of their number.
fn run(schedule: &Schedule, service_ns: impl Fn(u64) -> u64) -> OnSchedule {
    let clock = ManualClock::new();
    let operation = |number: u64| {
        clock.advance_ns(service_ns(number));
        Ok::<(), Infallible>(())
    };
    match run_on_schedule(schedule, &clock, &mut Moved, &|| false, operation) {
        Ok(done) => done,
        Err(never) => match never {},
    }
}

#[test]
fn constant_gaps_are_those_of_the_rate() {
    let schedule = Schedule::new(1e6, 4, Spacing::Constant, 7);
    assert_eq!(schedule.starts_ns, [1000, 2000, 3000, 4000]);
    assert_eq!(Schedule::new(1e6, 0, Spacing::Poisson, 7).operations(), 0);
}

#[test]
fn poisson_offers_the_rate_exactly_and_is_repeatable() {
    let of = |seed| Schedule::new(2000.0, 1000, Spacing::Poisson, seed);
    let schedule = of(1);
    assert_eq!((schedule.operations(), schedule.starts_ns.last()), (1000, Some(&500_000_000)));
    assert!(schedule.starts_ns.is_sorted());
    assert_eq!(schedule, of(1));
    assert_ne!(schedule, of(2));
}

/// The gaps of a Poisson process: e^-1 of them are longer than the mean, and their standard
/// deviation equals the mean.
#[test]
fn gaps_of_poisson_are_exponential() {
    let schedule = Schedule::new(1000.0, 20_000, Spacing::Poisson, 3);
    let starts = &schedule.starts_ns;
    let gaps: Vec<f64> = starts.windows(2).map(|two| (two[1] - two[0]) as f64 / 1e6).collect();
    let count = gaps.len() as f64;
    let longer = gaps.iter().filter(|&&gap| gap > 1.0).count() as f64 / count;
    assert!((longer - (-1.0_f64).exp()).abs() < 0.02, "{longer}");
    let variance = gaps.iter().map(|gap| (gap - 1.0).powi(2)).sum::<f64>() / count;
    assert!((variance - 1.0).abs() < 0.1, "{variance}");
}

#[test]
fn fast_operations_are_on_time_and_their_latency_is_their_own() {
    let done = run(&Schedule::new(1e3, 100, Spacing::Constant, 1), |_| 250_000);
    assert_eq!((done.late, done.elapsed_ns), (0, 100_250_000));
    assert_eq!(
        (done.latency.histogram().min(), done.latency.histogram().max()),
        (250_000, 250_000)
    );
    assert_eq!(done.service.max(), 250_000);
    assert!((done.rate_per_s() - 100.0 / 0.100_25).abs() < 1e-6);
}

/// The classic case of coordinated omission: one operation takes a hundred gaps. The closed loop
/// sees only that one as slow; everything scheduled meanwhile waited, half as long on average.
#[test]
fn what_waited_behind_a_slow_one_is_slow() {
    let schedule = Schedule::new(1e3, 200, Spacing::Constant, 1);
    let done = run(&schedule, |number| if number == 50 { 100_000_000 } else { 10_000 });
    let closed = &done.service;
    assert!(closed.min() == 10_000 && closed.quantile(0.99) < 10_100.0);
    let open = done.latency.histogram();
    assert_eq!(open.max(), 100_000_000);
    // The last late one is due 100 ms after the slow one; the queue has emptied by then.
    let late = done.late;
    assert!((100..=102).contains(&late), "{late}");
    assert!((done.late_share() - late as f64 / 200.0).abs() < 1e-12);
    // Half of all waited, between 0 and 100 ms, evenly spread, so the mean is 25 ms.
    let mean_ms = open.mean() / 1e6;
    assert!((24.0..27.0).contains(&mean_ms), "{mean_ms}");
}

#[test]
fn too_high_a_rate_is_not_reached_and_the_line_grows() {
    let done = run(&Schedule::new(1e6, 1000, Spacing::Constant, 1), |_| 2000);
    assert!((done.rate_per_s() - 5e5).abs() < 1e3, "{}", done.rate_per_s());
    // Each waits 1 us longer than the previous one.
    assert_eq!(done.latency.histogram().min(), 2000);
    assert_eq!(done.latency.histogram().max(), 2000 + 999 * 1000);
}

#[test]
fn a_halt_ends_it_before_the_next() {
    let clock = ManualClock::new();
    let done = Cell::new(0);
    let schedule = Schedule::new(1e3, 10, Spacing::Constant, 1);
    let halt = || done.get() == 3;
    let operation = |_| {
        done.set(done.get() + 1);
        Ok::<(), Infallible>(())
    };
    let Ok(ended) = run_on_schedule(&schedule, &clock, &mut Moved, &halt, operation);
    assert!(ended.interrupted);
    assert_eq!(ended.latency.operations(), 3);
}

#[test]
fn an_error_ends_it() {
    let schedule = Schedule::new(1e3, 10, Spacing::Constant, 1);
    let operation = |number| if number == 2 { Err("full") } else { Ok(()) };
    let ended = run_on_schedule(&schedule, &ManualClock::new(), &mut Moved, &|| false, operation);
    assert_eq!(ended.err(), Some("full"));
}

#[test]
fn a_long_wait_is_slept_but_for_its_end_and_a_short_one_is_not() {
    // Each reading takes 1 us, so spinning makes progress too.
    let clock = ManualClock::with_step(1000);
    let mut asked_ns = Vec::new();
    let mut wait = |until_ns: u64| {
        let mut sleeper = SleepThenSpin::new(|time: Duration| {
            let nanos = u64::try_from(time.as_nanos()).expect("it is short");
            asked_ns.push(nanos);
            clock.advance_ns(nanos);
        });
        sleeper.wait(until_ns, &clock);
        assert!(clock.now_ns() >= until_ns || until_ns > SLEEP_NS_MAX);
    };
    wait(40_000);
    wait(1_000_000);
    wait(500_000);
    assert_eq!(asked_ns.len(), 1, "{asked_ns:?}");
    assert!(asked_ns[0] < 950_000 && asked_ns[0] > 900_000, "{asked_ns:?}");
}

#[test]
fn a_very_long_wait_is_interrupted_so_that_somebody_can_stop_it() {
    let clock = ManualClock::new();
    let mut sleeper = SleepThenSpin::new(|time: Duration| {
        clock.advance_ns(u64::try_from(time.as_nanos()).expect("it is short"));
    });
    sleeper.wait(10 * SLEEP_NS_MAX, &clock);
    assert_eq!(clock.now_ns(), SLEEP_NS_MAX);
}
