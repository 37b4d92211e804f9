//! Files that several threads read, write, extend, truncate, open and close at the same time, and
//! lines that several threads take from a zone.

use std::format;
use std::string::String;
use std::vec;

use super::{Act, Player, Scene, explore, explore_any};
use crate::descriptors::flags;
use crate::errno::Errno;
use crate::member::{Member, Node};
use crate::modes::{Caller, FILE};
use crate::tree::{Follow, Remove};

const ROOT: &Caller<'_> = &Caller::ROOT;
/// What scenes of files have in common.
const SCENE: Scene<'_> = Scene {
    what: "",
    scripts: &[],
    prepare: small,
    look,
    turns: 1,
    is_torn: true,
    is_one_process: false,
};
/// A file of two pages that are not contiguous, and then some lines.
const LENGTH: usize = 9_000;

fn file(member: &Player<'_>) -> Result<Node, Errno> {
    member.walk(ROOT, member.root()?, b"file", Follow::No)
}

fn write(member: &Player<'_>, offset: u64, byte: u8, length: usize) -> Result<String, Errno> {
    let bytes = vec![byte; length];
    let written = member.retry(|| member.write_at(file(member)?, offset, &bytes))?;
    Ok(format!("{written}"))
}

fn append(member: &Player<'_>, byte: u8, length: usize) -> Result<String, Errno> {
    let bytes = vec![byte; length];
    let (written, at) = member.retry(|| member.append(file(member)?, &bytes))?;
    Ok(format!("{written} at {at}"))
}

/// The runs of equal bytes in the file: each byte, and how often it is repeated.
fn read(member: &Player<'_>) -> Result<String, Errno> {
    let mut bytes = vec![0xff; 20_000];
    let length = member.retry(|| member.read_at(file(member)?, 0, &mut bytes))?;
    let rows = bytes[..length].chunk_by(|one, next| one == next);
    Ok(rows.map(|row| format!("{}x{} ", row[0], row.len())).collect())
}

fn cut(member: &Player<'_>, size: u64) -> Result<String, Errno> {
    member.retry(|| member.truncate(file(member)?, size))?;
    Ok(String::new())
}

fn look(member: &Player<'_>) -> String {
    read(member).unwrap_or_else(|why| format!("{why:?}"))
}

fn small(member: &Player<'_>) -> Result<(), Errno> {
    member.make_at(ROOT, member.root()?, b"file", FILE | 0o600)?;
    write(member, 0, 1, 100)?;
    Ok(())
}

fn large(member: &Player<'_>) -> Result<(), Errno> {
    small(member)?;
    write(member, 0, 1, LENGTH)?;
    Ok(())
}

/// A file that the first two threads have opened, the first one twice.
fn opened(member: &Player<'_>) -> Result<(), Errno> {
    open_in(member, &[1, 1, 2])
}

/// A file that the first process has opened twice.
fn opened_twice(member: &Player<'_>) -> Result<(), Errno> {
    open_in(member, &[1, 1])
}

fn open_in(member: &Player<'_>, slots: &[u32]) -> Result<(), Errno> {
    large(member)?;
    for &slot in slots {
        let one = Member::new(*member.arena(), member.seams().clone(), slot, slot)?;
        one.open(ROOT, one.root()?, b"file", flags::READ_WRITE, 0)?;
    }
    Ok(())
}

const WRITE_SMALL: Act = |one| write(one, 50, 2, 100);
const WRITE_LARGE: Act = |one| write(one, 0, 2, LENGTH);
const APPEND_2: Act = |one| append(one, 2, 70);
const APPEND_3: Act = |one| append(one, 3, 5_000);
const CUT_SHORT: Act = |one| cut(one, 10);
const CUT_EMPTY: Act = |one| cut(one, 0);
const LENGTHEN: Act = |one| cut(one, 12_000);
const PUNCH: Act = |one| {
    one.retry(|| one.punch(file(one)?, 0, 4_096))?;
    Ok(String::new())
};
const REMOVE: Act = |one| {
    one.remove_at(ROOT, one.root()?, b"file", Remove::Name)?;
    Ok(String::new())
};

#[test]
fn a_read_or_write_is_done_at_once() {
    type Prepare = fn(&Player<'_>) -> Result<(), Errno>;
    let scenes: [(&str, Prepare, &[&[Act]]); 10] = [
        ("a read of a small file that is written", small, &[&[WRITE_SMALL], &[read, read]]),
        ("a read of a large file that is written", large, &[&[WRITE_LARGE], &[read, read]]),
        ("a read of a file that gets a map", small, &[&[APPEND_3], &[read]]),
        ("a read of a file that is cut off", large, &[&[CUT_SHORT], &[read]]),
        ("a read of a file with a hole to be", large, &[&[PUNCH], &[read]]),
        ("a read of a file that goes", large, &[&[REMOVE], &[read]]),
        ("writes over each other", large, &[&[WRITE_LARGE], &[|one| write(one, 4_000, 3, 200)]]),
        ("two append", small, &[&[APPEND_2, APPEND_2], &[APPEND_3]]),
        ("one appends, one cuts off", small, &[&[APPEND_3], &[CUT_EMPTY], &[read]]),
        ("zeros before what is appended", small, &[&[LENGTHEN], &[APPEND_2], &[CUT_SHORT]]),
    ];
    for (what, prepare, scripts) in scenes {
        explore(&Scene { what, prepare, scripts, ..SCENE });
    }
}

#[test]
fn whatever_three_do_with_a_file_is_done_one_after_another() {
    const ACTS: [Act; 12] = [
        read,
        read,
        read,
        WRITE_SMALL,
        WRITE_LARGE,
        APPEND_2,
        APPEND_3,
        CUT_SHORT,
        CUT_EMPTY,
        LENGTHEN,
        PUNCH,
        REMOVE,
    ];
    let scene = Scene { what: "any content", prepare: large, turns: 0, ..SCENE };
    explore_any(&scene, &ACTS);
}

const CLOSE_0: Act = |one| one.close(0).map(|()| String::new());
const READ_ON: Act = |one| {
    let mut bytes = [0; 100];
    let length = one.read_on(0, &mut bytes)?;
    Ok(format!("{:?}", &bytes[..length]))
};
const WRITE_ON: Act = |one| Ok(format!("{}", one.write_on(0, &[7; 100])?));
const OPEN: Act =
    |one| Ok(format!("{}", one.retry(|| one.open(ROOT, one.root()?, b"file", 0, 0))?));
const TEMPORARY: Act = |one| {
    let how = flags::READ_WRITE | flags::TEMPORARY | flags::DIRECTORY;
    Ok(format!("{}", one.open(ROOT, one.root()?, b"/", how, 0o600)?))
};

#[test]
fn what_is_open_stays_until_it_is_closed() {
    let scenes: [(&str, &[&[Act]]); 4] = [
        ("a file goes that is read on", &[&[READ_ON, CLOSE_0], &[REMOVE, READ_ON]]),
        ("a file goes that is written on", &[&[REMOVE, OPEN], &[WRITE_ON, CLOSE_0]]),
        ("a file without a name", &[&[TEMPORARY, CLOSE_0], &[REMOVE, CLOSE_0]]),
        ("one opens what another closes", &[&[OPEN, CLOSE_0], &[CLOSE_0, OPEN], &[REMOVE]]),
    ];
    for (what, scripts) in scenes {
        explore(&Scene { what, prepare: opened, scripts, ..SCENE });
    }
}

/// Writes past the end of the open file.
const GROW_FILE: Act = |one| Ok(format!("{}", one.write_to(0, 8_900, &[7; 5_000])?));
/// Opens another file, and duplicates its descriptor to a number that needs a longer table.
const FAR: Act = |one| {
    one.make_at(ROOT, one.root()?, b"other", FILE | 0o600)?;
    let other = one.open(ROOT, one.root()?, b"other", 0, 0)?;
    Ok(format!("{}", one.duplicate(other, 40, 0)?))
};
/// Makes symbolic links, which reuse the cells and lines that others freed.
const NEW: Act = |one| {
    for name in [&b"file"[..], b"b", b"c"] {
        let made = one.symlink_at(ROOT, one.root()?, name, &[b'x'; 200])?;
        assert_eq!(made.size, 200);
    }
    Ok(String::new())
};
const DUPLICATE: Act = |one| Ok(format!("{}", one.duplicate(0, 0, 0)?));
const CLOSE_1: Act = |one| one.close(1).map(|()| String::new());
const REPLACE: Act = |one| one.duplicate_to(1, 0, 0).map(|()| String::new());

#[test]
fn threads_of_a_process_share_what_is_open() {
    let scenes: [(&str, &[&[Act]]); 8] = [
        ("a table grows, and what is open goes", &[&[GROW_FILE], &[FAR, REMOVE, CLOSE_0, CLOSE_1]]),
        ("what is open goes, and another comes", &[&[GROW_FILE], &[REMOVE, CLOSE_1, CLOSE_0, NEW]]),
        ("both read on", &[&[READ_ON, READ_ON], &[READ_ON]]),
        ("one reads on what another closes", &[&[READ_ON, READ_ON], &[CLOSE_0, OPEN]]),
        ("one writes on what another replaces", &[&[WRITE_ON, READ_ON], &[REPLACE, READ_ON]]),
        ("one copies what another closes", &[&[DUPLICATE, CLOSE_0], &[CLOSE_0, CLOSE_1]]),
        ("all open and close", &[&[OPEN, CLOSE_0], &[CLOSE_1, OPEN], &[TEMPORARY, CLOSE_0]]),
        ("what is closed last goes", &[&[REMOVE, CLOSE_0], &[CLOSE_1, READ_ON]]),
    ];
    for (what, scripts) in scenes {
        explore(&Scene { what, prepare: opened_twice, scripts, is_one_process: true, ..SCENE });
    }
}

#[test]
fn whatever_three_do_with_what_is_open_is_done_one_after_another() {
    const ACTS: [Act; 12] = [
        READ_ON, READ_ON, WRITE_ON, OPEN, CLOSE_0, CLOSE_1, DUPLICATE, REPLACE, TEMPORARY, REMOVE,
        APPEND_2, CUT_SHORT,
    ];
    for is_one_process in [false, true] {
        let scene =
            Scene { what: "anything open", prepare: opened, turns: 0, is_one_process, ..SCENE };
        explore_any(&scene, &ACTS);
    }
}

/// Writes as many pages as are left, or most of them.
const FILL: Act = |one| {
    let open = one.retry(|| one.open(ROOT, one.root()?, b"file", flags::READ_WRITE, 0))?;
    let bytes = vec![9; 30 * 4_096];
    Ok(format!("{}", one.write_to(open, 0, &bytes)?))
};

#[test]
fn lines_are_taken_and_given_back_once() {
    explore(&Scene {
        what: "two take and give back what a zone has",
        scripts: &[&[FILL, CUT_EMPTY], &[APPEND_3, REMOVE]],
        ..SCENE
    });
}
