//! Listings that are interrupted, and continue after the directory has changed.

use std::collections::{BTreeMap, BTreeSet};

use densefs::modes::{Caller, DIRECTORY, FILE, TYPE};
use densefs::{Follow, Member, Node, POSITION_FIRST, Remove};

use crate::world::{World, formatted, hold};

fn name(number: u32) -> Vec<u8> {
    format!("name{number}").into_bytes()
}

fn make(member: &Member<'_, &World>, at: Node, number: u32) {
    let made = member.make_at(&Caller::ROOT, at, &name(number), FILE | 0o600);
    made.expect("there is room");
}

#[test]
fn a_list_names_everything_once_in_order() {
    for entries in [0, 1, 2, 12, 13, 100, 5_000] {
        let (mut memory, world) = formatted(1024);
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let root = member.root().expect("it is there");
        (0..entries).for_each(|number| make(&member, root, number));
        let (mut names, mut last) = (BTreeMap::new(), 0);
        let visit = |one: densefs::ListedEntry<'_>| {
            assert!(one.position > last && one.position >= POSITION_FIRST);
            last = one.position;
            assert_eq!(one.type_bits, FILE);
            names.insert(one.name.to_vec(), one.ino);
            true
        };
        member.list_each(&Caller::ROOT, root, 0, visit).expect("it is a directory");
        assert_eq!(names.len(), usize::try_from(entries).expect("it fits"));
        for (name, ino) in names {
            let stat = member.stat_at(&Caller::ROOT, root, &name).expect("it is there");
            assert_eq!(stat.ino, ino);
        }
    }
}

/// Between two parts of the listing, the table grows, and entries are removed and added.
#[test]
fn what_stays_is_listed_once_whatever_comes_and_goes() {
    let (mut memory, world) = formatted(1024);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let stays = 0..300;
    stays.clone().for_each(|number| make(&member, root, number));
    let (mut from, mut seen, mut other) = (0, BTreeSet::new(), 1_000);
    loop {
        let mut part = Vec::new();
        let visit = |one: densefs::ListedEntry<'_>| {
            part.push((one.name.to_vec(), one.position));
            part.len() < 7
        };
        member.list_each(&Caller::ROOT, root, from, visit).expect("it is a directory");
        let Some(&(_, last)) = part.last() else { break };
        from = last + 1;
        for (name, _) in part {
            assert!(seen.insert(name.clone()), "{name:?} twice");
        }
        for _ in 0..30 {
            make(&member, root, other);
            other += 1;
        }
        for number in other - 20..other - 10 {
            let removed = member.remove_at(&Caller::ROOT, root, &name(number), Remove::Name);
            removed.expect("it is there");
        }
    }
    assert!(other > 1_500, "the directory grew meanwhile");
    assert!(stays.clone().all(|number| seen.contains(&name(number))));
}

/// Most entries can be told apart without their hashes; those within which the listing continues
/// may need them.
#[test]
fn a_list_goes_on_behind_each_entry() {
    let (mut memory, world) = formatted(1024);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let mut made = 0;
    for entries in [1, 2, 9, 12, 100, 900, 9_300] {
        (made..entries).for_each(|number| make(&member, root, number));
        made = entries;
        let mut all = Vec::new();
        let visit = |one: densefs::ListedEntry<'_>| {
            all.push((one.position, one.name.to_vec()));
            true
        };
        member.list_each(&Caller::ROOT, root, 0, visit).expect("it is a directory");
        for pair in all.windows(2) {
            let mut next = None;
            let visit = |one: densefs::ListedEntry<'_>| {
                next = Some(one.name.to_vec());
                false
            };
            let from = pair[0].0 + 1;
            member.list_each(&Caller::ROOT, root, from, visit).expect("it is a directory");
            assert_eq!(next.as_ref(), Some(&pair[1].1), "behind {:?}", pair[0]);
        }
    }
}

/// Names whose hashes begin alike all belong in one bucket, and are stored in many.
#[test]
fn a_bucket_may_have_more_entries_than_are_put_in_order_at_once() {
    let (mut memory, world) = formatted(1024);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let (root, caller) = (member.root().expect("it is there"), Caller::ROOT);
    (0..13_000).for_each(|number| make(&member, root, number));
    let mut alike = Vec::new();
    let visit = |one: densefs::ListedEntry<'_>| {
        alike.push(one.name.to_vec());
        one.position < 1 << 57
    };
    member.list_each(&caller, root, 0, visit).expect("it is a directory");
    assert!(alike.len() > 150);
    member.make_at(&caller, root, b"directory", DIRECTORY | 0o700).expect("there is room");
    let at = || member.walk(&caller, root, b"directory", Follow::No).expect("it is there");
    for name in &alike {
        member.make_at(&caller, at(), name, FILE | 0o600).expect("there is room");
    }
    for most in [7, usize::MAX] {
        let (mut listed, mut from) = (Vec::new(), 0);
        while listed.len() < alike.len() {
            let mut part = Vec::new();
            let visit = |one: densefs::ListedEntry<'_>| {
                part.push((one.position, one.name.to_vec()));
                part.len() < most
            };
            member.list_each(&caller, at(), from, visit).expect("it is a directory");
            from = part.last().expect("there are more").0 + 1;
            listed.extend(part.drain(..).map(|(_, name)| name));
        }
        assert_eq!(listed, alike);
    }
}

#[test]
fn a_further_name_is_listed_with_what_it_stands_for() {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let (root, caller) = (member.root().expect("it is there"), Caller::ROOT);
    let made = member.make_at(&caller, root, b"directory", DIRECTORY | 0o700);
    let directory = made.expect("there is room").ino;
    make(&member, root, 1);
    let file = hold(&member, root, &name(1)).expect("it is there").node;
    member.link_at(&caller, file, root, b"further").expect("there is room");
    let mut found = BTreeMap::new();
    let visit = |one: densefs::ListedEntry<'_>| {
        found.insert(one.name.to_vec(), (one.ino, one.type_bits));
        true
    };
    member.list_each(&caller, root, 0, visit).expect("it is a directory");
    let ino = member.stat(file).expect("it is open").ino;
    assert_eq!(found[&b"further"[..]], (ino, FILE));
    assert_eq!(found[&name(1)], (ino, FILE));
    assert_eq!(found[&b"directory"[..]], (directory, DIRECTORY & TYPE));
}
