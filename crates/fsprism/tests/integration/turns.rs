//! Only one run at a time measures a computer.

use std::fs;
use std::process::id;

use machine::measuring_lock::MeasuringLock;
use rustix::process::Signal;

use crate::place::{Place, names_in};
use crate::process::Running;

const RUN: &str = "survey . --benchmark create-1-thread --size 1m --blocks 6";

/// The first to ask gets its turn. The other says whom it waits for, and measures afterwards.
#[test]
fn a_run_waits_for_another_to_end() {
    let place = Place::new();
    let turn = MeasuringLock::wait().expect("the lock can be opened");
    let mut running = Running::start(&place, place.measure(&format!("{RUN} --out waited")));
    running.until(&format!(" (process {}): waiting for it to end", id()));
    assert!(!running.ends_within(300));
    assert_eq!(names_in(&place.path("waited")), [""; 0], "nothing is kept before its turn");
    drop(turn);
    running.finish(&place).assert_code(0);
}

/// What can be checked immediately is checked before waiting.
#[test]
fn a_kernel_that_is_not_there_is_refused_before_its_turn() {
    let place = Place::new();
    let _lock = MeasuringLock::wait().expect("the lock can be opened");
    let running = Running::start(&place, place.measure("run fscache --kernel 2.6.18"));
    assert!(running.ends_within(60_000));
    running.finish(&place).assert_refused(&["2.6.18", "lab build"]);
}

#[test]
fn a_directory_that_holds_traces_is_refused_before_its_turn() {
    let place = Place::new();
    fs::write(place.make("full").join("tmpfs.trace"), "").expect("ours");
    let _lock = MeasuringLock::wait().expect("the lock can be opened");
    let command = place.fsprism("footprint trace --target tmpfs --out full");
    let running = Running::start(&place, command);
    assert!(running.ends_within(60_000));
    running.finish(&place).assert_refused(&["full already holds traces", "--out"]);
}

#[test]
fn a_run_that_waits_can_be_ended_and_one_that_may_not_wait_is_refused() {
    let place = Place::new();
    let _lock = MeasuringLock::wait().expect("the lock can be opened");
    let refused = place.run(&format!("{RUN} --no-wait --out refused"));
    refused.assert_refused(&["another run has been measuring", "leave out --no-wait"]);
    let mut running = Running::start(&place, place.measure(&format!("{RUN} --out ended")));
    running.until("another run has been measuring");
    running.signal_group(Signal::TERM);
    assert!(running.ends_within(5_000));
    running.finish(&place).assert_code(130);
    assert_eq!(names_in(&place.path("ended")), [""; 0]);
}
