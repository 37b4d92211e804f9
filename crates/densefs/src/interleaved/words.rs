//! The lock word itself: its owner, its waiters and its version.

use std::format;
use std::string::String;

use super::{Player, Scene, explore};
use crate::errno::Errno;
use crate::layout::lock::{OWNER, WAITERS, is_held};
use crate::layout::{WORD, cell, slot};
use crate::seams::Seams;

fn nothing(_member: &Player<'_>) -> Result<(), Errno> {
    Ok(())
}

/// Increments a number with a load and a store, under the lock of the root directory; returns the
/// number.
fn count(member: &Player<'_>) -> Result<String, Errno> {
    let at = member.root()?.at;
    let line = member.lock(at)?;
    let number = line.load(cell::MTIME) + 1;
    member.fill(line, cell::MTIME, number);
    member.unlock();
    Ok(format!("{number}"))
}

/// Increments two numbers: in one step for readers, and for whoever continues after a death.
fn count_twice(member: &Player<'_>) -> Result<String, Errno> {
    let at = member.root()?.at;
    let line = member.lock(at)?;
    let number = line.load(cell::MTIME) + 1;
    member.put(at, cell::MTIME, number);
    member.put(at, cell::NAME, number);
    member.put_changed(at, line, 0);
    member.commit();
    member.unlock();
    Ok(String::new())
}

/// Reads the two numbers without taking the lock.
fn both(member: &Player<'_>) -> Result<String, Errno> {
    let at = member.root()?.at;
    let (found, _) = member.read(at, |line| Ok((line.load(cell::MTIME), line.load(cell::NAME))))?;
    let (one, other) = found?;
    Ok(format!("{}", one.abs_diff(other)))
}

fn look(member: &Player<'_>) -> String {
    let line = member.root().and_then(|root| member.line(root.at)).expect("it is there");
    let is_held = is_held(line.load(WORD));
    format!("{} {} {is_held}", line.load(cell::MTIME), line.load(cell::NAME))
}

#[test]
fn one_at_a_time_holds_a_lock_and_whoever_waits_is_woken() {
    let runs = explore(&Scene {
        what: "two count",
        prepare: nothing,
        scripts: &[&[count, count], &[count, count]],
        look,
        turns: 2,
        is_torn: false,
        is_one_process: false,
    });
    assert!(runs > 500, "{runs}");
    explore(&Scene {
        what: "three count",
        prepare: nothing,
        scripts: &[&[count], &[count], &[count]],
        look,
        turns: 2,
        is_torn: false,
        is_one_process: false,
    });
}

#[test]
fn what_is_read_without_a_lock_is_of_one_moment() {
    explore(&Scene {
        what: "one counts two numbers, another looks",
        prepare: nothing,
        scripts: &[&[count_twice, count_twice], &[both, both]],
        look,
        turns: 2,
        is_torn: false,
        is_one_process: false,
    });
    explore(&Scene {
        what: "two count two numbers, a third looks",
        prepare: nothing,
        scripts: &[&[count_twice], &[count_twice], &[both]],
        look,
        turns: 1,
        is_torn: false,
        is_one_process: false,
    });
}

/// Like [`count`], but without the lock.
fn count_unlocked(member: &Player<'_>) -> Result<String, Errno> {
    let line = member.line(member.root()?.at)?;
    let number = line.load(cell::MTIME) + 1;
    member.fill(line, cell::MTIME, number);
    Ok(format!("{number}"))
}

#[test]
#[should_panic(expected = "two count without a lock: [")]
fn what_is_not_locked_is_found() {
    let scripts: &'static [&'static [super::Act]] = &[&[count_unlocked], &[count_unlocked]];
    explore(&Scene {
        what: "two count without a lock",
        prepare: nothing,
        scripts,
        look,
        turns: 1,
        is_torn: false,
        is_one_process: false,
    });
}

/// Like [`count`], but releases the lock with a load and a store of the whole word. Another thread
/// may begin to wait in between.
fn count_in_two_steps(member: &Player<'_>) -> Result<String, Errno> {
    let at = member.root()?.at;
    let line = member.lock(at)?;
    let seen = line.load(WORD);
    member.fill(line, WORD, seen & !(OWNER | WAITERS));
    if seen & WAITERS != 0 {
        member.seams().wake(line.atomic(WORD));
    }
    member.fill(member.line(member.slot_line(slot::STATE))?, slot::HELD, 0);
    Ok(String::new())
}

#[test]
#[should_panic(expected = "a lock is given back in two steps: Asleep")]
fn one_that_nobody_wakes_is_found() {
    explore(&Scene {
        what: "a lock is given back in two steps",
        prepare: nothing,
        scripts: &[&[count_in_two_steps], &[count_in_two_steps]],
        look,
        turns: 2,
        is_torn: false,
        is_one_process: false,
    });
}
