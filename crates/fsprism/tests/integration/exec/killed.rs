//! Programs in an arena are killed at random moments: what they had acknowledged is there, and
//! nothing is lost.
//!
//! `FSPRISM_KILLS` is how many rounds are made.

use std::path::Path;

use super::Dense;
use crate::place::say_skipped;

/// Runs one of the storms.
fn storm(test: &str, which: &str, rounds: u32) {
    let rounds = std::env::var("FSPRISM_KILLS").unwrap_or_else(|_| rounds.to_string());
    let Some(dense) = Dense::sized(test, "256m") else { return };
    let program = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/integration/exec/programs/killed.py"
    ));
    let run = format!("exec python3 {} {which} {rounds}", program.display());
    let before = used(&dense);
    let outcome = dense.alone(&run);
    if outcome.code == Some(127) {
        return say_skipped(test, "it needs python3");
    }
    assert_eq!(outcome.assert_code(0).stdout, "all is right\n", "{outcome:?}");
    println!("{}", outcome.stderr.trim_end());
    dense.assert_gone();
    assert_eq!(used(&dense), before);
}

/// What the arena says of its files, and what a program sees of its space.
fn used(dense: &Dense) -> [String; 2] {
    let mut check = dense.place.fsprism("densefs check");
    check.arg(&dense.arena);
    let seen = dense.shell("stat -f -c '%f blocks and %d files are free' %");
    dense.assert_gone();
    [dense.place.finish(check), seen].map(|outcome| outcome.assert_code(0).stdout.clone())
}

#[test]
fn a_database_keeps_all_transactions_when_its_writers_are_killed() {
    storm("a_database_keeps_all_transactions_when_its_writers_are_killed", "database", 20);
}

#[test]
fn nothing_is_lost_when_programs_are_killed() {
    storm("nothing_is_lost_when_programs_are_killed", "processes", 25);
}
