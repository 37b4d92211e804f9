//! Several threads working on the same names at the same time.

use std::format;
use std::string::String;
use std::vec::Vec;

use super::{Act, Player, Scene, explore, explore_any};
use crate::descriptors::flags;
use crate::errno::Errno;
use crate::member::{Member, Node};
use crate::modes::{Caller, DIRECTORY, FILE};
use crate::tree::{EntryName, Follow, LastName, Remove, Rename};

const ROOT: &Caller<'_> = &Caller::ROOT;
/// What scenes of names have in common.
const SCENE: Scene<'_> = Scene {
    what: "",
    scripts: &[],
    prepare,
    look,
    turns: 1,
    is_torn: false,
    is_one_process: false,
};
/// All names that can occur.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "d/a", "d/e"];

fn at(member: &Player<'_>, path: &str) -> Result<Node, Errno> {
    member.walk(ROOT, member.root()?, path.as_bytes(), Follow::No)
}

/// The directory of a path, and its last name.
fn last<'p>(member: &Player<'_>, path: &'p str) -> Result<(Node, &'p [u8]), Errno> {
    let mut last = LastName::unknown();
    member.walk_to_last(ROOT, &member.root()?, path.as_bytes(), &mut last)?;
    Ok((last.directory, last.name))
}

fn make(member: &Player<'_>, path: &str) -> Result<String, Errno> {
    member.retry(|| {
        let (directory, name) = last(member, path)?;
        member.make_at(ROOT, directory, name, FILE | 0o600)?;
        Ok(String::new())
    })
}

fn make_directory(member: &Player<'_>, path: &str) -> Result<String, Errno> {
    member.retry(|| {
        let (directory, name) = last(member, path)?;
        member.make_at(ROOT, directory, name, DIRECTORY | 0o700)?;
        Ok(String::new())
    })
}

fn link(member: &Player<'_>, from: &str, to: &str) -> Result<String, Errno> {
    member.retry(|| {
        let inode = at(member, from)?;
        let (directory, name) = last(member, to)?;
        member.link_at(ROOT, inode, directory, name)?;
        Ok(String::new())
    })
}

fn remove(member: &Player<'_>, path: &str, what: Remove) -> Result<String, Errno> {
    member.retry(|| {
        let (directory, name) = last(member, path)?;
        member.remove_at(ROOT, directory, name, what)?;
        Ok(String::new())
    })
}

fn rename(member: &Player<'_>, from: &str, to: &str, how: Rename) -> Result<String, Errno> {
    member.retry(|| {
        let root = member.root()?;
        let (mut old, mut new) = (LastName::unknown(), LastName::unknown());
        member.walk_to_last(ROOT, &root, from.as_bytes(), &mut old)?;
        member.walk_to_last(ROOT, &root, to.as_bytes(), &mut new)?;
        member.rename_at(ROOT, old.entry(), new.entry(), how)?;
        Ok(String::new())
    })
}

fn stat(member: &Player<'_>, path: &str) -> Result<String, Errno> {
    let found = member.retry(|| {
        let (directory, name) = last(member, path)?;
        member.stat_at(ROOT, directory, name)
    })?;
    Ok(format!("{} {}", found.links, found.size))
}

/// Looks a path up by a glance, if that is possible.
fn glance(member: &Player<'_>, path: &str) -> Result<String, Errno> {
    let mut found = crate::tree::Stat::default();
    let path = path.as_bytes();
    member
        .retry(|| member.stat_path(ROOT, member.root()?, path, Follow::No, |stat| found = *stat))?;
    Ok(format!("{} {}", found.links, found.size))
}

fn list(member: &Player<'_>) -> Result<String, Errno> {
    let mut names = Vec::new();
    member.list_each(ROOT, member.root()?, 0, |one| {
        names.push((String::from_utf8_lossy(one.name).into_owned(), one.type_bits));
        true
    })?;
    names.sort();
    Ok(format!("{names:?}"))
}

fn look(member: &Player<'_>) -> String {
    let seen = NAMES.map(|name| stat(member, name).unwrap_or_else(|why| format!("{why:?}")));
    // Which names refer to the same inode.
    let inodes = NAMES.map(|name| at(member, name).ok());
    let same = |one: usize| (0..one).find(|&other| inodes[one] == inodes[other]);
    let same: Vec<_> = (0..NAMES.len()).map(same).collect();
    format!("{seen:?} {same:?}")
}

/// A file with two names, and a directory with one entry.
fn prepare(member: &Player<'_>) -> Result<(), Errno> {
    make(member, "a")?;
    make(member, "b")?;
    make_directory(member, "d")?;
    make(member, "d/a")?;
    Ok(())
}

const MAKE_C: Act = |one| make(one, "c");
const REMOVE_A: Act = |one| remove(one, "a", Remove::Name);
const A_TO_C: Act = |one| rename(one, "a", "c", Rename::Replace);
const A_OVER_B: Act = |one| rename(one, "a", "b", Rename::Replace);
const B_OVER_A: Act = |one| rename(one, "b", "a", Rename::Replace);
const A_INTO_D: Act = |one| rename(one, "a", "d/a", Rename::Replace);
const OUT_OF_D: Act = |one| rename(one, "d/a", "b", Rename::Replace);
const EXCHANGE: Act = |one| rename(one, "b", "d/a", Rename::Exchange);
const WHITEOUT: Act = |one| rename(one, "a", "d/a", Rename::Whiteout);
const LINK_A: Act = |one| link(one, "a", "d/e");
const LINK_C: Act = |one| link(one, "a", "c");
const STAT_A: Act = |one| stat(one, "a");
const STAT_B: Act = |one| stat(one, "b");
const GLANCE_A: Act = |one| glance(one, "d/a");
const GLANCE_E: Act = |one| glance(one, "d/e");
const EMPTY_D: Act = |one| remove(one, "d/a", Remove::Name);
const REMOVE_D: Act = |one| remove(one, "d", Remove::Directory);
const MAKE_IN_D: Act = |one| make(one, "d/e");
const MAKE_BELOW_D: Act = |one| make_directory(one, "d/e");
const D_TO_C: Act = |one| rename(one, "d", "c", Rename::NoReplace);

/// What two threads do at the same time.
const PAIRS: [(&str, &[&[Act]]); 17] = [
    ("both make a name", &[&[MAKE_C], &[MAKE_C]]),
    ("one makes a name that another's gets", &[&[MAKE_C], &[A_TO_C]]),
    ("a file gets another name and none", &[&[A_TO_C], &[REMOVE_A]]),
    ("each gets the other's name", &[&[A_OVER_B], &[B_OVER_A]]),
    ("a link to what goes", &[&[LINK_A], &[REMOVE_A]]),
    ("a link to what is elsewhere", &[&[LINK_C], &[A_INTO_D]]),
    ("a link to what has its name", &[&[LINK_C], &[A_TO_C]]),
    ("in and out of a directory", &[&[A_INTO_D], &[OUT_OF_D]]),
    ("an exchange with what comes", &[&[EXCHANGE], &[A_INTO_D]]),
    ("a whiteout for what goes", &[&[WHITEOUT], &[A_OVER_B, STAT_A]]),
    ("names in a directory that goes", &[&[EMPTY_D, REMOVE_D], &[MAKE_IN_D]]),
    ("a directory in one that goes", &[&[EMPTY_D, REMOVE_D], &[MAKE_BELOW_D]]),
    ("a directory that gets another name", &[&[D_TO_C], &[MAKE_IN_D, GLANCE_E]]),
    ("somebody looks at two names", &[&[A_OVER_B], &[STAT_B, STAT_A]]),
    ("somebody looks at two directories", &[&[A_INTO_D], &[GLANCE_A, STAT_A]]),
    ("somebody lists names", &[&[A_OVER_B, MAKE_C], &[list, list]]),
    ("somebody looks for what is linked", &[&[LINK_A, REMOVE_A], &[GLANCE_E, STAT_A]]),
];

#[test]
fn two_that_want_the_same_names_do_so_one_after_another() {
    for (what, scripts) in PAIRS {
        explore(&Scene { what, scripts, ..SCENE });
    }
}

#[test]
fn three_that_want_the_same_names_do_so_one_after_another() {
    let threes: [(&str, &[&[Act]]); 4] = [
        ("round in a circle", &[&[A_INTO_D], &[OUT_OF_D], &[B_OVER_A]]),
        ("make, remove and look", &[&[REMOVE_A], &[B_OVER_A], &[STAT_A, STAT_B]]),
        ("a directory that goes, links and looks", &[&[EMPTY_D, REMOVE_D], &[LINK_A], &[GLANCE_E]]),
        ("one inode, three names", &[&[LINK_A], &[LINK_C], &[REMOVE_A]]),
    ];
    for (what, scripts) in threes {
        explore(&Scene { what, scripts, ..SCENE });
    }
}

#[test]
fn whatever_three_do_is_done_one_after_another() {
    const ACTS: [Act; 21] = [
        list,
        MAKE_C,
        REMOVE_A,
        A_TO_C,
        A_OVER_B,
        B_OVER_A,
        A_INTO_D,
        OUT_OF_D,
        EXCHANGE,
        WHITEOUT,
        LINK_A,
        LINK_C,
        STAT_A,
        STAT_B,
        GLANCE_A,
        GLANCE_E,
        EMPTY_D,
        REMOVE_D,
        MAKE_IN_D,
        MAKE_BELOW_D,
        D_TO_C,
    ];
    let what = "any names";
    explore_any(&Scene { what, turns: 0, ..SCENE }, &ACTS);
}

/// While a thread is about to lock an inode, its cell may become a directory above one that the
/// thread holds. A thread that holds a lock never waits for something other than what it is looking
/// for.
#[test]
fn nobody_waits_for_what_has_become_something_else() {
    const PREPARE: fn(&Player<'_>) -> Result<(), Errno> = |one| {
        make_directory(one, "d")?;
        make_directory(one, "d/e")?;
        make(one, "a")?;
        // The second one has opened it.
        let second = Member::new(*one.arena(), one.seams().clone(), 2, 2)?;
        second.open(ROOT, second.root()?, b"d/e", flags::PATH, 0)?;
        Ok(())
    };
    explore(&Scene {
        what: "a file becomes a directory above",
        prepare: PREPARE,
        scripts: &[
            &[|one| link(one, "a", "d/e/f")],
            &[
                |one| remove(one, "a", Remove::Name),
                |one| make_directory(one, "c"),
                |one| rename(one, "d", "c/d", Rename::Replace),
                |one| {
                    let ((from, name), into) = (last(one, "c/g")?, one.node(0)?);
                    let old = EntryName { directory: &from, name };
                    let new = EntryName { directory: &into, name: b"g" };
                    one.rename_at(ROOT, old, new, Rename::Replace)?;
                    Ok(String::new())
                },
            ],
        ],
        ..SCENE
    });
}
