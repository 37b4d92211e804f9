//! Tests of the fit on small batteries with known answers.

use super::*;
use crate::battery::battery;
use crate::generate::{Generator, scan};
use crate::policy::Size;
use crate::trace::Trace;

/// What a battery shows under `policy`, with aligned groups of pages.
fn observe(policy: Policy, capacity_pages: u32, pages_per_group: u32) -> Vec<ObservedTrace> {
    let observe = |trace| under(policy, capacity_pages, pages_per_group, trace);
    battery(256, 3).into_iter().map(observe).collect()
}

fn under(policy: Policy, capacity_pages: u32, pages_per_group: u32, trace: Trace) -> ObservedTrace {
    let capacity = capacity_pages / pages_per_group;
    let mut cache = policy.cache(Size { capacity, pages: trace.pages() }, 99);
    let mut resident = Vec::new();
    for (done, &access) in (1..).zip(trace.accesses()) {
        cache.access(crate::Access { page: access.page / pages_per_group, ..access });
        if trace.moments().contains(&done) {
            let is_resident = |page| cache.is_resident(page / pages_per_group);
            resident.push((0..trace.pages()).map(is_resident).collect());
        }
    }
    ObservedTrace::new(trace, resident).unwrap()
}

fn place(fit: &Fit, policy: Policy) -> &ScoredPolicy {
    fit.ranking.iter().find(|scored| scored.policy == policy).unwrap()
}

#[test]
fn without_noise_the_capacity_is_found_and_all_is_explained() {
    for (policy, capacity) in [(Policy::Lru, 240), (Policy::Arc, 221), (Policy::Fifo, 200)] {
        let fit = fit(&observe(policy, capacity, 1), &Question::within(150..=300)).unwrap();
        assert_eq!((fit.best().policy, fit.best().capacity_pages), (policy, capacity));
        assert_eq!(fit.verdict, FitVerdict::ToldApart);
        assert!(fit.best().noise < 1e-3 && fit.best().agreement > 0.999, "{:?}", fit.best());
        assert!(fit.best().explained > 0.99, "{}", fit.best().explained);
        assert!(fit.resident_unaccessed.abs() < f64::EPSILON);
        assert!(fit.best().behind_interval.high.abs() < f64::EPSILON);
    }
}

#[test]
fn a_random_policy_wins_though_it_explains_little() {
    let fit = fit(&observe(Policy::Random, 230, 1), &Question::within(150..=300)).unwrap();
    assert_eq!(fit.best().policy, Policy::Random);
    assert!(fit.best().interval.low > 0.0 && fit.best().explained < 0.3, "{:?}", fit.best());
}

#[test]
fn groups_of_pages_are_found_and_capacities_are_in_pages() {
    let fit = fit(&observe(Policy::Clock, 240, 8), &Question::within(150..=300)).unwrap();
    assert_eq!(fit.pages_per_group, 8);
    assert!(fit.resident_unaccessed > 0.1, "{}", fit.resident_unaccessed);
    assert_eq!((fit.best().policy, fit.best().capacity_pages), (Policy::Clock, 240));
}

#[test]
fn the_capacity_stays_within_its_range() {
    let fit = fit(&observe(Policy::Lru, 240, 1), &Question::within(100..=200)).unwrap();
    let capacities = fit.ranking.iter().map(|scored| scored.capacity_pages);
    assert!(capacities.clone().all(|pages| (100..=200).contains(&pages)));
    assert_eq!(place(&fit, Policy::Lru).capacity_pages, 200);
}

#[test]
fn what_is_the_same_on_a_scan_is_not_told_apart() {
    let observed = under(Policy::Fifo, 300, 1, Trace::new("scan", scan(1000), 4));
    let fit = fit(&[observed], &Question::within(200..=400)).unwrap();
    let FitVerdict::NotToldApart { from } = &fit.verdict else { panic!("{:?}", fit.verdict) };
    let alike = [&[fit.best().policy], &from[..]].concat();
    assert!([Policy::Fifo, Policy::Lru, Policy::Clock].iter().all(|policy| alike.contains(policy)));
    assert!(!alike.contains(&Policy::Mru) && !alike.contains(&Policy::Random));
    assert!(place(&fit, Policy::Mru).agreement < 0.0);
}

#[test]
fn coins_are_explained_by_nothing() {
    let trace = Trace::new("coins", scan(2000), 1);
    let coins = Generator::new(4).uniform(0, 2, 2000);
    let resident = coins.iter().map(|coin| coin.page == 1).collect();
    let observed = ObservedTrace::new(trace, vec![resident]).unwrap();
    let fit = fit(&[observed], &Question::within(500..=1500)).unwrap();
    assert_eq!(fit.verdict, FitVerdict::NoBetterThanChance);
    assert!(fit.best().explained < 0.01, "{:?}", fit.best());
}

#[test]
fn one_seed_gives_one_answer() {
    let observed = observe(Policy::Random, 230, 1);
    let answer = |seed| fit(&observed, &Question { seed, ..Question::within(150..=300) }).unwrap();
    assert_eq!(answer(1), answer(1));
    assert_ne!(answer(1), answer(2));
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let observed = observe(Policy::Lru, 240, 1);
    let refused = |question: Question| fit(&observed, &question).unwrap_err().to_string();
    assert_eq!(
        refused(Question::within(0..=300)),
        "cannot search for a capacity from 0 to 300 pages: give a range from 1 up"
    );
    let question = Question { grouping: Grouping::Pages(0), ..Question::within(1..=300) };
    assert_eq!(
        refused(question),
        "pages cannot come and go in groups of 0: give 1 for single pages"
    );
    let question = Question { level: 1.0, ..Question::within(1..=300) };
    assert_eq!(refused(question), "the level is 1, but must be above 0 and at most 0.99");
    let all = under(Policy::Lru, 300, 1, Trace::new("scan", scan(200), 2));
    assert_eq!(
        fit(&[all], &Question::within(1..=300)).unwrap_err().to_string(),
        "300 of the 300 pages looked at were resident: choose a limit below the working set and \
         above zero"
    );
    let none = FitError::NothingToExplain { pages: 0, resident: 0 };
    assert_eq!(fit(&[], &Question::within(1..=300)).unwrap_err(), none);
}
