//! Footprints: what operations touch, counted in traces of a guest. None of it is a time.

use record::{
    CachesOrigin, CellReport, Dimension, Document, MetricReport, Replacement, RunKind,
    SimulatedCache, SimulatedCaches, traffic,
};

use super::columns::{self, FigureRow};
use super::names;
use super::text::Page;
use crate::units;
use textual::{grouped, plural, unbroken};

/// The suffix of the metrics of misses.
const MISSES: &str = "_misses";

/// Whether everything in the document was counted in traces.
pub(super) fn is_counted(document: &Document) -> bool {
    let is_footprint = |cell: &CellReport| cell.dimension == Dimension::CpuFootprint;
    !document.cells.is_empty() && document.cells.iter().all(is_footprint)
}

/// How much was traced.
pub(super) fn extent(document: &Document) -> String {
    let repetitions = document.cells.iter().map(|cell| cell.replicates).max().unwrap_or(0);
    let kernel = document.run.guest_kernel.as_ref();
    let kernel = kernel.map(|release| format!(" of {}", unbroken(&format!("Linux {release}"))));
    format!(
        "{} with {} each, traced in guests{}: every instruction and every access is counted; \
         nothing is timed.",
        plural(document.cells.len(), "cell"),
        plural(repetitions as usize, "repetition"),
        kernel.unwrap_or_default(),
    )
}

/// Which caches were simulated; `None` if no cell has their misses.
pub(super) fn caches(document: &Document) -> Option<String> {
    if let Some(simulated) = &document.run.simulated_caches {
        return Some(simulated_caches(simulated));
    }
    let metrics = document.cells.iter().flat_map(|cell| &cell.metrics);
    let has_misses = is_counted(document) && { metrics }.any(|one| one.name.ends_with(MISSES));
    has_misses.then(|| {
        "This run did not record which caches it simulated; maps and graphs assume those of its \
         machine."
            .to_owned()
    })
}

/// The caches in which misses are counted.
pub(crate) fn simulated_caches(simulated: &SimulatedCaches) -> String {
    let origin = match simulated.origin {
        CachesOrigin::Machine => "shaped like those of the machine that counted them",
        CachesOrigin::Given => "given by --cache, not those of the machine that counted them",
    };
    let caches: Vec<String> = simulated.caches.iter().map(shape).collect();
    format!("Misses are those of simulated caches, {origin}: {}.", caches.join(", "))
}

/// `l2 1 MiB (16 ways, LRU)`, without what is usual.
fn shape(cache: &SimulatedCache) -> String {
    let SimulatedCache { name, size_bytes, line_bytes, ways, replacement, inclusive } = cache;
    let lines = match line_bytes {
        64 => String::new(),
        _ => format!("lines of {line_bytes} bytes, "),
    };
    let replacement = match replacement {
        Replacement::Lru => "LRU",
        Replacement::TreePlru => "tree-PLRU",
        Replacement::Random { .. } => "random",
    };
    let inclusive = if *inclusive { ", inclusive" } else { "" };
    let size = units::bytes(*size_bytes);
    let text = format!("{name} {size} ({lines}{ways} ways, {replacement}{inclusive})");
    unbroken(&text)
}

/// How certain the figures are.
pub(super) fn closing(document: &Document) -> Vec<String> {
    if document.run.kind == RunKind::Traffic {
        return vec![
            "Counts are of the kernel's side of the calls, with its page faults; interrupts and \
             other tasks are counted separately. Each phase finds the simulated caches as the one \
             before left them."
                .to_owned(),
        ];
    }
    let level = super::table::percent(document.run.confidence_level);
    vec![
        format!(
            "Counts are exact, and the same job gives them again, bit for bit. Each figure is a \
             median over repetitions of an operation with its {level} % interval (order \
             statistics): the kernel does not do the same each time, for example when it takes a \
             new slab page or splits a tree node."
        ),
        "Lines are 64 bytes long. The columns show lines of instructions, lines of data, \
         instructions executed, bytes of code and data used as a percentage of those fetched, and \
         misses of simulated caches. Only the kernel's side of the call counts, with its page \
         faults; interrupts and other tasks are counted separately. Simulated caches are empty \
         when the operation begins."
            .to_owned(),
    ]
}

/// A column of the table: its head, and what it shows for a cell.
type Column = (&'static str, fn(&CellReport) -> Option<String>);

const COLUMNS: [Column; 3] = [
    ("data", |cell| median(cell, "data_lines")),
    ("executed", |cell| median(cell, "instructions")),
    ("used", |cell| {
        let code = used(cell, "instruction_bytes", "instruction_bytes_unused");
        let data = used(cell, "data_bytes", "data_bytes_unused");
        Some(format!("{}/{} %", code.as_deref().unwrap_or("-"), data.as_deref().unwrap_or("-")))
    }),
];

/// The columns of what phases move into and out of caches.
const TRAFFIC_COLUMNS: [Column; 2] = [
    ("out of it", |cell| median(cell, &cell.metrics.get(1)?.name)),
    ("left dirty", |cell| median(cell, &cell.metrics.get(2)?.name)),
];

/// The targets of each benchmark with the figures besides its primary metric, and the misses of
/// each simulated cache.
pub(super) fn render(page: &mut Page, benchmarks: &[Vec<&CellReport>]) {
    let levels = levels(benchmarks);
    let is_traffic = benchmarks.iter().flatten().any(|cell| cell.suite == traffic::SUITE);
    let columns: &[Column] = if is_traffic { &TRAFFIC_COLUMNS } else { &COLUMNS };
    let heads = columns.iter().map(|(head, _)| (*head).to_owned());
    let heads = heads.chain(levels.iter().map(|level| format!("{level} miss"))).collect();
    let row = |cell: &&CellReport| {
        let counted = columns.iter().map(|(_, of)| of(cell));
        let missed = levels.iter().map(|level| median(cell, &format!("{level}{MISSES}")));
        let figures = counted.chain(missed).map(|one| one.unwrap_or_else(|| "-".to_owned()));
        FigureRow::new(&format!("  {}", names::label(&cell.target)), figures.collect())
    };
    let of_benchmark = |cells: &Vec<&CellReport>| {
        let title = cells.first().map(|cell| FigureRow::new(&cell.title, Vec::new()));
        title.into_iter().chain(cells.iter().map(row)).collect::<Vec<_>>()
    };
    page.blank();
    let rows: Vec<FigureRow> = benchmarks.iter().flat_map(of_benchmark).collect();
    columns::side_by_side(page, &FigureRow::new("", heads), &rows);
}

/// The simulated caches, in the order of their metrics.
fn levels(benchmarks: &[Vec<&CellReport>]) -> Vec<String> {
    let cell = benchmarks.iter().flatten().next();
    let names = cell.into_iter().flat_map(|cell| &cell.metrics);
    names.filter_map(|metric| metric.name.strip_suffix(MISSES).map(str::to_owned)).collect()
}

/// How instruction and data footprints compare. "DenseFS" (section 2) says that its instructions
/// typically take about twice as many lines as its data.
pub(super) fn sentence(cells: &[&CellReport]) -> Option<String> {
    let mut ratios: Vec<(f64, &str)> = Vec::new();
    for cell in cells {
        let (code, data) = (metric(cell, "instruction_lines")?, metric(cell, "data_lines")?);
        if data.median > 0.0 {
            ratios.push((code.median / data.median, &cell.title));
        }
    }
    ratios.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (least, most) = (ratios.first()?, ratios.last()?);
    let middle = ratios[ratios.len() / 2].0;
    Some(format!(
        "Lines of instructions per line of data: {:.1} ({}) to {:.1} ({}), median {middle:.1}; \
         \"DenseFS\" (section 2) found about 2.",
        least.0, least.1, most.0, most.1
    ))
}

fn metric<'a>(cell: &'a CellReport, name: &str) -> Option<&'a MetricReport> {
    cell.metrics.iter().find(|metric| metric.name == name)
}

fn median(cell: &CellReport, name: &str) -> Option<String> {
    Some(grouped(metric(cell, name)?.median.round()))
}

/// The bytes used, in percent of those fetched with their cache lines.
fn used(cell: &CellReport, used: &str, unused: &str) -> Option<String> {
    let (used, unused) = (metric(cell, used)?.median, metric(cell, unused)?.median);
    percent(used, used + unused)
}

fn percent(part: f64, whole: f64) -> Option<String> {
    (whole > 0.0).then(|| format!("{:.0}", part / whole * 100.0))
}

#[cfg(test)]
mod tests {
    use record::{Better, Figure};

    use super::*;
    use crate::layout::Options;
    use crate::sample::Sample;

    fn counted() -> Document {
        let mut document = Sample::four_targets().document();
        for cell in &mut document.cells {
            cell.dimension = Dimension::CpuFootprint;
            let metric = |name: &str, median: f64| MetricReport {
                name: name.to_owned(),
                unit: "lines".to_owned(),
                better: Better::Lower,
                figure: Figure { value: median, interval: None },
                median,
                mean: median,
                interval: None,
                percentiles: Vec::new(),
                values: Vec::new(),
            };
            cell.metrics = vec![
                metric("instruction_lines", 671.0),
                metric("data_lines", 298.0),
                metric("instructions", 18_201.0),
                metric("instruction_bytes", 300.0),
                metric("instruction_bytes_unused", 100.0),
                metric("l1i_misses", 671.0),
            ];
        }
        document
    }

    #[test]
    fn the_table_has_shares_and_the_misses_of_each_cache() {
        let document = counted();
        let cells: Vec<&CellReport> = document.cells.iter().take(1).collect();
        let mut page = Page::new(&Options { width: 100, colour: false });
        render(&mut page, &[cells]);
        let text = page.finish();
        let lines: Vec<Vec<&str>> =
            text.trim().lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["data", "executed", "used", "l1i", "miss"], "{text}");
        let expected = ["tmpfs", "298", "18,201", "75/-", "%", "671"];
        assert_eq!(lines[2], expected, "{text}");
    }

    #[test]
    fn the_ratio_of_instructions_to_data_is_said() {
        let mut document = counted();
        document.cells[1].metrics[0].median = 149.0;
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        let said = sentence(&cells).unwrap();
        assert!(said.contains("0.5 (create) to 2.3 (create), median 2.3"), "{said}");
        assert!(is_counted(&document));
        document.cells[0].dimension = Dimension::Io;
        assert!(!is_counted(&document));
    }

    #[test]
    fn the_simulated_caches_are_named() {
        let mut document = counted();
        assert!(caches(&document).unwrap().contains("did not record"));
        let mut cache = SimulatedCache {
            name: "l1".to_owned(),
            size_bytes: 32 << 10,
            line_bytes: 64,
            ways: 8,
            replacement: Replacement::Lru,
            inclusive: false,
        };
        let mut said = |origin, cache: &SimulatedCache| {
            let caches_of = SimulatedCaches { origin, caches: vec![cache.clone()] };
            document.run.simulated_caches = Some(caches_of);
            caches(&document).unwrap().replace(textual::UNBREAKABLE, " ")
        };
        let text = said(CachesOrigin::Machine, &cache);
        assert!(text.ends_with("that counted them: l1 32 KiB (8 ways, LRU)."), "{text}");
        (cache.line_bytes, cache.inclusive) = (128, true);
        cache.replacement = Replacement::TreePlru;
        let text = said(CachesOrigin::Given, &cache);
        let shape = "l1 32 KiB (lines of 128 bytes, 8 ways, tree-PLRU, inclusive)";
        assert!(text.contains("given by --cache") && text.contains(shape), "{text}");
        document = Sample::four_targets().document();
        assert_eq!(caches(&document), None, "nothing is simulated");
    }
}
