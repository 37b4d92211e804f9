//! How a budget is spent.
//!
//! The length of a replicate is fixed by its benchmark, and an interval needs [`BLOCKS_MIN`]
//! blocks. A budget with no room for that leaves out whole benchmarks, by name, the least
//! informative first. After the first block, the rest is forecast from how long it took. After
//! [`BLOCKS_FULL`] blocks, when the ends of an interval are no longer the most extreme values, time
//! goes to the widest intervals: each block then contains the wider half of the benchmarks that are
//! not narrow enough yet. Every block measures a benchmark on all of its targets, along with its
//! baselines and floors, so comparisons stay paired. The phases of a sequence stay together, since
//! one execution measures them all.
//!
//! Length is not traded for blocks, and no instance of a file system is measured twice in the same
//! state. The best number of operations, and of replicates per instance, depends on the spread
//! within and between instances (Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time",
//! section 7). A short run cannot know that spread, and if it estimated it, the figures themselves
//! would depend on the budget. Little would be gained either way: see the numbers in
//! docs/honesty.md, "What a budget buys".

use std::collections::{BTreeMap, BTreeSet};

use record::{Cell, LeftOut};

/// Blocks needed for a 95 % interval of the median.
pub(crate) const BLOCKS_MIN: u32 = 6;
/// Up to this many blocks, each contains everything. With nine, the ends of a 95 % interval of the
/// median are the second and the eighth value instead of the smallest and the largest.
pub(crate) const BLOCKS_FULL: u32 = 9;
/// Share of the budget that is planned; the rest is a reserve for blocks that take longer than
/// expected.
const PLANNED_SHARE: f64 = 0.97;
/// Like [`PLANNED_SHARE`], for the blocks that an interval needs: if one of them is missing, there
/// is no interval.
pub(crate) const BLOCKS_MIN_SHARE: f64 = 0.95;

/// Expected costs, in seconds.
pub(crate) trait Costs {
    /// One turn of a cell in a block.
    fn turn_s(&self, cell: u32) -> f64;

    /// Making the targets and file sets that these cells need.
    fn making_s(&self, cells: &[u32]) -> f64;

    /// A whole block of these cells.
    fn block_s(&self, cells: &[u32]) -> f64 {
        self.making_s(cells) + cells.iter().map(|&cell| self.turn_s(cell)).sum::<f64>()
    }
}

/// Cells that are measured or left out together: those of one benchmark, or of all phases of a
/// sequence, which one execution measures. Also knows the cells that they are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Its own cells.
    pub(crate) own: Vec<u32>,
    /// These and the cells of its baselines and floors.
    pub(crate) all: BTreeSet<u32>,
    rank: u32,
    position: u32,
}

impl Group {
    /// Sort key: the most informative group comes first.
    fn sort_key(&self) -> (u32, u32) {
        (self.rank, self.position)
    }

    /// The records to write when the group is left out, one per benchmark.
    pub(crate) fn left_out(self, cells: &[Cell], why: &str) -> Vec<LeftOut> {
        let mut left_out: Vec<LeftOut> = Vec::new();
        for index in self.own {
            let benchmark = &cells[index as usize].benchmark;
            match left_out.iter_mut().find(|one| one.benchmark == *benchmark) {
                Some(one) => one.cells.push(index),
                None => left_out.push(LeftOut {
                    benchmark: benchmark.clone(),
                    cells: vec![index],
                    why: why.to_owned(),
                }),
            }
        }
        left_out
    }
}

/// What cells that are measured together share: a sequence, or a benchmark.
fn unit(cell: &Cell) -> (bool, &str) {
    match &cell.sequence {
        Some(sequence) => (true, sequence),
        None => (false, &cell.benchmark),
    }
}

/// The live cells grouped by benchmark or sequence, in order of declaration.
pub(crate) fn groups(cells: &[Cell], live: &[u32]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_unit: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    let mut by_benchmark: BTreeMap<&str, usize> = BTreeMap::new();
    for &index in live {
        let cell = &cells[index as usize];
        let group = *by_unit.entry(unit(cell)).or_insert_with(|| {
            let (own, all) = (Vec::new(), BTreeSet::new());
            groups.push(Group { own, all, rank: cell.rank, position: index });
            groups.len() - 1
        });
        groups[group].own.push(index);
        groups[group].rank = groups[group].rank.min(cell.rank);
        by_benchmark.insert(&cell.benchmark, group);
    }
    let own: Vec<Vec<u32>> = groups.iter().map(|group| group.own.clone()).collect();
    for group in &mut groups {
        let mut all: BTreeSet<u32> = group.own.iter().copied().collect();
        for &index in &group.own {
            let cell = &cells[index as usize];
            let others = cell.baseline.iter().chain(&cell.floor);
            let others = others.filter_map(|name| by_benchmark.get(name.as_str()));
            all.extend(others.flat_map(|&other| &own[other]));
        }
        group.all = all;
    }
    groups
}

/// How many blocks there can be in all if `left_s` seconds are left after `done` blocks.
pub(crate) fn blocks_that_fit(live: &[u32], costs: &impl Costs, done: u32, left_s: f64) -> u32 {
    let whole_s = costs.block_s(live).max(1e-6);
    let half_s = whole_s - live.iter().map(|&cell| costs.turn_s(cell)).sum::<f64>() / 2.0;
    let mut left_s = left_s * PLANNED_SHARE;
    let mut blocks = done;
    loop {
        let takes_s = if blocks < BLOCKS_FULL { whole_s } else { half_s };
        left_s -= takes_s;
        if left_s < 0.0 || blocks >= 10_000 {
            return blocks;
        }
        blocks += 1;
    }
}

/// Whether these cells can reach [`BLOCKS_MIN`] blocks within `left_s` seconds.
pub(crate) fn min_blocks_fit(cells: &[u32], costs: &impl Costs, done: u32, left_s: f64) -> bool {
    let missing = f64::from(BLOCKS_MIN.saturating_sub(done));
    costs.block_s(cells) * missing <= left_s
}

/// The groups to leave out so that the others can reach [`BLOCKS_MIN`] blocks within `left_s`
/// seconds: the highest rank first, among equals the last declared, and with each group those that
/// need it as a baseline or floor. One always stays. Of those left out, the ones that still fit are
/// taken back, the lowest rank first, so a single long group does not cost the others their place.
pub(crate) fn left_out(
    cells: &[Cell],
    live: &[u32],
    costs: &impl Costs,
    done: u32,
    left_s: f64,
) -> Vec<Group> {
    let mut kept = groups(cells, live);
    kept.sort_by_key(Group::sort_key);
    let fits = |kept: &[Group]| min_blocks_fit(&own_cells(kept), costs, done, left_s);
    let is_whole = |group: &Group, kept: &[Group]| {
        let stay: BTreeSet<u32> = own_cells(kept).into_iter().collect();
        group.all.is_subset(&stay)
    };
    let mut gone: Vec<Group> = Vec::new();
    while kept.len() > 1 && !fits(&kept) {
        gone.extend(kept.pop());
        let stay = kept.clone();
        gone.extend(kept.extract_if(1.., |group| !is_whole(group, &stay)));
    }
    gone.sort_by_key(Group::sort_key);
    let comes_back = |group: &Group, kept: &[Group]| {
        let with_it = [kept, std::slice::from_ref(group)].concat();
        is_whole(group, &with_it) && fits(&with_it)
    };
    while let Some(place) = gone.iter().position(|group| comes_back(group, &kept)) {
        kept.push(gone.remove(place));
    }
    gone.reverse();
    gone
}

fn own_cells(groups: &[Group]) -> Vec<u32> {
    groups.iter().flat_map(|group| &group.own).copied().collect()
}

/// Half-width of each cell's interval relative to its median; none if there is no interval.
pub(crate) type Widths = BTreeMap<u32, Option<f64>>;

/// The cells of the next block: all while there are few blocks, then the wider half of the groups
/// that are not narrow enough, the widest first, as far as they fit into `left_s` seconds. None if
/// nothing fits or everything is narrow enough.
pub(crate) fn next_block(
    groups: &[Group],
    widths: &Widths,
    precision: f64,
    costs: &impl Costs,
    done: u32,
    left_s: f64,
) -> Option<BTreeSet<u32>> {
    let every: BTreeSet<u32> = groups.iter().flat_map(|group| group.all.clone()).collect();
    let every_s = costs.block_s(&every.iter().copied().collect::<Vec<_>>());
    if done < BLOCKS_MIN || (done < BLOCKS_FULL && every_s <= left_s * PLANNED_SHARE) {
        return Some(every);
    }
    let mut wide: Vec<(f64, &Group)> =
        groups.iter().map(|group| (width_of(group, widths), group)).collect();
    wide.retain(|(width, _)| *width > precision);
    wide.sort_by(|left, right| right.0.total_cmp(&left.0));
    // Groups without an interval yet, because they were restored late, are all included.
    let without = wide.iter().filter(|(width, _)| width.is_infinite()).count();
    let half = wide.len().div_ceil(2).max(without);
    let mut chosen: BTreeSet<u32> = BTreeSet::new();
    for (_, group) in wide.into_iter().take(half) {
        let with_it: BTreeSet<u32> = chosen.union(&group.all).copied().collect();
        let takes_s = costs.block_s(&with_it.iter().copied().collect::<Vec<_>>());
        if takes_s <= left_s * PLANNED_SHARE {
            chosen = with_it;
        }
    }
    (!chosen.is_empty()).then_some(chosen)
}

/// The width of the group's widest interval; infinite if a cell has none.
fn width_of(group: &Group, widths: &Widths) -> f64 {
    let of_cell = |cell: &u32| widths.get(cell).copied().flatten().unwrap_or(f64::INFINITY);
    group.own.iter().map(of_cell).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizing::tests::cell;

    /// This many seconds for each turn, and the same for making targets.
    struct Each(f64);

    impl Costs for Each {
        fn turn_s(&self, _cell: u32) -> f64 {
            self.0
        }

        fn making_s(&self, _cells: &[u32]) -> f64 {
            self.0
        }
    }

    /// Three benchmarks on two targets each; the first is the baseline of the last.
    fn cells() -> Vec<Cell> {
        let of = |name: &str, rank| Cell { rank, ..cell(name) };
        let subject = || Cell { baseline: Some("one".to_owned()), ..of("three", 1) };
        vec![of("one", 0), of("one", 0), of("two", 1), of("two", 1), subject(), subject()]
    }

    const LIVE: [u32; 6] = [0, 1, 2, 3, 4, 5];

    fn names(cells: &[Cell], groups: Vec<Group>) -> Vec<String> {
        let left_out = groups.into_iter().flat_map(|group| group.left_out(cells, "long"));
        left_out.map(|one| one.benchmark).collect()
    }

    #[test]
    fn what_has_no_room_goes_by_rank_and_from_the_end_and_one_stays() {
        let cells = cells();
        let gone = |left_s| names(&cells, left_out(&cells, &LIVE, &Each(1.0), 0, left_s));
        // Seven seconds per block, six blocks.
        assert!(gone(42.0).is_empty());
        assert_eq!(gone(40.0), ["three"]);
        assert_eq!(gone(20.0), ["three", "two"]);
        assert_eq!(gone(0.0), ["three", "two"]);
        assert!(left_out(&cells, &LIVE, &Each(1.0), 6, 0.0).is_empty(), "it has its blocks");
    }

    #[test]
    fn what_is_set_against_something_goes_with_it() {
        let mut cells = cells();
        (cells[0].rank, cells[1].rank) = (2, 2);
        let gone = left_out(&cells, &LIVE, &Each(1.0), 0, 29.0);
        assert_eq!(names(&cells, gone), ["one", "three"]);
    }

    #[test]
    fn what_takes_long_takes_no_others_with_it() {
        struct First(f64);
        impl Costs for First {
            fn turn_s(&self, cell: u32) -> f64 {
                if cell == 2 { self.0 } else { 1.0 }
            }
            fn making_s(&self, _cells: &[u32]) -> f64 {
                1.0
            }
        }
        // Seven seconds per block, except for the second benchmark, which takes a hundred.
        let three = cells();
        let gone = |left_s| names(&three, left_out(&three, &LIVE, &First(100.0), 0, left_s));
        assert_eq!(gone(42.0), ["two"]);
        assert_eq!(gone(29.0), ["three", "two"], "the first takes three, the third two");
        // Either of the last two fits beside the first, but not both.
        let of = |name: &str, rank| Cell { rank, ..cell(name) };
        let four = [of("a", 0), of("b", 1), of("long", 1), of("c", 1), of("d", 1)];
        let live = [0, 1, 2, 3, 4];
        let gone = left_out(&four, &live, &First(100.0), 0, 24.0);
        assert_eq!(names(&four, gone), ["d", "long"]);
    }

    #[test]
    fn phases_of_a_sequence_are_measured_and_left_out_together() {
        let of =
            |name: &str, sequence: &str| Cell { sequence: Some(sequence.to_owned()), ..cell(name) };
        let small = [of("write", "small"), of("read", "small")];
        let large = [of("write-large", "large"), of("read-large", "large")];
        let cells = [&small[..], &large[..], &[cell("stat")]].concat();
        let live = [0, 1, 2, 3, 4];
        let whole = groups(&cells, &live);
        assert_eq!(whole.iter().map(|group| group.own.len()).collect::<Vec<_>>(), [2, 2, 1]);
        // Six seconds per block, five without the benchmark outside a sequence, four without one
        // sequence.
        let gone = |left_s| names(&cells, left_out(&cells, &live, &Each(1.0), 0, left_s));
        assert_eq!(gone(35.0), ["stat"]);
        assert_eq!(gone(29.0), ["write-large", "read-large"]);
        assert_eq!(gone(23.0), ["stat", "write-large", "read-large"]);
        assert_eq!(gone(0.0), ["stat", "write-large", "read-large"], "no half of a sequence");
        // One wide phase selects the whole sequence.
        let widths: Widths = (0..).zip([0.01, 0.4, 0.01, 0.01, 0.01].map(Some)).collect();
        let next = next_block(&whole, &widths, 0.02, &Each(1.0), 9, 10.0);
        assert_eq!(next, Some(BTreeSet::from([0, 1])));
    }

    #[test]
    fn blocks_are_whole_first_and_half_then() {
        // Seven seconds each, then four.
        let fit = |left_s| blocks_that_fit(&LIVE, &Each(1.0), 1, left_s / PLANNED_SHARE);
        assert_eq!(fit(0.0), 1);
        assert_eq!(fit(7.5 * 7.0), 8);
        assert_eq!(fit(8.0 * 7.0 + 8.5), 11);
    }

    fn chosen(widths: [f64; 6], done: u32, left_s: f64) -> Option<Vec<u32>> {
        let cells = cells();
        let widths: Widths = (0..).zip(widths.map(Some)).collect();
        let groups = groups(&cells, &LIVE);
        let next = next_block(&groups, &widths, 0.02, &Each(1.0), done, left_s);
        next.map(|cells| cells.into_iter().collect())
    }

    #[test]
    fn the_first_blocks_hold_everything() {
        assert_eq!(chosen([0.01; 6], 5, 0.0), Some(LIVE.to_vec()));
        assert_eq!(chosen([0.01; 6], 8, 10.0), Some(LIVE.to_vec()));
    }

    #[test]
    fn later_ones_hold_the_wider_half_with_what_it_is_set_against() {
        assert_eq!(chosen([0.01, 0.01, 0.03, 0.3, 0.2, 0.1], 9, 10.0), Some(vec![2, 3]));
        assert_eq!(chosen([0.01, 0.01, 0.03, 0.3, 0.2, 0.4], 9, 10.0), Some(vec![0, 1, 4, 5]));
        assert_eq!(chosen([0.01; 6], 9, 10.0), None, "nothing is wide");
    }

    #[test]
    fn what_has_no_interval_yet_is_not_halved() {
        let cells = cells();
        let widths: Widths = (0..).zip([Some(0.3), Some(0.3), None, None, None, None]).collect();
        let next = next_block(&groups(&cells, &LIVE[..4]), &widths, 0.02, &Each(1.0), 9, 10.0);
        assert_eq!(next, Some(BTreeSet::from([2, 3])), "half of two");
        let next = next_block(&groups(&cells, &LIVE), &widths, 0.02, &Each(1.0), 9, 10.0);
        assert_eq!(next, Some(BTreeSet::from(LIVE)), "two of three, and what one is set against");
    }

    #[test]
    fn what_does_not_fit_gives_way_to_what_does() {
        // Five seconds for the widest, three for the next.
        assert_eq!(chosen([0.1, 0.1, 0.2, 0.2, 0.4, 0.4], 9, 4.0), Some(vec![2, 3]));
        assert_eq!(chosen([0.1, 0.1, 0.2, 0.2, 0.4, 0.4], 9, 2.0), None);
        assert_eq!(chosen([0.1, 0.1, 0.2, 0.2, 0.4, 0.4], 7, 4.0), Some(vec![2, 3]));
    }
}
