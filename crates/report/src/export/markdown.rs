//! A table in Markdown, to be pasted into an issue, a pull request or a wiki: one row per
//! benchmark, one column per target.
//!
//! Tables are GitHub's extension (GitHub Flavored Markdown Spec, section 4.10).

use std::fmt::Write as _;

use record::{CellReport, Document, Run};
use textual::{percent, plain_text};

use super::{Export, NOT_MEASURED, Omissions, SEARCHED};
use crate::units::{self, Wording};

/// The first metric of each planned cell: its median, and its interval if there is one.
#[must_use]
pub fn render_markdown(document: &Document, run: &Run) -> Export {
    let mut omissions = Omissions::default();
    let (planned, searched) =
        document.cells.split_at(run.manifest.cells.len().min(document.cells.len()));
    searched.iter().for_each(|_| omissions.add(SEARCHED));
    let unmeasured = planned.iter().filter(|cell| cell.metrics.is_empty());
    unmeasured.for_each(|_| omissions.add(NOT_MEASURED));

    let targets: Vec<&str> = document.targets.iter().map(|one| one.label.as_str()).collect();
    let mut text = format!("{}\n\n", caption(document));
    let mut row = |cells: Vec<String>| {
        writeln!(text, "| {} |", cells.join(" | ")).expect("writing to a string cannot fail");
    };
    row(std::iter::once("benchmark").chain(targets.iter().copied()).map(escaped).collect());
    row(std::iter::once("---").chain(targets.iter().map(|_| "---:")).map(str::to_owned).collect());
    let mut benchmarks: Vec<(&str, &str)> = Vec::new();
    for cell in planned {
        let names = (cell.suite.as_str(), cell.benchmark.as_str());
        if !benchmarks.contains(&names) && !cell.metrics.is_empty() {
            benchmarks.push(names);
        }
    }
    for names in benchmarks {
        let is_of = |cell: &&CellReport| (cell.suite.as_str(), cell.benchmark.as_str()) == names;
        let cells: Vec<&CellReport> = planned.iter().filter(is_of).collect();
        let figure = |target: &&str| {
            let cell = cells.iter().find(|cell| cell.target == **target);
            cell.and_then(|cell| figure(cell)).unwrap_or_else(|| "-".to_owned())
        };
        let title = cells.first().map_or("", |cell| &cell.title);
        row(std::iter::once(escaped(title)).chain(targets.iter().map(figure)).collect());
    }
    Export { text, left_out: omissions.0 }
}

/// What the figures are, and of which run.
fn caption(document: &Document) -> String {
    let level = percent(document.run.confidence_level);
    let kernel = document.machine.kernel.release.as_deref();
    let kernel =
        kernel.map_or_else(String::new, |release| format!(" on Linux {}", escaped(release)));
    format!("Medians with {level} intervals, measured by fsprism{kernel}.")
}

/// `6.10 us [6.05, 6.15]`.
fn figure(cell: &CellReport) -> Option<String> {
    let metric = cell.metrics.first()?;
    let figure = units::of_metric(metric, Wording::Short);
    let interval = figure.interval.map_or_else(String::new, |interval| format!(" {interval}"));
    Some(format!("{}{interval}", figure.value.trim()))
}

/// Escapes everything that would end a cell or be interpreted as markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in plain_text(text).chars() {
        if "\\`*_{}[]<>#|~&".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, around};

    #[test]
    fn benchmarks_are_rows_and_targets_columns() {
        let sample = Sample::new(&["tmpfs", "a|b*"])
            .benchmark("create", &[&around(6100.0, 8), &around(9000.0, 8)])
            .benchmark("stat", &[&around(500.0, 8)]);
        let export = render_markdown(&sample.document(), &sample.run);
        let rows: Vec<&str> = export.text.lines().skip(2).collect();
        assert_eq!(rows[0], "| benchmark | tmpfs | a\\|b\\* |");
        assert_eq!(rows[1], "| --- | ---: | ---: |");
        assert!(rows[2].starts_with("| create | 6.1"), "{}", rows[2]);
        assert!(rows[2].contains(" us [") && rows[2].matches(" | ").count() == 2, "{}", rows[2]);
        assert!(rows[3].starts_with("| stat | ") && rows[3].ends_with(" | - |"), "{}", rows[3]);
        assert_eq!(export.left_out.iter().map(|one| one.cells).sum::<usize>(), 1);
    }
}
