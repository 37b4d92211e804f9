//! The tables and figures of Wang, Kuenning, Reiher & Popek, "The Effects of Memory-Rich
//! Environments on File System Microbenchmarks" (SPECTS 2003), as benchmarks. Each is the Sprite
//! LFS large-file benchmark with different options, except Table 10, the array walk, and Figure 8,
//! what Bonnie++ does to empty files, and section 10, which proposes what to do about it all.
//!
//! In the paper (section 2), the random write goes to a new file, so the random reads after it read
//! pages for the first time, as the sequential ones before did. Programs of that name write to the
//! same file again; what that changes is measured beside it ([`SAME_FILE`]).

use record::{ArrayWalkOptions, FirstWrite, RandomAlignment, SecondWrite, SpriteLfsOptions};

use super::bonnie::metadata;
use super::slices::Slices;
use super::{array_walk, sprite_lfs};
use crate::benchmark::Benchmark;
use crate::sequence;

/// The paper's file systems and their present-day counterparts.
pub const TARGETS: [&str; 4] = ["ramfs", "tmpfs", "ext2", "xfs"];

/// The suite that has all of them.
pub const SUITE: &str = "memory-rich-microbenchmarks";

/// A table or figure.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Its name.
    pub item: &'static str,
    /// The suite that has only this one.
    pub suite: &'static str,
    /// What it shows, in one line.
    pub summary: &'static str,
}

/// The paper's tables and figures, in its order.
pub const ITEMS: [Item; 15] = [
    Item {
        item: "figure-1",
        suite: "memory-rich-microbenchmarks/figure-1",
        summary: "the benchmark as published, 1 MiB",
    },
    Item {
        item: "table-2",
        suite: "memory-rich-microbenchmarks/table-2",
        summary: "three sequential reads after a write",
    },
    Item {
        item: "table-3",
        suite: "memory-rich-microbenchmarks/table-3",
        summary: "two sequential reads of a file that existed before",
    },
    Item {
        item: "table-4",
        suite: "memory-rich-microbenchmarks/table-4",
        summary: "a read, a write and a read of a file that existed before",
    },
    Item {
        item: "table-5",
        suite: "memory-rich-microbenchmarks/table-5",
        summary: "a read after a write with pauses",
    },
    Item {
        item: "table-6",
        suite: "memory-rich-microbenchmarks/table-6",
        summary: "a read after a random write",
    },
    Item {
        item: "table-8",
        suite: "memory-rich-microbenchmarks/table-8",
        summary: "three sequential writes",
    },
    Item {
        item: "table-9",
        suite: "memory-rich-microbenchmarks/table-9",
        summary: "two reads after a write, 128 KiB",
    },
    Item {
        item: "table-10",
        suite: "memory-rich-microbenchmarks/table-10",
        summary: "an array written, read and read again",
    },
    Item {
        item: "figure-4",
        suite: "memory-rich-microbenchmarks/figure-4",
        summary: "10 of 11 files",
    },
    Item {
        item: "figure-5",
        suite: "memory-rich-microbenchmarks/figure-5",
        summary: "the same with page-aligned random operations",
    },
    Item {
        item: "figure-6",
        suite: "memory-rich-microbenchmarks/figure-6",
        summary: "the same on files of 128 KiB",
    },
    Item {
        item: "figure-7",
        suite: "memory-rich-microbenchmarks/figure-7",
        summary: "the same with padded sequential operations",
    },
    Item {
        item: "figure-8",
        suite: "memory-rich-microbenchmarks/figure-8",
        summary: "the six tests of Bonnie++ on 1024 directories of 16 empty files",
    },
    Item {
        item: SECTION_10,
        suite: "memory-rich-microbenchmarks/section-10",
        summary: "8 MiB written and read in slices of 128 KiB, with a call for each block or slice",
    },
];

const MIB: u64 = 1 << 20;
const SMALL_BYTES: u64 = 128 << 10;
const ALL: &[&str] = &[""];
/// The item that consists of the Bonnie++ tests.
const BONNIE: &str = "figure-8";
/// The item that consists of arrangements.
const SECTION_10: &str = "section-10";
/// What the phases of items with all phases begin with where the random write goes to the same file
/// again.
pub const SAME_FILE: &str = "same-file-";

/// The benchmarks of one item, or of all, named after the item and the phase.
#[must_use]
pub(crate) fn benchmarks(item: Option<&str>) -> Vec<Benchmark> {
    let wanted = |name: &&str| item.is_none_or(|item| item == *name);
    ITEMS.iter().map(|one| one.item).filter(wanted).flat_map(benchmarks_of_item).collect()
}

fn benchmarks_of_item(item: &'static str) -> Vec<Benchmark> {
    if item == SECTION_10 {
        return named(sequence::benchmarks(Slices), item, "", ALL);
    }
    let Some((options, kept)) = phases_of(item) else {
        let all = match item {
            BONNIE => Ok(metadata::benchmarks(&metadata::published())),
            _ => array_walk::benchmarks(&ArrayWalkOptions::new(&[MIB])),
        };
        return named(all.expect("what is declared can be meant"), item, "", ALL);
    };
    let sprite_lfs = |name: &str, options: &SpriteLfsOptions| {
        sprite_lfs::benchmarks_of(name, options).expect("what is declared can be meant")
    };
    let mut all = named(sprite_lfs(item, &options), item, "", kept);
    if options.second_write == SecondWrite::NewFiles {
        let options = SpriteLfsOptions { second_write: SecondWrite::SameFiles, ..options };
        let same = sprite_lfs(&format!("{SAME_FILE}{item}"), &options);
        all.extend(named(same, item, SAME_FILE, kept));
    }
    all
}

/// The phases that an item shows, named after it.
fn named(
    all: Vec<Benchmark>,
    item: &'static str,
    prefix: &str,
    kept: &'static [&'static str],
) -> Vec<Benchmark> {
    let is_kept = |one: &Benchmark| {
        // The last phase's name begins with that of an earlier one; it only belongs to items that
        // show all.
        let is_shown = kept == ALL || !one.name.starts_with("sequential-read-again");
        is_shown && kept.iter().any(|name| one.name.starts_with(name))
    };
    let again = if prefix.is_empty() { "" } else { "same file again, " };
    let called = |one: Benchmark| {
        let phase = one.name.trim_end_matches(&format!("-{MIB}")).to_owned();
        Benchmark {
            name: format!("{item}-{prefix}{phase}"),
            title: format!("{}, {again}{}", title(item), one.title),
            // An item only means something as a whole, so no part of it may be left out.
            curve: None,
            rank: 0,
            ..one
        }
    };
    all.into_iter().filter(is_kept).map(called).collect()
}

/// Turns `table-2` into `Table 2`.
fn title(item: &str) -> String {
    let (kind, number) = item.split_once('-').unwrap_or((item, ""));
    let first = kind.chars().next().unwrap_or_default().to_uppercase();
    format!("{first}{} {number}", kind.get(1..).unwrap_or_default())
}

/// The options of an item and the phases that it shows; `None` for the array walk and Bonnie++.
fn phases_of(item: &str) -> Option<(SpriteLfsOptions, &'static [&'static str])> {
    const WRITE_AND_READS: &[&str] = &["sequential-write", "sequential-read"];
    let one = SpriteLfsOptions::published();
    let five_phases = SpriteLfsOptions { second_write: SecondWrite::NewFiles, ..one.clone() };
    let eleven = SpriteLfsOptions { files: 11, drop_first: true, ..five_phases.clone() };
    let aligned = SpriteLfsOptions { alignment: RandomAlignment::Page, ..eleven.clone() };
    let small = SpriteLfsOptions { file_bytes: SMALL_BYTES, ..aligned.clone() };
    Some(match item {
        "figure-1" => (five_phases, ALL),
        "table-2" => (SpriteLfsOptions { repeat_reads: 3, ..one }, WRITE_AND_READS),
        "table-3" => (SpriteLfsOptions { pre_read: true, repeat_reads: 2, ..one }, &["pre-read"]),
        "table-4" => (
            SpriteLfsOptions { pre_read: true, ..one },
            &["pre-read", "sequential-write", "sequential-read"],
        ),
        "table-5" => (SpriteLfsOptions { write_pause_ns: 1000, ..one }, WRITE_AND_READS),
        "table-6" => (
            SpriteLfsOptions { first_write: FirstWrite::Random, ..one },
            &["random-write", "sequential-read"],
        ),
        "table-8" => (SpriteLfsOptions { repeat_writes: 3, ..one }, &["sequential-write"]),
        "table-9" => {
            (SpriteLfsOptions { file_bytes: SMALL_BYTES, repeat_reads: 2, ..one }, WRITE_AND_READS)
        }
        "figure-4" => (eleven, ALL),
        "figure-5" => (aligned, ALL),
        "figure-6" => (small, ALL),
        "figure-7" => (SpriteLfsOptions { pad_calls: true, ..small }, ALL),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `fsprism check` compares the two.
    #[test]
    fn figures_6_and_7_differ_in_padding_alone() {
        let parameters = |item: &str| {
            let name = format!("{item}-sequential-read");
            let all = benchmarks(None);
            let read = all.iter().find(|one| one.name == name).expect("it is shown");
            let mut all = read.cell(SUITE, "tmpfs", 0).parameters;
            (all.remove("pad_calls"), all)
        };
        let (unpadded, padded) = (parameters("figure-6"), parameters("figure-7"));
        assert_eq!((unpadded.0, padded.0), (Some(false.into()), Some(true.into())));
        assert_eq!(unpadded.1, padded.1);
    }

    #[test]
    fn each_item_has_the_phases_that_the_paper_shows() {
        let names = |item| -> Vec<String> {
            benchmarks(Some(item)).into_iter().map(|one| one.name).collect()
        };
        let of_table_3 = ["table-3-pre-read-1", "table-3-pre-read-2"];
        assert_eq!(names("table-3"), of_table_3);
        assert_eq!(
            names("table-10"),
            [
                "table-10-write",
                "table-10-first-read",
                "table-10-second-read",
                "table-10-write-back"
            ]
        );
        let figure_7 = names("figure-7");
        assert_eq!(figure_7.len(), 10);
        assert_eq!(figure_7[3], "figure-7-random-read");
        assert_eq!(figure_7[8], "figure-7-same-file-random-read");
        assert_eq!(names("figure-8").len(), 6);
        assert_eq!(names("section-10")[1], "section-10-slices");
        assert_eq!(names("figure-8")[4], "figure-8-stat-random");
        assert!(names("table-9").contains(&"table-9-sequential-read-2".to_owned()));
        let all: usize = ITEMS.iter().map(|one| names(one.item).len()).sum();
        assert_eq!(benchmarks(None).len(), all);
        assert_eq!(benchmarks(Some("table-2"))[0].title, "Table 2, sequential write and fsync");
    }
}
