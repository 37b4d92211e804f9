//! Two cells of one target, compared block by block.
//!
//! The ratios of one detector are judged together, like the comparisons of targets: what is
//! reported as found is a difference that is real, and its interval is widened because it was
//! selected.

use record::Verdict;

use super::Evidence;
use super::cells::{CheckedCell, CheckedRun};
use crate::analysis::{Judgement, MARGIN, Pairs, dependence, judge};

/// Shares of pages in memory count as equal if they differ by less than this.
const RESIDENT_MARGIN: f64 = 0.01;
/// Parameters that a phase has because of its place in a sequence.
const PLACE: [&str; 3] = ["phase", "after_operation", "after_access"];
/// Parameters that distinguish a random phase from a sequential one.
pub(super) const ORDER: [&str; 5] =
    ["phase", "after_operation", "after_access", "access", "alignment_bytes"];

/// Two cells, and how the times of their operations compare.
pub(super) struct Pair<'a> {
    pub(super) of: &'a CheckedCell<'a>,
    pub(super) over: &'a CheckedCell<'a>,
    judged: Judgement,
}

/// The pairs, with their ratios judged together.
pub(super) fn compared<'a>(
    checked: &CheckedRun<'_>,
    pairs: Vec<(&'a CheckedCell<'a>, &'a CheckedCell<'a>)>,
) -> Vec<Pair<'a>> {
    let paired: Vec<Pairs> =
        pairs.iter().map(|(of, over)| Pairs::new(&over.times(), &of.times())).collect();
    let dependence = dependence(paired.iter());
    let answers = paired.iter().map(|pairs| pairs.compared(&dependence)).collect();
    let judged = judge(answers, checked.level(), MARGIN);
    let both = pairs.into_iter().zip(judged);
    both.map(|((of, over), judged)| Pair { of, over, judged }).collect()
}

impl Pair<'_> {
    /// Whether there are enough blocks for a ratio.
    pub(super) fn has_ratio(&self) -> bool {
        self.judged.ratio.is_some()
    }

    /// Whether the first takes significantly longer, by more than the margin.
    pub(super) fn takes_longer(&self) -> bool {
        self.judged.verdict == Verdict::Real && self.judged.ratio.is_some_and(|ratio| ratio > 1.0)
    }

    /// Whether it certainly does not.
    pub(super) fn takes_no_longer(&self) -> bool {
        self.judged.interval.is_some_and(|interval| interval.high < 1.0 + MARGIN)
    }

    /// The time of the first over that of the second.
    pub(super) fn evidence(&self, name: &str) -> Option<Evidence> {
        let ratio = self.of.evidence(name, "x", self.judged.ratio?);
        Some(ratio.within(self.judged.interval))
    }
}

/// Phases that are executed twice in a row: the first time and the second.
pub(super) fn repeated<'a>(
    checked: &'a CheckedRun<'a>,
) -> Vec<(&'a CheckedCell<'a>, &'a CheckedCell<'a>)> {
    let repeats = |one: &CheckedCell<'_>, other: &CheckedCell<'_>| {
        let next = one.number("phase").map(|number| number + 1);
        // Walks over an array do not name their operation.
        let is_told = one.word("operation").is_some();
        is_told && other.number("phase") == next && one.is_alike(other, &PLACE)
    };
    let is_first = |one: &&CheckedCell<'_>| !checked.phases().any(|before| repeats(before, one));
    let second = |one| Some((one, checked.phases().find(|other| repeats(one, other))?));
    checked.phases().filter(is_first).filter_map(second).collect()
}

/// Each random phase with every sequential one that does the same work; those that follow the same
/// operation come first.
pub(super) fn random_beside_sequential<'a>(
    checked: &'a CheckedRun<'a>,
) -> Vec<(&'a CheckedCell<'a>, Vec<&'a CheckedCell<'a>>)> {
    let beside = |random: &'a CheckedCell<'a>| {
        let is_beside =
            |other: &&CheckedCell<'_>| !other.is_random() && other.is_alike(random, &ORDER);
        let is_after_another = |other: &&CheckedCell<'_>| {
            other.word("after_operation") != random.word("after_operation")
        };
        let mut all: Vec<&CheckedCell<'_>> = checked.phases().filter(is_beside).collect();
        all.sort_by_key(is_after_another);
        (random, all)
    };
    checked.phases().filter(|one| one.is_random()).map(beside).collect()
}

/// Sequential phases padded with the calls of random ones, each with the same phase without them.
pub(super) fn padded_beside_unpadded<'a>(
    checked: &'a CheckedRun<'a>,
) -> Vec<(&'a CheckedCell<'a>, &'a CheckedCell<'a>)> {
    let is_padded =
        |one: &CheckedCell<'_>| one.sprite_lfs().is_some_and(|options| options.pad_calls);
    let twin = |padded: &'a CheckedCell<'a>| {
        let mut twins = checked.phases().filter(|one| one.is_alike(padded, &["pad_calls"]));
        Some((padded, twins.find(|one| !is_padded(one))?))
    };
    let sequential = checked.phases().filter(|one| !one.is_random() && is_padded(one));
    sequential.filter_map(twin).collect()
}

/// Whether both began with the same share of their pages in memory, as far as is known.
pub(super) fn begin_alike(checked: &CheckedRun<'_>, both: [&CheckedCell<'_>; 2]) -> bool {
    let [one, other] = both.map(|cell| cell.resident_share(checked.level()));
    one.zip(other).is_none_or(|(one, other)| (one - other).abs() <= RESIDENT_MARGIN)
}

/// Groups pairs of the same two benchmarks on different targets.
pub(super) fn by_benchmark<'p, 'a>(pairs: &[&'p Pair<'a>]) -> Vec<Vec<&'p Pair<'a>>> {
    let names =
        |pair: &Pair<'_>| (pair.of.cell().benchmark.clone(), pair.over.cell().benchmark.clone());
    let mut groups: Vec<Vec<&Pair<'_>>> = Vec::new();
    for &pair in pairs {
        match groups.iter_mut().find(|group| names(group[0]) == names(pair)) {
            Some(group) => group.push(pair),
            None => groups.push(vec![pair]),
        }
    }
    groups
}
