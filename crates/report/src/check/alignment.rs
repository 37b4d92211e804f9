//! Unaligned access: random operations that begin at any byte, compared with sequential ones that
//! begin on a page.
//!
//! In the paper, it halved the speed of random reads. A run cannot separate this cost from the
//! others that random operations have, so the ratio to the sequential phase is reported with it. A
//! cell is left out if another one has the same operations, aligned: there, alignment is what is
//! studied.

use std::mem::discriminant;

use record::{ProcessorCount, Warning};

use super::cells::{CheckedCell, CheckedRun};
use super::text::{by_target, largest};
use super::{Detection, Evidence, Finding, pairs};
use textual::list;

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let cells: Vec<&CheckedCell<'_>> = checked
        .cells
        .iter()
        .filter(|one| is_unaligned(one) && !has_aligned_twin(checked, one))
        .collect();
    // A write that allocates is not compared with one that overwrites.
    let beside = pairs::random_beside_sequential(checked)
        .into_iter()
        .filter(|(random, _)| is_unaligned(random))
        .filter_map(|(random, sequential)| Some((random, *sequential.first()?)))
        .filter(|(one, other)| pairs::begin_alike(checked, [one, other]))
        .collect();
    let ratios = pairs::compared(checked, beside);
    let mut titles: Vec<&str> = Vec::new();
    for cell in &cells {
        if !titles.contains(&cell.title()) {
            titles.push(cell.title());
        }
    }
    let of_title = |title: &str| {
        let own: Vec<&CheckedCell<'_>> =
            cells.iter().filter(|one| one.title() == title).copied().collect();
        let is_own = |pair: &&pairs::Pair<'_>| pair.of.title() == title;
        finding(checked, &own, &ratios.iter().filter(is_own).collect::<Vec<_>>())
    };
    Detection { findings: titles.into_iter().map(of_title).collect(), ..Detection::default() }
}

/// The finding for one benchmark, or for all on one curve, on its targets.
fn finding(
    checked: &CheckedRun<'_>,
    cells: &[&CheckedCell<'_>],
    ratios: &[&pairs::Pair<'_>],
) -> Finding {
    let title = cells[0].title();
    let taken: Vec<Evidence> =
        ratios.iter().filter_map(|pair| pair.evidence("random_over_sequential")).collect();
    let beside = match (ratios.first(), taken.is_empty()) {
        (Some(pair), false) => {
            let most = largest(&taken);
            let up_to = if most.len() < taken.len() { "up to " } else { "" };
            let over = pair.over.title();
            format!(", and takes {up_to}{} the time of {over}", by_target(&most))
        }
        _ => {
            let mut targets: Vec<String> =
                cells.iter().map(|one| one.cell().target.clone()).collect();
            targets.dedup();
            format!(" ({})", list(&targets, "and"))
        }
    };
    let bytes = cells[0].number("alignment_bytes").unwrap_or(1);
    let begins = match bytes {
        0 | 1 => "begins at any byte".to_owned(),
        bytes => format!("begins at multiples of {bytes} bytes"),
    };
    let aligned = cells.iter().map(|one| {
        let bytes = one.number("alignment_bytes").unwrap_or(1);
        one.evidence("alignment", "bytes", bytes as f64)
    });
    let counted = per_operation(checked, cells);
    let loads = match counted.iter().max_by(|one, other| one.value.total_cmp(&other.value)) {
        Some(most) => {
            let by = textual::two_digits(most.value);
            format!("; up to {by} misaligned accesses per operation (counted by the processor)")
        }
        None => String::new(),
    };
    let evidence = aligned.chain(taken).chain(counted).collect();
    let avoid = match cells[0].sprite_lfs() {
        Some(_) => checked.sprite_lfs("--align page"),
        None => "operations that begin on a page".to_owned(),
    };
    Finding::in_cells(cells, format!("{title}: {begins}{beside}{loads}"), evidence, avoid)
}

/// Unaligned accesses per operation, as counted by the processor.
fn per_operation(checked: &CheckedRun<'_>, cells: &[&CheckedCell<'_>]) -> Vec<Evidence> {
    let of = |one: &&CheckedCell<'_>| {
        let all = [ProcessorCount::MisalignedLoads, ProcessorCount::MisalignedStores];
        let mut counted =
            all.iter().filter_map(|count| one.processor_count(*count, checked.level()));
        let first = counted.next()?;
        let sum = first.value + counted.map(|evidence| evidence.value).sum::<f64>();
        let operations = one.report.operations as f64 / f64::from(one.report.replicates.max(1));
        let name = "misaligned_accesses_per_operation";
        Some(one.evidence(name, "accesses", sum / operations.max(1.0)))
    };
    cells.iter().filter_map(of).collect()
}

/// Whether the cell has the warning.
fn is_unaligned(one: &CheckedCell<'_>) -> bool {
    let wanted = discriminant(&Warning::UnalignedRandomAccess { alignment_bytes: 0 });
    one.report.warnings.iter().any(|report| discriminant(&report.warning) == wanted)
}

fn has_aligned_twin(checked: &CheckedRun<'_>, one: &CheckedCell<'_>) -> bool {
    let is_twin = |other: &CheckedCell<'_>| {
        !is_unaligned(other) && other.is_random() && other.is_alike(one, &["alignment_bytes"])
    };
    checked.cells.iter().any(is_twin)
}

#[cfg(test)]
mod tests {
    use record::ProcessorCount;

    use crate::check::sample::{Phases, outcome, outcome_of};
    use crate::check::{Mistake, Outcome};
    use crate::sample::Sample;

    #[test]
    fn random_phases_at_any_byte_are_found_with_what_they_take() {
        let mut phases = Phases::published();
        phases.times[3] = 2000.0;
        let found = outcome(&phases, Mistake::UnalignedAccess);
        assert_eq!(found.outcome, Outcome::Found);
        let [write, read] = found.findings.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (write.benchmarks[0].as_str(), read.avoid.as_str()),
            ("random-write", "--align page")
        );
        let ratio = &read.evidence[1];
        assert!((ratio.value - 2.0).abs() < 0.05 && ratio.interval.is_some(), "{ratio:?}");
        assert!(read.message.contains("the time of the sequential-read"), "{}", read.message);
        let corrected = outcome(&Phases::corrected(), Mistake::UnalignedAccess);
        assert_eq!(corrected.outcome, Outcome::Passed);
    }

    #[test]
    fn misaligned_accesses_are_told_by_operation_where_the_processor_counts_them() {
        let mut phases = Phases::published();
        let operations = phases.sample().document().cells[3].operations as f64 / 8.0;
        let counts = [0.0, 0.0, 10.0, 60.0 * operations, 0.0];
        phases.counts = vec![
            (ProcessorCount::MisalignedLoads, counts),
            (ProcessorCount::MisalignedStores, [0.0, 0.0, 0.0, 3.0 * operations, 0.0]),
        ];
        let found = outcome(&phases, Mistake::UnalignedAccess);
        let read = &found.findings[1];
        let counted = "up to 63 misaligned accesses per operation (counted by the processor)";
        assert!(read.message.ends_with(counted), "{read:?}");
        let evidence = read.evidence.last().unwrap();
        assert!((evidence.value - 63.0).abs() < 0.01, "{evidence:?}");
    }

    #[test]
    fn where_alignment_is_studied_it_is_no_mistake() {
        let of = |alignments: &[u64]| {
            let names: Vec<String> = alignments.iter().map(u64::to_string).collect();
            let new = Sample::new(&["tmpfs"]);
            let mut sample =
                names.iter().fold(new, |sample, name| sample.benchmark(name, &[&[1000.0; 6]]));
            for (name, &bytes) in names.iter().zip(alignments) {
                sample.change(name, |cell| {
                    cell.parameters.insert("access".to_owned(), "random".into());
                    cell.parameters.insert("alignment_bytes".to_owned(), bytes.into());
                });
            }
            outcome_of(&sample, Mistake::UnalignedAccess).outcome
        };
        assert_eq!(of(&[1]), Outcome::Found);
        assert_eq!(of(&[1, 4096]), Outcome::Passed);
    }
}
