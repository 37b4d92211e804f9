//! An arena is damaged in one place. `check` says so, and an export ends nevertheless, with what
//! can still be read.

mod image;

use std::fs;

use densefs_process::{Base, Copied, CopyTotals, DenseFs, Follow, NewTime, NewTimes, Watch, flags};
use image::{Image, place, planted};

type Change = fn(&mut Image);

/// The largest file of a DenseFS.
const SIZE_MAX: u64 = 4_096 * (u32::MAX as u64 - 1);

/// What is damaged, and how.
const DAMAGES: &[(&str, Change)] = &[
    ("a size just above the largest", |one| one.put_word(one.cell("large") + 8, SIZE_MAX + 1)),
    ("a size of 1 EiB", |one| one.put_word(one.cell("large") + 8, 1 << 60)),
    ("a small file of all bytes", |one| one.put_word(one.cell("small") + 8, u64::MAX)),
    ("a run in the superblock", |one| one.put_half(one.cell("small") + 32, 1)),
    ("a run in the slots", |one| one.put_half(one.cell("small") + 32, 80)),
    ("a run in the zone's header", |one| {
        let zone = one.zone() / 64;
        one.put_half(one.cell("small") + 32, u32::try_from(zone).expect("it is small"));
    }),
    ("a run outside", |one| one.put_half(one.cell("small") + 32, u32::MAX)),
    ("a run of another file", |one| {
        one.put_half(one.cell("small") + 32, one.half(one.cell("marked") + 32));
    }),
    ("a run among cells", |one| one.put_half(one.cell("small") + 32, one.line("fifo"))),
    ("a run that is too long", |one| one.put(one.cell("small") + 38, &[64])),
    ("an extent in the superblock", |one| one.put_half(one.data("large") + 12, 1)),
    ("an extent in the slots", |one| one.put_half(one.data("large") + 12, 64)),
    ("an extent outside", |one| one.put_half(one.data("large") + 12, u32::MAX - 63)),
    ("an extent of another file", |one| {
        one.put_half(one.data("large") + 12, one.half(one.data("other") + 12));
    }),
    ("extents out of order", |one| {
        let map = one.data("large");
        let (second, third) = (one.half(map + 16), one.half(map + 24));
        one.put_half(map + 16, third);
        one.put_half(map + 24, second);
    }),
    ("an extent that is everywhere", |one| one.put_half(one.data("large") + 4, u32::MAX)),
    ("a map that begins behind the beginning", |one| one.put_half(one.data("large") + 8, 1)),
    ("a map of too many extents", |one| one.put(one.data("large"), &0xffff_u16.to_le_bytes())),
    ("a map of no extents", |one| one.put(one.data("large"), &0_u16.to_le_bytes())),
    ("a last page of few lines that is many", |one| {
        let map = one.data("large");
        one.put_half(map, one.half(map) & 0x03ff_ffff | 5 << 26);
    }),
    ("a map that ends before it begins", |one| one.put_half(one.data("large") + 4, 0)),
    ("a map of another size", |one| one.put(one.cell("large") + 38, &[200])),
    ("a mode that is not in the table", |one| {
        one.put(one.cell("small") + 4, &60_000_u16.to_le_bytes());
    }),
    ("a mode without a type", |one| one.put_half(one.mode_of("small") + 8, 0o600)),
    ("a mode of no type", |one| one.put_half(one.mode_of("small") + 8, 0o110_600)),
    ("a mode with other bits", |one| one.put_half(one.mode_of("small") + 8, 0o1_100_600)),
    ("a table of more modes than fit", |one| one.put_half(2 * 64 + 4, u32::MAX)),
    ("a name with a slash", |one| one.put(one.cell("small") + 41, b"/")),
    ("a name with a zero", |one| one.put(one.cell("small") + 41, &[0])),
    ("an entry called ..", |one| one.put(one.cell("small") + 39, b"\x02..\0\0\0")),
    ("an entry without a name", |one| one.put(one.cell("small") + 39, &[0])),
    ("a long name in the superblock", |one| {
        let name = one.bytes.windows(20).position(|bytes| bytes == "long".repeat(5).as_bytes());
        one.put_half(name.expect("it was planted") + 20, 1);
    }),
    ("a directory that is its own parent", |one| {
        one.put_half(one.cell("sub/below") + 12, one.line("sub/below"));
    }),
    ("directories that are in each other, seen from the root", |one| {
        let below = one.cell("sub/below");
        one.put_half(below + 32, one.line("sub"));
        one.put_half(below + 8, 1);
    }),
    ("directories that are in each other and nowhere else", |one| {
        one.take_from_root("sub");
        let below = one.cell("sub/below");
        one.put_half(below + 32, one.line("sub"));
        one.put_half(below + 8, 1);
        let links = one.bytes[below + 6];
        one.put(below + 6, &[links + 1]);
        one.put_half(one.cell("sub") + 12, one.line("sub/below"));
    }),
    ("a further name of a directory", |one| one.put_half(one.data("one") + 32, one.line("sub"))),
    ("a further name of nothing", |one| one.put_half(one.data("one") + 32, 1)),
    ("a directory that has itself", |one| one.put_half(one.cell("one") + 32, one.line("one"))),
    ("a file with more links than names", |one| one.put(one.cell("small") + 6, &[5])),
    ("a file without links", |one| one.put(one.cell("small") + 6, &[0])),
    ("a directory with more links than subdirectories", |one| one.put(one.cell("sub") + 6, &[9])),
    ("a directory with more entries than it has", |one| one.put_half(one.cell("sub") + 8, 999)),
    ("a directory whose table is in the superblock", |one| one.put_half(one.cell("/") + 32, 1)),
    ("a directory whose table is enormous", |one| one.put(one.cell("/") + 38, &[200])),
    ("an entry outside", |one| one.put_half(one.cell("one") + 32, u32::MAX)),
    ("a link longer than its target", |one| one.put_word(one.cell("link") + 8, 65)),
    ("a link of all bytes", |one| one.put_word(one.cell("link") + 8, u64::MAX)),
    ("a link without a target", |one| one.put_word(one.cell("link") + 8, 0)),
    ("a link with a zero in its target", |one| one.put(one.data("link") + 1, &[0])),
    ("a fifo with content", |one| one.put(one.cell("fifo") + 38, &[1])),
    ("a device with content", |one| one.put(one.cell("device") + 38, &[65])),
    ("a device with an annex", |one| one.put(one.cell("device") + 38, &[255])),
    ("an annex outside", |one| one.put_half(one.cell("marked") + 32, u32::MAX)),
    ("an annex in an annex", |one| one.put(one.data("marked") + 38, &[255])),
    ("attributes of all bytes", |one| one.put_half(one.data("marked") + 12, u32::MAX)),
    ("attributes shorter than they are", |one| one.put_half(one.data("marked") + 12, 60)),
    ("attributes in the superblock", |one| one.put_half(one.data("marked") + 8, 1)),
    ("an attribute whose name is too long", |one| {
        one.put(one.referred(one.data("marked") + 8), &[255]);
    }),
    ("an attribute whose value overflows", |one| {
        one.put_half(one.referred(one.data("marked") + 8) + 1, u32::MAX);
    }),
    ("an attribute of no class", |one| one.put(one.referred(one.data("marked") + 8) + 5, b"!")),
    ("locks that overflow", |one| one.put_half(one.data("marked") + 20, u32::MAX)),
    ("more locks than a file can have", |one| one.put_half(one.data("marked") + 20, 513)),
    // The second page after the header is for tables of descriptors alone.
    ("a line of the reserve that nobody has", |one| one.put(one.zone() + 64 * 64 + 10 * 8, &[1])),
    ("a cell that somebody has locked", |one| one.put_half(one.cell("small"), 5)),
    ("a zone that somebody has locked", |one| one.put_half(one.zone(), 5)),
    ("a root that is no directory", |one| one.put_half(20, one.line("small"))),
    ("a root that is another directory", |one| one.put_half(20, one.line("sub"))),
    ("a root outside", |one| one.put_half(20, u32::MAX)),
    ("more zones than fit", |one| one.put_half(64 + 4, 2)),
    ("a zone with more pages than fit", |one| one.put_half(one.zone() + 4, 1 << 20)),
];

/// Names that only somebody who does not use the calls can give a file.
const NAMES: [&[u8]; 4] = [b"../escaped", b"sub/../../escaped", b"/dev/shm/escaped", b"a\0b"];

/// Gives up if a copy goes on and on.
struct Patience(u32);

impl Watch for Patience {
    fn wants_total(&self) -> bool {
        true
    }

    fn expect(&mut self, _all: Copied) {}

    fn copied(&mut self, _so_far: Copied) {
        self.0 = self.0.checked_sub(1).expect("it goes on and on");
    }
}

fn export(files: &DenseFs, to: &std::path::Path) -> Option<CopyTotals> {
    files.export(to, &mut Patience(10_000)).ok()
}

#[test]
fn check_finds_every_damage_and_an_export_ends() {
    let Some((place, path)) = place() else { return };
    let whole = Image::from_arena(&path, planted(&path));
    let mut unseen = Vec::new();
    for (what, change) in DAMAGES {
        let mut damaged = whole.clone();
        change(&mut damaged);
        assert!(damaged.bytes != whole.bytes, "{what}: nothing has changed");
        fs::write(&path, &damaged.bytes).expect("there is room");
        let to = place.path().join("copy");
        let files = DenseFs::attach(&path).expect("only attaching checks the rest");
        match files.check() {
            Ok(Ok(_)) => unseen.push(*what),
            Ok(Err(problem)) => println!("{what}: {problem}"),
            Err(why) => println!("{what}: not checked: {why}"),
        }
        if let Some(copied) = export(&files, &to) {
            println!("    {} files, {:?}", copied.files, copied.failures);
        }
        files.leave();
        fs::remove_dir_all(&to).expect("it was made");
    }
    assert!(unseen.is_empty(), "called whole: {unseen:?}");
}

#[test]
fn a_name_that_is_a_path_leads_nowhere() {
    let Some((place, path)) = place() else { return };
    for name in NAMES {
        let files = planted(&path);
        let done = files.with_core(|core| {
            let root = core.root()?;
            core.make_at(&densefs::modes::Caller::ROOT, root, name, 0o100_600)
        });
        done.expect("there is room");
        let problem = files.check().expect("nobody else uses it").expect_err("it is no name");
        assert!(problem.to_string().contains("a name that no file can have"), "{problem}");
        let to = place.path().join("copy");
        let copied = export(&files, &to).expect("the others can be copied");
        assert_eq!(copied.failures.count, 1, "{:?}", copied.failures);
        assert_eq!(copied.files, 5);
        for escaped in [place.path().join("escaped"), "/dev/shm/escaped".into()] {
            assert!(!escaped.exists(), "{}", escaped.display());
        }
        files.leave();
        fs::remove_dir_all(&to).expect("it was made");
    }
}

#[test]
fn what_is_whole_can_be_exported_even_if_it_is_extreme() {
    let Some((place, path)) = place() else { return };
    let files = planted(&path);
    let how = flags::WRITE | flags::CREATE;
    let largest = files.open("largest", how, 0o600).expect("there is room");
    files.truncate_descriptor(largest.descriptor(), SIZE_MAX).expect("it has no content");
    files.write_to(largest.descriptor(), SIZE_MAX - 4_096, &[1; 4_096]).expect("there is room");
    let times = NewTimes { accessed: NewTime::At(0), changed: NewTime::At(i64::MIN) };
    let at = std::path::Path::new("largest");
    files.set_times(Base::Working, at, Follow::No, times).expect("it is ours");
    drop(largest);
    files.check().expect("nobody else uses it").expect("it is whole");
    let to = place.path().join("copy");
    let copied = files.export(&to, &mut Patience(10_000)).expect("there is room");
    assert_eq!(copied.failures.count, 0, "{:?}", copied.failures);
    assert_eq!(fs::metadata(to.join("largest")).expect("it was copied").len(), SIZE_MAX);
}
