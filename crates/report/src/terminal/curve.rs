//! Curves: one table each, with a row per point of the axis and a column per target, and sentences
//! about the whole.

use record::{Better, CellReport, CurvePoint, Document, MetricReport, StandardMetric, Verdict};

use super::columns::FigureRow;
use super::ranking::{RankedTarget, relation};
use super::text::Page;
use super::{beside, columns, names};
use crate::units::{self, Comparatives};

/// The points of one curve, over all targets.
#[derive(Clone, Debug)]
pub(super) struct Curve<'a> {
    pub(super) name: &'a str,
    pub(super) cells: Vec<&'a CellReport>,
}

/// The points among `cells`, grouped by curve, in the order of the document.
pub(super) fn curves<'a>(cells: &[&'a CellReport]) -> Vec<Curve<'a>> {
    let mut curves: Vec<Curve<'a>> = Vec::new();
    for &cell in cells {
        let Some(point) = &cell.curve else { continue };
        match curves.iter_mut().find(|curve| curve.name == point.curve) {
            Some(curve) => curve.cells.push(cell),
            None => curves.push(Curve { name: &point.curve, cells: vec![cell] }),
        }
    }
    curves
}

/// The targets of cells, in their order.
pub(super) fn targets_of<'a>(cells: &[&'a CellReport]) -> Vec<&'a str> {
    let mut targets: Vec<&str> = Vec::new();
    for cell in cells {
        if !targets.contains(&cell.target.as_str()) {
            targets.push(&cell.target);
        }
    }
    targets
}

/// The sentences about one curve, each with the name of the metric it is about.
pub(super) fn sentences(document: &Document, curve: &Curve<'_>) -> Vec<(String, String)> {
    let of = |metric: &MetricReport| {
        let name = units::words(&metric.name);
        let sentences = curve.sentences(document, &metric.name).into_iter();
        sentences.map(move |sentence| (name.clone(), sentence))
    };
    curve.metrics().into_iter().flat_map(of).collect()
}

/// The title of a curve, including its axis.
pub(super) fn title(point: &CurvePoint) -> String {
    let by_axis = format!(", by {}", point.axis);
    // A title may already name the axis, to be distinct from another; it is not repeated.
    let title = point.title.strip_suffix(&by_axis).unwrap_or(&point.title);
    format!("{title}{by_axis}")
}

/// The tables of one curve, and its sentences.
pub(super) fn render(page: &mut Page, document: &Document, curve: &Curve<'_>) {
    let Some(point) = curve.cells.first().and_then(|cell| cell.curve.as_ref()) else { return };
    let title = title(point);
    for metric in curve.metrics() {
        let what = units::words(&metric.name);
        page.blank();
        page.sentence(&format!("{title}: {what}"));
        let metric = metric.name.as_str();
        curve.table(page, metric, &point.axis);
        for sentence in curve.sentences(document, metric) {
            page.sentence(&sentence);
        }
    }
}

impl<'a> Curve<'a> {
    /// The metrics to show: the primary one, and those that are not derived from it.
    fn metrics(&self) -> Vec<&'a MetricReport> {
        let mut shown: Vec<&MetricReport> = Vec::new();
        for cell in &self.cells {
            for (index, metric) in cell.metrics.iter().enumerate() {
                let is_new = shown.iter().all(|other| other.name != metric.name);
                let name = metric.name.as_str();
                let says_more = name == StandardMetric::SPEED_UP.name
                    || !(units::is_derived(name) || beside::NAMES.contains(&name));
                if is_new && (index == 0 || says_more) {
                    shown.push(metric);
                }
            }
        }
        shown
    }

    /// The cells farthest along the axis, one per target.
    pub(super) fn last_point(&self) -> Vec<&'a CellReport> {
        let value = |cell: &CellReport| cell.curve.as_ref().map_or(f64::NAN, |point| point.value);
        let last = self.cells.iter().map(|cell| value(cell)).fold(f64::NEG_INFINITY, f64::max);
        self.cells.iter().copied().filter(|cell| value(cell) == last).collect()
    }

    fn targets(&self) -> Vec<&'a str> {
        targets_of(&self.cells)
    }

    /// Positions on the axis, ascending, each with the label of its row.
    fn axis(&self) -> Vec<(f64, String)> {
        let mut places: Vec<(f64, String)> = Vec::new();
        for cell in &self.cells {
            let Some(point) = &cell.curve else { continue };
            if places.iter().all(|(value, _)| *value != point.value) {
                let text = textual::on_axis(point.value, &point.unit);
                let note = cell.parameters.get("fits_into").and_then(|note| note.as_str());
                let note = note.map_or(String::new(), |note| format!(" ({note})"));
                places.push((point.value, format!("{text}{note}")));
            }
        }
        places.sort_by(|left, right| left.0.total_cmp(&right.0));
        places
    }

    fn entry(&self, target: &str, value: f64, metric: &str) -> Option<RankedTarget<'a>> {
        let is_it = |cell: &&&CellReport| {
            cell.target == target && cell.curve.as_ref().is_some_and(|point| point.value == value)
        };
        let cell = self.cells.iter().find(is_it)?;
        let metric = cell.metrics.iter().find(|one| one.name == metric)?;
        Some(RankedTarget { cell, metric })
    }

    fn table(&self, page: &mut Page, metric: &str, axis_name: &str) {
        let axis = self.axis();
        let texts = axis.iter().map(|(_, text)| text.as_str());
        let width = textual::widest(texts.chain([axis_name]));
        let targets = self.targets();
        let row = |(value, text): &(f64, String)| {
            let figure = |target: &&str| {
                let entry = self.entry(target, *value, metric);
                entry.map_or_else(|| "-".to_owned(), |entry| columns::figure(entry.metric))
            };
            FigureRow::new(&format!("{text:>width$}"), targets.iter().map(figure).collect())
        };
        let names = targets.iter().map(|target| names::label(target)).collect();
        let head = FigureRow::new(&format!("{axis_name:>width$}"), names);
        let mut rows: Vec<FigureRow> = axis.iter().map(row).collect();
        // A speed-up has no figure at its own baseline.
        if metric == StandardMetric::SPEED_UP.name {
            rows.retain(|row| row.figures.iter().any(|figure| figure != "-"));
        }
        columns::side_by_side(page, &head, &rows);
    }

    /// How the other targets compare with the one that is best at most points: `tmpfs is slower
    /// than ext4 at 12 of 12 points, by 1.30x to 3.70x`.
    fn sentences(&self, document: &Document, metric: &str) -> Vec<String> {
        let axis = self.axis();
        let targets = self.targets();
        let Some(best) = targets.iter().max_by_key(|target| {
            let wins = |(value, _): &&(f64, String)| self.is_best(target, *value, metric);
            axis.iter().filter(wins).count()
        }) else {
            return Vec::new();
        };
        let sentence = |other: &&str| {
            let pair = |(value, _): &(f64, String)| {
                let best = self.entry(best, *value, metric)?;
                let other = self.entry(other, *value, metric)?;
                Some((relation(document, best, other), best.metric))
            };
            let pairs: Vec<_> = axis.iter().filter_map(pair).collect();
            let of = pairs.iter().filter(|(one, _)| one.verdict != Verdict::NotEnoughData).count();
            let ratios = |worse: bool| -> Vec<f64> {
                let real = pairs.iter().filter(|(one, _)| one.verdict.is_different());
                let ratios = real.filter_map(|(one, _)| Some(one.slower?.ratio));
                ratios.filter(|ratio| (*ratio >= 1.0) == worse).collect()
            };
            let metric = pairs.first()?.1;
            // For a descriptive metric, nothing is slower or faster.
            if metric.better == Better::Neither {
                return None;
            }
            let words = Comparatives::new(&metric.name, &metric.unit, metric.better);
            let clause = |ratios: &[f64], word: &str| {
                let (low, high) = ratios.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), r| {
                    let r = r.max(1.0 / r);
                    (low.min(r), high.max(r))
                });
                let points = textual::plural(of, "point");
                let range = units::ratio_range(low, high);
                (!ratios.is_empty()).then(|| {
                    format!("{word} than {best} at {} of {points} ({range})", ratios.len())
                })
            };
            let clauses: Vec<String> =
                [clause(&ratios(true), words.worse), clause(&ratios(false), words.better)]
                    .into_iter()
                    .flatten()
                    .collect();
            let other = names::label(other);
            match (of, clauses.is_empty()) {
                (0, _) => None,
                (_, true) => Some(format!("{other} cannot be told apart from {best} anywhere")),
                _ => Some(format!("{} {}", words.subject_and_verb(&other), clauses.join(", and "))),
            }
        };
        targets.iter().filter(|target| *target != best).filter_map(sentence).collect()
    }

    fn is_best(&self, target: &str, value: f64, metric: &str) -> bool {
        let own = self.entry(target, value, metric);
        let others = self.targets().into_iter().filter(|other| *other != target);
        let mut others = others.filter_map(|other| self.entry(other, value, metric));
        own.is_some_and(|own| {
            others.all(|other| {
                if let Better::Higher = own.metric.better {
                    own.metric.figure.value >= other.metric.figure.value
                } else {
                    own.metric.figure.value <= other.metric.figure.value
                }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Options;
    use crate::sample::{Sample, around, swaying};

    fn curve_of(targets: &[&str], points: &[(f64, Vec<Vec<f64>>)]) -> Document {
        let mut sample = Sample::new(targets);
        for (value, times) in points {
            let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
            let first = sample.run.manifest.cells.len();
            sample = sample.benchmark(&format!("read-{value}"), &times);
            for cell in &mut sample.run.manifest.cells[first..] {
                cell.curve = Some(CurvePoint {
                    curve: "read".to_owned(),
                    title: "random read".to_owned(),
                    axis: "request size".to_owned(),
                    unit: "bytes".to_owned(),
                    value: *value,
                    family: None,
                });
            }
        }
        sample.document()
    }

    fn rendered(document: &Document) -> String {
        let mut page = Page::new(&Options::default());
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        for curve in curves(&cells) {
            render(&mut page, document, &curve);
        }
        page.finish()
    }

    #[test]
    fn an_axis_that_stands_in_the_title_is_not_said_twice() {
        let mut document = curve_of(&["ext4"], &[(512.0, vec![around(800.0, 8)])]);
        for point in document.cells.iter_mut().filter_map(|cell| cell.curve.as_mut()) {
            point.title = "random read, by request size".to_owned();
        }
        let text = rendered(&document);
        assert!(text.contains("  random read, by request size: time per operation\n"), "{text}");
    }

    #[test]
    fn a_row_per_point_a_column_per_target_and_what_differs() {
        let document = curve_of(
            &["ext4", "tmpfs"],
            &[
                (4096.0, vec![around(1000.0, 8), swaying(1500.0, 8)]),
                (512.0, vec![around(800.0, 8), swaying(800.0, 8)]),
            ],
        );
        let expected = "
  random read, by request size: time per operation
  request size           ext4          tmpfs
         512 B   801 ns (1 %)   801 ns (2 %)
         4 KiB  1.00 us (1 %)  1.50 us (2 %)
  tmpfs is slower than ext4 at 1 of 2 points (1.50x)
";
        let text = rendered(&document);
        assert_eq!(text, expected);
    }

    #[test]
    fn the_last_point_is_the_one_farthest_along_the_axis() {
        let times = || vec![around(1000.0, 8), around(1000.0, 8)];
        let document =
            curve_of(&["a", "b"], &[(512.0, times()), (4096.0, times()), (8.0, times())]);
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        let last = curves(&cells)[0].last_point();
        let names: Vec<&str> = last.iter().map(|cell| cell.benchmark.as_str()).collect();
        assert_eq!(names, ["read-4096", "read-4096"]);
    }

    #[test]
    fn targets_that_do_not_fit_side_by_side_stand_below_each_other() {
        let names = ["a-long-name-one", "a-long-name-two", "a-long-name-three", "a-long-name-four"];
        let times = vec![around(1000.0, 8); 4];
        let document = curve_of(&names, &[(4096.0, times)]);
        let text = rendered(&document);
        assert_eq!(text.matches("4 KiB").count(), 2, "{text}");
        assert!(text.contains("a-long-name-two cannot be told apart from"), "{text}");
    }

    #[test]
    fn a_point_without_a_figure_is_a_dash() {
        let document = curve_of(&["ext4", "xfs"], &[(512.0, vec![around(800.0, 8), Vec::new()])]);
        assert!(rendered(&document).lines().any(|line| line.ends_with(" -")));
    }

    #[test]
    fn what_follows_from_the_primary_metric_has_no_table_of_its_own() {
        let mut document = curve_of(&["ext4"], &[(512.0, vec![around(800.0, 8)])]);
        assert!(document.cells[0].metrics.iter().any(|metric| metric.name == "throughput"));
        let further = record::MetricReport {
            name: "extents".to_owned(),
            ..document.cells[0].metrics[0].clone()
        };
        document.cells[0].metrics.push(further);
        let text = rendered(&document);
        assert!(text.contains(": extents\n") && !text.contains(": throughput\n"), "{text}");
    }
}
