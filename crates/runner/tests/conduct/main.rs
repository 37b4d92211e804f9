//! The rules of a run, with a fake executor and stopwatch but a real run directory.

mod busy;
mod fake;
mod journal;
mod long;
mod lost;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use fake::{Fake, Watcher, manifest, plan};
use record::{EndReason, Line, Order, Run, RunDirectory};
use runner::{Ledger, Plan, RunContext, RunError, conduct};

/// Conducts `plan` with `fake` in `path`, from the beginning or continuing what is there.
fn run(path: &Path, plan: &Plan, fake: &mut Fake) -> EndReason {
    conducted(path, plan, fake).expect("the run is recorded")
}

fn conducted(path: &Path, plan: &Plan, fake: &mut Fake) -> Result<EndReason, RunError> {
    let (mut directory, ledger) = if path.join("manifest.json").exists() {
        let (directory, run) = RunDirectory::resume(path).expect("a run to go on with");
        (directory, Ledger::replay(&run.lines))
    } else {
        (RunDirectory::create(path, &manifest(plan)).expect("a new run"), Ledger::default())
    };
    let (stopwatch, stop, on_busy) = (fake.stopwatch(), fake.stop(), fake.on_busy);
    let mut context =
        RunContext { stopwatch: &stopwatch, observer: &mut Watcher, stop: &stop, on_busy };
    conduct(plan, ledger, fake, &mut directory, &mut context)
}

fn lines(path: &Path) -> Vec<Line> {
    Run::read(path).expect("a run").lines
}

/// Per block, the cells in the order in which they were measured.
fn cells_by_block(lines: &[Line]) -> BTreeMap<u32, Vec<u32>> {
    let mut blocks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for line in lines {
        if let Line::Replicate(replicate) = line {
            blocks.entry(replicate.block).or_default().push(replicate.cell);
        }
    }
    blocks
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let (first, second) = (temporary.path().join("first"), temporary.path().join("second"));
    for path in [&first, &second] {
        run(path, &plan(5), &mut Fake::new(1));
    }
    for file in ["manifest.json", "cells.jsonl", "histograms/0003.hlog"] {
        let bytes = |path: &Path| fs::read(path.join(file)).expect(file);
        assert_eq!(bytes(&first), bytes(&second), "{file}");
    }
    let third = temporary.path().join("third");
    run(&third, &Plan { seed: 99, ..plan(5) }, &mut Fake::new(1));
    assert_ne!(cells_by_block(&lines(&first)), cells_by_block(&lines(&third)));
}

#[test]
fn every_block_holds_every_cell_once_in_an_order_of_its_own() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let plan = Plan { blocks: Some(8), ..plan(6) };
    assert_eq!(run(&path, &plan, &mut Fake::new(1)), EndReason::Blocks);
    let blocks = cells_by_block(&lines(&path));
    assert_eq!(blocks.len(), 8);
    for cells in blocks.values() {
        let mut sorted = cells.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..6).collect::<Vec<_>>());
    }
    let orders: BTreeSet<_> = blocks.values().collect();
    assert!(orders.len() > 4, "the order hardly changes: {orders:?}");
}

#[test]
fn a_quiet_run_stops_by_precision_once_two_successive_looks_were_narrow() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut quiet = Fake { noise: 0.001, ..Fake::new(1) };
    assert_eq!(run(&path, &plan(4), &mut quiet), EndReason::Precision);
    // Six blocks give the first interval, the seventh confirms it.
    assert_eq!(cells_by_block(&lines(&path)).len(), 7);
}

#[test]
fn a_noisy_run_goes_on_until_the_budget_ends_and_not_longer() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let plan = plan(4);
    let mut noisy = Fake { noise: 0.5, ..Fake::new(1) };
    assert_eq!(run(&path, &plan, &mut noisy), EndReason::Budget);
    let lines = lines(&path);
    let Some(Line::End(end)) = lines.last() else { panic!("no end: {:?}", lines.last()) };
    let budget_s = plan.budget.as_secs_f64();
    assert!(end.used_s > budget_s * 0.9 && end.used_s < budget_s * 1.1, "{} s used", end.used_s);
    assert!(cells_by_block(&lines).len() >= 6);
}

#[test]
fn all_targets_of_a_benchmark_get_the_same_operations_and_seed() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let plan = plan(6);
    let mut fake = Fake::new(1);
    run(&path, &plan, &mut fake);
    let mut asked: BTreeMap<(String, u32), Vec<(u64, u64)>> = BTreeMap::new();
    for request in &fake.requests {
        let benchmark = plan.cells[request.cell as usize].benchmark.clone();
        asked
            .entry((benchmark, request.block))
            .or_default()
            .push((request.operations, request.seed));
    }
    for ((benchmark, block), requests) in &asked {
        assert!(requests.iter().all(|one| one == &requests[0]), "{benchmark}, block {block}");
    }
    let seeds: BTreeSet<u64> = asked.values().map(|requests| requests[0].1).collect();
    assert_eq!(seeds.len(), asked.len(), "each benchmark and block has a seed of its own");
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn a_budget_that_is_too_small_leaves_out_by_name_and_the_rest_has_its_blocks() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let small = Plan { budget: std::time::Duration::from_millis(420), ..plan(6) };
    assert_eq!(run(&path, &small, &mut Fake::new(1)), EndReason::Budget);
    let lines = lines(&path);
    let plans = lines.iter().filter_map(|line| match line {
        Line::Planned(planned) => Some(planned),
        _ => None,
    });
    let left_out: Vec<&str> =
        plans.flat_map(|planned| &planned.left_out).map(|one| one.benchmark.as_str()).collect();
    assert!(!left_out.is_empty() && !left_out.contains(&"benchmark-0"), "{left_out:?}");
    let blocks = cells_by_block(&lines);
    let of_first = blocks.values().filter(|cells| cells.contains(&0)).count();
    assert!(of_first >= 6, "{blocks:?}");
    for line in &lines {
        if let Line::Replicate(replicate) = line {
            assert_eq!(replicate.operations, 1_000, "nothing is shortened");
        }
    }
}

#[test]
fn a_broken_target_loses_its_cells_and_the_others_go_on() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut fake = Fake { broken_from_block: Some((1, vec![0, 1])), ..Fake::new(1) };
    run(&path, &Plan { blocks: Some(3), ..plan(4) }, &mut fake);
    let blocks = cells_by_block(&lines(&path));
    assert_eq!(blocks[&0].len(), 4);
    assert_eq!(blocks[&1].len(), 2);
    assert_eq!(blocks[&2].len(), 2);
}

#[test]
fn a_run_cut_off_anywhere_is_completed_by_resume() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let plan = Plan { blocks: Some(6), ..plan(4) };
    let whole = temporary.path().join("whole");
    run(&whole, &plan, &mut Fake::new(1));
    let text = fs::read_to_string(whole.join("cells.jsonl")).expect("the journal");
    let count = text.lines().count();
    for kept in 0..count {
        let path = temporary.path().join(format!("cut-{kept}"));
        drop(RunDirectory::create(&path, &manifest(&plan)).expect("a new run"));
        let head: String = text.split_inclusive('\n').take(kept).collect();
        fs::write(path.join("cells.jsonl"), head).expect("a cut journal");
        for entry in fs::read_dir(whole.join("histograms")).expect("the histograms") {
            let entry = entry.expect("a histogram log");
            let to = path.join("histograms").join(entry.file_name());
            fs::copy(entry.path(), to).expect("a copy");
        }
        assert_eq!(run(&path, &plan, &mut Fake::new(1)), EndReason::Blocks, "cut at {kept}");
        let blocks = cells_by_block(&lines(&path));
        let expected = cells_by_block(&lines(&whole));
        assert_eq!(blocks, expected, "cut at line {kept} of {count}");
        let run = Run::read(&path).expect("a run");
        for cell in 0..4 {
            let histogram = run.histogram(&path, cell).expect("a readable log");
            assert_eq!(histogram.count(), 6, "cell {cell} cut at {kept}");
        }
    }
}

#[test]
fn a_raised_stop_flag_ends_the_run_and_keeps_what_was_measured() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut fake = Fake { stop_after: Some(9), ..Fake::new(1) };
    let plan = Plan { blocks: Some(6), ..plan(4) };
    assert_eq!(run(&path, &plan, &mut fake), EndReason::Interrupted);
    let measured: usize = cells_by_block(&lines(&path)).values().map(Vec::len).sum();
    assert_eq!(measured, 9);
    assert_eq!(run(&path, &plan, &mut Fake::new(1)), EndReason::Blocks);
    let measured: usize = cells_by_block(&lines(&path)).values().map(Vec::len).sum();
    assert_eq!(measured, 24);
}

#[test]
fn a_block_goes_through_its_cells_in_the_order_that_is_asked_for() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    for (order, expected) in
        [(Order::Declared, [0, 1, 2, 3, 0, 1, 2, 3]), (Order::Reversed, [3, 2, 1, 0, 3, 2, 1, 0])]
    {
        let path = temporary.path().join(format!("{order:?}"));
        let mut fake = Fake::new(1);
        run(&path, &Plan { blocks: Some(2), order, ..plan(4) }, &mut fake);
        let cells: Vec<u32> = fake.requests.iter().map(|request| request.cell).collect();
        assert_eq!(cells, expected);
    }
}

#[test]
fn targets_of_a_benchmark_follow_each_other_in_random_order() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let mut fake = Fake::new(1);
    run(&temporary.path().join("run"), &Plan { blocks: Some(6), ..plan(6) }, &mut fake);
    let cells: Vec<u32> = fake.requests.iter().map(|request| request.cell).collect();
    for pair in cells.chunks(2) {
        assert_eq!(pair[0] / 2, pair[1] / 2, "of two targets: {cells:?}");
    }
    let blocks: BTreeSet<&[u32]> = cells.chunks(6).collect();
    assert!(blocks.len() > 3, "orders differ: {cells:?}");
    let firsts: BTreeSet<u32> = cells.chunks(2).map(|pair| pair[0] % 2).collect();
    assert_eq!(firsts.len(), 2, "neither target is always first: {cells:?}");
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn a_run_whose_blocks_turn_out_longer_leaves_out_more_and_the_rest_gets_its_interval() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    // Six blocks of 12 cells would fit, but from the third on blocks take longer.
    let mut fake = Fake { slower_from_block: Some((2, 3)), ..Fake::new(1) };
    let plan = Plan { budget: Duration::from_secs(1), ..plan(12) };
    assert_eq!(run(&path, &plan, &mut fake), EndReason::Budget);
    let lines = lines(&path);
    let planned: Vec<usize> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Planned(planned) => Some(planned.pilots.len()),
            _ => None,
        })
        .collect();
    assert!(planned.len() > 2, "planned again: {planned:?}");
    let last = *planned.last().expect("it was planned");
    assert!((2..12).contains(&last), "something is left out, something stays: {planned:?}");
    let blocks = cells_by_block(&lines);
    assert!(blocks.len() >= 6, "{} blocks: {planned:?}", blocks.len());
    assert!(blocks[&5].len() >= last, "the sixth is whole");
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn what_was_measured_is_not_left_out_where_that_no_longer_helps() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    // The fifth block ends just after the budget.
    let mut fake = Fake { slower_from_block: Some((4, 12)), ..Fake::new(1) };
    let plan = Plan { budget: Duration::from_millis(480), ..plan(4) };
    assert_eq!(run(&path, &plan, &mut fake), EndReason::Budget);
    let lines = lines(&path);
    let left_out = |line: &Line| match line {
        Line::Planned(planned) => planned.left_out.len(),
        _ => 0,
    };
    assert_eq!(lines.iter().map(left_out).sum::<usize>(), 0);
    let Some(Line::End(end)) = lines.last() else { panic!("no end: {:?}", lines.last()) };
    assert!((0.48..0.7).contains(&end.used_s), "{} s used", end.used_s);
    assert!(cells_by_block(&lines)[&4].len() == 4, "the fifth block is whole");
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn late_in_a_run_most_of_what_was_measured_stays() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let mut last_blocks = Vec::new();
    for budget_ms in (1000..1600).step_by(20) {
        let path = temporary.path().join(budget_ms.to_string());
        let mut fake = Fake { slower_from_block: Some((4, 6)), ..Fake::new(1) };
        let plan = Plan { budget: Duration::from_millis(budget_ms), ..plan(12) };
        run(&path, &plan, &mut fake);
        let lines = lines(&path);
        let blocks = cells_by_block(&lines);
        let kept = lines.iter().rev().find_map(|line| match line {
            Line::Planned(planned) => Some(planned.pilots.len()),
            _ => None,
        });
        let fifth = blocks.get(&4).map_or(0, Vec::len);
        assert!(2 * kept.expect("it was planned") >= fifth, "{budget_ms} ms: {kept:?} of {fifth}");
        last_blocks.push((fifth, blocks.get(&5).map_or(0, Vec::len)));
    }
    let is_partly = |&(fifth, sixth): &(usize, usize)| sixth > 0 && sixth < fifth;
    assert!(last_blocks.iter().any(is_partly), "the sixth goes as far as it can: {last_blocks:?}");
}

#[test]
fn a_budget_without_room_for_one_interval_is_refused_with_what_would_do() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let short = Plan { budget: Duration::from_millis(1), ..plan(4) };
    let refused = conducted(&path, &short, &mut Fake::new(1)).expect_err("it is too short");
    let RunError::Budget { least_s, .. } = refused else { panic!("{refused}") };
    assert!(!lines(&path).iter().any(|line| matches!(line, Line::Replicate(_))));
    let path = temporary.path().join("enough");
    let enough = Plan { budget: Duration::from_secs_f64(least_s), ..plan(4) };
    run(&path, &enough, &mut Fake::new(1));
    let blocks = cells_by_block(&lines(&path));
    assert!(blocks.len() >= 6, "{blocks:?}");
}

#[test]
fn a_dry_run_ends_with_its_plan() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    run(&path, &Plan { is_dry: true, ..plan(4) }, &mut Fake::new(1));
    let lines = lines(&path);
    assert!(lines.iter().any(|line| matches!(line, Line::Planned(planned) if planned.blocks > 0)));
    assert!(!lines.iter().any(|line| matches!(line, Line::Replicate(_))));
}

#[test]
fn what_a_budget_left_out_comes_back_with_a_larger_one() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let small = Plan { budget: Duration::from_millis(420), precision: 0.0, ..plan(6) };
    assert_eq!(run(&path, &small, &mut Fake::new(1)), EndReason::Budget);
    let before = lines(&path);
    let left_out: Vec<u32> =
        record::left_out(&before).iter().flat_map(|one| one.cells.clone()).collect();
    assert!(!left_out.is_empty(), "something is left out");
    let measured = |lines: &[Line], cell: u32| {
        cells_by_block(lines).values().filter(|cells| cells.contains(&cell)).count()
    };
    // `with_budget` continues with the same cells; `with_more` restores the others.
    let same = Plan { precision: 0.0, ..plan(6) }.with_budget(Duration::from_millis(900));
    run(&path, &same, &mut Fake::new(1));
    assert!(left_out.iter().all(|&cell| measured(&lines(&path), cell) == 0));
    let more = Plan { precision: 0.0, ..plan(6) }.with_more(Duration::from_secs(5));
    assert_eq!(run(&path, &more, &mut Fake::new(1)), EndReason::Budget);
    let after = lines(&path);
    assert!(record::left_out(&after).is_empty());
    for cell in left_out {
        assert!(measured(&after, cell) >= 6, "cell {cell}: {:?}", cells_by_block(&after));
    }
    // What the first part measured is kept: each cell occurs once per block.
    for cells in cells_by_block(&after).values() {
        let distinct: BTreeSet<&u32> = cells.iter().collect();
        assert_eq!(distinct.len(), cells.len(), "{cells:?}");
    }
}

#[test]
fn a_run_that_has_ended_goes_on_with_a_larger_budget() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    run(&path, &Plan { blocks: Some(2), ..plan(4) }, &mut Fake::new(1));
    let before = cells_by_block(&lines(&path)).len();
    let granted = Duration::from_secs(5);
    let longer = Plan { precision: 0.0, blocks: Some(2), ..plan(4) }.with_budget(granted);
    assert_eq!(run(&path, &longer, &mut Fake::new(1)), EndReason::Budget);
    let lines = lines(&path);
    assert!(cells_by_block(&lines).len() > before + 1, "it goes on");
    assert_eq!(Ledger::replay(&lines).granted(), Some(granted));
    assert!(Ledger::replay(&lines).used() <= granted.mul_f64(1.2));
}
