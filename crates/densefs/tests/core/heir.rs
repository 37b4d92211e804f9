//! A process executes another program, which takes its place with a record of its own.

use densefs::modes::Caller;
use densefs::{Errno, Member, RangeHolder, Whence, flags};

use crate::world::{Memory, World, assert_whole, format};

const OLD: u32 = 1;
const NEW: u32 = 2;
const OTHER: u32 = 3;
const REAPER: u32 = 4;
const PID: RangeHolder = RangeHolder::Process { pid: 7 };
const DESCRIPTION: RangeHolder = RangeHolder::Description { pid: RangeHolder::NOBODY };
/// More than are passed on in one step.
const RANGES: u64 = 100;

type One<'a, 'w> = Member<'a, &'w World>;

fn open(member: &One<'_, '_>, name: &[u8], how: u32) -> u32 {
    let how = flags::READ_WRITE | flags::CREATE | how;
    let root = member.root().expect("it is there");
    member.open(&Caller::ROOT, root, name, how, 0o600).expect("there is room")
}

/// The old process has opened and locked files, and is about to execute a program: `kept` stays
/// open as descriptor 0, of `both` only one of two descriptors, `closed` does not.
fn before(world: &World) -> Memory {
    let mut memory = Memory::of_pages(256);
    format(&mut memory, world).expect("there is room");
    let old = Member::new(memory.arena(), world, OLD, OLD).expect("there are slots");
    for record in [OLD, NEW, OTHER] {
        old.begin_process(record).expect("it is a record");
    }
    let kept = open(&old, b"kept", 0);
    let both = open(&old, b"both", 0);
    open(&old, b"both", flags::CLOSE_ON_EXEC);
    let closed = open(&old, b"closed", flags::CLOSE_ON_EXEC);
    let flocked = open(&old, b"flocked", 0);
    old.lock_open(flocked, Some(true), 0).expect("nobody has it");
    old.lock_range(flocked, 0..9, Some(true), DESCRIPTION).expect("nobody has it");
    for file in [kept, both, closed] {
        for range in 0..RANGES {
            let range = 3 * range..3 * range + 1;
            old.lock_range(file, range, Some(true), PID).expect("nobody has it");
        }
    }
    old.write_on(kept, b"some text").expect("there is room");
    old.copy_descriptors_for_exec(NEW).expect("there is room");
    memory
}

/// Checks what the program and another process find.
fn assert_taken_over(memory: &mut Memory, world: &World) {
    let arena = memory.arena();
    let new = Member::new(arena, world, NEW, NEW).expect("there are slots");
    let other = Member::new(arena, world, OTHER, OTHER).expect("there are slots");
    assert_eq!(new.flags(0).map(|how| how & flags::ACCESS), Ok(flags::READ_WRITE));
    assert_eq!([1, 2, 3, 4].map(|file| new.flags(file).is_ok()), [true, false, false, true]);
    assert_eq!(new.seek(0, 0, Whence::Current), Ok(9));
    let [kept, both, closed, flocked] =
        [&b"kept"[..], b"both", b"closed", b"flocked"].map(|name| open(&other, name, 0));
    for range in 0..RANGES {
        let range = 3 * range..3 * range + 1;
        let taken = other.lock_range(kept, range.clone(), Some(false), PID);
        assert_eq!(taken, Err(Errno::AGAIN), "{range:?}");
        // Its own locks are no obstacle to the new program.
        assert_eq!(new.lock_range(0, range, Some(true), PID), Ok(()));
    }
    assert_eq!(other.lock_range(kept, 1..3, Some(true), PID), Ok(()));
    for file in [both, closed] {
        assert_eq!(other.lock_range(file, 0..u64::MAX, Some(true), PID), Ok(()));
    }
    assert_eq!(other.lock_open(flocked, Some(true), 0), Err(Errno::AGAIN));
    assert_eq!(other.lock_range(flocked, 0..1, Some(true), DESCRIPTION), Err(Errno::AGAIN));
    new.close(0).expect("it is open");
    assert_eq!(other.lock_range(kept, 0..u64::MAX, Some(true), PID), Ok(()));
    new.reap(NEW).expect("it is a record");
    assert_eq!(other.lock_open(flocked, Some(true), 0), Ok(()));
    other.reap(OTHER).expect("it is a record");
    assert_eq!(assert_whole(&other).descriptions, 0);
}

/// Also if whoever reaps the old record dies after any store, and another starts over.
#[test]
fn a_program_takes_the_place_of_the_one_that_executed_it() {
    let world = World::default();
    let memory = before(&world);
    let mut deaths = 0;
    for stores in (0..).step_by(5) {
        let mut memory = memory.copy();
        let arena = memory.arena();
        let reaper = Member::new(arena, &world, REAPER, REAPER).expect("there are slots");
        let passed = world.kill_after(stores, || {
            reaper.pass_locks(OLD, NEW).expect("they are records");
            reaper.reap(OLD).expect("it is a record");
        });
        let next = Member::new(arena, &world, 5, 5).expect("there are slots");
        if passed.is_none() {
            next.repair(REAPER).expect("it is a slot");
            if next.is_in_use(OLD).expect("it is a record") {
                next.pass_locks(OLD, NEW).expect("they are records");
            }
            next.reap(OLD).expect("it is a record");
            deaths += 1;
        }
        assert_whole(&next);
        assert_taken_over(&mut memory, &world);
        if passed.is_some() {
            break;
        }
    }
    assert!(deaths > 100, "{deaths}");
}

/// The record of a dead process may be reaped when its heir has already closed the file, or is dead
/// itself.
#[test]
fn locks_of_files_that_the_heir_has_closed_are_released() {
    let world = World::default();
    let mut memory = before(&world);
    let arena = memory.arena();
    let new = Member::new(arena, &world, NEW, NEW).expect("there are slots");
    let other = Member::new(arena, &world, OTHER, OTHER).expect("there are slots");
    new.close(0).expect("it is open");
    let kept = open(&other, b"kept", 0);
    assert_eq!(other.lock_range(kept, 0..1, Some(true), PID), Err(Errno::AGAIN));
    other.pass_locks(OLD, NEW).expect("they are records");
    assert_eq!(other.lock_range(kept, 0..1000, Some(true), PID), Ok(()));
    for record in [OLD, NEW, OTHER] {
        other.reap(record).expect("it is a record");
    }
    assert_eq!(assert_whole(&other).descriptions, 0);
}
