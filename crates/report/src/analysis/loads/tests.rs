//! Tests of the estimates, on runs with chosen values.

use record::Verdict;

use super::*;
use crate::sample::{Sample, around, swaying};

fn load(must_last: bool, operations: &[(&str, &str, f64)]) -> Load {
    let operation = |&(kind, benchmark, count): &(&str, &str, f64)| LoadOperation {
        kind: kind.to_owned(),
        count,
        measured: MeasuredBy::Benchmark(benchmark.to_owned()),
    };
    Load {
        name: "mine".to_owned(),
        title: "mine".to_owned(),
        unit: "one".to_owned(),
        source: "nobody".to_owned(),
        leaves_out: String::new(),
        must_last,
        operations: operations.iter().map(operation).collect(),
        validation: None,
    }
}

#[test]
fn every_known_load_is_described_for_readers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/loads.md");
    let text = std::fs::read_to_string(path).expect("it is there");
    let (_, mixes) = text.split_once("| load | a unit is |").expect("it has a table of mixes");
    let rows: Vec<&str> = mixes.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    for load in known_loads() {
        let row = format!("| `{}` | {} | ", load.name, load.unit);
        assert!(rows.iter().any(|line| line.starts_with(&row)), "docs/loads.md lacks {row}");
    }
    assert_eq!(rows.len(), known_loads().len(), "docs/loads.md has a load that is not known");
}

#[test]
fn times_add_up_by_block_and_the_sums_are_compared() {
    // Both vary in the same way, which cancels out.
    let sample = Sample::new(&["ext4", "xfs"])
        .benchmark("create", &[&swaying(1000.0, 8), &swaying(1000.0, 8)])
        .benchmark("fsync", &[&swaying(500.0, 8), &swaying(4000.0, 8)]);
    let load = load(true, &[("creates", "create", 2.0), ("fsync", "fsync", 1.0)]);
    let document = sample.document_under(&[load]);
    let [mine] = document.loads.as_slice() else { panic!("one load") };
    let [comparison] = mine.comparisons.as_slice() else { panic!("one pair") };
    assert_eq!(comparison.verdict, Verdict::Real);
    let ratio = comparison.ratio.expect("enough blocks");
    assert!((ratio - 6000.0 / 2500.0).abs() < 1e-9, "{ratio}");
    let [ext4, xfs] = mine.costs.as_slice() else { panic!("two targets") };
    assert!((xfs.time_ns / ext4.time_ns - 2.4).abs() < 0.01, "{ext4:?} {xfs:?}");
    let parts: Vec<&str> = xfs.parts.iter().map(|part| part.kind.as_str()).collect();
    assert_eq!(parts, ["creates", "fsync"]);
    assert!(xfs.interval.expect("enough blocks").low < xfs.time_ns);
}

#[test]
fn in_a_busy_run_a_load_differs_only_if_that_is_far_surer() {
    let ratios = crate::sample::noisy(1100.0, 0.08, 5, 8);
    let of = |blocks: u32| {
        let sample = Sample::new(&["ext4", "xfs"])
            .benchmark("create", &[&around(1000.0, 8), &ratios])
            .busy_before(blocks);
        let load = load(true, &[("creates", "create", 1.0)]);
        sample.document_under(&[load]).loads[0].comparisons[0].verdict
    };
    assert_eq!([of(0), of(8)], [Verdict::Real, Verdict::NotEnoughData]);
}

#[test]
fn what_lacks_an_operation_or_keeps_nothing_is_named_with_why() {
    let sample = Sample::new(&["tmpfs", "ext4", "xfs"])
        .benchmark("create", &[&around(1.0, 8), &around(2.0, 8), &around(3.0, 8)])
        .not_on(&["xfs"])
        .benchmark("fsync", &[&around(1.0, 8), &around(2.0, 8)]);
    let load = load(true, &[("creates", "create", 1.0), ("fsync", "fsync", 1.0)]);
    let document = sample.document_under(&[load]);
    let missing: Vec<(&str, &str)> = document.loads[0]
        .missing
        .iter()
        .map(|one| (one.target.as_str(), one.why.as_str()))
        .collect();
    let expected =
        [("tmpfs", "it loses everything when the power fails"), ("xfs", "fsync was not measured")];
    assert_eq!(missing, expected);
    assert_eq!(document.loads[0].costs.len(), 1);
}

#[test]
fn a_load_that_no_target_has_costs_nothing_and_says_why() {
    let sample = Sample::new(&["ext4"]).benchmark("create", &[&around(1.0, 8)]);
    let load = load(false, &[("reads", "read", 1.0)]);
    let [found] = &sample.document_under(&[load]).loads[..] else { panic!("it was asked for") };
    assert_eq!((found.costs.len(), found.missing[0].why.as_str()), (0, "read was not measured"));
}

#[test]
fn equal_loads_are_not_told_apart_and_few_blocks_are_not_compared() {
    let sample = |blocks| {
        Sample::new(&["ext4", "xfs"])
            .benchmark("create", &[&around(1000.0, blocks), &swaying(1000.0, blocks)])
            .document_under(&[load(false, &[("creates", "create", 1.0)])])
    };
    assert_eq!(sample(8).loads[0].comparisons[0].verdict, Verdict::NotToldApart);
    assert_eq!(sample(5).loads[0].comparisons[0].verdict, Verdict::NotEnoughData);
}

fn confirmed(sample: &Sample, validation: Option<Validation>) -> Vec<Option<bool>> {
    let load = Load { validation, ..load(false, &[("creates", "create", 1.0)]) };
    let document = sample.document_under(&[load]);
    document.loads[0].comparisons.iter().map(|found| found.confirmed).collect()
}

#[test]
fn a_ranking_is_confirmed_where_a_program_put_the_same_file_systems_in_the_same_order() {
    let values = [2000.0, 1000.0, 3000.0].map(|middle| around(middle, 8));
    let [ext4, xfs, btrfs] = &values;
    let mut sample =
        Sample::new(&["ext4", "xfs", "btrfs"]).benchmark("create", &[ext4, xfs, btrfs]);
    let validation = Validation {
        program: "tar",
        confirmed: &[("xfs", "ext4"), ("btrfs", "xfs")],
        contradicted: &[],
    };
    assert_eq!(confirmed(&sample, Some(validation)), [Some(true), Some(false), Some(false)]);
    assert_eq!(confirmed(&sample, None), [None; 3], "a mix of the user's own");
    // Options may change the order.
    sample.run.manifest.targets[1].specification = "xfs:mount=noatime".to_owned();
    assert_eq!(confirmed(&sample, Some(validation)), [Some(false); 3]);
}

#[test]
fn a_ranking_is_contradicted_where_a_program_found_the_opposite_of_it() {
    let values = [2000.0, 1000.0, 3000.0].map(|middle| around(middle, 8));
    let [ext4, xfs, btrfs] = &values;
    let sample = Sample::new(&["ext4", "xfs", "btrfs"]).benchmark("create", &[ext4, xfs, btrfs]);
    let contradicted = &[("xfs", "ext4"), ("btrfs", "ext4")];
    let validation = Some(Validation { program: "tar", confirmed: &[], contradicted });
    let load = Load { validation, ..load(false, &[("creates", "create", 1.0)]) };
    let document = sample.document_under(&[load]);
    let found = |at: usize| document.loads[0].comparisons[at].contradicted;
    assert!(found(0), "this run, too, has xfs before ext4");
    assert!(!found(1), "it has ext4 before btrfs");
}

#[test]
fn what_is_not_told_apart_is_not_to_be_confirmed() {
    let sample = Sample::new(&["ext4", "xfs"])
        .benchmark("create", &[&around(1000.0, 8), &swaying(1000.0, 8)]);
    let validation =
        Validation { program: "tar", confirmed: &[("ext4", "xfs")], contradicted: &[] };
    assert_eq!(confirmed(&sample, Some(validation)), [None]);
}
