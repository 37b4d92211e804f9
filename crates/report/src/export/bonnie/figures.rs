//! The figures of both forms: a rate and the processors' share for each phase of each target.

use record::{
    BonnieMetadataOptions, BonnieOptions, CellReport, ClassicOptions, Document, Run, StandardMetric,
};
use textual::plural;

use crate::analysis::{Gathered, gather, median};

/// Phases that take less have no figure (`MinTime` in `bonnie.h` of Bonnie++).
const LEAST_NS: f64 = 0.5e9;
/// What is suggested is so much more than would just do.
const MARGIN: f64 = 1.25;
/// The phases in Bonnie's order.
const PHASES: [&str; 6] =
    ["char-output", "block-output", "rewrite", "char-input", "block-input", "random-seeks"];
/// The tests in the order of Bonnie++.
const TESTS: [&str; 6] = [
    "create-sequential",
    "stat-sequential",
    "delete-sequential",
    "create-random",
    "stat-random",
    "delete-random",
];

/// What a run was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'a> {
    Bonnie(&'a BonnieOptions),
    Metadata(&'a BonnieMetadataOptions),
}

/// The figures of a run.
#[derive(Clone, Debug)]
pub(super) struct Figures<'a> {
    pub(super) asked: Asked<'a>,
    pub(super) targets: Vec<OfTarget<'a>>,
}

/// The figures of a target, by phase in their order.
#[derive(Clone, Debug)]
pub(super) struct OfTarget<'a> {
    pub(super) label: &'a str,
    pub(super) phases: [Figure; 6],
}

/// What is known of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Figure {
    /// KiB, seeks or files per second, and the processors' share in percent.
    Measured { per_s: f64, processor_percent: f64 },
    /// It took so little time.
    TooShort { elapsed_ns: f64 },
    /// It was not measured.
    Absent,
}

impl<'a> Figures<'a> {
    /// Those of a run; none where it is of something else.
    pub(super) fn of(document: &'a Document, run: &'a Run) -> Option<Self> {
        let asked = match run.manifest.run.classic.as_ref()? {
            ClassicOptions::Bonnie(options) => Asked::Bonnie(options),
            ClassicOptions::BonnieMetadata(options) => Asked::Metadata(options),
            ClassicOptions::SpriteLfs(_) | ClassicOptions::ArrayWalk(_) => return None,
        };
        let names = match asked {
            Asked::Bonnie(_) => PHASES,
            Asked::Metadata(_) => TESTS,
        };
        let gathered = gather(run);
        let target = |label: &'a str| OfTarget {
            label,
            phases: names.map(|name| Figure::of(document, &gathered, (label, name))),
        };
        let targets = document.targets.iter().map(|one| target(&one.label)).collect();
        Some(Self { asked, targets })
    }

    /// What would make every phase long enough, a sentence for each target that has some too short.
    pub(super) fn notes(&self) -> Vec<String> {
        self.targets.iter().filter_map(|target| self.note(target)).collect()
    }

    fn note(&self, target: &OfTarget<'_>) -> Option<String> {
        let factor = |phases: &[Figure]| {
            let factors = phases.iter().filter_map(|phase| match phase {
                Figure::TooShort { elapsed_ns } => Some(LEAST_NS / elapsed_ns.max(1.0) * MARGIN),
                Figure::Measured { .. } | Figure::Absent => None,
            });
            factors.max_by(f64::total_cmp)
        };
        let short = target.phases.iter().filter(|one| matches!(one, Figure::TooShort { .. }));
        let count = short.count();
        let options = match self.asked {
            Asked::Bonnie(options) => {
                let [sequential @ .., seeks] = &target.phases;
                let size = factor(sequential)
                    .map(|times| format!("--size {}", size(options.size_bytes as f64 * times)));
                let seeks = factor(&[*seeks])
                    .map(|times| format!("--seeks {}", rounded(f64::from(options.seeks) * times)));
                size.into_iter().chain(seeks).collect::<Vec<_>>().join(" ")
            }
            Asked::Metadata(options) => factor(&target.phases)
                .map(|times| (f64::from(options.files_per_directory) * times).ceil())
                .map(|files| format!("--files {files}"))
                .unwrap_or_default(),
        };
        (count > 0).then(|| {
            format!(
                "{}: {} under 0.5 s, which Bonnie++ takes for too short to tell, so +++++ \
                 stands there: {options} would do",
                target.label,
                plural(count, "phase")
            )
        })
    }
}

impl Figure {
    fn of(document: &Document, all: &[Gathered<'_>], (target, phase): (&str, &str)) -> Self {
        let is_cell = |cell: &&CellReport| cell.target == target && cell.benchmark == phase;
        let Some(cell) = document.cells.iter().find(is_cell) else { return Self::Absent };
        let of = |metric: StandardMetric| {
            let found = cell.metrics.iter().find(|one| one.is(metric));
            found.map(|one| one.median)
        };
        let rate = of(StandardMetric::THROUGHPUT)
            .or_else(|| of(StandardMetric::BANDWIDTH).map(|bytes_per_s| bytes_per_s / 1024.0));
        let share = of(StandardMetric::PROCESSOR_SHARE);
        let is_it = |one: &&Gathered<'_>| one.cell.target == target && one.cell.benchmark == phase;
        let replicates = all.iter().find(is_it).into_iter().flat_map(|one| one.replicates.values());
        let elapsed: Vec<f64> = replicates.map(|one| one.elapsed_ns as f64).collect();
        match (rate, share, median(&elapsed)) {
            (Some(_), Some(_), Some(elapsed_ns)) if elapsed_ns < LEAST_NS => {
                Self::TooShort { elapsed_ns }
            }
            (Some(per_s), Some(processor_percent), Some(_)) => {
                Self::Measured { per_s, processor_percent }
            }
            _ => Self::Absent,
        }
    }
}

/// A size as an option takes it, rounded up: to 64 MiB below 1 GiB, to GiB above.
fn size(bytes: f64) -> String {
    const MIB: f64 = 1_048_576.0;
    let mib = (bytes / MIB / 64.0).ceil() * 64.0;
    if mib < 1024.0 { format!("{mib}m") } else { format!("{}g", (mib / 1024.0).ceil()) }
}

/// A number rounded up to thousands.
fn rounded(number: f64) -> f64 {
    (number / 1000.0).ceil() * 1000.0
}
