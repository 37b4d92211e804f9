//! The same operations by functions of the C library, between rounds of code.

use std::path::PathBuf;

use measure::SystemClock;
use user_code::{CodeShape, Loads, Order, UserCode};
use workload::{
    FileSet, Interleaved, Interleaving, Operation, Role, Workload, interleave_by_functions, prepare,
};

use crate::common::{SEED, SPEC, Scratch, file_set, names, never};

const SHAPE: CodeShape =
    CodeShape { code_lines: 2, data_lines: 2, order: Order::Random, loads: Loads::Dependent };

/// What operations leave behind, by functions or by system calls. It is put back afterwards.
fn left_by(
    operation: Operation,
    file_set: &FileSet,
    by_functions: bool,
) -> (Vec<Vec<String>>, u64) {
    let code = UserCode::new(&SHAPE, 1).expect("there is memory");
    let no_code = UserCode::nothing().expect("there is memory");
    let (code, no_code, counts) = (&code, &no_code, false);
    let plan = Interleaving { code, no_code, turns: 4, rounds: 2, warming_rounds: 1, counts };
    let clock = SystemClock::calibrate().0;
    let workload = Workload { operations_per_thread: 12, batch: 3, ..Workload::new(operation) };
    let mut session = prepare(&workload, file_set, SEED).expect("it can be executed");
    let done = match by_functions {
        true => {
            let seen = FileSet::seen_at(file_set.root(), file_set.spec(), file_set.seed());
            interleave_by_functions(&workload, &seen, SEED, &plan, &clock, &never())
        }
        false => session.interleave(&plan, &clock, &never()),
    };
    let done: Interleaved = done.unwrap_or_else(|why| panic!("{operation:?}: {why}")).expect("all");
    assert_eq!(done.with_operation.len(), 8, "{operation:?}");
    let path: PathBuf = file_set.data_file(Role::Write, 0);
    let bytes = std::fs::read(path).expect("it is there");
    let sum = bytes.iter().fold(0, |sum: u64, &byte| sum.wrapping_mul(31) + u64::from(byte));
    let left = (names(file_set), sum);
    session.restore().unwrap_or_else(|why| panic!("{operation:?}: {why}"));
    left
}

#[test]
fn functions_do_what_system_calls_do() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    assert_eq!(file_set.spec(), &SPEC);
    for operation in Operation::ALL.into_iter().filter(|one| one.can_batch()) {
        let [by_functions, by_calls] = [true, false].map(|by| left_by(operation, &file_set, by));
        assert_eq!(by_functions, by_calls, "{operation:?}");
    }
}

#[test]
fn what_fails_is_told_by_its_number() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    let code = UserCode::new(&SHAPE, 1).expect("there is memory");
    let (code, no_code, counts) = (&code, &code, false);
    let plan = Interleaving { code, no_code, turns: 1, rounds: 1, warming_rounds: 0, counts };
    let workload = Workload { operations_per_thread: 1, ..Workload::new(Operation::Unlink) };
    // Nobody has made what it removes.
    let clock = SystemClock::calibrate().0;
    let failed = interleave_by_functions(&workload, &file_set, SEED, &plan, &clock, &never());
    let why = failed.expect_err("there is nothing to remove").to_string();
    assert!(why.contains("unlinkat") && why.contains("No such file"), "{why}");
}
