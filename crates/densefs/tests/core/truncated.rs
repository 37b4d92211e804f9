//! A thread dies after every single store of a truncation. The file is as it was, or it ends where
//! it was to end: nobody sees a part of it go. What grows back over what is left reads as zeros.

use densefs::modes::{Caller, FILE};
use densefs::{Member, Node, Remove};

use crate::world::{Memory, NOBODY_DIES, World, assert_whole, formatted, hold};

const VICTIM: u32 = 1;
const SURVIVOR: u32 = 2;
/// Sizes in each form that a file can have: a few lines, a page, pages with a part of one, many.
const SIZES: [usize; 5] = [300, 4096, 9000, 3 * 4096, 80_000];
const NEW_SIZES: [usize; 5] = [0, 100, 4096, 5000, 8192];

/// An arena with a file of this many bytes, with a hole in its middle if it is long.
fn before(bytes: usize) -> (Memory, World) {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 0, 0).expect("there are slots");
    let root = member.root().expect("it is there");
    member.make_at(&Caller::ROOT, root, b"file", FILE | 0o600).expect("there is room");
    let file = hold(&member, root, b"file").expect("it is there");
    member.write_at(file.node, 0, &vec![7; bytes]).expect("there is room");
    if bytes > 50_000 {
        member.punch(file.node, 20_000, 20_000).expect("it can be");
    }
    member.close(file.descriptor).expect("it is open");
    (memory, world)
}

fn content(member: &Member<'_, &World>, file: Node) -> Vec<u8> {
    let size = member.stat(file).expect("it is there").size;
    let mut read = vec![1; usize::try_from(size).expect("it is short")];
    let bytes = member.read_at(file, 0, &mut read).expect("it is there");
    assert_eq!(bytes, read.len());
    read
}

/// Whether the truncation was over before it could be killed after this many stores, and whether
/// the file has its new size then.
fn after(memory: &Memory, world: &World, size: usize, stores: u64) -> (bool, bool) {
    let mut memory = memory.copy();
    let arena = memory.arena();
    let victim = Member::new(arena, world, VICTIM, VICTIM).expect("there are slots");
    let survivor = Member::new(arena, world, SURVIVOR, SURVIVOR).expect("there are slots");
    let root = survivor.root().expect("it is there");
    let file = hold(&survivor, root, b"file").expect("it is there");
    let old = content(&survivor, file.node);
    let done = world.kill_after(stores, || victim.truncate(file.node, size as u64));
    if done.is_none() {
        world.bury(VICTIM);
        survivor.repair(VICTIM).expect("it is a slot");
    }
    assert_whole(&survivor);
    let mut expected = old.clone();
    let is_cut = content(&survivor, file.node) != old;
    if is_cut {
        expected.truncate(size);
    }
    assert_eq!(content(&survivor, file.node), expected, "{size} after {stores} stores");
    // Over everything that may be left, in two ways.
    for end in [expected.len() + 6_000, 90_000] {
        survivor.write_at(file.node, end as u64, b"end").expect("there is room");
        expected.resize(end, 0);
        expected.extend(b"end");
        assert_eq!(content(&survivor, file.node), expected, "{size} after {stores} stores");
    }
    survivor.truncate(file.node, 95_000).expect("there is room");
    expected.resize(95_000, 0);
    assert_eq!(content(&survivor, file.node), expected);
    survivor.close(file.descriptor).expect("it is open");
    survivor.remove_at(&Caller::ROOT, root, b"file", Remove::Name).expect("it is there");
    assert_whole(&survivor);
    (done.is_some(), is_cut)
}

#[test]
fn whoever_dies_while_it_truncates_leaves_the_old_size_or_the_new_one() {
    for bytes in SIZES {
        let (memory, world) = before(bytes);
        for size in NEW_SIZES.into_iter().filter(|size| *size < bytes) {
            let mut was_cut = false;
            for stores in 0.. {
                let (is_over, is_cut) = after(&memory, &world, size, stores);
                assert!(is_cut || !was_cut, "{bytes} to {size}: {stores} stores undo it");
                was_cut = is_cut;
                if is_over {
                    assert!(is_cut && (stores > 5 || NOBODY_DIES), "{bytes} to {size}: {stores}");
                    break;
                }
            }
        }
    }
}
