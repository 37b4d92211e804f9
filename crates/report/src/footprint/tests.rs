//! Tests with hand-made traces.

use std::path::{Path, PathBuf};

use footprint::cachemap::text::LineFilter;
use footprint::cachemap::{Cachemap, CachemapOf};
use footprint::cgstacks::{Frames, Weight};
use footprint_study::sample_traces::{FILE_SYSTEMS, events, repeated, write};
use footprint_study::{NamedWeight, Questions, Studied};
use footprint_trace::header::Coverage;

use super::documents::{Difference, Map, Tree};
use super::*;

fn read(path: &Path) -> Studied {
    Studied::read(path, &Questions::default()).expect("a trace")
}

fn traces() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let [ext4, xfs] = FILE_SYSTEMS.map(|(name, count)| write(place.path(), name, count));
    (place, ext4, xfs)
}

fn map(studied: &Studied, of: CachemapOf) -> Map {
    let executed = &studied.executed[0];
    Map::new(&Cachemap::new(of, &executed.footprint, studied.walked_trace()), executed)
}

#[test]
fn a_map_says_which_repetition_it_shows() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.trace");
    std::fs::write(&path, repeated(&[1, 1, 9, 1], Coverage::Marked)).unwrap();
    let studied = read(&path);
    let executed = &studied.executed[0];
    let map = Cachemap::new(CachemapOf::Data, &executed.footprint, studied.walked_trace());
    let shown = text::map(&map, executed, LineFilter::All, 100);
    assert!(shown.lines().next().unwrap().ends_with("bytes used (repetition 4 of 4)"), "{shown}");
}

#[test]
fn lines_are_named_and_counted_byte_by_byte() {
    let (_place, _, xfs) = traces();
    let studied = read(&xfs);
    let code = map(&studied, CachemapOf::Instructions);
    let of = |address: u64| {
        let address = format!("{address:#x}");
        code.lines.iter().find(|line| line.address == address).expect("a line")
    };
    let last = of(0xffff_ffff_8100_0400);
    assert_eq!((last.name.as_str(), last.bytes_used), ("kmem_cache_alloc", 4));
    assert_eq!(last.counts[..5], [3, 3, 3, 3, 0]);
    assert_eq!(of(0xffff_ffff_8100_0300).bytes_used, 64);
    let data = map(&studied, CachemapOf::Data);
    let names: Vec<&str> = data.lines.iter().map(|line| line.name.as_str()).collect();
    let stack = ["stack"; 4];
    let others = ["dentry+0x58 d_lockref", "per-CPU cpu_slabs+0x8"];
    assert_eq!(names, [others.as_slice(), &stack].concat());
    assert_eq!(data.lines[1].counts[7..17], [0, 3, 3, 3, 3, 3, 3, 3, 3, 0]);
}

#[test]
fn stacks_are_weighted_and_folded() {
    let (_place, _, xfs) = traces();
    let studied = read(&xfs);
    let executed = &studied.executed[0];
    let tree = |frames, weight| Tree::new(&studied, executed, frames, &NamedWeight::By(weight));
    let functions = tree(Frames::Functions, Weight::Instructions);
    let folded = text::folded(std::slice::from_ref(&functions));
    let deepest = "entry_SYSCALL_64;do_syscall_64;vfs_create;xfs_create;kmem_cache_alloc 6\n";
    assert!(folded.contains(&format!("\n{deepest}")), "{folded}");
    assert!(folded.contains("vfs_create;xfs_create 113\n"), "100 + 3 * (1 + 3) + 1: {folded}");
    let categories = tree(Frames::Categories, Weight::CodeBytes);
    let shown = text::tree(&categories);
    for part in ["bytes of code", "entry", "  vfs", "    file system", "      malloc"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let two = text::folded(&[functions.clone(), functions]);
    assert!(two.contains("xfs;create;entry_SYSCALL_64 "), "{two}");
    let refused = NamedWeight::from_name("misses", executed).unwrap_err().to_string();
    assert!(refused.contains("bytes, instructions, lines, data_lines"), "{refused}");
}

#[test]
fn a_difference_names_what_came_and_went() {
    let (_place, ext4, xfs) = traces();
    let found = Difference::new(&read(&ext4), &read(&xfs), "create").unwrap();
    let row = |name: &str| {
        let mut rows = found.functions.iter();
        rows.find(|row| row.function.as_deref() == Some(name)).unwrap_or_else(|| panic!("{name}"))
    };
    assert_eq!(row("kmem_cache_alloc").instructions_gained(), 4);
    assert_eq!(row("kmem_cache_alloc").lines_gained(), 0);
    assert_eq!(row("xfs_create [xfs]").before.instructions, 0);
    assert_eq!(row("ext4_create [ext4]").after.instruction_lines, 0);
    assert!(found.functions.iter().all(|row| row.function.as_deref() != Some("vfs_create")));
    let shown = text::difference(&found);
    assert!(shown.contains("create: from ext4 to xfs"), "{shown}");
    assert!(shown.contains("+4 ") && shown.contains("kmem_cache_alloc (malloc)"), "{shown}");
}

#[test]
fn functions_without_names_have_addresses() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("nameless.trace");
    std::fs::write(&path, events(1, Coverage::Marked)).unwrap();
    let studied = read(&path);
    let tree = Tree::new(
        &studied,
        &studied.executed[0],
        Frames::Functions,
        &NamedWeight::By(Weight::Instructions),
    );
    assert!(text::tree(&tree).contains("0xffffffff81000400"), "functions are where calls lead to");
}

/// The fixtures are the traces that are generated here. To regenerate them after a change:
/// `FSPRISM_RENEW_FIXTURES=1 cargo test -p fsprism-report fixtures`.
#[test]
fn the_fixtures_are_these_traces() {
    let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"));
    let (place, ..) = traces();
    for (name, allocations) in FILE_SYSTEMS {
        if std::env::var_os("FSPRISM_RENEW_FIXTURES").is_some() {
            std::fs::create_dir_all(fixtures).unwrap();
            write(fixtures, name, allocations);
        }
        let file = format!("{name}.trace");
        let [kept, made] = [fixtures, place.path()].map(|directory| read(&directory.join(&file)));
        assert_eq!(kept.description(), made.description());
        for of in CachemapOf::ALL {
            assert_eq!(map(&kept, of), map(&made, of), "{name} is not up to date");
        }
    }
}
