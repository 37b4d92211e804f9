//! Which part of a suite fits into a budget.
//!
//! A curve with too few points is worth little, and a point is worth nothing without an interval,
//! which takes [`BLOCKS`] blocks. So if the budget is too small for everything, the least
//! informative points are left out, highest rank first, and the run says which and why. The
//! estimates are rough; the runner enforces the budget itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use record::{CurvePoint, Skipped};

use crate::benchmark::{Benchmark, Work};
use crate::file_set_kind::FileSetKind;

/// Blocks needed for an interval of a median at 95 %.
const BLOCKS: f64 = 6.0;
/// How far the estimate may exceed the budget. What turns out not to fit is left out by the runner,
/// which by then knows how long things take.
const LENIENCY: f64 = 1.5;

/// How much is to be measured, and in which time.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// Number of targets.
    pub targets: usize,
    /// Size of the data files, in bytes.
    pub data_file_bytes: u64,
    /// Time allowed; `None` if the number of blocks is given, however long they take.
    pub budget: Option<Duration>,
}

/// The benchmarks that fit the scope, and those left out, each with the reason.
#[must_use]
pub(crate) fn thinned(all: &[Benchmark], scope: &Scope) -> (Vec<Benchmark>, Vec<Skipped>) {
    let Some(budget) = scope.budget else { return (all.to_vec(), Vec::new()) };
    let ranks: BTreeSet<u32> = all.iter().map(|benchmark| benchmark.rank).collect();
    let up_to = |rank: u32| -> Vec<&Benchmark> { all.iter().filter(|b| b.rank <= rank).collect() };
    let fits = |rank: &&u32| estimate_s(&up_to(**rank), scope) <= LENIENCY * budget.as_secs_f64();
    // The lowest rank stays in any case: the runner stops when the budget is used up.
    let least = ranks.first().copied().unwrap_or(0);
    let most = ranks.iter().rev().find(fits).copied().unwrap_or(least);
    let (kept, left): (Vec<&Benchmark>, Vec<&Benchmark>) =
        all.iter().partition(|benchmark| benchmark.rank <= most);
    let wanted_s = estimate_s(&all.iter().collect::<Vec<_>>(), scope);
    let why = format!(
        "it does not fit into the budget of {}; give --budget {} or --blocks {BLOCKS}",
        rounded(budget.as_secs_f64()),
        rounded(wanted_s)
    );
    (kept.into_iter().cloned().collect(), skipped(&left, &why))
}

/// Roughly how long six blocks of these take, in seconds.
fn estimate_s(benchmarks: &[&Benchmark], scope: &Scope) -> f64 {
    let mut file_sets: BTreeSet<FileSetKind> = BTreeSet::new();
    let mut block_s = 0.0;
    for benchmark in benchmarks {
        file_sets.extend(benchmark.file_set());
        block_s += match &benchmark.work {
            Work::Operations(operations) => operations.estimate_s(benchmark.cache_state),
            Work::Experiment(experiment) => experiment.estimate().as_secs_f64(),
        };
    }
    block_s += warming_s(benchmarks);
    let making = file_sets.iter().map(|file_set| file_set.making_estimate_s(scope.data_file_bytes));
    (block_s + making.sum::<f64>()) * BLOCKS * scope.targets as f64
}

/// Roughly how long reading names into memory again takes per block, in seconds. Benchmarks of cold
/// names remount the file system, after which each file set is cold until the next warm benchmark
/// on it. In random order, the chance that a cold one comes just before a given warm one of a file
/// set is the share of cold ones among both.
fn warming_s(benchmarks: &[&Benchmark]) -> f64 {
    /// Typical of file systems on fast devices.
    const ENTRIES_PER_S: f64 = 100_000.0;
    let mut remounts: f64 = 0.0;
    let mut warm: BTreeMap<FileSetKind, f64> = BTreeMap::new();
    for benchmark in benchmarks {
        match &benchmark.work {
            Work::Operations(of) if of.is_of_names_cold(benchmark.cache_state) => remounts += 1.0,
            Work::Operations(of) => *warm.entry(of.file_set).or_default() += 1.0,
            Work::Experiment(of) => remounts += f64::from(u8::from(of.begins_mounted_again())),
        }
    }
    let of_file_set = |(file_set, warm): (&FileSetKind, &f64)| {
        file_set.entries() as f64 / ENTRIES_PER_S * warm * remounts / (remounts + warm)
    };
    warm.iter().map(of_file_set).sum()
}

/// One line per curve, with the points left out of it.
fn skipped(left: &[&Benchmark], why: &str) -> Vec<Skipped> {
    let mut families: Vec<(&str, Vec<&CurvePoint>)> = Vec::new();
    for benchmark in left {
        let (_, title) = benchmark.family();
        let index = families.iter().position(|(other, _)| *other == title).unwrap_or_else(|| {
            families.push((title, Vec::new()));
            families.len() - 1
        });
        families[index].1.extend(&benchmark.curve);
    }
    let line = |(title, points): (&str, Vec<&CurvePoint>)| {
        let at: Vec<String> = points.iter().map(|point| on_axis(point)).collect();
        let target =
            if at.is_empty() { title.to_owned() } else { format!("{title}: {}", at.join(", ")) };
        Skipped { target, why: why.to_owned() }
    };
    families.into_iter().map(line).collect()
}

/// The value of a point with its unit: `64 KiB`, `1,000`, `16`.
pub(crate) fn on_axis(point: &CurvePoint) -> String {
    textual::on_axis(point.value, &point.unit)
}

/// A time as given on the command line, rounded up.
fn rounded(seconds: f64) -> String {
    if seconds < 100.0 {
        format!("{:.0}s", seconds.ceil())
    } else {
        format!("{:.0}m", (seconds / 60.0).ceil())
    }
}

/// The rank of a point, by which the `count` points of a curve are left out: 0 for both ends, and
/// higher for the points of finer grids.
#[must_use]
pub(crate) fn rank_of(index: usize, count: usize) -> u32 {
    let last = count.saturating_sub(1);
    let (mut low, mut high, mut rank) = (0, last, 0);
    while index != low && index != high {
        rank += 1;
        let middle = low.midpoint(high);
        if index == middle {
            break;
        }
        if index < middle {
            high = middle;
        } else {
            low = middle;
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use record::CacheState;
    use workload::{Operation, Workload};

    use super::*;
    use crate::file_set_kind::DirectorySpec;

    fn curve(points: usize) -> Vec<Benchmark> {
        let point = |index: usize| Benchmark {
            name: format!("read-{index}"),
            rank: rank_of(index, points),
            curve: Some(CurvePoint {
                curve: "read".to_owned(),
                title: "read by size".to_owned(),
                axis: "request size".to_owned(),
                unit: "bytes".to_owned(),
                value: (512_u64 << index) as f64,
                family: None,
            }),
            ..Benchmark::from_workload(Workload::new(Operation::Read), FileSetKind::Data)
        };
        (0..points).map(point).collect()
    }

    fn within(budget_s: u64) -> Scope {
        let budget = Some(Duration::from_secs(budget_s));
        Scope { targets: 1, data_file_bytes: 1 << 20, budget }
    }

    #[test]
    fn ends_come_first_then_the_middle() {
        let ranks: Vec<u32> = (0..9).map(|index| rank_of(index, 9)).collect();
        assert_eq!(ranks, [0, 3, 2, 3, 1, 3, 2, 3, 0]);
        assert_eq!(rank_of(0, 1), 0);
    }

    #[test]
    fn a_small_budget_keeps_the_coarse_curve_and_names_what_is_left_out() {
        let all = curve(9);
        let (kept, skipped) = thinned(&all, &within(1));
        let names: Vec<&str> = kept.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["read-0", "read-2", "read-4", "read-6", "read-8"]);
        assert_eq!(skipped.len(), 1);
        assert_eq!(skipped[0].target, "read by size: 1 KiB, 4 KiB, 16 KiB, 64 KiB");
        assert!(skipped[0].why.contains("the budget of 1s"), "{}", skipped[0].why);
        assert!(skipped[0].why.contains("--budget 3s"), "{}", skipped[0].why);
        assert_eq!(thinned(&all, &within(3)).0.len(), 9);
    }

    #[test]
    fn without_a_budget_nothing_is_left_out_and_the_lowest_rank_always_stays() {
        let all = curve(9);
        assert_eq!(thinned(&all, &Scope { budget: None, ..within(0) }).0.len(), 9);
        assert_eq!(thinned(&all, &within(0)).0.len(), 2);
    }

    #[test]
    fn what_is_mounted_again_makes_large_directories_take_longer() {
        let file_set = FileSetKind::Directories(DirectorySpec::with_entries(1_000_000));
        let of = |cache_state| Benchmark {
            cache_state,
            ..Benchmark::from_workload(Workload::new(Operation::StatPresent), file_set)
        };
        let (warm, cold) = (of(CacheState::Warm), of(CacheState::Cold));
        assert!(warming_s(&[&warm, &warm]).abs() < 1e-9);
        // Half of the times, and two thirds of the times.
        assert!((warming_s(&[&warm, &cold]) - 5.0).abs() < 1e-9);
        assert!((warming_s(&[&cold, &warm, &cold]) - 20.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn places_on_an_axis_are_read_easily() {
        let at = |unit: &str, value| {
            let mut point = curve(1)[0].curve.clone().expect("a point");
            (point.unit, point.value) = (unit.to_owned(), value);
            on_axis(&point)
        };
        assert_eq!(at("bytes", 65_536.0), "64 KiB");
        assert_eq!(at("count", 1_000_000.0), "1,000,000");
        assert_eq!(at("count", 16.0), "16");
    }
}
