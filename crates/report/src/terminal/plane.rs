//! Curves that differ in a second parameter form a plane: for each target, a grid of figures with
//! one parameter across and the other one down, whose marks are the darker the larger a figure is.

use record::CellReport;

use super::columns::{self, FigureRow};
use super::curve::{Curve, targets_of};
use super::names;
use super::text::Page;
use crate::units::{self, Wording};

/// From the smallest figures to the largest.
const MARKS: [&str; 5] = [" ", ".", ":", "+", "#"];

/// The curves of one family.
struct Plane<'a> {
    name: &'a str,
    cells: Vec<&'a CellReport>,
}

/// A position in words, and where it is.
type Position = (f64, String);

/// The grids of all families that have more than one curve.
pub(super) fn render(page: &mut Page, curves: &[Curve<'_>]) {
    for plane in planes(curves) {
        plane.render(page);
    }
}

fn planes<'a>(curves: &[Curve<'a>]) -> Vec<Plane<'a>> {
    let mut planes: Vec<Plane<'a>> = Vec::new();
    for &cell in curves.iter().flat_map(|curve| &curve.cells) {
        let Some(family) = cell.curve.as_ref().and_then(|point| point.family.as_ref()) else {
            continue;
        };
        match planes.iter_mut().find(|plane| plane.name == family.family) {
            Some(plane) => plane.cells.push(cell),
            None => planes.push(Plane { name: &family.family, cells: vec![cell] }),
        }
    }
    planes.retain(|plane| plane.positions(down).len() > 1);
    planes
}

fn across(cell: &CellReport) -> Option<(f64, &str)> {
    cell.curve.as_ref().map(|point| (point.value, point.unit.as_str()))
}

fn down(cell: &CellReport) -> Option<(f64, &str)> {
    let family = cell.curve.as_ref()?.family.as_ref()?;
    Some((family.value, family.unit.as_str()))
}

impl<'a> Plane<'a> {
    /// The positions along an axis, ascending.
    fn positions(&self, axis: fn(&CellReport) -> Option<(f64, &str)>) -> Vec<Position> {
        let mut all: Vec<Position> = Vec::new();
        for (value, unit) in self.cells.iter().filter_map(|cell| axis(cell)) {
            if all.iter().all(|(other, _)| *other != value) {
                all.push((value, textual::on_axis(value, unit)));
            }
        }
        all.sort_by(|left, right| left.0.total_cmp(&right.0));
        all
    }

    fn cell(&self, target: &str, column: f64, row: f64) -> Option<&'a CellReport> {
        let is_there = |cell: &&CellReport| {
            let place = (across(cell).map(|at| at.0), down(cell).map(|at| at.0));
            cell.target == target && place == (Some(column), Some(row))
        };
        self.cells.iter().copied().find(is_there)
    }

    fn render(&self, page: &mut Page) {
        let point = self.cells.first().and_then(|cell| cell.curve.as_ref());
        let Some((point, family)) = point.and_then(|point| Some((point, point.family.as_ref()?)))
        else {
            return;
        };
        let Some(metric) = self.cells.iter().find_map(|cell| cell.metrics.first()) else { return };
        let values =
            || self.cells.iter().filter_map(|cell| Some(cell.metrics.first()?.figure.value));
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(f64::NEG_INFINITY, f64::max);
        let (columns, rows) = (self.positions(across), self.positions(down));
        let what = units::words(&metric.name);
        let corner = format!("{} by {}", family.axis, point.axis);
        for target in targets_of(&self.cells) {
            page.blank();
            page.sentence(&format!("{}, {}: {what}", family.title, names::label(target)));
            let figure = |column: &Position, row: &Position| {
                let metric = self.cell(target, column.0, row.0)?.metrics.first()?;
                let mark = mark(metric.figure.value, least, most);
                Some(format!("{} {mark}", columns::figure(metric)))
            };
            let of_row = |row: &Position| {
                let figures = columns
                    .iter()
                    .map(|column| figure(column, row).unwrap_or_else(|| "-  ".to_owned()));
                FigureRow::new(
                    &format!("{:>width$}", row.1, width = corner.len()),
                    figures.collect(),
                )
            };
            let head = columns.iter().map(|(_, text)| format!("{text}  ")).collect();
            let rows: Vec<FigureRow> = rows.iter().map(of_row).collect();
            columns::side_by_side(page, &FigureRow::new(&corner, head), &rows);
        }
        let said = |value| units::figure(&metric.unit, value, None, Wording::Short).value;
        let (least, most) = (said(least), said(most));
        page.sentence(&format!("marks, from {least} to {most}: none . : + #"));
    }
}

/// The mark of a figure between the least and the largest, in equal steps of ratio.
fn mark(value: f64, least: f64, most: f64) -> &'static str {
    let share =
        if most > least && least > 0.0 { (value / least).ln() / (most / least).ln() } else { 0.0 };
    let steps = MARKS.len() as f64;
    let step = (1..MARKS.len()).rev().find(|step| share * steps >= *step as f64);
    MARKS[step.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use record::{CurveFamily, CurvePoint};

    use super::*;
    use crate::layout::Options;
    use crate::sample::{Sample, around};
    use crate::terminal::curve;

    fn plane(data: &[f64]) -> String {
        let mut sample = Sample::new(&["ext4", "tmpfs"]);
        for code in [4096.0, 8192.0] {
            for &data in data {
                let first = sample.run.manifest.cells.len();
                let (ext4, tmpfs) = (around(code, 8), around(data / 4.0, 8));
                sample = sample.benchmark(&format!("stat-{code}-{data}"), &[&ext4, &tmpfs]);
                for cell in &mut sample.run.manifest.cells[first..] {
                    cell.curve = Some(CurvePoint {
                        curve: format!("stat-data-{data}"),
                        title: format!("code around stat, with {data} of data"),
                        axis: "instructions".to_owned(),
                        unit: "bytes".to_owned(),
                        value: code,
                        family: Some(CurveFamily {
                            family: "stat".to_owned(),
                            title: "code around stat".to_owned(),
                            axis: "data".to_owned(),
                            unit: "bytes".to_owned(),
                            value: data,
                        }),
                    });
                }
            }
        }
        let document = sample.document();
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        let mut page = Page::new(&Options::default());
        render(&mut page, &curve::curves(&cells));
        page.finish()
    }

    #[test]
    fn one_parameter_is_across_and_the_other_down_for_each_target() {
        let expected = "
  code around stat, ext4: time per operation
  data by instructions          4 KiB            8 KiB
                 4 KiB  4.10 us (1 %) +  8.19 us (1 %) #
                 8 KiB  4.10 us (1 %) +  8.19 us (1 %) #

  code around stat, tmpfs: time per operation
  data by instructions          4 KiB            8 KiB
                 4 KiB  1.02 us (1 %)    1.02 us (1 %)
                 8 KiB  2.05 us (1 %) .  2.05 us (1 %) .
  marks, from 1.02 us to 8.19 us: none . : + #
";
        assert_eq!(plane(&[4096.0, 8192.0]), expected);
    }

    #[test]
    fn a_single_curve_is_no_plane() {
        assert_eq!(plane(&[4096.0]), "");
    }

    #[test]
    fn marks_divide_the_range_into_equal_ratios() {
        let all = [1.0, 2.1, 4.1, 8.1, 16.1, 31.0, 32.0].map(|value| mark(value, 1.0, 32.0));
        assert_eq!(all, [" ", ".", ":", "+", "#", "#", "#"]);
        assert_eq!(mark(5.0, 5.0, 5.0), " ");
    }
}
