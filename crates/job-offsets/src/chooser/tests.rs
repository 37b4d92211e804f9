//! Tests of what recordings of fio do not show: maps over whole passes, pace, files that stay shut.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::direction::PerDirection;
use crate::files::{CountedFiles, Opening, Openness};
use crate::seeds::{SeedSource, SharedSizes};
use crate::spec::{
    Accesses, BlockSizes, Completion, FileService, Limits, Order, RandomGenerator, Sequencer,
    SizeRules, Syncs, Verification,
};
use crate::split;

const BLOCK: u64 = 4096;

fn spec(accesses: Accesses, size_bytes: u64) -> Spec {
    Spec {
        accesses,
        order: Order::Random { every: 1 },
        sequencer: Sequencer::Sequential,
        read_percent: 50,
        block_sizes: PerDirection::all(&BlockSizes::fixed(BLOCK)),
        size_rules: SizeRules::default(),
        distribution: Distribution::Uniform,
        random_percent: PerDirection::all(&100),
        generator: None,
        has_map: true,
        file_service: FileService::default(),
        syncs: Syncs::default(),
        limits: Limits {
            size_bytes,
            io_size_bytes: None,
            transfers: 0,
            loops: 1,
            is_time_based: false,
            completion: Completion::AtOnce,
        },
        verification: Verification::default(),
    }
}

fn seeds() -> JobSeeds {
    let shared_sizes = SharedSizes::default();
    JobSeeds::new(&SeedSource {
        thread_number: 1,
        is_random: true,
        shared_sizes,
        ..SeedSource::default()
    })
}

fn extents(files: usize, size_bytes: u64) -> Vec<FileExtent> {
    let extent = FileExtent { size_bytes, file_bytes: size_bytes, ..FileExtent::default() };
    vec![extent; files]
}

/// All transfers of one pass.
fn pass(chooser: &mut Chooser, table: &mut CountedFiles) -> Vec<Next> {
    let mut all = Vec::new();
    assert!(chooser.begin_pass(table));
    loop {
        match chooser.next(table) {
            Choice::Transfer(next) => all.push(next),
            Choice::PassEnd => return all,
            Choice::Sync { .. } | Choice::Wait => {}
        }
    }
}

proptest! {
    #[test]
    fn with_a_map_transfers_cover_a_file_and_do_not_overlap(
        blocks in 1_u64..400,
        longest in 1_u64..70,
        generator in prop_oneof![
            Just(RandomGenerator::Tausworthe(Width::Bits32)),
            Just(RandomGenerator::Tausworthe(Width::Bits64)),
        ],
    ) {
        let longest = longest.min(blocks);
        let mut spec = spec(Accesses::Write, blocks * BLOCK);
        spec.generator = Some(generator);
        spec.block_sizes = PerDirection::all(&BlockSizes::range(BLOCK, longest * BLOCK));
        let mut chooser = Chooser::new(&spec, &seeds(), &extents(1, blocks * BLOCK)).unwrap();
        let mut table = CountedFiles::new(1, 1);
        let transfers = pass(&mut chooser, &mut table);
        let by_offset: BTreeMap<u64, u64> =
            transfers.iter().map(|next| (next.offset_bytes, next.length_bytes)).collect();
        prop_assert_eq!(by_offset.len(), transfers.len());
        let mut end = 0;
        for (offset, length) in by_offset {
            prop_assert_eq!(offset, end);
            end = offset + length;
        }
        prop_assert_eq!(end, blocks * BLOCK);
    }
}

#[test]
fn a_register_covers_a_file_without_a_map() {
    let mut spec = spec(Accesses::Read, 1000 * BLOCK);
    spec.generator = Some(RandomGenerator::Lfsr);
    let mut chooser = Chooser::new(&spec, &seeds(), &extents(1, 1000 * BLOCK)).unwrap();
    assert_eq!(chooser.map_memory_bytes(), 0);
    let mut table = CountedFiles::new(1, 1);
    let transfers = pass(&mut chooser, &mut table);
    let mut offsets: Vec<u64> = transfers.iter().map(|next| next.offset_bytes / BLOCK).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, (0..1000).collect::<Vec<_>>());
    assert!(!chooser.begin_pass(&mut table));
}

#[test]
fn a_map_takes_a_bit_for_each_block() {
    let spec = spec(Accesses::Read, 1 << 32);
    let chooser = Chooser::new(&spec, &seeds(), &extents(1, 1 << 32)).unwrap();
    assert_eq!(chooser.map_memory_bytes(), (1 << 17) + (1 << 11) + (1 << 5) + 8);
}

#[test]
fn the_pace_changes_directions_and_ends_a_pass() {
    let spec = spec(Accesses::ReadWrite, 100 * BLOCK);
    let mut chooser = Chooser::new(&spec, &seeds(), &extents(1, 100 * BLOCK)).unwrap();
    let mut table = CountedFiles::new(1, 1);
    assert!(chooser.begin_pass(&mut table));
    for _ in 0..20 {
        let choice = chooser.next_paced(&mut table, &mut |_| Some(Direction::Write));
        let Choice::Transfer(next) = choice else { panic!("{choice:?}") };
        assert_eq!(next.direction, Direction::Write);
    }
    assert_eq!(chooser.next_paced(&mut table, &mut |_| None), Choice::PassEnd);
}

#[test]
fn limits_count_from_the_end_of_the_ramp() {
    let mut spec = spec(Accesses::Read, 100 * BLOCK);
    spec.limits.transfers = 10;
    let mut chooser = Chooser::new(&spec, &seeds(), &extents(1, 100 * BLOCK)).unwrap();
    let mut table = CountedFiles::new(1, 1);
    assert!(chooser.begin_pass(&mut table));
    for _ in 0..5 {
        assert!(matches!(chooser.next(&mut table), Choice::Transfer(_)));
    }
    chooser.end_ramp(2);
    let more = std::iter::from_fn(|| Some(chooser.next(&mut table)));
    assert_eq!(more.take_while(|choice| *choice != Choice::PassEnd).count(), 8);
}

/// Files of which the first cannot be opened.
struct WithoutFirst(CountedFiles);

impl FileTable for WithoutFirst {
    fn openness(&self, file: usize) -> Openness {
        self.0.openness(file)
    }

    fn open(&mut self, file: usize) -> Opening {
        if file == 0 { Opening::Failed } else { self.0.open(file) }
    }

    fn close(&mut self, file: usize) {
        self.0.close(file);
    }
}

#[test]
fn files_that_do_not_open_are_left_out() {
    let spec = spec(Accesses::Read, 30 * BLOCK);
    let mut chooser = Chooser::new(&spec, &seeds(), &extents(3, 10 * BLOCK)).unwrap();
    let mut table = WithoutFirst(CountedFiles::new(3, 3));
    assert!(chooser.begin_pass(&mut table));
    let mut files = Vec::new();
    while let Choice::Transfer(next) = chooser.next(&mut table) {
        files.push(next.file);
    }
    files.sort_unstable();
    assert_eq!(files, [[1; 10], [2; 10]].concat());
}

#[test]
fn each_direction_has_zones_of_its_own() {
    let mut spec = spec(Accesses::ReadWrite, 1000 * BLOCK);
    let zones = split::zones("100/10:0/90,0/90:100/10").unwrap();
    spec.distribution = Distribution::Zoned(zones);
    let mut chooser = Chooser::new(&spec, &seeds(), &extents(1, 1000 * BLOCK)).unwrap();
    let transfers = pass(&mut chooser, &mut CountedFiles::new(1, 1));
    for next in transfers {
        let is_first = next.offset_bytes < 100 * BLOCK;
        let is_last = next.offset_bytes >= 900 * BLOCK;
        assert!(if next.direction == Direction::Read { is_first } else { is_last });
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let new = |spec: &Spec, files| Chooser::new(spec, &seeds(), &extents(files, BLOCK)).err();
    let mut spec = spec(Accesses::Read, BLOCK);
    assert_eq!(new(&spec, 0), Some(OffsetError::NoFiles));
    spec.block_sizes[Direction::Trim] = BlockSizes::fixed(0);
    assert_eq!(new(&spec, 1), Some(OffsetError::BlockSizes));
}
