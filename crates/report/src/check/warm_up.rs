//! Warm-up within the measured part.
//!
//! Two things show it. If a replicate records the course of its operations: the first quarter of
//! them takes significantly longer than the rest, as in the cell's warning. If a phase is executed
//! twice: the first time takes significantly longer than the second, although nothing was written
//! before it, or what was written before it were new pages; after a write to pages that were there,
//! that is a [dirty cache](super::dirty_cache). The first write of a file is left out, since it
//! allocates what the second overwrites.

use super::cells::{CheckedCell, CheckedRun};
use super::text::{by_target, figure};
use super::{Detection, Evidence, Finding, pairs};
use crate::analysis::{BLOCKS_MIN, Summary, first_over_rest, is_warm_up, is_whole_course};
use textual::plural;

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let level = checked.level();
    let courses: Vec<(&CheckedCell<'_>, Summary)> = checked
        .cells
        .iter()
        .filter_map(|one| Some((one, first_over_rest(&one.gathered, level)?)))
        .collect();
    let mut findings: Vec<Finding> = in_courses(&courses).into_iter().collect();
    let repeated: Vec<_> = pairs::repeated(checked)
        .into_iter()
        .filter(|(first, _)| {
            let is_first_read = first.reads_new_pages();
            (is_first_read || !first.is_read_after_write()) && !allocates(first, level)
        })
        .collect();
    let repeated = pairs::compared(checked, repeated);
    let slower: Vec<&pairs::Pair<'_>> = repeated.iter().filter(|one| one.takes_longer()).collect();
    for group in pairs::by_benchmark(&slower) {
        let evidence: Vec<Evidence> =
            group.iter().filter_map(|pair| pair.evidence("first_over_second")).collect();
        let title = &group[0].of.cell().title;
        let (why, option) = match group[0].of.reads_new_pages() {
            true => ("is the first to read these pages, and ", "--pre-read"),
            false => ("", "--files 11 --drop-first"),
        };
        let message = format!("{title}: {why}takes {} the time of the next", by_target(&evidence));
        let cells: Vec<_> = group.iter().map(|pair| pair.of).collect();
        let avoid = checked.sprite_lfs(option);
        findings.push(Finding::in_cells(&cells, message, evidence, avoid));
    }
    let is_told = |one: &CheckedCell<'_>| {
        courses.iter().any(|(other, _)| other.is(one))
            || drops_its_first(one)
            || is_repeated(one)
            || is_whole_course(one.cell())
    };
    let untold: Vec<_> = checked.cells.iter().filter(|one| !is_told(one)).collect();
    Detection {
        findings,
        untold: why_untold(checked, &untold),
        is_told_in_part: untold.len() < checked.cells.len(),
    }
}

/// Reports the worst course, and how many there are.
fn in_courses(courses: &[(&CheckedCell<'_>, Summary)]) -> Option<Finding> {
    let mut found: Vec<_> = courses.iter().filter(|(_, ratio)| is_warm_up(ratio)).collect();
    found.sort_by(|one, other| other.1.median.total_cmp(&one.1.median));
    let evidence = |(cell, ratio): &&(&CheckedCell<'_>, Summary)| {
        cell.evidence("first_quarter_over_rest", "x", ratio.median).within(ratio.interval)
    };
    let evidence: Vec<Evidence> = found.iter().map(evidence).collect();
    let cells: Vec<_> = found.iter().map(|(cell, _)| *cell).collect();
    let worst = cells.first()?;
    let others = match cells.len() {
        1 => String::new(),
        several => format!(" (the worst of {})", plural(several, "cell")),
    };
    let message = format!(
        "{}: the first quarter of the operations takes {} the time of the rest{others}",
        worst.place(),
        figure(&evidence[0])
    );
    let avoid = "read the steady part, in the page's chart over time".to_owned();
    Some(Finding::in_cells(&cells, message, evidence, avoid))
}

/// Whether it writes pages that were not in memory before: the first write of a file.
fn allocates(cell: &CheckedCell<'_>, level: f64) -> bool {
    is_write(cell) && cell.resident_share(level).is_none_or(|share| share < 1.0)
}

/// Whether its figures exclude whatever comes first: the first file, or the first walk.
fn drops_its_first(cell: &CheckedCell<'_>) -> bool {
    cell.drops_first() || cell.number("walks").is_some()
}

/// Whether it is executed several times in a row, in enough blocks for a ratio.
fn is_repeated(cell: &CheckedCell<'_>) -> bool {
    let times = |options: record::SpriteLfsOptions| match is_write(cell) {
        true => options.repeat_writes,
        false => options.repeat_reads,
    };
    cell.gathered.count() >= BLOCKS_MIN && cell.sprite_lfs().is_some_and(|one| times(one) > 1)
}

fn is_write(cell: &CheckedCell<'_>) -> bool {
    cell.word("operation") == Some("write")
}

fn why_untold(checked: &CheckedRun<'_>, untold: &[&CheckedCell<'_>]) -> Option<String> {
    let phases = untold.iter().filter(|one| one.sprite_lfs().is_some()).count();
    let writes = untold.iter().filter(|one| is_write(one)).count();
    let (what, options) = if writes == 0 {
        ("phases that read", "--repeat-reads 2")
    } else if writes == untold.len() {
        ("phases that write", "--pre-read --repeat-writes 2")
    } else {
        ("phases", "--repeat-reads 2 --pre-read --repeat-writes 2")
    };
    match untold.len() {
        0 => None,
        count if phases == count => Some(format!(
            "{what} are timed as a whole and once, or in too few blocks, so what came first does \
             not show; {} would show it",
            checked.sprite_lfs(options),
        )),
        count => Some(format!(
            "{} recorded no course of the operations in a replicate",
            plural(count, "cell")
        )),
    }
}

#[cfg(test)]
mod tests {
    use record::{CourseRecord, Line, SecondWrite};

    use crate::check::sample::{Phases, outcome, outcome_of};
    use crate::check::{Mistake, Outcome};
    use crate::sample::Sample;

    #[test]
    fn a_read_of_an_array_is_no_repetition_of_the_write_before_it() {
        let phases = [("write", 1, 1200.0), ("first-read", 2, 1000.0)];
        let mut sample = Sample::new(&["memory"]);
        for (name, phase, time_ns) in phases {
            sample = sample.benchmark(name, &[&[time_ns; 8]]);
            sample.change(name, |cell| {
                cell.parameters.remove("operation");
                cell.parameters.insert("phase".to_owned(), phase.into());
                cell.parameters.insert("walks".to_owned(), 32.into());
            });
        }
        let check = outcome_of(&sample, Mistake::WarmUp);
        assert_eq!(check.outcome, Outcome::Passed, "{check:?}");
    }

    #[test]
    fn phases_that_are_timed_once_cannot_tell() {
        let check = outcome(&Phases::published(), Mistake::WarmUp);
        assert_eq!(check.outcome, Outcome::CannotTell);
        assert!(check.cannot_tell.unwrap().contains("--repeat-reads 2"));
        let corrected = outcome(&Phases::corrected(), Mistake::WarmUp);
        assert_eq!((corrected.outcome, corrected.cannot_tell), (Outcome::Passed, None));
    }

    #[test]
    fn the_first_of_two_reads_that_takes_longer_is_one() {
        let mut phases = Phases::published();
        phases.options.repeat_reads = 2;
        phases.repeat(4, 1.3);
        let found = outcome(&phases, Mistake::WarmUp);
        assert_eq!(found.outcome, Outcome::Found);
        let [finding] = found.findings.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.benchmarks, ["sequential-read-again"]);
        assert!((finding.evidence[0].value - 1.3).abs() < 0.02 && finding.avoid.contains("11"));
        phases.repeat(4, 1.0);
        assert_eq!(outcome(&phases, Mistake::WarmUp).outcome, Outcome::Passed);
    }

    #[test]
    fn a_first_read_of_new_pages_is_one_and_of_old_ones_after_a_write_is_none() {
        let mut phases = Phases::published();
        phases.options.repeat_reads = 2;
        phases.repeat(1, 1.4);
        let found = outcome(&phases, Mistake::WarmUp);
        assert_eq!(found.outcome, Outcome::Found);
        let [finding] = found.findings.as_slice() else { panic!("{found:?}") };
        assert!(finding.message.contains("is the first to read these pages"), "{finding:?}");
        assert_eq!(finding.avoid, "--pre-read");
        phases.options.pre_read = true;
        assert_eq!(outcome(&phases, Mistake::WarmUp).outcome, Outcome::Passed);
        phases.repeat(3, 1.4);
        assert_eq!(outcome(&phases, Mistake::WarmUp).outcome, Outcome::Passed);
        phases.options.second_write = SecondWrite::NewFiles;
        assert_eq!(outcome(&phases, Mistake::WarmUp).outcome, Outcome::Found);
    }

    #[test]
    fn courses_are_judged_as_the_warning_does() {
        let of = |first: u64| {
            let mut sample = Sample::new(&["ext4"]).benchmark("read", &[&[1000.0; 6]]);
            for line in &mut sample.run.lines {
                if let Line::Replicate(replicate) = line {
                    let steady = [first, 100, 100, 100].map(|time| (8, 8 * time)).to_vec();
                    replicate.course = Some(CourseRecord { start: Vec::new(), steady });
                }
            }
            outcome_of(&sample, Mistake::WarmUp)
        };
        let found = of(200);
        assert_eq!(found.outcome, Outcome::Found);
        assert!(found.findings[0].message.contains("read (ext4): the first quarter"));
        assert_eq!(of(100).outcome, Outcome::Passed);
    }
}
