//! What a run does when other programs keep the machine busy, with a fake executor and stopwatch.

use std::path::Path;
use std::time::Duration;

use record::{EndReason, Line, Replicate, Run, RunDirectory, Waited};
use runner::{Ledger, OnBusy, Plan, RunContext, conduct};

use crate::fake::{Fake, Watcher, manifest, plan};

const PLAN_S: u64 = 10;

fn run(path: &Path, plan: &Plan, fake: &mut Fake) -> (EndReason, Vec<Line>) {
    let mut directory = RunDirectory::create(path, &manifest(plan)).expect("a new run");
    let (stopwatch, stop, on_busy) = (fake.stopwatch(), fake.stop(), fake.on_busy);
    let mut context =
        RunContext { stopwatch: &stopwatch, observer: &mut Watcher, stop: &stop, on_busy };
    let ended = conduct(plan, Ledger::default(), fake, &mut directory, &mut context);
    (ended.expect("the run is recorded"), Run::read(path).expect("a run").lines)
}

fn between(from_s: u64, to_s: u64) -> Option<(Duration, Duration)> {
    Some((Duration::from_secs(from_s), Duration::from_secs(to_s)))
}

fn replicates(lines: &[Line]) -> Vec<&Replicate> {
    let mut replicates = Vec::new();
    for line in lines {
        if let Line::Replicate(replicate) = line {
            replicates.push(&**replicate);
        }
    }
    replicates
}

fn marked(lines: &[Line]) -> usize {
    let is_marked = |it: &&Replicate| it.neighbours.as_ref().is_some_and(|it| it.busy.is_some());
    replicates(lines).into_iter().filter(is_marked).count()
}

fn waits(lines: &[Line]) -> Vec<&Waited> {
    let mut waits = Vec::new();
    for line in lines {
        if let Line::Waited(waited) = line {
            waits.push(waited);
        }
    }
    waits
}

fn thrown_away(lines: &[Line]) -> usize {
    lines.iter().filter(|line| matches!(line, Line::Discarded(_))).count()
}

#[test]
fn a_run_waits_until_the_machine_is_quiet_and_keeps_nothing_from_before() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut fake = Fake { busy: between(1, 3), ..Fake::new(1) };
    let (_, lines) = run(&directory.path().join("run"), &plan(4), &mut fake);
    let [wait] = waits(&lines)[..] else { panic!("it waits once") };
    assert!(wait.is_quiet && (1.0..3.0).contains(&wait.waited_s), "{wait:?}");
    assert_eq!(wait.busy.programs, ["cc1"]);
    assert_eq!((marked(&lines), thrown_away(&lines)), (0, 2));
}

#[test]
fn a_run_that_has_waited_in_vain_measures_and_marks() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut fake = Fake { busy: between(0, u64::MAX), ..Fake::new(1) };
    let (ended, lines) = run(&directory.path().join("run"), &plan(4), &mut fake);
    assert_ne!(ended, EndReason::Busy);
    let [wait] = waits(&lines)[..] else { panic!("it waits once") };
    let most_s = PLAN_S as f64 / 4.0;
    assert!(!wait.is_quiet && (most_s..=most_s + 1.0).contains(&wait.waited_s), "{wait:?}");
    let all = replicates(&lines).len();
    assert!(all > 8 && marked(&lines) == all, "{} of {all}", marked(&lines));
    assert_eq!(thrown_away(&lines), 2, "only the first is tried again");
}

#[test]
fn a_run_that_is_to_measure_never_waits() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut fake = Fake { busy: between(0, 2), on_busy: OnBusy::Measure, ..Fake::new(1) };
    let (_, lines) = run(&directory.path().join("run"), &plan(4), &mut fake);
    assert_eq!((waits(&lines).len(), thrown_away(&lines)), (0, 0));
    let all = replicates(&lines).len();
    assert!((1..all).contains(&marked(&lines)), "{} of {all}", marked(&lines));
}

#[test]
fn a_run_that_is_to_refuse_ends_and_can_be_gone_on_with() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut fake = Fake { busy: between(2, 9), on_busy: OnBusy::Refuse, ..Fake::new(1) };
    let (ended, lines) = run(&directory.path().join("run"), &plan(4), &mut fake);
    assert_eq!(ended, EndReason::Busy);
    assert_eq!((marked(&lines), thrown_away(&lines)), (0, 2));
    assert!(!Ledger::replay(&lines).ended());
}
