//! Reasons to doubt a cell's figures.
//!
//! Some warnings were recorded with the replicates. They are merged here: each kind appears once,
//! with its worst numbers. The others follow from the cell and the machine.

use std::mem::discriminant;

use file_system::FileSystem;
use record::machine::Machine;
use record::{Busy, Comparison, Manifest, SuiteOptions, TargetRecord, Warning};
use stats::dependence::Dependence;
use stats::{outliers, trend};

use super::{Gathered, estimates, fragile, warm_up};

/// Above this share of an operation's time, the bare system call is said to dominate it.
const CALL_SHARE_MAX: f64 = 0.25;
/// Above this share of a timed interval, the cost of reading the clock is too large.
pub(crate) const CLOCK_SHARE_MAX: f64 = 0.05;
/// Processor time taken by the hypervisor that is not worth mentioning, in percent.
const STEAL_PERCENT_MAX: f64 = 1.0;
/// A block is reported as far off if it differs from the median by at least this factor.
const OUTLIER_FACTOR_MIN: f64 = 2.0;
/// Largest p-value at which a trend is reported: a run has hundreds of cells.
const TREND_P_MAX: f64 = 0.001;
/// Smallest trend that is reported, in percent.
const TREND_PERCENT_MIN: f64 = 5.0;
/// The unit of `/proc/stat`: `USER_HZ` is 100 on all relevant architectures.
const TICK_NS: u64 = 10_000_000;
/// A word of memory: an access at a multiple of this size touches one word fewer.
const WORD_BYTES: u64 = 8;

/// All warnings of one cell, each kind once. `all` contains the other cells of the run.
pub(super) fn of_cell(
    gathered: &Gathered<'_>,
    all: &[Gathered<'_>],
    manifest: &Manifest,
) -> Vec<Warning> {
    let level = manifest.run.confidence_level;
    let measured = gathered.replicates.values().flat_map(|replicate| &replicate.warnings);
    // A search measures close to a cliff on purpose; this is said of the cliff instead.
    let of_declared = |warning: Option<Warning>| warning.filter(|_| !gathered.is_searched);
    if !manifest.run.kind.is_timed_here() {
        // The figures are counts in guests, each taken in a proved state.
        return not_as_asked(gathered).into_iter().chain(measured.cloned()).collect();
    }
    let found = [
        of_declared(too_few(gathered, level)),
        not_as_asked(gathered),
        warm_up::first_over_rest(gathered, level)
            .filter(warm_up::is_warm_up)
            .map(|found| Warning::WarmUpInside { first_over_rest: found.median }),
        of_declared(fragile::zone_of(gathered, all, manifest)),
        cached(gathered, manifest),
        more_threads_than_cores(gathered, &manifest.machine),
        unaligned(gathered),
        stolen(gathered, &manifest.machine),
        busy([gathered]),
        call_overhead(gathered, manifest),
        clock_overhead(gathered, manifest),
        in_batches(gathered),
        of_declared(far_outliers(gathered)),
        of_declared(trend(gathered)),
    ];
    let mut merged: Vec<Warning> = Vec::new();
    for warning in found.into_iter().flatten().chain(measured.cloned()) {
        match merged.iter_mut().find(|have| discriminant(*have) == discriminant(&warning)) {
            Some(have) if warning.severity() > have.severity() => *have = warning,
            Some(_) => {}
            None => merged.push(warning),
        }
    }
    merged
}

/// Whether successive blocks depend on each other, in the figures and in the comparisons.
pub(super) fn of_blocks(
    all: &[Gathered<'_>],
    of_figures: &Dependence,
    comparisons: &[Comparison],
    of_ratios: &Dependence,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let declared = all.iter().filter(|one| !one.is_searched);
    let blocks = declared.map(Gathered::count).max().unwrap_or(0);
    if of_figures.is_seen() {
        let effective = of_figures.effective(u64::from(blocks));
        let (correlation, p) = (of_figures.correlation, of_figures.p);
        warnings.push(Warning::DependentBlocks { correlation, p, blocks, effective });
    }
    if of_ratios.is_seen() {
        let blocks = comparisons.iter().map(|one| one.blocks).max().unwrap_or(0);
        let effective = of_ratios.effective(u64::from(blocks));
        let (correlation, p) = (of_ratios.correlation, of_ratios.p);
        warnings.push(Warning::DependentRatios { correlation, p, blocks, effective });
    }
    warnings
}

/// Blocks that are far off the others: beyond a modified z-score of 3.5, and far enough to move the
/// mean.
fn far_outliers(gathered: &Gathered<'_>) -> Option<Warning> {
    let values: Vec<f64> = gathered.values(0).into_values().collect();
    let median = estimates::median(&values).filter(|&median| median > 0.0)?;
    let share = |index: usize| values[index] / median;
    let is_far = |share: f64| share > 0.0 && share.max(1.0 / share) >= OUTLIER_FACTOR_MIN;
    let scored = outliers::modified_z(&values).ok()?;
    let far = scored.iter().map(|one| share(one.index)).filter(|&share| is_far(share));
    let far: Vec<f64> = far.collect();
    let distance = |share: &f64| share.ln().abs();
    let farthest = far.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let count = |all: &[f64]| u32::try_from(all.len()).unwrap_or(u32::MAX);
    Some(Warning::FarOutliers { outliers: count(&far), of: count(&values), farthest })
}

/// A straight line through the blocks that rises or falls significantly and by a relevant amount.
fn trend(gathered: &Gathered<'_>) -> Option<Warning> {
    let line = trend::Line::through(&gathered.values(0))?;
    let change_percent = line.change_percent();
    let is_sure = line.p() <= TREND_P_MAX && change_percent.abs() >= TREND_PERCENT_MIN;
    is_sure.then_some(Warning::Trend { change_percent })
}

fn too_few(gathered: &Gathered<'_>, level: f64) -> Option<Warning> {
    let have = gathered.count();
    let need = u32::try_from(estimates::least_n(0.5, level)?).ok()?;
    let gave_up_at_once = gathered.failed.is_some() && have == 0;
    (have < need && !gave_up_at_once).then_some(Warning::TooFewReplicates { have, need })
}

/// Warns if Bonnie's file fits into a cache, on the cell's target.
fn cached(gathered: &Gathered<'_>, manifest: &Manifest) -> Option<Warning> {
    let Some(SuiteOptions::Bonnie(run)) = &manifest.run.classic else { return None };
    let target = manifest.targets.iter().find(|one| one.label == gathered.cell.target)?;
    let said = gathered.cell.parameters.get("size_bytes").and_then(serde_json::Value::as_u64);
    record::cache_benchmark(&manifest.machine, target, said.unwrap_or(run.options.size_bytes))
}

fn not_as_asked(gathered: &Gathered<'_>) -> Option<Warning> {
    let last = gathered.discarded.last()?;
    let discarded = u32::try_from(gathered.discarded.len()).unwrap_or(u32::MAX);
    Some(Warning::CacheStateNotAsAsked { discarded, why: last.why.clone() })
}

fn more_threads_than_cores(gathered: &Gathered<'_>, machine: &Machine) -> Option<Warning> {
    let threads = gathered.cell.parameters.get("threads")?.as_u64()?;
    let threads = u32::try_from(threads).unwrap_or(u32::MAX);
    let allowed = u32::try_from(machine.processor.allowed.len()).ok().filter(|&count| count > 0);
    let processors = allowed.or(machine.processor.threads)?;
    // Sibling threads of one core count as one, since they share its execution units.
    let distinct = gathered.cell.parameters.get("cores").and_then(serde_json::Value::as_u64);
    let distinct = distinct.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let processors = processors.min(distinct.unwrap_or(u32::MAX));
    // A quota of 1.5 cores lets two threads run, each part of the time, so it is rounded up.
    let quota = machine.cgroup.as_ref().and_then(|cgroup| cgroup.cpu_quota_cores);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let cores = quota.map_or(processors, |quota| (quota.ceil() as u32).clamp(1, processors.max(1)));
    (threads > cores).then_some(Warning::MoreConcurrencyThanCores { threads, cores })
}

fn unaligned(gathered: &Gathered<'_>) -> Option<Warning> {
    let parameters = &gathered.cell.parameters;
    let alignment_bytes = parameters.get("alignment_bytes")?.as_u64()?;
    let access = parameters.get("access").and_then(|access| access.as_str());
    let is_random = access.is_some_and(|access| access != "sequential");
    let off_word = !alignment_bytes.is_multiple_of(WORD_BYTES) || alignment_bytes == 0;
    (is_random && off_word).then_some(Warning::UnalignedRandomAccess { alignment_bytes })
}

/// Processor time taken by the hypervisor, over all replicates. It is counted in ticks over all
/// processors, so short replicates say little about it, and a single tick says nothing.
fn stolen(gathered: &Gathered<'_>, machine: &Machine) -> Option<Warning> {
    let sum = |of: fn(&record::Replicate) -> u64| {
        gathered.replicates.values().map(|replicate| of(replicate)).sum::<u64>()
    };
    let stolen_ns = sum(|replicate| replicate.steal_ns);
    let processors = f64::from(machine.processor.threads.unwrap_or(1).max(1));
    let processor_ns = sum(|replicate| replicate.elapsed_ns) as f64 * processors;
    let percent = (stolen_ns as f64 / processor_ns * 100.0).min(100.0);
    (stolen_ns > TICK_NS && percent > STEAL_PERCENT_MAX).then_some(Warning::CpuStolen { percent })
}

/// How many replicates of these cells were measured while other programs kept the machine busy.
pub(crate) fn busy<'a>(all: impl IntoIterator<Item = &'a Gathered<'a>>) -> Option<Warning> {
    let (mut of, mut busy) = (0, Vec::new());
    for replicate in all.into_iter().flat_map(|one| one.replicates.values()) {
        of += 1;
        busy.extend(replicate.neighbours.as_ref().and_then(|one| one.busy.as_ref()));
    }
    let worst = busy.iter().copied().max_by(|a: &&Busy, b: &&Busy| {
        let by_processors = a.processors.total_cmp(&b.processors);
        a.waited_percent.total_cmp(&b.waited_percent).then(by_processors)
    })?;
    Some(Warning::BusyMachine {
        replicates: u32::try_from(busy.len()).unwrap_or(u32::MAX),
        of,
        waited_percent: worst.waited_percent,
        who: worst.who(),
    })
}

fn call_overhead(gathered: &Gathered<'_>, manifest: &Manifest) -> Option<Warning> {
    let target = manifest.targets.iter().find(|one| one.label == gathered.cell.target);
    if target.is_some_and(is_called_as_library) {
        return None;
    }
    let (call_ns, operation_ns) = (manifest.clock.system_call_ns, operation_ns(gathered)?);
    (call_ns > operation_ns * CALL_SHARE_MAX)
        .then_some(Warning::CallOverheadDominates { call_ns, operation_ns })
}

/// Whether the target is called as a library, so that its operations contain no system call.
pub(crate) fn is_called_as_library(target: &TargetRecord) -> bool {
    let known = FileSystem::named(&target.file_system);
    target.scratch && known.is_some_and(FileSystem::is_called_as_library)
}

fn clock_overhead(gathered: &Gathered<'_>, manifest: &Manifest) -> Option<Warning> {
    let batch = gathered.pilot.map_or(1, |pilot| pilot.batch.max(1));
    let clock_ns = manifest.clock.cost_ns;
    let interval_ns = operation_ns(gathered)? * f64::from(batch);
    (clock_ns > interval_ns * CLOCK_SHARE_MAX)
        .then_some(Warning::ClockOverhead { clock_ns, interval_ns })
}

fn in_batches(gathered: &Gathered<'_>) -> Option<Warning> {
    let batch = gathered.pilot?.batch;
    (batch > 1).then_some(Warning::TimedInBatches { batch })
}

/// The median over replicates of the median operation time; in a batch, per operation.
fn operation_ns(gathered: &Gathered<'_>) -> Option<f64> {
    let medians: Vec<f64> =
        gathered.replicates.values().map(|replicate| replicate.latency.p50_ns as f64).collect();
    estimates::median(&medians).filter(|&median_ns| median_ns > 0.0)
}

#[cfg(test)]
mod tests {
    use record::{CacheEvidence, Discarded, Line};
    use serde_json::json;

    use super::*;
    use crate::sample::Sample;

    /// One cell whose operations take 10 us, so that there is no reason to doubt it.
    fn sample() -> Sample {
        Sample::new(&["ext4"]).benchmark("read", &[&[10_000.0; 6]])
    }

    fn warnings(sample: &Sample) -> Vec<Warning> {
        let document = sample.document();
        document.cells[0].warnings.iter().map(|report| report.warning.clone()).collect()
    }

    fn each_replicate(sample: &mut Sample, mut change: impl FnMut(&mut record::Replicate)) {
        for line in &mut sample.run.lines {
            if let Line::Replicate(replicate) = line {
                change(replicate);
            }
        }
    }

    #[test]
    fn a_figure_that_surely_rises_or_falls_is_told_with_how_much() {
        let of = |values: &[f64]| warnings(&Sample::new(&["ext4"]).benchmark("read", &[values]));
        let risen: Vec<f64> = (0..8).map(|block| 10_000.0 * 1.02_f64.powi(block)).collect();
        let [Warning::Trend { change_percent }] = of(&risen)[..] else {
            panic!("{:?}", of(&risen))
        };
        assert!((change_percent - 14.8).abs() < 0.5, "{change_percent}");
        // Equally significant but too small to matter; and equally large but not significant.
        let little: Vec<f64> = (0..8).map(|block| 10_000.0 * 1.005_f64.powi(block)).collect();
        assert_eq!(of(&little), []);
        assert_eq!(of(&[10e3, 11e3, 10e3, 12e3, 10.5e3, 12e3, 10.2e3, 11.5e3]), []);
    }

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
    fn figures_of_blocks_that_resemble_the_ones_before_have_wider_intervals() {
        let values = |seed: u64, shuffled: bool| -> Vec<f64> {
            let mut logs = crate::sample::noisy(1.0, 1.0, seed, 16);
            for place in 1..logs.len() {
                logs[place] = 0.8 * logs[place - 1] + 0.6 * (logs[place] - 1.0);
            }
            let at = |block: usize| logs[if shuffled { block * 7 % 16 } else { block }];
            (0..16).map(|block| 1000.0 * (0.05 * at(block)).exp()).collect()
        };
        let document = |shuffled: bool| {
            let add = |sample: Sample, seed: u64| {
                sample.benchmark(&seed.to_string(), &[&values(seed, shuffled)])
            };
            (1..20).fold(Sample::new(&["ext4"]), add).document()
        };
        let (resembling, apart) = (document(false), document(true));
        let is_told = |document: &record::Document| {
            let mut told = document.warnings.iter();
            told.any(|one| match one.warning {
                Warning::DependentBlocks { blocks: 16, p, .. } => p > 0.0 && p < 1e-6,
                _ => false,
            })
        };
        assert!(is_told(&resembling) && !is_told(&apart));
        for (one, other) in resembling.cells.iter().zip(&apart.cells) {
            let width = |cell: &record::CellReport| {
                let interval = cell.metrics[0].interval.expect("of 16 blocks");
                (interval.high / interval.low).ln()
            };
            assert!(width(one) > 1.3 * width(other), "{}", one.benchmark);
        }
    }

    #[test]
    fn an_ordinary_cell_has_none() {
        assert_eq!(warnings(&sample()), []);
    }

    #[test]
    fn more_threads_than_the_processors_or_the_quota_allow() {
        let mut sample = sample();
        sample.change("read", |cell| _ = cell.parameters.insert("threads".to_owned(), json!(3)));
        sample.run.manifest.machine.processor.allowed = vec![0, 1, 2];
        assert_eq!(warnings(&sample), []);
        sample.run.manifest.machine.processor.allowed = vec![4, 7];
        let expected = [Warning::MoreConcurrencyThanCores { threads: 3, cores: 2 }];
        assert_eq!(warnings(&sample), expected);
        sample.run.manifest.machine.processor.allowed = vec![0, 1, 2];
        sample.change("read", |cell| _ = cell.parameters.insert("cores".to_owned(), json!(2)));
        assert_eq!(warnings(&sample), expected, "two of three are siblings");
    }

    #[test]
    fn random_offsets_off_the_word_are_told_and_sequential_ones_not() {
        for (access, alignment, expected) in [
            ("random", 1, true),
            ("zipf", 12, true),
            ("random", 8, false),
            ("sequential", 1, false),
        ] {
            let mut sample = sample();
            sample.change("read", |cell| {
                cell.parameters.insert("access".to_owned(), json!(access));
                cell.parameters.insert("alignment_bytes".to_owned(), json!(alignment));
            });
            assert_eq!(!warnings(&sample).is_empty(), expected, "{access} {alignment}");
        }
    }

    #[test]
    fn the_call_and_the_clock_are_told_where_they_are_much_of_the_operation() {
        // The sample's call takes 213 ns and its clock 21 ns.
        let of = |time_ns: f64, batch: u32| {
            warnings(&Sample::new(&["a"]).batch(batch).benchmark("read", &[&[time_ns; 6]]))
        };
        assert_eq!(of(853.0, 1), []);
        let call = Warning::CallOverheadDominates { call_ns: 213.0, operation_ns: 851.0 };
        assert_eq!(of(851.0, 1), [call]);
        let mut sample = Sample::new(&["a"]).benchmark("read", &[&[851.0; 6]]);
        sample.run.manifest.targets[0].scratch = true;
        sample.run.manifest.targets[0].file_system = "densefs".to_owned();
        assert_eq!(warnings(&sample), [], "its operations hold no system call");
        let clock = Warning::ClockOverhead { clock_ns: 21.0, interval_ns: 419.0 };
        assert!(of(419.0, 1).contains(&clock));
        assert!(!of(421.0, 1).iter().any(|it| matches!(it, Warning::ClockOverhead { .. })));
        let batch = of(100.0, 8);
        assert!(batch.contains(&Warning::TimedInBatches { batch: 8 }));
        assert!(!batch.iter().any(|it| matches!(it, Warning::ClockOverhead { .. })), "{batch:?}");
    }

    #[test]
    fn replicates_warnings_are_merged_to_the_worst_of_each_kind() {
        let mut sample = sample();
        let mut dirty_bytes = [10, 30, 20].into_iter();
        each_replicate(&mut sample, |replicate| {
            let dirty = dirty_bytes.next().map(|dirty_bytes| Warning::DirtyCarried { dirty_bytes });
            let background = Warning::BackgroundWork { what: "lazy initialisation".to_owned() };
            replicate.warnings = dirty.into_iter().chain([background]).collect();
        });
        let background = Warning::BackgroundWork { what: "lazy initialisation".to_owned() };
        let expected = [Warning::DirtyCarried { dirty_bytes: 30 }, background];
        assert_eq!(warnings(&sample), expected);
    }

    #[test]
    fn stolen_time_is_told_above_one_percent_of_all_processors() {
        let of = |elapsed_ms: u64, steal_ms: u64, processors| {
            let mut sample = sample();
            sample.run.manifest.machine.processor.threads = processors;
            each_replicate(&mut sample, |replicate| {
                replicate.elapsed_ns = elapsed_ms * 1_000_000;
                replicate.steal_ns = steal_ms * 1_000_000;
            });
            warnings(&sample)
        };
        assert_eq!(of(1000, 10, None), []);
        assert_eq!(of(1000, 50, None), [Warning::CpuStolen { percent: 5.0 }]);
        assert_eq!(of(1000, 50, Some(2)), [Warning::CpuStolen { percent: 2.5 }]);
        // Six replicates of a millisecond each, one of which happened to include a tick.
        assert_eq!(of(1, 1, None), []);
        assert_eq!(of(1, 9, None), [Warning::CpuStolen { percent: 100.0 }]);
    }

    #[test]
    fn discarded_replicates_are_counted_with_the_last_reason() {
        let mut sample = sample();
        for (attempt, why) in [(1, "first"), (2, "second")] {
            let (why, evidence) = (why.to_owned(), CacheEvidence::default());
            let discarded = Discarded { cell: 0, block: 3, attempt, turn_ns: None, why, evidence };
            sample.run.lines.push(Line::Discarded(discarded));
        }
        let expected = Warning::CacheStateNotAsAsked { discarded: 2, why: "second".to_owned() };
        assert_eq!(warnings(&sample), [expected]);
    }
}
