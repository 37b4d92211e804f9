//! A dirty cache that a phase inherits from the previous one.
//!
//! Lines that a write leaves dirty in a processor cache must be written to memory before a read can
//! replace them, and that read is timed. Reading the same file again shows the difference: the
//! first read over the second. Where the write made the pages rather than changed them, their first
//! read costs more for another reason, which is a [warm-up](super::warm_up): the kernel notes that
//! they are in use. The array walk has the same ratio without a file system. Dirty pages
//! that were still to be written to the device when a replicate began are the same problem in
//! another cache, and are counted.
//!
//! The paper counted how many bytes a read evicts from a processor cache (230 KB on one file
//! system, 66 KB on another). `--counters` counts them in the same way, if the processor can, and
//! `--cache-traffic` counts them in a simulated cache, in addition to the run.

use record::{ProcessorCount, Warning};

use super::cells::{CheckedCell, CheckedRun};
use super::text::{by_target, figure};
use super::{Detection, Evidence, Finding, pairs};
use crate::analysis::{MARGIN, summary};
use textual::{list, plural, size};

/// The metric of the array walk.
const WRITE_BACK: &str = "first_over_second_read";

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let repeated: Vec<_> = pairs::repeated(checked)
        .into_iter()
        .filter(|(first, _)| first.is_read_after_write() && !first.reads_new_pages())
        .collect();
    let repeated = pairs::compared(checked, repeated);
    let slower: Vec<&pairs::Pair<'_>> = repeated.iter().filter(|one| one.takes_longer()).collect();
    let mut findings = Vec::new();
    for group in pairs::by_benchmark(&slower) {
        let evidence: Vec<Evidence> =
            group.iter().filter_map(|pair| pair.evidence("first_over_second_read")).collect();
        let title = &group[0].of.cell().title;
        let ratios = by_target(&evidence);
        let message = format!("{title}: takes {ratios} the time of the next read");
        let cells: Vec<_> = group.iter().map(|pair| pair.of).collect();
        let avoid = checked.sprite_lfs("--files 11 --drop-first");
        findings.push(Finding::in_cells(&cells, message, evidence, avoid));
    }
    findings.extend(moved_out(checked));
    findings.extend(moved_out_simulated(checked));
    findings.extend(of_arrays(checked));
    findings.extend(dirty_pages(checked));
    let reads = || checked.phases().filter(|one| one.is_read_after_write());
    let is_counted = |one: &CheckedCell<'_>| {
        let (cell, traffic) = (one.cell(), checked.traffic.as_ref());
        traffic.is_some_and(|of| of.inherited_bytes(&cell.target, &cell.benchmark).is_some())
            || one.processor_count(ProcessorCount::L2BytesOut, checked.level()).is_some()
    };
    let is_told = |one: &CheckedCell<'_>| {
        let is_it = |pair: &pairs::Pair<'_>| pair.of.is(one);
        one.drops_first()
            || is_counted(one)
            || reads_far_more(checked, one)
            || repeated.iter().any(|pair| pair.has_ratio() && is_it(pair))
    };
    let untold: Vec<&CheckedCell<'_>> = reads().filter(|one| !is_told(one)).collect();
    let all = reads().count();
    let is_told_in_part = untold.len() < all;
    Detection { findings, untold: why_untold(checked, &untold, all), is_told_in_part }
}

/// Whether it reads so much that the contents of the largest cache are negligible.
fn reads_far_more(checked: &CheckedRun<'_>, one: &CheckedCell<'_>) -> bool {
    let cache_bytes = checked.largest_cache_bytes();
    let least_bytes = cache_bytes.map(|bytes| bytes as f64 / MARGIN);
    let read_bytes = one.cell().working_set_bytes.map(|bytes| bytes as f64);
    least_bytes.zip(read_bytes).is_some_and(|(least, read)| read >= least)
}

/// Why reads after a write may have paid for it, and what would show or avoid that.
fn why_untold(checked: &CheckedRun<'_>, untold: &[&CheckedCell<'_>], all: usize) -> Option<String> {
    let first = untold.first()?;
    let phases = plural(all, "read phase");
    let repeat = checked.sprite_lfs("--pre-read --repeat-reads 2");
    if untold.iter().any(|one| one.sprite_lfs().is_some()) {
        return Some(format!(
            "{} of {phases} after a write were not repeated, or in too few blocks, or the first to \
             read new pages; {repeat} would show it, and --files 11 --drop-first avoids it",
            untold.len()
        ));
    }
    let avoid =
        match checked.largest_cache_bytes().filter(|_| first.cell().working_set_bytes.is_some()) {
            Some(bytes) => format!(
                ", and a file of {} or more makes it negligible (--size)",
                size((bytes as f64 / MARGIN).ceil(), 3)
            ),
            None => String::new(),
        };
    Some(format!(
        "{} of {phases} may include the cost of writing back what the write before left dirty in \
         the processor's caches; {repeat} shows that cost{avoid}",
        untold.len()
    ))
}

/// Bytes that the first read after a write evicts from the processor's L2 cache; a read modifies
/// little itself. Reported if the whole interval is large enough to matter.
fn moved_out(checked: &CheckedRun<'_>) -> Vec<Finding> {
    let counted =
        |one: &CheckedCell<'_>| one.processor_count(ProcessorCount::L2BytesOut, checked.level());
    moved_by_title(checked, counted, |moved| {
        format!("moves {moved} of modified data out of L2 (counted by the processor)")
    })
}

/// Like [`moved_out`], in a simulated cache, where it is known what the write left dirty.
fn moved_out_simulated(checked: &CheckedRun<'_>) -> Vec<Finding> {
    let Some(traffic) = &checked.traffic else { return Vec::new() };
    let (cache, holds) = (&traffic.cache, size(traffic.cache_bytes as f64, 3));
    let inherited = |one: &CheckedCell<'_>| {
        let cell = one.cell();
        let bytes = traffic.inherited_bytes(&cell.target, &cell.benchmark)?;
        Some(one.evidence("bytes_moved_out", "bytes", bytes))
    };
    moved_by_title(checked, inherited, |moved| {
        format!(
            "moves {moved} of dirty data, left by the write before it, out of {cache} (simulated, \
             {holds})"
        )
    })
}

/// Bytes that reads after a write evict from a cache, if that is a relevant share of what is read.
/// If the first file is dropped, the figures do not include it.
fn moved_by_title(
    checked: &CheckedRun<'_>,
    moved: impl Fn(&CheckedCell<'_>) -> Option<Evidence>,
    says: impl Fn(&str) -> String,
) -> Vec<Finding> {
    let reads = checked.phases().filter(|one| one.is_read_after_write() && !one.drops_first());
    let moved = reads.filter_map(|one| {
        let evidence = moved(one)?;
        let least = evidence.interval.map_or(evidence.value, |interval| interval.low);
        let is_much = least > MARGIN * one.cell().working_set_bytes? as f64;
        is_much.then_some((one, evidence))
    });
    let mut by_title: Vec<(&str, Vec<(&CheckedCell<'_>, Evidence)>)> = Vec::new();
    for (one, evidence) in moved {
        let title = one.title();
        match by_title.iter_mut().find(|(known, _)| *known == title) {
            Some((_, all)) => all.push((one, evidence)),
            None => by_title.push((title, vec![(one, evidence)])),
        }
    }
    let finding = |(title, all): (&str, Vec<(&CheckedCell<'_>, Evidence)>)| {
        let (cells, evidence): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let message = format!("{title}: {}", says(&by_target(&evidence)));
        let avoid = checked.sprite_lfs("--files 11 --drop-first");
        Finding::in_cells(&cells, message, evidence, avoid)
    };
    by_title.into_iter().map(finding).collect()
}

/// The array walk's ratio, if its interval is above 1 by more than the margin.
fn of_arrays(checked: &CheckedRun<'_>) -> Option<Finding> {
    let ratio = |one: &&CheckedCell<'_>| {
        let values: Vec<f64> = one.gathered.values_of(WRITE_BACK).into_values().collect();
        let summary = summary(&values, checked.level())?;
        let is_above = summary.interval.is_some_and(|one| one.low > 1.0 + MARGIN);
        let evidence = one.evidence(WRITE_BACK, "x", summary.median).within(summary.interval);
        is_above.then_some(evidence)
    };
    let all: Vec<_> = checked.cells.iter().filter_map(|one| Some((one, ratio(&one)?))).collect();
    let (cells, evidence): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let most = evidence.iter().max_by(|one, other| one.value.total_cmp(&other.value))?;
    let sizes = cells.iter().filter_map(|one| one.number("array_bytes"));
    let sizes: Vec<String> = sizes.map(|bytes| size(bytes as f64, 3)).collect();
    let message = format!(
        "the first read of an array after it was written takes up to {} the time of the second (at \
         {})",
        figure(most),
        list(&sizes, "and")
    );
    let avoid = "take the second read".to_owned();
    Some(Finding::in_cells(&cells, message, evidence, avoid))
}

/// Pages that the previous phase left to be written to the device. The message names the worst
/// cell.
fn dirty_pages(checked: &CheckedRun<'_>) -> Option<Finding> {
    let dirty = |one: &CheckedCell<'_>| {
        let warnings = one.report.warnings.iter();
        let bytes = warnings.filter_map(|report| {
            let Warning::DirtyCarried { dirty_bytes } = report.warning else { return None };
            Some(dirty_bytes)
        });
        bytes.max()
    };
    let mut all: Vec<_> = checked.cells.iter().filter_map(|one| Some((one, dirty(one)?))).collect();
    all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let evidence =
        all.iter().map(|(one, bytes)| one.evidence("dirty_before", "bytes", *bytes as f64));
    let evidence: Vec<Evidence> = evidence.collect();
    let cells: Vec<_> = all.iter().map(|(one, _)| *one).collect();
    let most = cells.first()?;
    let message = format!(
        "{}: {} were still to be written to the device when it began (the most of {})",
        most.place(),
        figure(&evidence[0]),
        plural(cells.len(), "cell")
    );
    let avoid = match checked.manifest.run.suite.as_str() {
        "sprite-lfs" => "sync before what is measured: --pre-read, --repeat-writes 2",
        "bonnie" => "sync the file before each phase closes it: --fsync",
        _ => "sync before what is measured",
    };
    Some(Finding::in_cells(&cells, message, evidence, avoid.to_owned()))
}

#[cfg(test)]
mod tests {
    use record::{Better, Line, MetricDefinition, ProcessorCount, StandardMetric, Warning};

    use crate::check::sample::{Phases, outcome, outcome_of, outcome_with_traffic, with_caches};
    use crate::check::{Mistake, Outcome};
    use crate::sample::Sample;

    #[test]
    fn the_first_read_after_a_write_over_the_second() {
        let published = outcome(&Phases::published(), Mistake::DirtyCache);
        assert_eq!(published.outcome, Outcome::CannotTell);
        assert!(published.cannot_tell.unwrap().starts_with("2 of 2 read phases"));
        let mut phases = Phases::published();
        phases.options.repeat_reads = 2;
        phases.repeat(1, 1.3);
        // Of new pages, a first read is more than a read after a write.
        assert_eq!(outcome(&phases, Mistake::DirtyCache).outcome, Outcome::CannotTell);
        phases.options.pre_read = true;
        let found = outcome(&phases, Mistake::DirtyCache);
        assert_eq!(found.outcome, Outcome::Found);
        assert!((found.findings[0].evidence[0].value - 1.3).abs() < 0.02);
        assert_eq!(found.findings[0].benchmarks, ["sequential-read"]);
        assert!(found.cannot_tell.unwrap().starts_with("1 of 2 read phases"));
        phases.repeat(1, 1.0);
        assert_eq!(outcome(&phases, Mistake::DirtyCache).outcome, Outcome::Passed);
        assert_eq!(outcome(&Phases::corrected(), Mistake::DirtyCache).outcome, Outcome::Passed);
    }

    #[test]
    fn reads_of_bonnie_after_a_write_are_told_where_the_file_is_far_larger_than_a_cache() {
        let of = |file_bytes: u64| {
            let mut sample = Sample::new(&["tmpfs"]).benchmark("char-input", &[&[1e9; 6]]);
            sample.run.manifest.run.suite = "bonnie".to_owned();
            sample.change("char-input", |cell| {
                let metrics = [StandardMetric::BANDWIDTH, StandardMetric::PROCESSOR_SHARE];
                cell.metrics = metrics.map(StandardMetric::definition).to_vec();
                cell.working_set_bytes = Some(file_bytes);
                let parameters = [("operation", "getc"), ("after_operation", "write")];
                let parameters = parameters.map(|(name, word)| (name.to_owned(), word.into()));
                cell.parameters = parameters.into();
                cell.parameters.insert("phase".to_owned(), 4.into());
            });
            with_caches(&mut sample);
            outcome_of(&sample, Mistake::DirtyCache)
        };
        let unknown = of(16 << 20);
        assert_eq!(unknown.outcome, Outcome::CannotTell);
        let why = unknown.cannot_tell.unwrap();
        assert!(why.contains("fsprism run sprite-lfs --pre-read --repeat-reads 2 shows"), "{why}");
        assert!(why.ends_with("a file of 50 MiB or more makes it negligible (--size)"), "{why}");
        assert_eq!(of(50 << 20).outcome, Outcome::Passed);
    }

    #[test]
    fn what_reads_move_out_of_a_cache_is_told_where_it_was_counted() {
        let of =
            |phases: &Phases, bytes: f64| outcome_with_traffic(phases, bytes, Mistake::DirtyCache);
        let found = of(&Phases::published(), 66.0 * 1024.0);
        assert_eq!((found.outcome, found.findings.len()), (Outcome::Found, 2));
        assert_eq!(found.cannot_tell, None);
        let message = &found.findings[0].message;
        assert!(message.contains("66.0 KiB (tmpfs) of dirty data"), "{message}");
        assert!(message.contains("out of L2 (simulated, 256 KiB)"), "{message}");
        assert_eq!(found.findings[1].benchmarks, ["random-read"]);
        // A fiftieth of 128 KiB is 2,621 bytes.
        assert_eq!(of(&Phases::published(), 2600.0).outcome, Outcome::Passed);
        assert_eq!(of(&Phases::corrected(), 1e6).outcome, Outcome::Passed, "the first is dropped");
    }

    #[test]
    fn what_the_processor_counts_is_told_where_the_whole_interval_matters() {
        let of = |phases: &Phases| outcome(phases, Mistake::DirtyCache);
        let mut phases = Phases::published();
        let out = [5e5, 66.0 * 1024.0, 5e5, 2600.0, 5e5];
        phases.counts = vec![(ProcessorCount::L2BytesOut, out)];
        let found = of(&phases);
        assert_eq!((found.outcome, found.findings.len()), (Outcome::Found, 1));
        assert_eq!(found.cannot_tell, None, "what both reads move out was counted");
        let message = &found.findings[0].message;
        assert!(message.contains("moves 66.0 KiB"), "{message}");
        assert!(message.ends_with("out of L2 (counted by the processor)"), "{message}");
        assert_eq!(found.findings[0].benchmarks, ["sequential-read"]);
        // In some blocks nothing is evicted, so the interval includes 0.
        let mut sample = phases.sample();
        for line in &mut sample.run.lines {
            if let Line::Replicate(replicate) = line
                && replicate.block % 2 == 0
            {
                replicate.metrics[1] = 0.0;
            }
        }
        assert_eq!(outcome_of(&sample, Mistake::DirtyCache).outcome, Outcome::Passed);
        phases.counts = vec![(ProcessorCount::MisalignedLoads, out)];
        assert_eq!(of(&phases).outcome, Outcome::CannotTell);
        let mut corrected = Phases::corrected();
        corrected.counts = vec![(ProcessorCount::L2BytesOut, out)];
        assert_eq!(of(&corrected).outcome, Outcome::Passed, "the first is dropped");
    }

    #[test]
    fn the_array_walk_s_ratio_has_to_lie_above_1_with_its_interval() {
        let of = |ratios: &[f64]| {
            let mut sample = Sample::new(&["memory"]).benchmark("write-back", &[ratios]);
            sample.change("write-back", |cell| {
                cell.metrics =
                    vec![MetricDefinition::new("first_over_second_read", "x", Better::Neither)];
                cell.parameters.insert("array_bytes".to_owned(), (1 << 20).into());
            });
            outcome_of(&sample, Mistake::DirtyCache)
        };
        let found = of(&[1.3, 1.32, 1.31, 1.33, 1.3, 1.29]);
        assert_eq!(found.outcome, Outcome::Found);
        assert!(found.findings[0].message.contains("(at 1 MiB)"), "{found:?}");
        assert_eq!(of(&[1.3, 0.9, 1.31, 1.0, 1.3, 1.29]).outcome, Outcome::Passed);
    }

    #[test]
    fn dirty_pages_that_a_replicate_began_with_are_told() {
        let mut sample = Sample::new(&["ext4"]).benchmark("read", &[&[1000.0; 6]]);
        assert_eq!(outcome_of(&sample, Mistake::DirtyCache).outcome, Outcome::Passed);
        for line in &mut sample.run.lines {
            if let Line::Replicate(replicate) = line {
                replicate.warnings = vec![Warning::DirtyCarried { dirty_bytes: 230 << 10 }];
            }
        }
        let found = outcome_of(&sample, Mistake::DirtyCache);
        assert!(found.findings[0].message.contains("230 KiB were still"), "{found:?}");
        assert_eq!(found.findings[0].avoid, "sync before what is measured");
        sample.run.manifest.run.suite = "bonnie".to_owned();
        let found = outcome_of(&sample, Mistake::DirtyCache);
        assert!(found.findings[0].avoid.ends_with("--fsync"), "{found:?}");
    }
}
