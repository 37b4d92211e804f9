//! Comparisons of counts, which do not depend on chance.

use record::{Better, MetricDefinition};

use super::tests::{named, options, sides, verdicts};
use super::*;
use crate::sample::Sample;

#[test]
fn exact_counts_are_the_same_in_every_run() {
    let count = |lines: f64| Sample::new(&["a"]).benchmark("create", &[&[lines; 8]]).ended();
    let verdict = |lines: f64| {
        let runs = [named("one", count(600.0)), named("two", count(lines))];
        verdicts(&compare(&runs, &options()).unwrap())
    };
    assert_eq!(verdict(691.0), [RunVerdict::Real]);
    assert_eq!(verdict(600.0), [RunVerdict::Same]);
}

/// Each block of counts is as good as a run, so three are enough.
#[test]
fn numbers_of_things_need_no_six_blocks() {
    let calls = |counts: &[f64; 3]| {
        let mut sample = Sample::new(&["none"]).benchmark("tree", &[counts]).ended();
        sample.change("tree", |cell| {
            cell.metrics[0] = MetricDefinition::new("rpcs", "count", Better::Lower);
        });
        sample
    };
    let verdict = |first: [f64; 3], second: [f64; 3]| {
        let runs = [named("one", calls(&first)), named("two", calls(&second))];
        verdicts(&compare(&runs, &options()).unwrap())
    };
    assert_eq!(verdict([160.0; 3], [160.0; 3]), [RunVerdict::Same]);
    assert_eq!(verdict([0.0; 3], [0.0; 3]), [RunVerdict::Same]);
    assert_eq!(verdict([160.0; 3], [320.0; 3]), [RunVerdict::Real]);
    let (some, more) = ([6452.0, 6446.0, 6469.0], [7452.0, 7446.0, 7469.0]);
    assert_eq!(verdict(some, more), [RunVerdict::DiffersBetweenTheseRuns]);
    assert_eq!(verdict(some, [6450.0, 6460.0, 6445.0]), [RunVerdict::SameInTheseRuns]);
    assert_eq!(verdict([0.0; 3], [2.0; 3]), [RunVerdict::NotEnoughData], "there is no ratio");
    assert_eq!(verdict([1.5; 3], [1.5; 3]), [RunVerdict::NotEnoughData], "it is no number");
}

/// Counts do not depend on the run: more runs cannot make them less certain.
#[test]
fn exact_counts_stay_exact_over_several_runs() {
    let count = |lines: f64| Sample::new(&["a"]).benchmark("create", &[&[lines; 8]]).ended();
    let of = |lines: f64| {
        let (runs, how) = sides(vec![count(600.0), count(600.0)], vec![count(lines), count(lines)]);
        compare(&runs, &how).unwrap()
    };
    assert_eq!(verdicts(&of(691.0)), [RunVerdict::Real]);
    assert_eq!(verdicts(&of(600.0)), [RunVerdict::Same]);
    assert_eq!(of(691.0).power, None, "nothing of how runs differ is known");
    let both = || Sample::new(&["a", "b"]).benchmark("create", &[&[600.0; 8], &[691.0; 8]]).ended();
    let (runs, how) = sides(vec![both(), both(), both()], Vec::new());
    assert_eq!(verdicts(&compare(&runs, &how).unwrap()), [RunVerdict::Real]);
}
