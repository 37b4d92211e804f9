//! Random operations, each compared with a map of names.

use std::collections::BTreeMap;

use densefs::modes::{Caller, DIRECTORY, FILE};
use densefs::{Errno, Member, Node, Remove, Rename};
use proptest::prelude::*;

use crate::world::{World, assert_whole, entry, formatted, hold};

/// One operation on one of a few names.
#[derive(Clone, Copy, Debug)]
enum Step {
    Make { name: u8, is_directory: bool },
    Link { from: u8, to: u8 },
    Remove { name: u8, what: Remove },
    Rename { from: u8, to: u8, how: Rename },
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..40_u8;
    let how = prop_oneof![
        Just(Rename::Replace),
        Just(Rename::NoReplace),
        Just(Rename::Exchange),
        Just(Rename::Whiteout),
        Just(Rename::NoReplaceWhiteout),
    ];
    let what = prop_oneof![Just(Remove::Name), Just(Remove::Directory)];
    prop_oneof![
        3 => (name.clone(), any::<bool>())
            .prop_map(|(name, is_directory)| Step::Make { name, is_directory }),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Link { from, to }),
        3 => (name.clone(), what).prop_map(|(name, what)| Step::Remove { name, what }),
        4 => (name.clone(), name, how)
            .prop_map(|(from, to, how)| Step::Rename { from, to, how }),
    ]
}

/// The directory that contains a name: the root, a directory in it, or one in that.
fn place_of(number: u8) -> usize {
    usize::from(number / 8 % 3)
}

/// Short names, names that just fit into a cell, names that just do not, and the longest.
fn name_of(number: u8) -> Vec<u8> {
    let length = match number % 4 {
        0 => 2,
        1 => 24,
        2 => 25,
        _ => 255,
    };
    let mut name = vec![b'n'; length];
    name[length - 1] = b'0' + number;
    name
}

/// What a name refers to: a directory, or an inode that other names with the same number refer to
/// as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Directory(usize),
    File(usize),
}

#[derive(Default)]
struct Model {
    names: BTreeMap<u8, Is>,
    inodes: usize,
}

impl Model {
    fn apply(&mut self, step: Step) -> Result<(), Errno> {
        match step {
            Step::Make { name, is_directory } => {
                if self.names.contains_key(&name) {
                    return Err(Errno::EXIST);
                }
                self.inodes += 1;
                let inode = self.inodes;
                let is = if is_directory { Is::Directory(inode) } else { Is::File(inode) };
                self.names.insert(name, is);
            }
            Step::Link { from, to } => {
                let is = *self.names.get(&from).ok_or(Errno::NOENT)?;
                if self.names.contains_key(&to) {
                    return Err(Errno::EXIST);
                }
                if matches!(is, Is::Directory(_)) {
                    return Err(Errno::PERM);
                }
                self.names.insert(to, is);
            }
            Step::Remove { name, what } => {
                match (what, self.names.get(&name).ok_or(Errno::NOENT)?) {
                    (Remove::Name, Is::Directory(_)) => return Err(Errno::ISDIR),
                    (Remove::Directory, Is::File(_)) => return Err(Errno::NOTDIR),
                    (Remove::Name, Is::File(_)) | (Remove::Directory, Is::Directory(_)) => {}
                }
                self.names.remove(&name);
            }
            Step::Rename { from, to, how } => return self.rename(from, to, how),
        }
        Ok(())
    }

    fn rename(&mut self, from: u8, to: u8, how: Rename) -> Result<(), Errno> {
        let source = *self.names.get(&from).ok_or(Errno::NOENT)?;
        let target = self.names.get(&to).copied();
        match (how, target) {
            (Rename::Exchange, None) => return Err(Errno::NOENT),
            (how, Some(_)) if how.needs_vacancy() => return Err(Errno::EXIST),
            (_, Some(target)) if target == source => return Ok(()),
            (Rename::Exchange, Some(target)) => {
                self.names.insert(from, target);
            }
            (_, Some(target)) => {
                match (source, target) {
                    (Is::Directory(_), Is::File(_)) => return Err(Errno::NOTDIR),
                    (Is::File(_), Is::Directory(_)) => return Err(Errno::ISDIR),
                    (Is::Directory(_), Is::Directory(_)) | (Is::File(_), Is::File(_)) => {}
                }
                self.leave(from, how);
            }
            (_, None) => self.leave(from, how),
        }
        self.names.insert(to, source);
        Ok(())
    }

    /// A name that is given away is gone, or a whiteout's.
    fn leave(&mut self, from: u8, how: Rename) {
        self.names.remove(&from);
        if matches!(how, Rename::Whiteout | Rename::NoReplaceWhiteout) {
            self.inodes += 1;
            self.names.insert(from, Is::File(self.inodes));
        }
    }

    fn links(&self, is: Is) -> u32 {
        let same = self.names.values().filter(|&&other| other == is).count();
        let is_directory = matches!(is, Is::Directory(_));
        if is_directory { 2 } else { u32::try_from(same).expect("there are few") }
    }
}

fn apply(member: &Member<'_, &World>, places: &[Node; 3], step: Step) -> Result<(), Errno> {
    let caller = Caller::ROOT;
    let at = |name: u8| places[place_of(name)];
    match step {
        Step::Make { name, is_directory } => {
            let mode = if is_directory { DIRECTORY | 0o755 } else { FILE | 0o644 };
            member.make_at(&caller, at(name), &name_of(name), mode).map(drop)
        }
        Step::Link { from, to } => {
            let open = hold(member, at(from), &name_of(from))?;
            let linked = member.link_at(&caller, open.node, at(to), &name_of(to));
            member.close(open.descriptor)?;
            linked
        }
        Step::Remove { name, what } => member.remove_at(&caller, at(name), &name_of(name), what),
        Step::Rename { from, to, how } => {
            let (old, new) = (name_of(from), name_of(to));
            member.rename_at(&caller, entry(&at(from), &old), entry(&at(to), &new), how)
        }
    }
}

/// The root, a directory in it, and one in that.
fn places(member: &Member<'_, &World>) -> [Node; 3] {
    let root = member.root().expect("it is there");
    let below = |at: Node| {
        member.make_at(&Caller::ROOT, at, b"below", DIRECTORY | 0o755).expect("there is room");
        hold(member, at, b"below").expect("it is there").node
    };
    let first = below(root);
    [root, first, below(first)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn names_are_what_a_map_says(steps in proptest::collection::vec(step(), 0..200)) {
        let (mut memory, world) = formatted(256);
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let places = places(&member);
        let mut model = Model::default();
        for step in steps {
            prop_assert_eq!(apply(&member, &places, step), model.apply(step), "{:?}", step);
        }
        for number in 0..40 {
            let at = places[place_of(number)];
            let stat = member.stat_at(&Caller::ROOT, at, &name_of(number));
            match model.names.get(&number) {
                Some(&is) => {
                    let stat = stat.expect("it is there");
                    prop_assert_eq!(stat.mode.is_directory(), matches!(is, Is::Directory(_)));
                    prop_assert_eq!(stat.links, model.links(is));
                }
                None => prop_assert_eq!(stat, Err(Errno::NOENT)),
            }
        }
        for (place, below) in [(0, 1), (1, 1), (2, 0)] {
            let stat = member.stat(places[place]).expect("it is there");
            let names = model.names.keys().filter(|&&name| place_of(name) == place);
            prop_assert_eq!(stat.size, names.count() as u64 + below);
        }
        assert_whole(&member);
    }
}

#[test]
fn no_directory_gets_into_itself_or_over_one_that_holds_it() {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let [root, first, second] = places(&member);
    let rename = |from, to, how| member.rename_at(&Caller::ROOT, from, to, how);
    let into = entry(&second, b"new");
    assert_eq!(rename(entry(&root, b"below"), into, Rename::Replace), Err(Errno::INVAL));
    assert_eq!(rename(entry(&first, b"below"), into, Rename::NoReplace), Err(Errno::INVAL));
    member.make_at(&Caller::ROOT, second, b"new", DIRECTORY | 0o700).expect("there is room");
    assert_eq!(rename(into, entry(&root, b"below"), Rename::Replace), Err(Errno::NOTEMPTY));
    assert_eq!(rename(into, entry(&first, b"below"), Rename::Exchange), Err(Errno::INVAL));
    assert_eq!(rename(entry(&root, b"."), into, Rename::Replace), Err(Errno::BUSY));
    assert_whole(&member);
}

#[test]
fn a_directory_holds_many_names_and_gives_their_space_back() {
    let (mut memory, world) = formatted(8192);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let (root, caller) = (member.root().expect("it is there"), Caller::ROOT);
    let before = assert_whole(&member);
    let name = |number: u32| format!("file{number:08}").into_bytes();
    for number in 0..10_000 {
        member.make_at(&caller, root, &name(number), FILE | 0o644).expect("there is room");
    }
    let full = assert_whole(&member);
    assert_eq!(full.others, 10_000);
    let per_file = (full.lines_used - before.lines_used) as f64 * 64.0 / 10_000.0;
    assert!((64.0..80.0).contains(&per_file), "{per_file} bytes a file");
    for number in 0..10_000 {
        assert!(member.stat_at(&caller, root, &name(number)).is_ok(), "{number}");
    }
    assert_eq!(member.stat_at(&caller, root, b"another"), Err(Errno::NOENT));
    for number in 0..10_000 {
        member.remove_at(&caller, root, &name(number), Remove::Name).expect("it is there");
    }
    assert_eq!(assert_whole(&member).lines_used, before.lines_used);
}

#[test]
fn an_inode_that_is_open_outlives_its_name() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let (root, caller) = (member.root().expect("it is there"), Caller::ROOT);
    // A process that has had anything open has a table of descriptors.
    let other = hold(&member, root, b".").expect("it is there");
    member.close(other.descriptor).expect("it is open");
    let before = assert_whole(&member);
    let made = member.make_at(&caller, root, b"file", FILE | 0o600).expect("there is room");
    let open = hold(&member, root, b"file").expect("it is there");
    member.remove_at(&caller, root, b"file", Remove::Name).expect("it is there");
    let stat = member.stat(open.node).expect("it is open");
    assert_eq!((stat.ino, stat.links), (made.ino, 0));
    assert_eq!(member.link_at(&caller, open.node, root, b"again"), Err(Errno::NOENT));
    member.close(open.descriptor).expect("it is open");
    assert_eq!(assert_whole(&member).lines_used, before.lines_used);
}

#[test]
fn a_full_arena_says_so_and_goes_on() {
    let (mut memory, world) = formatted(2048);
    world.pages_left.set(Some(0));
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let (root, caller) = (member.root().expect("it is there"), Caller::ROOT);
    let name = |number: u32| format!("{number}").into_bytes();
    let mut made = 0;
    let why = loop {
        match member.make_at(&caller, root, &name(made), FILE | 0o644) {
            Ok(_) => made += 1,
            Err(why) => break why,
        }
    };
    assert_eq!(why, Errno::NOSPC);
    assert!(made > 1_000, "{made}");
    assert_whole(&member);
    member.remove_at(&caller, root, &name(0), Remove::Name).expect("it is there");
    member.make_at(&caller, root, b"again", FILE | 0o644).expect("there is room again");
    assert_whole(&member);
}
