//! From a run to its document: the figures of each cell, how certain they are, and which targets
//! can be told apart.

mod cells;
mod cliffs;
mod comparisons;
mod dimensions;
#[cfg(test)]
mod dimensions_tests;
mod doubts;
mod estimates;
mod figures;
mod fits;
mod fragile;
mod gathered;
mod judged;
mod loads;
mod operation_times;
mod percentiles;
mod quantiles;
mod spending;
mod stalls;
mod stories;
mod volume_size;
mod warm_up;
mod working_set;

use std::path::Path;

use file_system::FileSystem;
use measure::Bucket;
use record::{
    CellReport, Document, LeftOut, Line, Run, RunRecord, SCHEMA_VERSION, Skipped, TargetRecord,
    Warning, WarningReport,
};

pub(crate) use doubts::{CLOCK_SHARE_MAX, busy, is_called_as_library};
pub(crate) use estimates::{Summary, median, summary};
pub(crate) use fragile::{caches, nearest_cache};
pub(crate) use gathered::{Gathered, gather};
pub(crate) use judged::{
    Answer, BLOCKS_MIN, IsBusy, Judgement, MARGIN, Pairs, dependence, judge, most_complete,
};
pub use loads::{Load, LoadError, known_loads, read_load};
use operation_times::OperationTimes;
pub(crate) use quantiles::Quantile;
pub(crate) use stories::{Certainty, SlowdownEstimate, are_different, is_mean};
pub(crate) use warm_up::{first_over_rest, is_warm_up, is_whole_course};

/// Clock drift beyond which every time of the run is doubtful, in parts per million.
const CLOCK_DRIFT_PPM_MAX: f64 = 100.0;

/// The result of analysing a run.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    pub(crate) document: Document,
    /// Histogram of the operation times of each cell, for plots.
    pub(crate) latencies: Vec<Vec<Bucket>>,
}

/// Analyses the run at `path`.
///
/// If a histogram log cannot be read, its cell has no percentiles and a warning says so.
pub(crate) fn analyse(run: &Run, path: &Path, loads: &[Load]) -> Analysis {
    let manifest = &run.manifest;
    let gathered = gather(run);
    let level = manifest.run.confidence_level;
    let of_figures = judged::dependence_of_figures(&gathered);
    let reports = gathered.iter().map(|one| {
        let times = run.replicate_histograms(path, one.index).map(OperationTimes::new);
        let report = cells::report(one, &gathered, &times, manifest, &of_figures);
        (report, times.map_or_else(|_| Vec::new(), |times| times.pooled.buckets().collect()))
    });
    let (mut cells, latencies): (Vec<CellReport>, _) = reports.unzip();
    let (searches, cliffs) = cliffs::all(run, &gathered);
    cliffs::warn(&mut cells, &cliffs);
    let end = run
        .lines
        .iter()
        .rev()
        .find_map(|line| if let Line::End(end) = line { Some(end.clone()) } else { None });
    let (mut comparisons, dependence) = comparisons::all(&gathered, level);
    figures::settle(&mut cells, &mut comparisons);
    if manifest.run.kind.is_timed_here() {
        volume_size::warn(&mut cells, &comparisons, &manifest.targets);
    }
    let mut warnings = run_warnings(run);
    let of_blocks = doubts::of_blocks(&gathered, &of_figures, &comparisons, &dependence);
    warnings.extend(of_blocks.into_iter().map(WarningReport::from));
    warnings.extend(doubts::busy(&gathered).map(WarningReport::from));
    let document = Document {
        schema_version: SCHEMA_VERSION,
        tool: Some(manifest.tool.clone()),
        run: run_record(run),
        machine: manifest.machine.clone(),
        clock: manifest.clock.clone(),
        references: manifest.references.clone(),
        targets: manifest.targets.clone(),
        cells,
        cliffs,
        searches,
        comparisons,
        quantile_comparisons: comparisons::of_quantiles(&gathered, level),
        comparisons_without_start: comparisons::without_start(&gathered, level),
        loads: loads::all(loads, &gathered, manifest, &of_figures, &dependence),
        dimensions: dimensions::all(&gathered, manifest, dependence),
        fits: fits::all(&gathered, manifest),
        skipped: [manifest.skipped.clone(), left_out(run)].concat(),
        warnings,
        end,
        spending: spending::for_run(run),
    };
    Analysis { document, latencies }
}

/// How many of a run's replicates were measured while other programs kept the machine busy.
pub(crate) fn busy_of_run(run: &Run) -> Option<Warning> {
    doubts::busy(&gather(run))
}

/// What was asked for, with the budget that the run has been granted since.
fn run_record(run: &Run) -> RunRecord {
    let granted = run
        .lines
        .iter()
        .rev()
        .find_map(|line| if let Line::Start(start) = line { start.budget_s } else { None });
    let recorded = run.manifest.run.clone();
    match granted {
        Some(budget_s) => RunRecord { budget_s, blocks: None, ..recorded },
        None => recorded,
    }
}

/// What the run left out once it knew how long things take.
fn left_out(run: &Run) -> Vec<Skipped> {
    let skipped = |one: &LeftOut| {
        let cell = one.cells.first().and_then(|&cell| run.manifest.cells.get(cell as usize));
        let target = cell.map_or_else(|| one.benchmark.clone(), |cell| cell.title.clone());
        Skipped { target, why: one.why.clone() }
    };
    record::left_out(&run.lines).into_iter().map(skipped).collect()
}

/// Reasons to doubt the whole run.
fn run_warnings(run: &Run) -> Vec<WarningReport> {
    let mut warnings: Vec<WarningReport> = Vec::new();
    // Disks of guests are not affected by this machine's settings.
    let is_of_guests = !run.manifest.run.kind.is_timed_here();
    let targets: &[TargetRecord] = if is_of_guests { &[] } else { &run.manifest.targets };
    // Files in memory cannot be fragmented on a device.
    let can_age = |target: &&TargetRecord| {
        let known = FileSystem::named(&target.file_system);
        target.scratch && known.is_none_or(|known| !known.lives_in_memory())
    };
    if targets.iter().filter(can_age).any(|target| target.aged.is_none()) {
        warnings.push(Warning::FreshFileSystem.into());
    }
    let on_images: Vec<&str> = targets
        .iter()
        .filter(|target| target.scratch && target.loop_direct_io.is_some())
        .filter(|target| !target.image_allocated)
        .map(|target| target.label.as_str())
        .collect();
    if !on_images.is_empty() {
        let plain = WarningReport::from(Warning::SparseImage);
        let message = format!("{} ({})", plain.message, on_images.join(", "));
        warnings.push(WarningReport { message, ..plain });
    }
    warnings.extend(hidden_below(run).filter(|_| !is_of_guests).map(WarningReport::from));
    warnings.extend(run.left_out().map(WarningReport::from));
    // These warnings have no field for the target, so their sentences name it.
    for target in targets {
        let buffered = (target.loop_direct_io == Some(false)).then_some(Warning::LoopBuffered);
        let background = background_work(target).map(|what| Warning::BackgroundWork { what });
        for warning in buffered.into_iter().chain(background) {
            let plain = WarningReport::from(warning);
            let message = format!("{}: {}", target.label, plain.message);
            warnings.push(WarningReport { message, ..plain });
        }
    }
    // A resumed run has one end per part; the worst drift counts.
    let drifts = run.lines.iter().filter_map(|line| {
        if let Line::End(end) = line { Some(end.clock_drift_ppm) } else { None }
    });
    let worst =
        drifts.fold(0.0, |worst: f64, ppm| if ppm.abs() > worst.abs() { ppm } else { worst });
    if worst.abs() > CLOCK_DRIFT_PPM_MAX {
        warnings.push(Warning::ClockDrift { ppm: worst }.into());
    }
    warnings
}

/// Warns that a virtual disk hides what is below it, if anything was read cold.
fn hidden_below(run: &Run) -> Option<Warning> {
    let hypervisor = run.manifest.machine.hypervisor.clone()?;
    let is_cold = |cell: u32| {
        let cell = run.manifest.cells.get(cell as usize);
        cell.is_some_and(|cell| cell.cache_state.is_cold())
    };
    let was_read = run.lines.iter().any(|line| {
        if let Line::Replicate(replicate) = line { is_cold(replicate.cell) } else { false }
    });
    was_read.then_some(Warning::HiddenBelow { hypervisor })
}

/// Work that a target's options let the file system do in the background during the measurement.
fn background_work(target: &TargetRecord) -> Option<String> {
    let mut what = Vec::new();
    if let Some(option) = target.mount_options.split(',').find(|one| one.starts_with("discard")) {
        what.push(format!("it discards freed blocks (mounted {option}; mount=nodiscard stops it)"));
    }
    if target.mkfs.as_ref().is_some_and(|mkfs| mkfs.contains("lazy_itable_init=1")) {
        what.push("it initialises its inode tables (lazy_itable_init=1)".to_owned());
    }
    (!what.is_empty()).then(|| what.join("; "))
}

#[cfg(test)]
mod tests {
    use record::{Ageing, CacheState};

    use super::*;
    use crate::sample::Sample;

    #[test]
    fn background_work_that_the_options_allow_is_named() {
        let mut sample = Sample::new(&["btrfs", "ext4"]).benchmark("create", &[&[1.0; 6]]);
        let targets = &mut sample.run.manifest.targets;
        targets[0].mount_options = "rw,discard=async,space_cache=v2".to_owned();
        targets[1].mkfs = Some("mkfs.ext4 -E lazy_itable_init=1".to_owned());
        let document = sample.document();
        let messages: Vec<&str> = document
            .warnings
            .iter()
            .filter(|report| matches!(report.warning, Warning::BackgroundWork { .. }))
            .map(|report| report.message.as_str())
            .collect();
        assert_eq!(messages.len(), 2);
        assert!(messages[0].starts_with("btrfs: ") && messages[0].contains("discard=async"));
        assert!(messages[1].starts_with("ext4: ") && messages[1].contains("lazy_itable_init"));
    }

    fn kinds(document: &Document) -> Vec<&Warning> {
        document.warnings.iter().map(|report| &report.warning).collect()
    }

    #[test]
    fn a_drift_of_the_clock_is_told_from_100_ppm_on() {
        let mut sample = Sample::new(&["/mnt"]).benchmark("create", &[&[1.0; 6]]).ended();
        assert!(kinds(&sample.document()).is_empty());
        let Some(Line::End(end)) = sample.run.lines.last_mut() else { panic!("it has ended") };
        end.clock_drift_ppm = -150.0;
        assert_eq!(kinds(&sample.document()), [&Warning::ClockDrift { ppm: -150.0 }]);
    }

    #[test]
    fn what_a_virtual_disk_hides_is_said_where_something_was_read_cold() {
        let warned = |hypervisor: Option<&str>, state| {
            let mut sample = Sample::new(&["/mnt"]).benchmark("read", &[&[1.0; 6]]);
            sample.change("read", |cell| cell.cache_state = state);
            sample.run.manifest.machine.hypervisor = hypervisor.map(str::to_owned);
            let document = sample.document();
            document.warnings.iter().any(|one| one.message.contains("virtual (KVM)"))
        };
        assert!(warned(Some("KVM"), CacheState::Cold));
        assert!(!warned(Some("KVM"), CacheState::Warm));
        assert!(!warned(None, CacheState::Cold));
    }

    #[test]
    fn each_buffered_loop_device_is_named() {
        let mut sample = Sample::new(&["a", "b"]).benchmark("create", &[&[1.0; 6]]);
        for target in &mut sample.run.manifest.targets {
            target.scratch = true;
            target.loop_direct_io = Some(false);
        }
        let document = sample.document();
        let expected = [
            &Warning::FreshFileSystem,
            &Warning::SparseImage,
            &Warning::LoopBuffered,
            &Warning::LoopBuffered,
        ];
        assert_eq!(kinds(&document), expected);
        assert!(document.warnings[3].message.starts_with("b: the loop device"));
    }

    #[test]
    fn counts_in_guests_are_not_doubted_as_times_of_this_machine() {
        let mut sample = Sample::new(&["ext4"]).benchmark("create", &[&[1.0; 2]]);
        let target = &mut sample.run.manifest.targets[0];
        (target.scratch, target.loop_direct_io) = (true, Some(false));
        let warnings = |sample: &Sample| {
            let document = sample.document();
            [document.warnings.len(), document.cells[0].warnings.len()]
        };
        let [of_run, of_cell] = warnings(&sample);
        assert!(of_run > 0 && of_cell > 0, "{of_run} {of_cell}");
        for kind in [record::RunKind::Networked, record::RunKind::Traffic] {
            sample.run.manifest.run.kind = kind;
            assert_eq!(warnings(&sample), [0, 0], "{kind:?}");
        }
    }

    #[test]
    fn only_what_could_be_aged_and_was_not_is_called_fresh() {
        let warned = |aged: [Option<Ageing>; 3]| {
            let mut sample = Sample::new(&["tmpfs", "ext4", "xfs"]).benchmark("create", &[]);
            for (target, aged) in sample.run.manifest.targets.iter_mut().zip(aged) {
                target.scratch = true;
                target.aged = aged;
            }
            kinds(&sample.document()).contains(&&Warning::FreshFileSystem)
        };
        let aged = Some(Ageing::new(5, 80));
        assert!(!warned([None, aged, aged]));
        assert!(warned([None, aged, None]));
    }

    #[test]
    fn sparse_images_are_told_once_for_all_targets_that_have_one() {
        let mut sample = Sample::new(&["tmpfs", "ext4", "xfs"]).benchmark("create", &[]);
        for (target, direct) in
            sample.run.manifest.targets.iter_mut().zip([None, Some(true), Some(true)])
        {
            target.scratch = true;
            target.loop_direct_io = direct;
        }
        let document = sample.document();
        assert_eq!(kinds(&document), [&Warning::FreshFileSystem, &Warning::SparseImage]);
        assert!(document.warnings[1].message.ends_with("is included (ext4, xfs)"));
        sample.run.manifest.targets[2].image_allocated = true;
        assert!(sample.document().warnings[1].message.ends_with("is included (ext4)"));
    }
}
