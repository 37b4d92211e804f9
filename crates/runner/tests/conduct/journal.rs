//! The journal of what is counted rather than timed.

use std::time::Instant;

use record::{EndReason, Line, Replicate, Run, RunDirectory};
use runner::Journal;

use crate::fake::{manifest, plan};

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn replicates_of_a_block_have_the_order_in_which_they_came() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut directory = RunDirectory::create(&path, &manifest(&plan(2))).expect("a new run");
    let mut journal = Journal::begin(&mut directory, 2, Instant::now()).expect("room");
    for (cell, block) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let replicate = Replicate::from_metrics(cell, block, vec![1.0]);
        journal.keep(replicate, block + 1).expect("room");
    }
    journal.discard(0, 2, 1, "it was in another state").expect("room");
    journal.end(EndReason::Blocks).expect("room");
    let lines = Run::read(&path).expect("a run").lines;
    let kept = lines.iter().filter_map(|line| match line {
        Line::Replicate(one) => Some((one.cell, one.block, one.order, one.attempt)),
        _ => None,
    });
    let expected = [(0, 0, 0, 1), (1, 0, 1, 1), (0, 1, 0, 2), (1, 1, 1, 2)];
    assert_eq!(kept.collect::<Vec<_>>(), expected);
    assert!(lines.iter().any(|line| matches!(line, Line::Discarded(one) if one.block == 2)));
}
