//! Churn: files of all sizes are created, grown, truncated and removed for a long time in an arena
//! that is about 80 % full. Freed space must be reused, and free space must not fragment.
//!
//! `FSPRISM_CHURN_STEPS` sets the number of steps.

use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;
use std::{format, println, vec};

use crate::arena::LINES_PER_PAGE;
use crate::format::{FormatRequest, make};
use crate::layout::{superblock, zone};
use crate::member::{Member, Node};
use crate::memory::Memory;
use crate::modes::{Caller, FILE, Mode};
use crate::quiet::{Quiet, QuietMember};
use crate::random::Random;
use crate::tree::{Follow, Remove};

const ROOT: &Caller<'_> = &Caller::ROOT;
/// Four zones.
const PAGES: usize = 4 * 4096;
const PAGE_BYTES: u64 = 4096;
/// How full the arena is kept, in percent.
const FULL: u64 = 80;
/// Threads, each with a stock of its own.
const MEMBERS: u32 = 3;
/// File sizes that free space should be able to serve: 4 KiB, 64 KiB and 2 MiB, in pages.
const WANTED: [u32; 3] = [1, 16, 512];

impl Random {
    /// A size of at least 64 bytes; each doubling is equally likely.
    fn bytes(&mut self, doublings: u64) -> u64 {
        let least = 64 << self.below(doublings);
        least + self.below(least)
    }
}

/// How fragmented free space and files are.
#[derive(Debug)]
struct Fragmentation {
    /// The share of all bytes that are in files, in percent.
    full: f64,
    free_pages: u32,
    /// Free lines in partially used pages, counted as pages.
    free_in_others: f64,
    largest_run: u32,
    /// The share of free pages that are in no run of the wanted length, in percent.
    useless: [f64; WANTED.len()],
    /// Extents of a file with a map: mean, maximum, and per MiB of those files.
    extents_mean: f64,
    extents_most: usize,
    extents_per_mib: f64,
}

/// The lengths of runs of free pages, including pages not supplied yet, and the number of free
/// lines in partially used pages.
fn free_runs(member: &QuietMember<'_>) -> (Vec<u32>, u32) {
    let (geometry, mut runs, mut lines) = (member.geometry(), Vec::new(), 0);
    let growth = member.line(superblock::GROWTH).expect("it is there");
    let begun = growth.load(superblock::ZONES);
    for number in 0..geometry.zones() {
        let zone = geometry.zone(number);
        let word = |base, index| {
            let (at, field) = zone.word(base, index);
            member.line(at).expect("it is there").load(field)
        };
        let header = member.line(zone.at).expect("it is there");
        let supplied = if number < begun { header.load(zone::SUPPLIED).max(9) } else { 9 };
        let mut run = 0;
        for page in zone::HEADER_PAGES..zone.pages {
            let is_free = page >= supplied || word(zone::FREE, page / 64) >> (page % 64) & 1 == 1;
            if is_free {
                run += 1;
                continue;
            }
            runs.push(core::mem::take(&mut run));
            let used: u64 = word(zone::USED, page);
            // The bitmap of a page in a run of whole pages stays empty.
            lines += if used == 0 { 0 } else { used.count_zeros() };
        }
        runs.push(run);
    }
    (runs, lines)
}

struct Churn<'a> {
    members: Vec<QuietMember<'a>>,
    random: Random,
    /// File numbers and sizes.
    files: BTreeMap<u64, u64>,
    bytes: u64,
    made: u64,
    written: u64,
}

impl<'a> Churn<'a> {
    fn one(&self) -> &QuietMember<'a> {
        &self.members[usize::try_from(self.made).expect("it is small") % self.members.len()]
    }

    fn node(&self, file: u64) -> Node {
        let one = self.one();
        let root = one.root().expect("it is there");
        one.walk(ROOT, root, name(file).as_bytes(), Follow::No).expect("it is there")
    }

    fn some_file(&mut self) -> Option<u64> {
        let place = self.random.below(self.files.len().max(1) as u64);
        self.files.keys().nth(usize::try_from(place).expect("it is small")).copied()
    }

    fn write(&mut self, file: u64, bytes: u64) {
        let before = self.files.get(&file).copied().unwrap_or(0);
        let content = vec![1; usize::try_from(bytes).expect("it is small")];
        let written = self.one().write_at(self.node(file), before, &content);
        assert_eq!(written, Ok(content.len()), "there is room");
        self.resize(file, before + bytes);
        self.written += bytes;
    }

    fn resize(&mut self, file: u64, bytes: u64) {
        let before = self.files.insert(file, bytes).unwrap_or(0);
        self.bytes = self.bytes + bytes - before;
    }

    fn remove(&mut self, file: u64) {
        let one = self.one();
        let root = one.root().expect("it is there");
        one.remove_at(ROOT, root, name(file).as_bytes(), Remove::Name).expect("it is there");
        self.resize(file, 0);
        self.files.remove(&file);
    }

    fn step(&mut self, most: u64) {
        let some = self.some_file();
        match (self.random.below(4), some) {
            (0 | 1, Some(file)) if self.bytes > most => self.remove(file),
            (2, Some(file)) if self.bytes > most => {
                let left = self.files[&file] * self.random.below(100) / 100;
                self.one().truncate(self.node(file), left).expect("it needs no room");
                self.resize(file, left);
            }
            (_, Some(_)) if self.bytes > most => {}
            (0 | 1, Some(file)) => {
                let bytes = self.random.bytes(10);
                self.write(file, bytes);
            }
            _ => {
                self.made += 1;
                let (one, name) = (self.one(), name(self.made));
                let root = one.root().expect("it is there");
                one.make_at(ROOT, root, name.as_bytes(), FILE | 0o600).expect("there is room");
                let bytes = self.random.bytes(15);
                self.write(self.made, bytes);
            }
        }
    }

    fn shape(&self) -> Fragmentation {
        let one = self.one();
        let (runs, lines) = free_runs(one);
        let free: u32 = runs.iter().sum();
        let useless = WANTED.map(|pages| {
            let of_use: u32 = runs.iter().map(|run| run / pages * pages).sum();
            100.0 - 100.0 * f64::from(of_use) / f64::from(free)
        });
        let (mut extents, mut mapped) = (Vec::new(), 0);
        for (&file, &bytes) in &self.files {
            let line = one.line(self.node(file).at).expect("it is there");
            let mut runs = 0_usize;
            one.each_run(line, |_, _| runs += 1).expect("it is whole");
            // One of the runs is the map itself.
            if let Some(all) = runs.checked_sub(1) {
                extents.push(all);
                mapped += bytes;
            }
        }
        let all: usize = extents.iter().sum();
        Fragmentation {
            full: 100.0 * self.bytes as f64 / (PAGES as u64 * PAGE_BYTES) as f64,
            free_pages: free,
            free_in_others: f64::from(lines) / f64::from(LINES_PER_PAGE),
            largest_run: runs.iter().copied().max().unwrap_or(0),
            useless,
            extents_mean: all as f64 / extents.len() as f64,
            extents_most: extents.iter().copied().max().unwrap_or(0),
            extents_per_mib: all as f64 / mapped as f64 * (1 << 20) as f64,
        }
    }
}

fn name(file: u64) -> String {
    format!("file-{file}")
}

fn check(member: &QuietMember<'_>) -> crate::check::Report {
    let mut seen = vec![0; member.arena().lines() as usize];
    member.check(&mut seen).unwrap_or_else(|why| panic!("{} at {}", why.what, why.line))
}

/// Free space is usable, and files are not scattered. The bounds allow at most half as much again
/// as was seen over many steps.
fn assert_bounded(shape: &Fragmentation) {
    println!(
        "{:.1} % full; {} pages free, {} in a row, {:.0} in parts of others; of no use for 4 KiB, \
         64 KiB, 2 MiB: {:.0?} %; extents: {:.1} a file, {} at most, {:.1} a MiB",
        shape.full,
        shape.free_pages,
        shape.largest_run,
        shape.free_in_others,
        shape.useless,
        shape.extents_mean,
        shape.extents_most,
        shape.extents_per_mib
    );
    let is_full = (75.0..85.0).contains(&shape.full);
    let (is_whole, is_in_rows) = (shape.free_in_others < 100.0, shape.largest_run >= 48);
    assert!(is_full && is_whole && is_in_rows, "{shape:?}");
    assert!(shape.useless[0] == 0.0 && shape.useless[1] < 60.0, "{shape:?}");
    let is_together = shape.extents_mean < 4.5 && shape.extents_per_mib < 20.0;
    assert!(is_together && shape.extents_most < 40, "{shape:?}");
}

#[test]
fn what_is_freed_is_used_again() {
    let steps = std::env::var("FSPRISM_CHURN_STEPS").ok();
    let steps: u64 = steps.map_or(8_000, |text| text.parse().expect("it is a number"));
    let mut memory = Memory::of_pages(PAGES);
    let root = Mode { uid: 0, gid: 0, mode: 0o755 };
    let request = FormatRequest { secret: 0x5eed, ino_secret: 0x1234, root, threads: None };
    make(memory.arena(), Quiet, &request).expect("there is room");
    let arena = memory.arena();
    let member = |slot| Member::new(arena, Quiet, slot, slot).expect("there are slots");
    let members: Vec<_> = (0..MEMBERS).map(member).collect();
    let before = check(&members[0]);
    let random = Random(0x9e37_79b9_7f4a_7c15);
    let files = BTreeMap::new();
    let mut churn = Churn { members, random, files, bytes: 0, made: 0, written: 0 };
    let most = PAGES as u64 * PAGE_BYTES * FULL / 100;
    for step in 1..=steps {
        churn.step(most);
        if step.is_multiple_of((steps / 8).max(1)) && churn.written > 2 * most {
            assert_bounded(&churn.shape());
            check(churn.one());
        }
    }
    let times = churn.written as f64 / (PAGES as u64 * PAGE_BYTES) as f64;
    println!("{} files, written {times:.1} times as much as there is room for", churn.made);
    assert!(times > 3.0, "it never was full: {times}");
    for file in churn.files.keys().copied().collect::<Vec<_>>() {
        churn.remove(file);
    }
    churn.members.iter().for_each(|one| one.retire().expect("it is whole"));
    let after = check(churn.one());
    assert_eq!(after.lines_used, before.lines_used, "something was lost");
    let (runs, _) = free_runs(churn.one());
    // Apart from the reserve, and pages of cells and of the table of modes, each zone is in one
    // piece again.
    let free: u32 = runs.iter().sum();
    assert!(free as usize > PAGES * 98 / 100, "{free} pages");
}
