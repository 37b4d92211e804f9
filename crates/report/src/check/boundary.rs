//! A working set at the boundary of a cache or of memory.
//!
//! There, a few pages more or less decide whether it fits, and with it the figure; conclusions from
//! one size do not carry over to another. The zone is that of the cell's warning: from half of the
//! cache's size to one and a half times. A curve with sizes on both sides of the zone does what the
//! paper recommends, and is not reported.

use super::cells::{CheckedCell, CheckedRun};
use super::{Detection, Evidence, Finding};
use crate::analysis::{caches, nearest_cache};
use record::machine::FRAGILE;
use record::{Manifest, Warning};
use textual::{list, plural, size};

/// Sizes that are far enough below and above a boundary, as multiples of it.
const FAR: [f64; 2] = [0.25, 4.0];

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let is_known = |one: &CheckedCell<'_>| !caches(one.cell(), checked.manifest).is_empty();
    let sized = || checked.cells.iter().filter(|one| one.cell().working_set_bytes.is_some());
    if sized().count() > 0 && !sized().any(is_known) {
        let why = "the run knows the sizes of neither caches nor memory".to_owned();
        return Detection { untold: Some(why), ..Detection::default() };
    }
    let mut boundaries: Vec<((String, u64), Vec<&CheckedCell<'_>>)> = Vec::new();
    for one in sized() {
        let Some(boundary) = nearest_cache(one.cell(), checked.manifest) else { continue };
        if reaches_past(checked, one, boundary.1) {
            continue;
        }
        match boundaries.iter_mut().find(|(known, _)| *known == boundary) {
            Some((_, cells)) => cells.push(one),
            None => boundaries.push((boundary, vec![one])),
        }
    }
    let found = |((cache, bytes), cells): &((String, u64), Vec<&CheckedCell<'_>>)| {
        finding(checked, cache, *bytes, cells)
    };
    Detection { findings: boundaries.iter().map(found).collect(), ..Detection::default() }
}

/// Whether it is on a curve with sizes on both sides of the zone.
fn reaches_past(checked: &CheckedRun<'_>, one: &CheckedCell<'_>, cache_bytes: u64) -> bool {
    let name = |cell: &CheckedCell<'_>| cell.cell().curve.as_ref().map(|at| at.curve.clone());
    let is_beside = |other: &&CheckedCell<'_>| {
        name(one).is_some() && name(other) == name(one) && other.cell().target == one.cell().target
    };
    let shares = checked.cells.iter().filter(is_beside).filter_map(|other| {
        Some(other.cell().working_set_bytes? as f64 / cache_bytes.max(1) as f64)
    });
    let shares: Vec<f64> = shares.collect();
    shares.iter().any(|share| share < FRAGILE.start())
        && shares.iter().any(|share| share > FRAGILE.end())
}

fn finding(
    checked: &CheckedRun<'_>,
    cache: &str,
    cache_bytes: u64,
    cells: &[&CheckedCell<'_>],
) -> Finding {
    let mut sizes: Vec<u64> = cells.iter().filter_map(|one| one.cell().working_set_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let named: Vec<String> = sizes.iter().map(|&bytes| size(bytes as f64, 3)).collect();
    let message = format!(
        "the working set is {}, and {cache} {}{}: {}",
        list(&named, "or"),
        size(cache_bytes as f64, 3),
        spread(cells),
        if cells.len() == checked.cells.len() && cells.len() > 1 {
            "all cells".to_owned()
        } else if let [only] = cells {
            only.place()
        } else {
            plural(cells.len(), "cell")
        }
    );
    let evidence = |one: &&CheckedCell<'_>| {
        let share = one.cell().working_set_bytes? as f64 / cache_bytes as f64;
        Some(one.evidence("working_set_over_cache", "x", share))
    };
    let evidence: Vec<Evidence> = cells.iter().filter_map(evidence).collect();
    Finding::in_cells(cells, message, evidence, avoid(checked, cells, cache_bytes))
}

/// How much replicates vary there, and elsewhere: the worst case, if that was measured.
fn spread(cells: &[&CheckedCell<'_>]) -> String {
    let spreads = cells.iter().flat_map(|one| &one.report.warnings).filter_map(|report| {
        if let Warning::FragileZone { spread_inside_percent, spread_outside_percent, .. } =
            report.warning
        {
            return Some((spread_inside_percent?, spread_outside_percent));
        }
        None
    });
    match spreads.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((inside, Some(outside))) => {
            format!(" (replicates spread by {inside:.1} %, elsewhere by {outside:.1} %)")
        }
        Some((inside, None)) => format!(" (replicates spread by up to {inside:.1} %)"),
        None => String::new(),
    }
}

/// Sizes on both sides that are not near another boundary.
fn avoid(checked: &CheckedRun<'_>, cells: &[&CheckedCell<'_>], cache_bytes: u64) -> String {
    let Some(cell) = cells.first() else { return String::new() };
    let files = cell.sprite_lfs().map_or(1, |options| u64::from(options.files));
    let [below, above] = FAR.map(|share| {
        let mut bytes = power_of_two(cache_bytes as f64 * share / files as f64);
        while is_near(bytes * files, cell, checked.manifest) && (8192..1 << 50).contains(&bytes) {
            bytes = if share < 1.0 { bytes / 2 } else { bytes * 2 };
        }
        option_size(bytes)
    });
    match (cell.sprite_lfs(), cell.cell().suite.as_str()) {
        (Some(_), _) => checked.sprite_lfs(&format!("--file-size {below},{above}")),
        (None, "array-walk" | "bonnie") => format!("--size {below},{above}"),
        (None, _) => format!("a working set of {below} or {above}, in a run each (--size)"),
    }
}

fn is_near(bytes: u64, cell: &CheckedCell<'_>, manifest: &Manifest) -> bool {
    let cell = record::Cell { working_set_bytes: Some(bytes), ..cell.cell().clone() };
    nearest_cache(&cell, manifest).is_some()
}

/// The next power of two, but at least a page.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
fn power_of_two(bytes: f64) -> u64 {
    1 << (bytes.max(4096.0).log2().round().clamp(12.0, 62.0) as u32)
}

/// A size as command-line options accept it.
pub(super) fn option_size(bytes: u64) -> String {
    let units = [(1_u64 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let unit = units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use record::CurvePoint;

    use super::*;
    use crate::check::sample::{Phases, outcome, outcome_of, with_caches};
    use crate::check::{Mistake, Outcome};
    use crate::sample::Sample;

    #[test]
    fn a_file_as_large_as_a_cache_is_found_with_sizes_that_avoid_it() {
        let of = |file_bytes| {
            let mut phases = Phases::published();
            phases.options.file_bytes = file_bytes;
            outcome(&phases, Mistake::NearBoundary)
        };
        let found = of(1 << 20);
        assert_eq!(found.outcome, Outcome::Found);
        let finding = &found.findings[0];
        assert!(finding.message.contains("1 MiB, and the L2 cache 1 MiB"), "{finding:?}");
        assert!(finding.message.ends_with(": all cells"), "{finding:?}");
        assert_eq!(finding.avoid, "--file-size 256k,4m");
        assert_eq!(of(128 << 10).outcome, Outcome::Passed);
    }

    #[test]
    fn suites_that_take_several_sizes_are_told_them_together() {
        let of = |suite: &str| {
            let mut sample = Sample::new(&["tmpfs"]).benchmark("read", &[&[1000.0; 6]]);
            sample.change("read", |cell| {
                cell.suite = suite.to_owned();
                cell.working_set_bytes = Some(1 << 20);
            });
            with_caches(&mut sample);
            outcome_of(&sample, Mistake::NearBoundary).findings[0].avoid.clone()
        };
        assert_eq!(of("bonnie"), "--size 256k,4m");
        assert_eq!(of("nano"), "a working set of 256k or 4m, in a run each (--size)");
    }

    #[test]
    fn a_curve_past_both_sides_is_what_is_recommended() {
        let of = |sizes: &[u64]| {
            let names: Vec<String> = sizes.iter().map(u64::to_string).collect();
            let new = Sample::new(&["tmpfs"]);
            let mut sample =
                names.iter().fold(new, |sample, name| sample.benchmark(name, &[&[1000.0; 6]]));
            for (name, &bytes) in names.iter().zip(sizes) {
                sample.change(name, |cell| {
                    cell.working_set_bytes = Some(bytes);
                    cell.curve = Some(CurvePoint {
                        curve: "read".to_owned(),
                        title: "read".to_owned(),
                        axis: "working set".to_owned(),
                        unit: "bytes".to_owned(),
                        value: bytes as f64,
                        family: None,
                    });
                });
            }
            with_caches(&mut sample);
            outcome_of(&sample, Mistake::NearBoundary).outcome
        };
        assert_eq!(of(&[64 << 10, 1 << 20, 4 << 20]), Outcome::Passed);
        assert_eq!(of(&[64 << 10, 1 << 20]), Outcome::Found);
    }

    #[test]
    fn without_sizes_of_caches_nothing_can_be_told() {
        let mut sample = Phases::published().sample();
        sample.run.manifest.machine = record::machine::Machine::default();
        assert_eq!(outcome_of(&sample, Mistake::NearBoundary).outcome, Outcome::CannotTell);
    }

    #[test]
    fn sizes_are_written_as_options_take_them() {
        let sizes = [4096, 1 << 20, 3 << 30, 1000].map(option_size);
        assert_eq!(sizes, ["4k", "1m", "3g", "1000"]);
    }
}
