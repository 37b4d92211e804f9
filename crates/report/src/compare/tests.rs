//! Comparisons of hand-made runs.

use std::path::Path;

use record::machine::{BlockDevice, LoopBacking};

use super::*;
use crate::sample::{Sample, around, noisy, swaying};

pub(super) fn options() -> CompareOptions {
    CompareOptions { margin: 0.02, ..CompareOptions::default() }
}

pub(super) fn named(name: &str, sample: Sample) -> NamedRun {
    NamedRun { name: name.to_owned(), run: sample.run }
}

pub(super) fn verdicts(document: &CompareDocument) -> Vec<RunVerdict> {
    document.comparisons.iter().map(|comparison| comparison.verdict).collect()
}

#[test]
fn within_a_run_each_word_has_its_case() {
    let base = around(1000.0, 12);
    let times = |factor: f64| -> Vec<f64> { base.iter().map(|time| time * factor).collect() };
    // A ratio that varies by 0.2 %, and one that varies by 10 %.
    let with_noise = |factor: f64, size: f64| -> Vec<f64> {
        let noise = [1.0, -1.0, 0.5, -0.5, 0.8, -0.8, 0.3, -0.3, 0.6, -0.6, 0.1, -0.1];
        times(factor).iter().zip(noise).map(|(time, noise)| time * (1.0 + size * noise)).collect()
    };
    let sample = Sample::new(&["a", "b"])
        .benchmark("slower", &[&base, &with_noise(1.5, 0.01)])
        .benchmark("a-little-slower", &[&base, &with_noise(1.01, 0.002)])
        .benchmark("alike", &[&base, &with_noise(1.0, 0.002)])
        .benchmark("who-knows", &[&base, &with_noise(1.0, 0.1)])
        .benchmark("few", &[&base, &around(1000.0, 5)]);
    let document = compare(&[named("run", sample)], &options()).unwrap();
    let expected = [
        RunVerdict::Real,
        RunVerdict::RealButSmall,
        RunVerdict::Same,
        RunVerdict::NotToldApart,
        RunVerdict::NotEnoughData,
    ];
    assert_eq!(verdicts(&document), expected);
    let text = document.text(100);
    for words in [
        "b: time per operation 1.5",
        "different by less than 2 %",
        "are the same within 2 %",
        "cannot be told apart",
        "would have been seen",
        "b and a: not enough data",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let least = document.comparisons[3].least_detectable_ratio.unwrap();
    assert!(least > 1.03 && least < 1.15, "{least}");
}

#[test]
fn later_runs_are_compared_with_the_first_target_by_target() {
    let before = Sample::new(&["a", "b"])
        .benchmark("create", &[&around(1000.0, 8), &around(2000.0, 8)])
        .benchmark("gone", &[&around(1.0, 8), &around(1.0, 8)]);
    let after =
        Sample::new(&["b", "a"]).benchmark("create", &[&swaying(1000.0, 9), &swaying(1500.0, 9)]);
    let runs = [named("before", before), named("after", after)];
    let document = compare(&runs, &options()).unwrap();
    let ratios: Vec<(&str, f64)> =
        document.comparisons.iter().map(|one| (one.first.as_str(), one.ratio.unwrap())).collect();
    assert_eq!((ratios[0].0, ratios[1].0), ("a", "b"));
    assert!((ratios[0].1 - 1.5).abs() < 0.02 && (ratios[1].1 - 0.5).abs() < 0.01, "{ratios:?}");
    assert!(document.comparisons.iter().all(|one| !one.paired && one.second_run == "after"));
    assert_eq!(
        (document.comparisons[0].first_values, document.comparisons[0].second_values),
        (8, 9)
    );
    assert_eq!(document.left_out, ["gone"]);
    let sources: Vec<&str> = document
        .analysis
        .as_ref()
        .unwrap()
        .anova
        .iter()
        .map(|source| source.source.as_str())
        .collect();
    assert_eq!(sources, ["run", "target", "run x target", "errors"]);
    assert!(verdicts(&document).iter().all(|one| *one == RunVerdict::DiffersBetweenTheseRuns));
    assert!(document.text(100).contains("between these two runs"), "{}", document.text(100));
    assert!(document.warnings.iter().any(|warning| warning.contains("are single runs")));
}

#[test]
fn what_only_describes_is_no_cost_in_the_analysis() {
    let mut sample = Sample::new(&["a", "b"])
        .benchmark("create", &[&around(1000.0, 8), &swaying(2000.0, 8)])
        .benchmark("window", &[&around(1.0, 8), &around(100.0, 8)]);
    let describes = |cell: &mut record::Cell| cell.metrics[0].better = record::Better::Neither;
    sample.change("window", describes);
    let document = compare(&[named("run", sample.clone())], &options()).unwrap();
    assert_eq!(document.left_out, ["window"]);
    let ratio = document.analysis.unwrap().contrasts[0].ratio.as_ref().unwrap().estimate;
    assert!((ratio - 0.5).abs() < 0.01, "{ratio}");
    sample.change("create", describes);
    let document = compare(&[named("run", sample)], &options()).unwrap();
    assert!(document.analysis_refused.unwrap().contains("has a cost on every target"));
}

#[test]
fn what_has_nothing_in_common_is_refused() {
    let alone = Sample::new(&["a"]).benchmark("create", &[&around(1.0, 8)]);
    let refused = compare(&[named("run", alone.clone())], &options()).unwrap_err();
    assert!(refused.to_string().contains("name another run"), "{refused}");
    let other = Sample::new(&["b"]).benchmark("create", &[&around(1.0, 8)]);
    let refused = compare(&[named("one", alone), named("two", other)], &options()).unwrap_err();
    assert!(refused.to_string().contains("same labels"), "{refused}");
}

#[test]
fn factors_that_make_no_design_are_refused() {
    let run = || {
        let values = [around(1.0, 8), around(2.0, 8)];
        vec![named("run", Sample::new(&["a", "b"]).benchmark("create", &[&values[0], &values[1]]))]
    };
    let refusal = |factors: &[Factor]| {
        let options = CompareOptions { factors: factors.to_vec(), ..options() };
        compare(&run(), &options).unwrap_err().to_string()
    };
    assert!(refusal(&[Factor::Run, Factor::Target]).contains("at least two levels"));
    assert!(refusal(&[Factor::Target, Factor::Target]).contains("names target twice"));
    let nothing = vec![named("run", Sample::new(&["a", "b"]))];
    let refused = compare(&nothing, &options()).unwrap_err().to_string();
    assert!(refused.contains("run has no replicates"), "{refused}");
}

#[test]
fn runs_are_named_as_shortly_as_can_be() {
    let run = || Sample::new(&["a"]).run;
    let names = |paths: &[&str]| -> Vec<String> {
        let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
        let runs = paths.iter().map(|_| run()).collect();
        name_runs(&paths, runs).into_iter().map(|named| named.name).collect()
    };
    assert_eq!(names(&["x/before", "x/after"]), ["before", "after"]);
    assert_eq!(names(&["x/run", "y/run"]), ["x/run", "y/run"]);
    assert_eq!(names(&["x/run", "x/run"]), ["x/run", "x/run (2)"]);
}

/// The loop device above it, which is a different one each time, does not count.
#[test]
fn another_disk_or_image_is_said_to_be_one() {
    let on = |model: &str, number: u32, allocated: bool| {
        let mut sample = Sample::new(&["a"]).benchmark("create", &[&around(1000.0, 8)]);
        let disk = BlockDevice { model: Some(model.to_owned()), ..BlockDevice::default() };
        let backing = LoopBacking { device: Some(disk), ..LoopBacking::default() };
        let target = &mut sample.run.manifest.targets[0];
        target.device = Some(BlockDevice {
            name: format!("loop{number}"),
            backing: Some(Box::new(backing)),
            ..BlockDevice::default()
        });
        (target.loop_direct_io, target.image_allocated) = (Some(true), allocated);
        sample
    };
    let differing = |other: Sample| {
        let runs = [named("before", on("Fast", 0, true)), named("after", other)];
        let document = compare(&runs, &options()).unwrap();
        let said = |one: &RunDifference| format!("{}: {}, {}", one.what, one.first, one.second);
        document.differences.iter().map(said).collect::<Vec<String>>()
    };
    assert!(differing(on("Fast", 7, true)).is_empty());
    let said = differing(on("Slow", 0, false));
    let expected = ["a: disk: Fast, Slow", "a: image: allocated, sparse"];
    assert_eq!(said, expected);
}

#[test]
fn what_runs_differ_in_is_said_and_what_they_measured_otherwise_is_not_compared() {
    let run = |kernel: &str, file_bytes: u64| {
        let mut sample = Sample::new(&["a"])
            .benchmark("create", &[&around(1000.0, 8)])
            .benchmark("read", &[&around(100.0, 8)]);
        sample.run.manifest.machine.kernel.release = Some(kernel.to_owned());
        sample.run.manifest.run.data_file_bytes = file_bytes;
        sample.change("read", |cell| {
            cell.parameters.insert("file_bytes".to_owned(), file_bytes.into());
        });
        sample
    };
    let runs = [named("before", run("6.1", 16 << 20)), named("after", run("6.2", 256 << 20))];
    let document = compare(&runs, &options()).unwrap();
    let compared: Vec<&str> = document.comparisons.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(compared.len(), 1, "{compared:?}");
    assert_eq!(document.comparisons[0].benchmark, "create");
    let text = document.text(100);
    for words in [
        "kernel: 6.1 in before, 6.2 in after",
        "data files: 16 MiB in before, 256 MiB in after",
        "file 16 MiB in before, 256 MiB in after",
        "--unlike",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    let differing: Vec<&str> = document.differences.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(differing, ["data files", "kernel"]);
    let (differs, compares) = (text.find("kernel: 6.1"), text.find("\ncreate"));
    assert!(differs < compares, "what differs comes first: {text}");
    // A third run that is like the first is still compared with it.
    let [before, after] = runs.clone();
    let three = [before, after, named("again", run("6.1", 16 << 20))];
    let document = compare(&three, &options()).unwrap();
    let is_read_again = |one: &&Comparison| one.benchmark == "read" && one.second_run == "again";
    assert_eq!(document.comparisons.iter().filter(is_read_again).count(), 1);
    let asked = compare(&runs, &CompareOptions { unlike: true, ..options() }).unwrap();
    assert!(asked.comparisons.len() == 2 && asked.unlike.is_empty());
    let only = |file_bytes| {
        let mut sample = run("6.1", file_bytes);
        sample.change("create", |cell| {
            cell.parameters.insert("files".to_owned(), file_bytes.into());
        });
        sample
    };
    let runs = [named("one", only(1)), named("two", only(2))];
    let refused = compare(&runs, &options()).unwrap_err().to_string();
    assert!(
        refused.contains("files 1 in one, 2 in two") && refused.contains("--unlike"),
        "{refused}"
    );
}

/// Runs of one directory, each with its own effect.
fn several(effects: &[f64], factor: f64, seed: u64) -> Vec<Sample> {
    let run = |(place, effect): (usize, &f64)| {
        let place = place as u64;
        let values =
            |of: u64| noisy(1000.0 * factor * effect, 0.01, 100 * seed + 10 * place + of, 8);
        Sample::new(&["a"])
            .benchmark("create", &[&values(1)])
            .benchmark("read", &[&values(2)])
            .ended()
    };
    effects.iter().enumerate().map(run).collect()
}

pub(super) fn sides(firsts: Vec<Sample>, seconds: Vec<Sample>) -> (Vec<NamedRun>, CompareOptions) {
    let first_side = Some(firsts.len());
    let all = firsts.into_iter().chain(seconds).enumerate();
    let runs = all.map(|(place, sample)| named(&format!("run-{place}"), sample)).collect();
    (runs, CompareOptions { first_side, ..options() })
}

#[test]
fn several_runs_a_side_tell_what_two_runs_cannot() {
    let effects = [[1.0, 1.05, 0.97], [1.06, 0.99, 1.0]];
    // Only the effects of runs: two single runs differ, six do not.
    let [a, b] = [1, 2].map(|side| several(&effects[side - 1], 1.0, side as u64));
    let two = [named("one", a[1].clone()), named("two", b[1].clone())];
    let found = compare(&two, &options()).unwrap();
    assert_eq!(verdicts(&found), [RunVerdict::DiffersBetweenTheseRuns; 2]);
    let (runs, how) = sides(a.clone(), b);
    let document = compare(&runs, &how).unwrap();
    assert_eq!(verdicts(&document), [RunVerdict::NotToldApart; 2]);
    let create = &document.comparisons[0];
    assert_eq!((create.first_runs, create.second_runs), (3, 3));
    assert_eq!((create.first_run.as_str(), create.second_run.as_str()), ("a", "b"));
    assert_eq!((create.first_values, create.paired), (3, false));
    // Larger by a third, which is detected.
    let (runs, how) = sides(a, several(&effects[1], 1.3, 2));
    let document = compare(&runs, &how).unwrap();
    assert_eq!(verdicts(&document), [RunVerdict::Real; 2]);
    let ratio = document.comparisons[0].ratio.unwrap();
    assert!((ratio - 1.3 * 3.05 / 3.02).abs() < 0.02, "{ratio}");
    let text = document.text(80).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["a: run-0: a", "b: run-5: a", "a (b): time per operation 1.3", "runs a side"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    assert!(!text.contains("are single runs"), "{text}");
    let sources: Vec<String> =
        document.analysis.unwrap().anova.into_iter().map(|source| source.source).collect();
    assert_eq!(sources, ["side", "errors"]);
}

#[test]
fn one_run_on_a_side_is_refused() {
    let (runs, how) = sides(several(&[1.0, 1.1], 1.0, 1), several(&[1.0], 1.0, 2));
    let refused = compare(&runs, &how).unwrap_err().to_string();
    assert!(refused.contains("at least two runs each"), "{refused}");
}

#[test]
fn factors_of_benchmarks_are_analysed_with_a_warning() {
    let sample = Sample::new(&["a", "b"])
        .benchmark("create", &[&around(1000.0, 8), &swaying(2000.0, 8)])
        .benchmark("read", &[&around(100.0, 8), &swaying(200.0, 8)]);
    let warned = |factors: &[Factor]| {
        let options = CompareOptions { factors: factors.to_vec(), ..options() };
        let document = compare(&[named("run", sample.clone())], &options).unwrap();
        document
            .warnings
            .iter()
            .any(|warning| warning.contains("benchmarks in a block are independent"))
    };
    assert!(warned(&[Factor::Target, Factor::Benchmark]));
    assert!(!warned(&[Factor::Target]) && !warned(&[]));
}

/// A target that is slower or faster as a whole in a block is so in all benchmarks. Counted as
/// independent observations, they made `target` differ in half of such runs.
#[test]
fn what_happens_to_a_target_in_a_block_counts_once_in_the_analysis() {
    let mut false_ones = 0;
    let runs = 200;
    for seed in 0..runs {
        let of_blocks = [noisy(1.0, 0.2, 2 * seed + 1, 8), noisy(1.0, 0.2, 2 * seed + 2, 8)];
        let mut sample = Sample::new(&["a", "b"]);
        for benchmark in 0..8 {
            let values: Vec<Vec<f64>> = (0..2)
                .map(|target| {
                    let own = noisy(1000.0, 0.02, 1000 + seed * 16 + benchmark * 2 + target, 8);
                    let of_block = &of_blocks[usize::try_from(target).unwrap()];
                    own.iter().zip(of_block).map(|(own, block)| own * block).collect()
                })
                .collect();
            sample = sample.benchmark(&benchmark.to_string(), &[&values[0], &values[1]]);
        }
        let document = compare(&[named("run", sample)], &options()).unwrap();
        let anova = document.analysis.expect("there is one").anova;
        let target = anova.iter().find(|source| source.source == "target").expect("a factor");
        false_ones += u32::from(target.p.expect("it has errors") <= 0.05);
    }
    assert!((2..=20).contains(&false_ones), "{false_ones} of {runs}");
}

#[test]
fn a_zero_costs_its_benchmark_alone_and_a_missing_block_too() {
    let mut with_zero = around(5.0, 8);
    with_zero[3] = 0.0;
    let sample = Sample::new(&["a", "b"])
        .benchmark("create", &[&around(1000.0, 8), &swaying(2000.0, 8)])
        .benchmark("misses", &[&around(5.0, 8), &with_zero])
        .benchmark("short", &[&around(5.0, 8), &swaying(5.0, 2)])
        .benchmark("sho", &[&around(5.0, 8), &swaying(5.0, 2)])
        .benchmark("read", &[&around(1000.0, 8), &swaying(2000.0, 8)]);
    let document = compare(&[named("run", sample)], &options()).unwrap();
    assert_eq!(document.left_out, ["misses (a value is 0)", "short", "sho"]);
    let text = document.text(80);
    assert!(text.contains("b and a: no ratio, because a value is 0 or less"), "{text}");
    assert!(text.contains("b and a: not enough data"), "{text}");
    let analysis = document.analysis.expect("of the others");
    // Two targets in eight blocks leave seven degrees of freedom.
    assert_eq!(analysis.anova.last().expect("the errors").df, 7);
    assert!((analysis.contrasts[0].ratio.as_ref().unwrap().estimate - 0.5).abs() < 0.01);
}

#[test]
fn targets_are_compared_over_several_runs() {
    let run = |seed: u64, effect: f64| {
        let (a, b) = (noisy(1000.0, 0.01, seed, 8), noisy(1000.0 * effect, 0.01, seed + 50, 8));
        Sample::new(&["a", "b"]).benchmark("create", &[&a, &b]).ended()
    };
    let of = |effects: [f64; 4]| {
        let runs = (1..).zip(effects).map(|(seed, effect)| run(seed, effect)).collect();
        let (runs, how) = sides(runs, Vec::new());
        compare(&runs, &how).unwrap()
    };
    // Each run on its own calls a difference real, and the next run contradicts it.
    let document = of([1.1, 0.92, 1.07, 0.9]);
    assert_eq!(verdicts(&document), [RunVerdict::NotToldApart]);
    let create = &document.comparisons[0];
    assert_eq!((create.first.as_str(), create.second.as_str()), ("a", "b"));
    assert_eq!((create.first_values, create.second_runs, create.paired), (4, 4, true));
    let document = of([1.5, 1.45, 1.55, 1.48]);
    assert_eq!(verdicts(&document), [RunVerdict::Real]);
    assert!(document.text(80).contains("b: time per operation 1.49"), "{}", document.text(80));
    let sources: Vec<String> =
        document.analysis.unwrap().anova.into_iter().map(|source| source.source).collect();
    assert_eq!(sources, ["target", "run", "errors"]);
}

/// A comparison over runs is based on runs, however few of them measured the same.
#[test]
fn a_single_run_of_a_side_is_not_judged_by_its_blocks() {
    let run = |seed: u64, file_bytes: u64| {
        let (a, b) = (noisy(1000.0, 0.01, seed, 8), noisy(1500.0, 0.01, seed + 50, 8));
        let mut sample = Sample::new(&["a", "b"]).benchmark("read", &[&a, &b]).ended();
        sample.change("read", |cell| {
            cell.parameters.insert("file_bytes".to_owned(), file_bytes.into());
        });
        sample
    };
    let (runs, how) = sides(vec![run(1, 1), run(2, 2), run(3, 3)], Vec::new());
    let document = compare(&runs, &how).unwrap();
    assert_eq!(verdicts(&document), [RunVerdict::NotEnoughData]);
    assert!(document.text(80).contains("read"), "{}", document.text(80));
    assert_eq!(document.unlike.len(), 4, "two targets of two runs");
    // All are like the first, and like each other if the first has no such benchmark.
    let with_extra = |seed: u64, extra: u64| {
        let values = noisy(1000.0, 0.01, seed, 8);
        let mut sample = run(seed, 1).benchmark("extra", &[&values, &values]);
        sample.change("extra", |cell| {
            cell.parameters.insert("files".to_owned(), extra.into());
        });
        sample
    };
    let (runs, how) = sides(vec![run(1, 1), with_extra(2, 10), with_extra(3, 20)], Vec::new());
    let document = compare(&runs, &how).unwrap();
    assert_eq!(document.unlike.len(), 2, "the second extra, on two targets: {:?}", document.unlike);
    let extra = document.comparisons.iter().find(|one| one.benchmark == "extra").unwrap();
    assert_eq!((extra.first_runs, extra.verdict), (1, RunVerdict::NotEnoughData));
}

#[test]
fn the_order_of_targets_may_differ_from_run_to_run() {
    let run = |seed: u64, swapped: bool| {
        let (slow, fast) = (noisy(1500.0, 0.01, seed, 8), noisy(1000.0, 0.01, seed + 50, 8));
        if swapped {
            Sample::new(&["slow", "fast"]).benchmark("create", &[&slow, &fast]).ended()
        } else {
            Sample::new(&["fast", "slow"]).benchmark("create", &[&fast, &slow]).ended()
        }
    };
    let all = (1..5).map(|seed| run(seed, seed % 2 == 0)).collect();
    let (runs, how) = sides(all, Vec::new());
    let document = compare(&runs, &how).unwrap();
    assert_eq!(verdicts(&document), [RunVerdict::Real]);
    let one = &document.comparisons[0];
    assert_eq!((one.first.as_str(), one.second.as_str(), one.first_runs), ("fast", "slow", 4));
    assert!((one.ratio.unwrap() - 1.5).abs() < 0.02, "{one:?}");
}

#[test]
fn one_target_in_several_runs_is_a_side_for_others() {
    let (runs, how) = sides(several(&[1.0, 1.02, 0.98], 1.0, 1), Vec::new());
    let document = compare(&runs, &how).unwrap();
    assert!(document.comparisons.is_empty());
    assert!(document.text(80).contains("only one target"), "{}", document.text(80));
}

#[test]
fn it_says_whether_blocks_resemble_one_another_or_may() {
    let warning = |seed: u64, keeps: f64| {
        let mut sample = Sample::new(&["a", "b"]);
        for benchmark in 0..6 {
            let mut logs = noisy(1.0, 1.0, 100 * seed + benchmark, 12);
            for place in 1..logs.len() {
                logs[place] += keeps * logs[place - 1];
            }
            let values: Vec<f64> = logs.iter().map(|log| (0.05 * log).exp()).collect();
            sample = sample.benchmark(&benchmark.to_string(), &[&[1.0; 12], &values]);
        }
        let document = compare(&[named("run", sample)], &options()).unwrap();
        document.warnings.into_iter().find(|warning| warning.contains("of the block before"))
    };
    let said =
        |keeps: f64| -> Vec<String> { (0..40).filter_map(|seed| warning(seed, keeps)).collect() };
    let (none, much) = (said(0.0), said(0.9));
    assert!((1..=10).contains(&none.len()) && much.len() >= 39, "{none:?} {}", much.len());
    let may = |all: &[String]| all.iter().filter(|one| one.contains("may resemble")).count();
    // By chance alone, half of all p-values up to 0.1 are above 0.05.
    assert!(may(&none) >= 1 && may(&none) < none.len() && may(&much) <= 2, "{none:?}");
}

/// If blocks resemble each other, or one is far off, the claimed sensitivity is reduced.
#[test]
fn the_least_detectable_ratio_allows_for_blocks_that_are_worth_fewer() {
    let document = |shuffled: bool| {
        let mut sample = Sample::new(&["a", "b"]);
        for seed in 1..16 {
            let mut logs = noisy(1.0, 1.0, seed, 16);
            for place in 1..logs.len() {
                logs[place] = 0.8 * logs[place - 1] + 0.6 * (logs[place] - 1.0);
            }
            let at = |block: usize| logs[if shuffled { block * 7 % 16 } else { block }];
            let values: Vec<f64> = (0..16).map(|block| (0.05 * at(block)).exp()).collect();
            sample = sample.benchmark(&seed.to_string(), &[&[1.0; 16], &values]);
        }
        compare(&[named("run", sample)], &options()).unwrap()
    };
    for (one, other) in document(false).comparisons.iter().zip(&document(true).comparisons) {
        let least = |one: &Comparison| one.least_detectable_ratio.map(f64::ln);
        let (Some(one), Some(other)) = (least(one), least(other)) else { continue };
        assert!(one > 1.3 * other, "{one} {other}");
    }
    let mut far = swaying(1.0, 8);
    far[3] = 60.0;
    let sample = Sample::new(&["a", "b"]).benchmark("create", &[&[1.0; 8], &far]);
    let document = compare(&[named("run", sample)], &options()).unwrap();
    assert_eq!(document.comparisons[0].least_detectable_ratio, None);
    let said = document.text(80).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("the mean over all blocks is"), "{said}");
}
