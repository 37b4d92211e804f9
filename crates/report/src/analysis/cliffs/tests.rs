//! Replays of searches with made-up values.

use record::{Axis, CacheEvidence, Cause, Document, LimitOwner, Warning};

use super::*;
use crate::sample::Sample;
use crate::sample_search::{MIB, document_again, evidence, of_cache, plan, replicates, searched};

fn working_set() -> SearchPlan {
    plan(Axis::WorkingSet, "throughput")
}

fn limited() -> Sample {
    searched(&working_set(), usize::MAX, of_cache(62.3 * MIB))
}

#[test]
fn a_memory_limit_is_proved_by_the_state_on_both_sides() {
    let document = limited().document();
    let [cliff] = document.cliffs.as_slice() else { panic!("{:?}", document.cliffs) };
    assert!(cliff.low <= 62.3 * MIB && 62.3 * MIB < cliff.high, "{cliff:?}");
    assert!(cliff.high / cliff.low <= 1.02 && cliff.reached == Reached::Width, "{cliff:?}");
    assert!((0.9e6..1.1e6).contains(&cliff.plateau_before), "{cliff:?}");
    assert!(cliff.plateau_after < 0.1e6, "{cliff:?}");
    let Cause::MemoryLimit { of, limit_bytes, resident_to_bytes, read_from_bytes, resident_bytes } =
        cliff.cause
    else {
        panic!("{:?}", cliff.cause)
    };
    assert_eq!((of, limit_bytes), (LimitOwner::Target, 64 << 20));
    assert!(whole(cliff.low) <= resident_to_bytes && resident_to_bytes < read_from_bytes);
    assert!(read_from_bytes <= whole(cliff.high));
    assert_eq!(resident_bytes / 4096, whole(62.3 * MIB / 4096.0 - 0.5));
    let [search] = document.searches.as_slice() else { panic!("{:?}", document.searches) };
    assert!(search.finished && search.probes <= 40, "{search:?}");
    assert!(document.comparisons.is_empty());
}

/// The journal is enough to reproduce what a search found.
#[test]
fn the_journal_alone_gives_the_cliffs_again() {
    let temporary = tempfile::tempdir().unwrap();
    let sample = limited();
    let again = document_again(&sample, &temporary.path().join("run"));
    assert_eq!(again.cliffs, sample.document().cliffs);
    assert_eq!(again.searches, sample.document().searches);
}

#[test]
fn a_search_that_was_cut_off_says_so() {
    let of = |probes| searched(&working_set(), probes, of_cache(62.3 * MIB)).document();
    let early = of(6);
    assert_eq!(early.cliffs, []);
    assert!(!early.searches[0].finished && early.searches[0].noise_percent.is_none());
    let late = of(16);
    assert!(!late.searches[0].finished && late.searches[0].noise_percent.is_some());
    assert_eq!(late.cliffs.len(), 1);
    assert_eq!(late.cliffs[0].reached, Reached::Probes);
}

fn causes(change: impl Fn(&mut Sample)) -> Vec<Cause> {
    let mut sample = limited();
    change(&mut sample);
    sample.document().cliffs.into_iter().map(|cliff| cliff.cause).collect()
}

/// A mix writes to the device on both sides, whatever the limit.
#[test]
fn a_memory_limit_is_proved_by_reads_whatever_is_written() {
    let written = |sample: &mut Sample| {
        for replicate in replicates(sample) {
            replicate.evidence.device_written_bytes = Some(1 << 40);
        }
    };
    assert!(matches!(causes(written)[..], [Cause::MemoryLimit { .. }]));
}

/// One page was evicted while it was read in; it came back and stayed.
#[test]
fn a_stray_page_hides_no_limit() {
    let stray = |sample: &mut Sample| {
        let evidence = replicates(sample).map(|replicate| &mut replicate.evidence);
        for evidence in evidence.filter(|it| it.device_read_bytes == Some(0)) {
            evidence.resident_before = evidence.pages.map(|pages| pages - u64::from(pages > 100));
        }
    };
    assert!(matches!(causes(stray)[..], [Cause::MemoryLimit { .. }]));
    // Only its return shows that there was room.
    let stays_away = |sample: &mut Sample| {
        let evidence = replicates(sample).map(|replicate| &mut replicate.evidence);
        for evidence in evidence.filter(|it| it.device_read_bytes == Some(0)) {
            evidence.resident_after = evidence.pages.map(|pages| pages - u64::from(pages > 100));
        }
    };
    assert_eq!(causes(stays_away), [Cause::Unknown]);
}

#[test]
fn no_limit_is_named_without_its_proof() {
    // The limit does not match the resident pages.
    let other = |sample: &mut Sample| {
        sample.run.manifest.targets[0].conditions.memory_bytes = Some(256 << 20);
    };
    assert_eq!(causes(other), [Cause::Unknown]);
    // The device was read before the cliff as well.
    let read_before = |sample: &mut Sample| {
        for replicate in replicates(sample).filter(|it| it.evidence.device_read_bytes == Some(0)) {
            replicate.evidence.device_read_bytes = Some(512);
        }
    };
    assert_eq!(causes(read_before), [Cause::Unknown]);
    // Pages were missing before the cliff, although the device was not read.
    let missing_before = |sample: &mut Sample| {
        for replicate in replicates(sample).filter(|it| it.evidence.device_read_bytes == Some(0)) {
            replicate.evidence.resident_before = Some(1);
        }
    };
    assert_eq!(causes(missing_before), [Cause::Unknown]);
}

/// A step from 1 us to 2 us, with everything in memory.
fn step_at(at: f64) -> Document {
    let measure = move |position: f64, number: usize| {
        let time = if position > at { 2.0 } else { 1.0 };
        let noise = [1.0, 0.97, 1.02, 0.99][number % 4];
        (1e6 / (time * noise), evidence(position, f64::INFINITY))
    };
    searched(&working_set(), usize::MAX, measure).document()
}

#[test]
fn a_cache_of_the_processor_is_named_within_a_factor_of_two_of_its_size() {
    let cause = |at: f64| {
        let document = step_at(at * MIB);
        let [cliff] = document.cliffs.as_slice() else { panic!("{:?}", document.cliffs) };
        assert!(cliff.low <= at * MIB && at * MIB <= cliff.high, "{cliff:?}");
        cliff.cause.clone()
    };
    let found = cause(20.0);
    assert!(matches!(found, Cause::ProcessorCache { level: 3, .. }), "{found:?}");
    let found = cause(1.7);
    assert!(matches!(found, Cause::ProcessorCache { level: 2, .. }), "{found:?}");
    assert_eq!(cause(5.0), Cause::Unknown);
    assert_eq!(cause(100.0), Cause::Unknown);
}

#[test]
fn a_change_of_state_that_costs_nothing_is_no_cliff() {
    let measure = |position: f64, number: usize| {
        let noise = [1.0, 0.97, 1.02, 0.99][number % 4];
        (1e6 * noise, evidence(position, 62.3 * MIB))
    };
    let document = searched(&working_set(), usize::MAX, measure).document();
    assert_eq!(document.cliffs, []);
    assert!(document.searches[0].finished);
}

#[test]
fn replicates_within_a_cliff_show_how_fragile_it_is() {
    let measure = |position: f64, number: usize| {
        let (value, evidence) = of_cache(62.3 * MIB)(position, number);
        let is_within = (61.95 * MIB..62.63 * MIB).contains(&position);
        let swing = [0.5, 1.5, 0.7, 1.3][number % 4];
        (if is_within { 5e5 * swing } else { value }, evidence)
    };
    let document = searched(&working_set(), usize::MAX, measure).document();
    let cliff = &document.cliffs[0];
    let zone = cliff.zone.expect("it was measured");
    assert!(cliff.low < zone.position && zone.position < cliff.high && zone.replicates >= 5);
    assert!((30.0..70.0).contains(&zone.spread_inside_percent), "{zone:?}");
    assert!(zone.spread_before_percent.is_some_and(|spread| spread < 6.0), "{zone:?}");
    let warned: Vec<_> = document
        .cells
        .iter()
        .filter(|cell| {
            let is_zone = |it: &record::WarningReport| {
                matches!(it.warning, Warning::FragileZone { spread_inside_percent: Some(_), .. })
            };
            cell.warnings.iter().any(is_zone)
        })
        .collect();
    assert_eq!(warned.len(), 1, "the position in the middle");
    assert!(warned[0].replicates >= 5);
}

#[test]
fn threads_beyond_the_processors_are_named_if_all_together_do_no_more() {
    let search = SearchPlan {
        low: 1.0,
        high: 8.0,
        grain: 1.0,
        ..plan(Axis::Threads, "throughput_per_thread")
    };
    let of = |exponent: f64| {
        let measure = move |threads: f64, number: usize| {
            let share = (2.0 / threads).min(1.0).powf(exponent);
            let noise = [1.0, 0.998, 1.001][number % 3];
            (
                1e6 * share * noise,
                CacheEvidence { device_read_bytes: Some(0), ..evidence(4096.0, 4096.0) },
            )
        };
        let document = searched(&search, usize::MAX, measure).document();
        let [cliff] = document.cliffs.as_slice() else { panic!("{:?}", document.cliffs) };
        assert_eq!((cliff.low, cliff.high), (2.0, 3.0));
        cliff.cause.clone()
    };
    let found = of(1.0);
    assert!(matches!(found, Cause::Processors { processors: 2, .. }), "{found:?}");
    // More total throughput than the processors can account for.
    assert_eq!(of(0.6), Cause::Unknown);
}
