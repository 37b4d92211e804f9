//! The figures of both forms: a rate and the processor usage for each phase of each target.

use std::collections::BTreeSet;

use record::{
    BonnieMetadataOptions, BonnieOptions, CellReport, CurvePoint, Document, Run, StandardMetric,
    SuiteOptions,
};
use textual::plural;

use crate::analysis::{Gathered, gather, median};

/// Phases that take less time have no figure (`MinTime` in `bonnie.h` of Bonnie++).
const ELAPSED_NS_MIN: f64 = 0.5e9;
/// Suggested sizes exceed the minimum by this factor.
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

/// The program that was imitated on a target, and its options.
#[derive(Clone, Debug)]
pub(super) enum ProgramOptions {
    Bonnie(BonnieOptions),
    Metadata(BonnieMetadataOptions),
}

impl ProgramOptions {
    fn phases(&self) -> [&'static str; 6] {
        match self {
            Self::Bonnie(_) => PHASES,
            Self::Metadata(_) => TESTS,
        }
    }

    /// Whether a cell belongs to this phase; if sizes form curves, at the point of this size.
    fn is_phase(&self, phase: &str, benchmark: &str, curve: Option<&CurvePoint>) -> bool {
        match (self, curve) {
            (_, None) => benchmark == phase,
            (Self::Metadata(_), Some(_)) => false,
            (Self::Bonnie(options), Some(point)) => {
                let size_bytes = options.size_bytes as f64;
                point.curve == phase && point.value.total_cmp(&size_bytes).is_eq()
            }
        }
    }
}

/// The figures of a run: a row for each target and, for Bonnie, each size of its file.
#[derive(Clone, Debug)]
pub(super) struct Figures<'a> {
    pub(super) rows: Vec<TargetFigures<'a>>,
}

/// The program that was imitated on a target and its figures, by phase in their order.
#[derive(Clone, Debug)]
pub(super) struct TargetFigures<'a> {
    pub(super) label: &'a str,
    pub(super) options: ProgramOptions,
    pub(super) phases: [PhaseFigure; 6],
}

/// What is known about a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PhaseFigure {
    /// KiB, seeks or files per second, and the processor usage in percent.
    Measured { per_s: f64, processor_percent: f64 },
    /// It took this little time.
    TooShort { elapsed_ns: f64 },
    /// It was not measured.
    Absent,
}

impl<'a> Figures<'a> {
    /// The figures of a run; `None` if it is a run of something else.
    pub(super) fn from_run(document: &'a Document, run: &'a Run) -> Option<Self> {
        let all_options: Vec<ProgramOptions> = match run.manifest.run.classic.as_ref()? {
            SuiteOptions::Bonnie(run) => {
                run.by_size().into_iter().map(ProgramOptions::Bonnie).collect()
            }
            SuiteOptions::BonnieMetadata(options) => {
                vec![ProgramOptions::Metadata(options.clone())]
            }
            SuiteOptions::SpriteLfs(_)
            | SuiteOptions::ArrayWalk(_)
            | SuiteOptions::Pollution(_)
            | SuiteOptions::Applications(_)
            | SuiteOptions::JobFile(_) => return None,
        };
        let gathered = gather(run);
        let row = |label: &'a str, options: &ProgramOptions| {
            let figure = |name| PhaseFigure::new(document, &gathered, label, name, options);
            TargetFigures { label, options: options.clone(), phases: options.phases().map(figure) }
        };
        let labels = document.targets.iter().map(|one| one.label.as_str());
        let rows = labels.flat_map(|label| all_options.iter().map(move |one| (label, one)));
        // Each row has its own cells, unless the manifest was made by hand.
        let rows = rows.take(run.manifest.cells.len().max(1));
        Some(Self { rows: rows.map(|(label, one)| row(label, one)).collect() })
    }

    /// What would make every phase long enough, in a sentence for each row with short phases.
    pub(super) fn notes(&self) -> Vec<String> {
        let labels: BTreeSet<&str> = self.rows.iter().map(|row| row.label).collect();
        let has_sizes = labels.len() < self.rows.len();
        self.rows.iter().filter_map(|row| row.note(has_sizes)).collect()
    }
}

impl TargetFigures<'_> {
    fn note(&self, has_sizes: bool) -> Option<String> {
        let factor = |phases: &[PhaseFigure]| {
            let factors = phases.iter().filter_map(|phase| match phase {
                PhaseFigure::TooShort { elapsed_ns } => {
                    Some(ELAPSED_NS_MIN / elapsed_ns.max(1.0) * MARGIN)
                }
                PhaseFigure::Measured { .. } | PhaseFigure::Absent => None,
            });
            factors.max_by(f64::total_cmp)
        };
        let short = self.phases.iter().filter(|one| matches!(one, PhaseFigure::TooShort { .. }));
        let count = short.count();
        let options = match &self.options {
            ProgramOptions::Bonnie(options) => {
                let [sequential @ .., seeks] = &self.phases;
                // A different size would be a different point.
                let size = factor(sequential)
                    .filter(|_| !has_sizes)
                    .map(|times| format!("--size {}", size(options.size_bytes as f64 * times)));
                let seeks = factor(&[*seeks])
                    .map(|times| format!("--seeks {}", rounded(f64::from(options.seeks) * times)));
                size.into_iter().chain(seeks).collect::<Vec<_>>().join(" ")
            }
            ProgramOptions::Metadata(options) => factor(&self.phases)
                .map(|times| (f64::from(options.files_per_directory) * times).ceil())
                .map(|files| format!("--files {files}"))
                .unwrap_or_default(),
        };
        (count > 0).then(|| {
            let of_size = match &self.options {
                ProgramOptions::Bonnie(options) if has_sizes => {
                    format!(", {}", textual::size(options.size_bytes as f64, 3))
                }
                ProgramOptions::Bonnie(_) | ProgramOptions::Metadata(_) => String::new(),
            };
            let advice = if options.is_empty() { options } else { format!(": {options} would do") };
            format!(
                "{}{of_size}: {} under 0.5 s, which Bonnie++ takes for too short to tell, so +++++ \
                 stands there{advice}",
                self.label,
                plural(count, "phase")
            )
        })
    }
}

impl PhaseFigure {
    fn new(
        document: &Document,
        all: &[Gathered<'_>],
        target: &str,
        phase: &str,
        options: &ProgramOptions,
    ) -> Self {
        let is_cell = |cell: &&CellReport| {
            cell.target == target && options.is_phase(phase, &cell.benchmark, cell.curve.as_ref())
        };
        let Some(cell) = document.cells.iter().find(is_cell) else { return Self::Absent };
        let of = |metric: StandardMetric| {
            let found = cell.metrics.iter().find(|one| one.is(metric));
            found.map(|one| one.median)
        };
        let rate = of(StandardMetric::THROUGHPUT)
            .or_else(|| of(StandardMetric::BANDWIDTH).map(|bytes_per_s| bytes_per_s / 1024.0));
        let share = of(StandardMetric::PROCESSOR_SHARE);
        let is_it = |one: &&Gathered<'_>| {
            one.cell.target == target
                && options.is_phase(phase, &one.cell.benchmark, one.cell.curve.as_ref())
        };
        let replicates = all.iter().find(is_it).into_iter().flat_map(|one| one.replicates.values());
        let elapsed: Vec<f64> = replicates.map(|one| one.elapsed_ns as f64).collect();
        match (rate, share, median(&elapsed)) {
            (Some(_), Some(_), Some(elapsed_ns)) if elapsed_ns < ELAPSED_NS_MIN => {
                Self::TooShort { elapsed_ns }
            }
            (Some(per_s), Some(processor_percent), Some(_)) => {
                Self::Measured { per_s, processor_percent }
            }
            _ => Self::Absent,
        }
    }
}

/// A size as an option, rounded up: to a multiple of 64 MiB below 1 GiB, to whole GiB above.
fn size(bytes: f64) -> String {
    const MIB: f64 = 1_048_576.0;
    let mib = (bytes / MIB / 64.0).ceil() * 64.0;
    if mib < 1024.0 { format!("{mib}m") } else { format!("{}g", (mib / 1024.0).ceil()) }
}

/// A number rounded up to whole thousands.
fn rounded(number: f64) -> f64 {
    (number / 1000.0).ceil() * 1000.0
}
