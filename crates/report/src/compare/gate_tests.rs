//! Tests of gates: what they detect, what they miss, and whether the advice they give is enough.

use stats::planning::power::least_detectable_of_runs;

use super::tests::{named, options, sides};
use super::*;
use crate::sample::{Sample, noisy};

/// Runs of one benchmark with these means.
fn runs_of(means: &[f64], seed: u64) -> Vec<Sample> {
    let run = |(place, mean): (usize, &f64)| {
        let times = noisy(*mean, 0.005, seed + place as u64, 8);
        Sample::new(&["ext4"]).benchmark("create", &[&times]).ended()
    };
    means.iter().enumerate().map(run).collect()
}

/// Sides of `count` runs each that vary by `deviation`; the second is `times` as slow.
fn compared(count: usize, deviation: f64, times: f64, seed: u64) -> CompareDocument {
    let means = |mean, seed| noisy(mean, deviation, seed, count);
    let first = runs_of(&means(1000.0, 2 * seed), 100 * seed);
    let second = runs_of(&means(1000.0 * times, 2 * seed + 1), 100 * seed + 50);
    let (runs, how) = sides(first, second);
    compare(&runs, &how).unwrap()
}

#[test]
fn a_gate_is_green_only_where_a_change_would_have_been_seen() {
    let alike = compared(4, 0.005, 1.0, 1);
    let answer = alike.gate(0.05);
    assert_eq!((answer.compared, answer.failure(), answer.blindness()), (1, None, None));
    let uncertain = compared(4, 0.2, 1.0, 1);
    let answer = uncertain.gate(0.05);
    assert_eq!((answer.failure(), answer.open.len()), (None, 1));
    let said = answer.blindness().unwrap();
    assert!(
        said.starts_with(
            "1 of 1 comparison do not rule out that something got worse by more than 5 %"
        ),
        "{said}"
    );
    let slower = compared(4, 0.005, 1.5, 1);
    let answer = slower.gate(0.05);
    assert!(answer.failure().unwrap().starts_with("1 comparison worse by more than 5 %"));
    assert_eq!(answer.blindness(), None);
    // What is close to the limit is neither.
    let at_the_limit = compared(4, 0.02, 1.05, 1);
    let answer = at_the_limit.gate(0.05);
    assert!(answer.failure().is_none() && answer.blindness().is_some());
}

#[test]
fn single_runs_leave_open_whatever_they_differ_by() {
    for times in [1.0, 1.5] {
        let [before, after] = [1000.0, 1000.0 * times].map(|mean| runs_of(&[mean], 1).remove(0));
        let document = compare(&[named("before", before), named("after", after)], &options());
        let document = document.unwrap();
        let answer = document.gate(0.05);
        assert_eq!(answer.failure(), None);
        let said = answer.blindness().unwrap();
        assert!(said.contains("--runs 4"), "{said}");
    }
}

/// With the suggested number of runs, four gates in five are green if nothing changed, and the
/// suggestion is not much larger than necessary.
#[test]
fn the_runs_that_are_named_are_enough_and_not_too_many() {
    const TRIALS: u64 = 20;
    let (half_width, limit) = (0.05, 0.05);
    let mut named: Vec<usize> = (0..TRIALS)
        .filter_map(|seed| {
            let said = compared(4, half_width, 1.0, seed).gate(limit).blindness()?;
            let (before, _) = said.split_once(" runs a side (--runs)")?;
            before.rsplit(' ').next()?.parse().ok()
        })
        .collect();
    named.sort_unstable();
    let typical = named[named.len() / 2];
    // The standard deviation of a uniform distribution between two ends.
    let deviation = half_width / 3.0_f64.sqrt();
    let shown = |runs: usize| {
        let least = least_detectable_of_runs([runs as u64; 2], 0.95, 0.8).unwrap();
        least * deviation <= f64::ln_1p(limit)
    };
    let enough = (2..).find(|&runs| shown(runs)).unwrap();
    assert!((enough / 2..=2 * enough).contains(&typical), "{typical} for {enough}");
    let is_green = |seed: &u64| {
        compared(typical, half_width, 1.0, 1000 + seed).gate(limit).blindness().is_none()
    };
    let green = (0..TRIALS).filter(is_green).count();
    assert!(green as f64 >= 0.7 * TRIALS as f64, "{typical} runs: {green} of {TRIALS}");
}
