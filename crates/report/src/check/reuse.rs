//! Random operations that are faster than sequential ones, and whether reuse of a cache explains
//! it.
//!
//! A sequential pass over more than a cache can hold finds nothing of the previous pass: each line
//! has just been replaced (section 6 of the paper). In random order, some of it is found. The share
//! follows from the sizes of the files and of the cache. Let a file of f bytes be visited a second
//! time, each block once, in a new random order, and let a cache with LRU replacement hold all
//! other files and c of this one's f bytes. A block that was visited when the share 1 - u of the
//! first pass was over, and is visited again at t in the second, has seen u + t (1 - u) of the file
//! pass since: the rest of the first pass, and the part of the second that was not in it. The block
//! is still cached if that is less than c. With u and t uniform from 0 to 1, the share of such
//! blocks is c + (1 - c) ln(1 - c). If both passes are sequential, it is all or nothing.
//!
//! So the prediction considers only the order: no prefetching, no other use of the cache. Writes
//! are left out if one of the two allocates, since that is a different initial state.

use super::cells::{CheckedCell, CheckedRun};
use super::text::by_target;
use super::{Detection, Evidence, Finding, boundary, pairs};
use crate::analysis::caches;
use textual::size;

/// The largest number of directories that `--dirs` accepts.
const DIRECTORIES_MAX: u64 = 99_999;

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    // The sequential phase comes first: the finding says how much longer it takes.
    let each = |(random, all): (_, Vec<_>)| all.into_iter().map(move |one| (one, random));
    let all = pairs::random_beside_sequential(checked).into_iter().flat_map(each);
    let all = all.filter(|(one, other)| pairs::begin_alike(checked, [one, other])).collect();
    let ratios = pairs::compared(checked, all);
    // Reported if it holds for every sequential phase, with the ratio to the first of them.
    let of_random = |random: &CheckedCell<'_>| {
        let is_own = |pair: &&pairs::Pair<'_>| pair.over.is(random);
        let own: Vec<&pairs::Pair<'_>> = ratios.iter().filter(is_own).collect();
        if own.iter().all(|pair| pair.takes_longer()) { own.first().copied() } else { None }
    };
    let random = checked.phases().filter(|one| one.is_random());
    let slower: Vec<&pairs::Pair<'_>> = random.filter_map(of_random).collect();
    let groups = pairs::by_benchmark(&slower);
    let few = ratios.iter().filter(|pair| !pair.has_ratio()).count();
    let why = "random and sequential phases have too few blocks for a ratio; --blocks 6 is enough";
    Detection {
        findings: groups.iter().filter_map(|group| finding(checked, group)).collect(),
        untold: (few > 0).then(|| why.to_owned()),
        is_told_in_part: few < ratios.len(),
    }
}

/// The finding for one pair of benchmarks, on its targets.
fn finding(checked: &CheckedRun<'_>, group: &[&pairs::Pair<'_>]) -> Option<Finding> {
    let (sequential, random) = (group.first()?.of, group.first()?.over);
    let taken: Vec<Evidence> =
        group.iter().filter_map(|pair| pair.evidence("sequential_over_random")).collect();
    let mut predicted: Vec<Prediction> = predictions(checked, random, sequential);
    predicted.sort_by(|one, other| other.gain().total_cmp(&one.gain()));
    let explained = match predicted.first() {
        None if random.number("file_bytes").is_none() => "how much memory that touches is not \
             known, so no share of hits can be predicted"
            .to_owned(),
        None => "the sizes of the caches are not known".to_owned(),
        // Something else makes it faster, which is not this mistake.
        Some(one) if one.gain() <= 0.0 => return None,
        Some(one) => format!(
            "of its blocks {:.1} % are predicted to be still in {} ({}), of the sequential one's \
             {:.1} %",
            one.random * 100.0,
            one.cache,
            size(one.cache_bytes as f64, 3),
            one.sequential * 100.0
        ),
    };
    let message = format!(
        "{}: {} takes {} its time; {explained}",
        random.cell().title,
        sequential.cell().title,
        by_target(&taken)
    );
    let hits = predicted.iter().take(1).flat_map(|one| {
        let hits = |cell: &CheckedCell<'_>, share: f64| {
            cell.evidence("predicted_hits", "%", share * 100.0)
        };
        [hits(random, one.random), hits(sequential, one.sequential)]
    });
    let cells: Vec<_> = group.iter().flat_map(|pair| [pair.over, pair.of]).collect();
    let evidence = taken.iter().cloned().chain(hits).collect();
    let avoid = avoid(checked, random, &predicted);
    Some(Finding::in_cells(&cells, message, evidence, avoid))
}

/// A size that is far beyond every cache, if reuse explains the ratio.
fn avoid(checked: &CheckedRun<'_>, random: &CheckedCell<'_>, predicted: &[Prediction]) -> String {
    if let (None, Some(directories)) = (predicted.first(), random.number("directories")) {
        let more = directories.saturating_mul(16).min(DIRECTORIES_MAX);
        return format!(
            "more directories, of which caches hold a smaller part: fsprism run bonnie-metadata \
             --dirs {more}"
        );
    }
    if predicted.is_empty() {
        return format!("look for another cause: {}", checked.sprite_lfs("--repeat-reads 2"));
    }
    let largest = predicted.iter().map(|one| one.cache_bytes).max().unwrap_or(32 << 20);
    let bytes = (largest * 16).next_power_of_two();
    checked.sprite_lfs(&format!("--file-size {}", boundary::option_size(bytes)))
}

/// The share of blocks that are predicted to be still in a cache.
#[derive(Clone, Debug)]
struct Prediction {
    cache: String,
    cache_bytes: u64,
    random: f64,
    sequential: f64,
}

impl Prediction {
    fn gain(&self) -> f64 {
        self.random - self.sequential
    }
}

/// A prediction for each cache except memory as a whole.
fn predictions(
    checked: &CheckedRun<'_>,
    random: &CheckedCell<'_>,
    sequential: &CheckedCell<'_>,
) -> Vec<Prediction> {
    let memory = checked.manifest.machine.memory.total_bytes;
    let caches = caches(random.cell(), checked.manifest).into_iter();
    let of = |(cache, cache_bytes): (String, u64)| {
        let random = hit_share(random, cache_bytes)?;
        let sequential = hit_share(sequential, cache_bytes)?;
        Some(Prediction { cache, cache_bytes, random, sequential })
    };
    caches.filter(|(_, bytes)| Some(*bytes) != memory).filter_map(of).collect()
}

/// The share of a phase's blocks that are still cached from the previous phase.
fn hit_share(cell: &CheckedCell<'_>, cache_bytes: u64) -> Option<f64> {
    let file_bytes = cell.number("file_bytes").filter(|&bytes| bytes > 0)? as f64;
    let files = cell.number("files").unwrap_or(1).max(1) as f64;
    let own_bytes = cache_bytes as f64 - (files - 1.0) * file_bytes;
    let share = (own_bytes / file_bytes).clamp(0.0, 1.0);
    let Some(after) = cell.word("after_access") else { return Some(0.0) };
    let in_order = !cell.is_random() && after == "sequential";
    Some(if in_order { share.floor() } else { still_there(share) })
}

/// When blocks are revisited in a new random order, the share of them that are still in a cache
/// that can hold `share` of all blocks.
fn still_there(share: f64) -> f64 {
    if share >= 1.0 { 1.0 } else { share + (1.0 - share) * (1.0 - share).ln() }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use rand::SeedableRng;
    use rand::seq::SliceRandom;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use record::StandardMetric;

    use super::*;
    use crate::check::sample::{Phases, outcome, outcome_of};
    use crate::check::{Mistake, Outcome};
    use crate::sample::{Sample, around};

    /// The naive model: a list of blocks in order of their last use.
    fn simulated_hits(blocks: usize, held: usize) -> f64 {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut order: Vec<usize> = (0..blocks).collect();
        let mut cache: VecDeque<usize> = VecDeque::new();
        let mut hits = 0;
        const PASSES: usize = 200;
        for pass in 0..=PASSES {
            order.shuffle(&mut generator);
            for &block in &order {
                let place = cache.iter().position(|&other| other == block);
                hits += usize::from(place.is_some() && pass > 0);
                place.and_then(|place| cache.remove(place));
                cache.push_front(block);
                cache.truncate(held);
            }
        }
        hits as f64 / (PASSES * blocks) as f64
    }

    #[test]
    fn the_share_that_is_still_there_is_what_a_list_of_blocks_counts() {
        for (blocks, held) in [(256, 64), (256, 128), (256, 230), (100, 100)] {
            let predicted = still_there(held as f64 / blocks as f64);
            let counted = simulated_hits(blocks, held);
            assert!((predicted - counted).abs() < 0.01, "{held}: {predicted} {counted}");
        }
    }

    /// A file of 2 MiB, half of which fits into the cache.
    fn faster(random_ns: f64) -> Phases {
        let mut phases = Phases::published();
        phases.options.file_bytes = 2 << 20;
        phases.times[3] = random_ns;
        phases
    }

    #[test]
    fn one_sequential_phase_that_is_as_fast_speaks_against_it() {
        let mut phases = faster(700.0);
        phases.times[4] = 700.0;
        assert_eq!(outcome(&phases, Mistake::CacheReuse).outcome, Outcome::Passed);
    }

    #[test]
    fn random_reads_that_are_faster_are_found_with_what_is_predicted() {
        let found = outcome(&faster(700.0), Mistake::CacheReuse);
        assert_eq!(found.outcome, Outcome::Found);
        let [finding] = found.findings.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.benchmarks, ["random-read", "sequential-read"]);
        // c = 1/2: 1/2 + 1/2 ln 1/2.
        let predicted = &finding.evidence[1];
        assert!((predicted.value - 15.34).abs() < 0.01, "{finding:?}");
        assert!(finding.message.contains("15.3 % are predicted"), "{}", finding.message);
        let not = outcome(&faster(1000.0), Mistake::CacheReuse);
        assert_eq!(not.outcome, Outcome::Passed);
    }

    /// Section 7 of the paper, where only rates are measured.
    #[test]
    fn random_tests_of_files_that_are_faster_are_found_by_their_rates() {
        let of = |random_rate: f64| {
            let mut sample = Sample::new(&["ramfs"]);
            let both =
                [("stat-sequential", "sequential", 1e5), ("stat-random", "random", random_rate)];
            for (phase, (name, access, rate)) in (1_u64..).zip(both) {
                sample = sample.throughput_first().benchmark(name, &[&around(1e9 / rate, 8)]);
                sample.change(name, |cell| {
                    let words = [("operation", "stat"), ("access", access)];
                    let words = words.map(|(name, word)| (name.to_owned(), word.into()));
                    cell.parameters = words.into();
                    cell.parameters.insert("phase".to_owned(), phase.into());
                    cell.parameters.insert("directories".to_owned(), 1024.into());
                    let metrics = [StandardMetric::THROUGHPUT, StandardMetric::PROCESSOR_SHARE];
                    cell.metrics = metrics.map(StandardMetric::definition).to_vec();
                });
            }
            outcome_of(&sample, Mistake::CacheReuse)
        };
        let found = of(1.4e5);
        assert_eq!(found.outcome, Outcome::Found, "{found:?}");
        let [finding] = found.findings.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.benchmarks, ["stat-random", "stat-sequential"]);
        assert!((finding.evidence[0].value - 1.4).abs() < 0.01, "{finding:?}");
        assert!(finding.message.contains("no share of hits can be predicted"), "{finding:?}");
        assert!(finding.avoid.ends_with("--dirs 16384"), "{finding:?}");
        assert_eq!(of(1e5).outcome, Outcome::Passed);
    }

    #[test]
    fn what_all_caches_hold_or_none_is_something_else() {
        let mut phases = faster(700.0);
        phases.options.file_bytes = 64 << 10;
        assert_eq!(outcome(&phases, Mistake::CacheReuse).outcome, Outcome::Passed);
    }

    #[test]
    fn a_few_blocks_cannot_tell() {
        let mut phases = faster(700.0);
        phases.blocks = 3;
        assert_eq!(outcome(&phases, Mistake::CacheReuse).outcome, Outcome::CannotTell);
    }
}
