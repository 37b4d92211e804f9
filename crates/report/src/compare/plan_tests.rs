//! Tests of plans: that they are kept, and what they say.

use super::tests::{named, options, sides};
use super::*;
use crate::sample::{Sample, noisy};

const BLOCKS: usize = 8;

/// Runs of a pilot with `benchmarks` benchmarks whose runs and blocks vary by this much.
fn pilot(runs: usize, [between, within]: [f64; 2], benchmarks: u64) -> Vec<Sample> {
    let run = |run: usize| {
        let of = |sample: Sample, benchmark: u64| {
            let mean = noisy(1000.0, between, 77 * benchmark + 1, 64)[run];
            let times = noisy(mean, within, 1000 * benchmark + run as u64 + 5, BLOCKS);
            sample.benchmark(&format!("benchmark-{benchmark}"), &[&times])
        };
        (0..benchmarks).fold(Sample::new(&["ext4"]), of).ended()
    };
    (0..runs).map(run).collect()
}

fn planned(samples: Vec<Sample>, change: f64) -> PlanDocument {
    let runs: Vec<NamedRun> = samples
        .into_iter()
        .enumerate()
        .map(|(place, sample)| named(&format!("run-{}", place + 1), sample))
        .collect();
    plan(&runs, change, &options()).unwrap()
}

#[test]
fn noise_within_runs_calls_for_longer_ones_and_effects_of_runs_for_more() {
    let of = |deviations| planned(pilot(4, deviations, 20), 0.05);
    let (noisy, moody) = (of([0.0, 0.2]), of([0.08, 0.02]));
    assert!(noisy.within_share > 0.7 && moody.within_share < 0.2, "{noisy:?}");
    let gain = |document: &PlanDocument| {
        let half = |place: usize| document.lengths[place].half.unwrap();
        half(0) as f64 / half(2) as f64
    };
    assert!(gain(&noisy) > 2.0, "{:?}", noisy.lengths);
    assert!(gain(&moody) < 1.3, "{:?}", moody.lengths);
    for document in [&noisy, &moody] {
        for length in &document.lengths {
            assert!(length.half <= length.most, "{length:?}");
            assert!(length.all.is_none_or(|all| Some(all) >= length.most), "{length:?}");
        }
    }
}

/// If nothing changed, the number of runs planned for all comparisons at once rules the change out
/// in all of them about as often as it should, as a gate sees it.
#[test]
fn a_gate_is_green_as_often_as_was_planned() {
    let deviations = [0.03, 0.05];
    let document = planned(pilot(6, deviations, 10), 0.1);
    let runs = usize::try_from(document.lengths[0].all.unwrap()).unwrap();
    let (mut green, mut all) = (0, 0);
    for seed in 0..20 {
        let run = |run: u64| {
            let of = |sample: Sample, benchmark: u64| {
                let place = 7919 * seed + 131 * benchmark + 17 * run;
                let mean = noisy(1000.0, deviations[0], place, 1)[0];
                let times = noisy(mean, deviations[1], place + 3, BLOCKS);
                sample.benchmark(&format!("benchmark-{benchmark}"), &[&times])
            };
            (0..10).fold(Sample::new(&["ext4"]), of).ended()
        };
        let side = |from: u64| (from..from + runs as u64).map(run).collect();
        let (compared, how) = sides(side(0), side(1000));
        let answer = compare(&compared, &how).unwrap();
        green += u32::from(answer.gate(0.1).open.is_empty());
        all += 1;
    }
    assert!(f64::from(green) >= 0.6 * f64::from(all), "{green} of {all} with {runs} runs");
}

#[test]
fn a_share_ends_with_the_first_that_makes_it_whole() {
    let places = [(1, 50), (2, 50), (21, 50), (21, 90), (10, 90), (11, 90)];
    let places = places.map(|(count, percent)| super::plan::at_percent(count, percent));
    assert_eq!(places, [0, 0, 10, 18, 8, 9]);
}

#[test]
fn what_cannot_get_worse_is_not_planned() {
    let mut samples = pilot(4, [0.02, 0.02], 3);
    for sample in &mut samples {
        sample.change("benchmark-1", |cell| cell.metrics[0].better = record::Better::Neither);
    }
    let document = planned(samples, 0.05);
    let planned: Vec<&str> =
        document.comparisons.iter().map(|one| one.benchmark.as_str()).collect();
    assert_eq!(planned, ["benchmark-0", "benchmark-2"]);
}

/// The columns match the individual comparisons, and the proposal takes least time.
#[test]
fn a_table_says_what_its_comparisons_need() {
    let mut samples = pilot(5, [0.02, 0.1], 21);
    for (place, sample) in samples.iter_mut().enumerate() {
        // One begins every 70 s.
        sample.run.manifest.run.started =
            format!("2026-03-01T10:{:02}:{:02}Z", place * 70 / 60, place * 70 % 60);
    }
    let document = planned(samples, 0.05);
    // A sample measures for 60.4 s.
    let [measured, beside] = [document.measured_s, document.beside_s];
    assert_eq!((measured, document.blocks), (60.4, BLOCKS as u64));
    assert!((beside - 9.6).abs() < 1e-9, "{beside}");
    let mut needed: Vec<u64> =
        document.comparisons.iter().map(|one| one.runs_needed.unwrap_or(u64::MAX)).collect();
    needed.sort_unstable();
    let first = document.lengths[0];
    // Of 21, the first 11 are the smallest group with half of them, and the first 19 with 90 %.
    assert_eq!([first.half, first.most], [needed[10], needed[18]].map(Some));
    let proposal = document.proposal.unwrap();
    assert_eq!(proposal.share_percent, 90);
    let seconds = |one: &PlannedLength| {
        2.0 * one.most.unwrap() as f64 * (measured * f64::from(one.times) + beside)
    };
    let times: Vec<f64> = document.lengths.iter().map(seconds).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(proposal.seconds, least, "{times:?}");
    let all: Vec<u64> = document.lengths.iter().filter_map(|one| one.all).collect();
    assert!(all.windows(2).all(|pair| pair[0] > pair[1]), "longer runs need fewer: {all:?}");
}

#[test]
fn runs_of_two_commands_are_no_pilot() {
    let mut samples = pilot(4, [0.02, 0.02], 4);
    for sample in &mut samples[2..] {
        sample.change("benchmark-0", |cell| {
            cell.parameters.insert("file_bytes".to_owned(), 1.into());
        });
    }
    let document = planned(samples, 0.05);
    let said = &document.warnings[0];
    assert!(said.starts_with("these are not runs of one command: benchmark-0 on ext4: "), "{said}");
}

#[test]
fn the_text_names_what_varies_and_gives_commands_to_copy() {
    let document = planned(pilot(4, [0.02, 0.02], 12), 0.05);
    let text = document.text("survey ext4", 80);
    let proposal = document.proposal.unwrap();
    for words in [
        "Pilot: 4 runs of".to_owned(),
        "12 comparisons".to_owned(),
        "show a change of 5 % four times in five".to_owned(),
        format!("--runs {} --out before", proposal.runs),
        format!("--runs {} --out after", proposal.runs),
        "compare before after --fail-above 5%".to_owned(),
        "These vary most from run to run: benchmark-".to_owned(),
    ] {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(&words), "no `{words}` in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn what_no_number_of_runs_would_show_is_said_not_to_show() {
    let document = planned(pilot(4, [0.5, 0.1], 12), 0.01);
    assert_eq!((document.proposal, document.lengths[2].all), (None, None));
    let text = document.text("survey ext4", 80);
    assert!(text.contains("Even 100 runs a side"), "{text}");
    assert!(text.contains("over 100"), "{text}");
}

#[test]
fn a_plan_takes_what_several_runs_measured() {
    let mut samples = pilot(3, [0.02, 0.02], 4);
    samples[0] = samples[0].clone().benchmark("once", &[&noisy(1.0, 0.1, 1, BLOCKS)]);
    let document = planned(samples, 0.05);
    assert_eq!((document.comparisons.len(), &document.not_planned[..]), (4, &["once".into()][..]));
    let one = pilot(1, [0.02, 0.02], 4).remove(0);
    let refused = plan(&[named("run-1", one)], 0.05, &options());
    assert_eq!(refused, Err(CompareError::OneRunASide));
}
