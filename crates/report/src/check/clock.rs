//! Intervals too short for the clock.
//!
//! A timed interval should be far longer than it takes to read the clock and than the clock's
//! resolution: both together may be at most the share that the cell's warning allows. A phase is
//! timed once for each of its files, and the array walk takes its readings off; operations that are
//! timed individually have the warning itself.

use record::Warning;

use super::boundary::option_size;
use super::cells::{CheckedCell, CheckedRun};
use super::text::figure;
use super::{Detection, Evidence, Finding};
use crate::analysis::{CLOCK_SHARE_MAX, summary};
use crate::units::{self, Wording};
use textual::plural;

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let clock = &checked.manifest.clock;
    let clock_ns = clock.cost_ns + clock.precision_ns;
    let mut found: Vec<(&CheckedCell<'_>, Evidence)> = checked
        .cells
        .iter()
        .filter_map(|one| {
            Some((one, too_short(one, clock_ns, clock.precision_ns, checked.level())?))
        })
        .collect();
    found.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let Some((shortest, least)) = found.first() else { return Detection::default() };
    let share = clock_ns / least.value;
    let message = format!(
        "{}: what is timed takes {}, the clock's reading and step {}, {:.0} % of that{}",
        shortest.place(),
        figure(least),
        units::figure("ns", clock_ns, None, Wording::Full).value,
        share * 100.0,
        match found.len() {
            1 => String::new(),
            several => format!(" (the shortest of {})", plural(several, "cell")),
        }
    );
    let avoid = avoid(checked, shortest, share);
    let (cells, evidence): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let finding = Finding::in_cells(&cells, message, evidence, avoid);
    Detection { findings: vec![finding], ..Detection::default() }
}

/// The time between two readings of the clock, if it is too short.
fn too_short(
    one: &CheckedCell<'_>,
    clock_ns: f64,
    precision_ns: f64,
    level: f64,
) -> Option<Evidence> {
    let warned = one.report.warnings.iter().find_map(|report| {
        let Warning::ClockOverhead { interval_ns, .. } = report.warning else { return None };
        Some(one.evidence("timed", "ns", interval_ns))
    });
    if warned.is_some() || !one.is_phase() {
        return warned;
    }
    // What takes the readings off has only the clock's step left.
    let clock_ns = if one.has("clock_taken_off") { precision_ns } else { clock_ns };
    let stretches = stretches(one) as f64;
    let elapsed = one.gathered.replicates.values().map(|one| one.elapsed_ns as f64 / stretches);
    let timed = summary(&elapsed.collect::<Vec<_>>(), level)?;
    let is_short = clock_ns > timed.median * CLOCK_SHARE_MAX;
    let evidence = one.evidence("timed", "ns", timed.median).within(timed.interval);
    is_short.then_some(evidence)
}

/// How many intervals of a replicate are timed.
fn stretches(one: &CheckedCell<'_>) -> u64 {
    let files =
        one.sprite_lfs().map(|own| u64::from(own.files).saturating_sub(u64::from(own.drop_first)));
    files.or(one.number("walks")).unwrap_or(1).max(1)
}

/// The next power of two at which the clock's share is small enough.
fn avoid(checked: &CheckedRun<'_>, one: &CheckedCell<'_>, share: f64) -> String {
    let Some(options) = one.sprite_lfs() else {
        let option = if one.number("directories").is_some() { "--dirs" } else { "--size" };
        return format!("more work between two readings of the clock ({option})");
    };
    let factor = (share / CLOCK_SHARE_MAX).log2().ceil().clamp(1.0, 32.0);
    let bytes = options.file_bytes as f64 * factor.exp2();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    checked.sprite_lfs(&format!("--file-size {}", option_size(bytes as u64)))
}

#[cfg(test)]
mod tests {
    use crate::check::sample::{Phases, outcome, outcome_of};
    use crate::check::{Mistake, Outcome};
    use crate::sample::Sample;

    /// In samples it takes 21 ns to read the clock, and its resolution is 1 ns.
    #[test]
    fn a_phase_of_one_block_is_too_short() {
        let of = |blocks: u64| {
            let mut phases = Phases::published();
            phases.options.file_bytes = blocks * 4096;
            phases.times = [100.0; 5];
            outcome(&phases, Mistake::ShortForClock)
        };
        let found = of(1);
        assert_eq!(found.outcome, Outcome::Found);
        let finding = &found.findings[0];
        assert!(finding.message.contains("22 % of that"), "{finding:?}");
        assert_eq!((finding.avoid.as_str(), finding.benchmarks.len()), ("--file-size 32k", 5));
        assert_eq!(of(256).outcome, Outcome::Passed);
    }

    #[test]
    fn what_takes_the_readings_off_has_only_the_clock_s_step_left() {
        let of = |is_taken_off: bool| {
            let sample = Sample::new(&["tmpfs"]).operations(1);
            let mut sample = sample.benchmark("walk", &[&[3000.0; 6]]);
            sample.change("walk", |cell| {
                cell.parameters.insert("phase".to_owned(), 0.into());
                cell.parameters.insert("walks".to_owned(), 10.into());
                if is_taken_off {
                    cell.parameters.insert("clock_taken_off".to_owned(), true.into());
                }
            });
            outcome_of(&sample, Mistake::ShortForClock).outcome
        };
        assert_eq!((of(false), of(true)), (Outcome::Found, Outcome::Passed));
    }

    #[test]
    fn operations_that_are_timed_one_by_one_have_their_warning() {
        let of = |time_ns: f64| {
            let sample = Sample::new(&["tmpfs"]).benchmark("stat", &[&[time_ns; 6]]);
            outcome_of(&sample, Mistake::ShortForClock).outcome
        };
        assert_eq!((of(300.0), of(3000.0)), (Outcome::Found, Outcome::Passed));
        let mut sample = Sample::new(&["tmpfs"]).benchmark("stat", &[&[300.0; 6]]);
        sample.change("stat", |cell| {
            cell.parameters.insert("directories".to_owned(), 16.into());
        });
        let found = outcome_of(&sample, Mistake::ShortForClock);
        assert!(found.findings[0].avoid.ends_with("(--dirs)"), "{found:?}");
    }
}
