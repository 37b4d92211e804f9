//! What is thrown away and measured again, and when a cell is given up.

use std::collections::BTreeSet;

use record::Line;
use runner::Plan;

use crate::fake::{Fake, plan};
use crate::{cells_by_block, lines, run};

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn a_replicate_in_the_wrong_state_is_thrown_away_counted_and_run_again() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut fake = Fake { wrong_state_first: vec![(2, 2)], ..Fake::new(1) };
    run(&path, &Plan { blocks: Some(2), ..plan(4) }, &mut fake);
    let lines = lines(&path);
    let discarded: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Discarded(discarded) => Some((discarded.cell, discarded.attempt)),
            _ => None,
        })
        .collect();
    assert_eq!(discarded, [(2, 1), (2, 2)]);
    let third = lines.iter().any(|line| match line {
        Line::Replicate(replicate) => replicate.cell == 2 && replicate.attempt == 3,
        _ => false,
    });
    assert!(third, "the third attempt counts");
    assert_eq!(cells_by_block(&lines)[&1].len(), 4);
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn a_cell_whose_state_is_never_reached_is_reported_as_failed_with_why() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut fake = Fake { wrong_state_first: vec![(2, u32::MAX)], ..Fake::new(1) };
    run(&path, &Plan { blocks: Some(3), ..plan(4) }, &mut fake);
    let lines = lines(&path);
    let why: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            Line::CellFailed(failed) => Some((failed.cell, failed.why.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(why.len(), 1);
    assert_eq!(why[0].0, 2);
    assert!(why[0].1.contains("3 attempts") && why[0].1.contains("pages resident"), "{}", why[0].1);
    assert!(cells_by_block(&lines).values().all(|cells| cells.len() == 3));
}

/// It was once said that the cache was in the wrong state, after three pilots of the same choices.
#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn a_pilot_that_is_disturbed_is_said_to_be() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut fake = Fake { disturbed_pilots: vec![1], ..Fake::new(1) };
    run(&path, &plan(4), &mut fake);
    let lines = lines(&path);
    let failed: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            Line::CellFailed(failed) => Some((failed.cell, failed.why.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(failed, [(1, "the last of 3 attempts was disturbed: others ran meanwhile")]);
    let seeds: BTreeSet<u64> = fake.pilot_seeds.iter().copied().collect();
    assert_eq!((seeds.len(), fake.pilot_seeds.len()), (3, 3));
}

#[test]
fn a_cell_that_is_lost_to_one_block_or_to_something_else_is_not_given_up() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let one_block = Fake { wrong_state_first: vec![(2, 3)], ..Fake::new(1) };
    let something_else = Fake { disturbed: vec![(2, 1)], ..Fake::new(1) };
    for (name, mut fake, counts) in
        [("one-block", one_block, [3, 4, 4]), ("else", something_else, [3, 3, 3])]
    {
        let path = temporary.path().join(name);
        run(&path, &Plan { blocks: Some(3), ..plan(4) }, &mut fake);
        let lines = lines(&path);
        assert!(!lines.iter().any(|line| matches!(line, Line::CellFailed(_))), "{name}");
        let found: Vec<usize> = cells_by_block(&lines).values().map(Vec::len).collect();
        assert_eq!(found, counts, "{name}");
    }
}

#[test]
fn two_blocks_that_are_lost_to_the_cache_state_alone_give_a_cell_up() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let gives_up = |name: &str, fake: Fake| {
        let path = temporary.path().join(name);
        run(&path, &Plan { blocks: Some(4), ..plan(4) }, &mut { fake });
        lines(&path).iter().any(|line| matches!(line, Line::CellFailed(_)))
    };
    let wrong_state_first = vec![(2, 100)];
    assert!(gives_up(
        "wrong",
        Fake { wrong_state_first: wrong_state_first.clone(), ..Fake::new(1) }
    ));
    // One of the three attempts in each block says nothing about the state.
    let disturbed = vec![(2, 3)];
    assert!(!gives_up("both", Fake { wrong_state_first, disturbed, ..Fake::new(1) }));
    assert!(!gives_up("one block", Fake { wrong_state_first: vec![(2, 5)], ..Fake::new(1) }));
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn time_is_not_spent_on_what_is_always_lost() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut fake = Fake { noise: 0.5, disturbed: vec![(2, 1)], ..Fake::new(1) };
    let plan = plan(6);
    run(&path, &plan, &mut fake);
    let lines = lines(&path);
    let lost: Vec<u32> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Discarded(discarded) if discarded.attempt == 3 => Some(discarded.block),
            _ => None,
        })
        .collect();
    let blocks = cells_by_block(&lines).len();
    // From the tenth block on, it is measured no more often than others that are as wide.
    assert!(blocks > 12 && lost.len() < blocks * 9 / 10, "{} of {blocks}", lost.len());
}
