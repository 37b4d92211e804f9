//! What a benchmark observed besides its metrics, drawn with characters: values over time, and
//! which pages of its file were resident. Shown for the first block, with all targets on one axis.

use record::{CellReport, Observation, PageRuns, Series};

use super::names;
use super::text::{Page, Style};
use crate::units::{self, Wording};
use textual::{Indent, widest};

/// Values from smallest to largest; what was not measured is blank.
const RAMP: [char; 8] = ['.', ':', '-', '=', '+', '*', '%', '#'];
/// Maximum width of a strip, in characters.
const STRIP_MAX: usize = 40;
/// With fewer points, a strip adds nothing to the metrics.
const POINTS_MIN: usize = 8;
/// Values that span more than this factor are drawn on a logarithmic scale.
const LINEAR_MAX: f64 = 20.0;
/// If less than this share of a file is resident, or less than this share is missing, no picture is
/// needed.
const RESIDENT_MIN: f64 = 0.05;

/// The strips of these benchmarks, and what their characters mean.
pub(super) fn render(page: &mut Page, benchmarks: &[Vec<&CellReport>]) {
    let is_drawn =
        |cell: &&&CellReport| cell.observations.iter().any(|one| title_of(one).is_some());
    if benchmarks.iter().flatten().any(|cell| is_drawn(&cell)) {
        let ramp: String = RAMP.iter().collect();
        page.blank();
        page.sentence(&format!("Seen in the first block; {ramp} runs from least to most:"));
        benchmarks.iter().for_each(|cells| of_benchmark(page, cells));
    }
}

fn of_benchmark(page: &mut Page, cells: &[&CellReport]) {
    let Some(title) = cells.first().map(|cell| &cell.title) else { return };
    let strip = page.width().saturating_sub(48).clamp(10, STRIP_MAX);
    let mut titles: Vec<&str> = Vec::new();
    for one in cells.iter().flat_map(|cell| &cell.observations) {
        titles.extend(title_of(one).filter(|own| !titles.contains(own)));
    }
    for own in titles {
        let mut seen: Vec<(String, &Observation)> = Vec::new();
        for cell in cells {
            let it = cell.observations.iter().find(|one| title_of(one) == Some(own));
            seen.extend(it.map(|it| (names::label(&cell.target), it)));
        }
        let (scale, rows) = rows(&seen, strip);
        if rows.is_empty() {
            continue;
        }
        page.sentence(&format!("{title}, {own} ({scale}):"));
        let width = widest(rows.iter().map(|(label, ..)| label));
        let width = width.min(page.width() / 4);
        for (label, drawn, words) in rows {
            let label: String = label.chars().take(width).collect();
            let line = format!("{label:<width$} |{drawn}|");
            if 4 + line.chars().count() + 1 + words.chars().count() <= page.width() {
                page.line(&format!("    {line} {words}"), Style::Plain);
            } else {
                page.line(&format!("    {line}"), Style::Plain);
                page.paragraph(&words, Indent { first: 6, rest: 6 }, Style::Plain);
            }
        }
    }
}

/// The title of an observation that can be drawn.
fn title_of(observation: &Observation) -> Option<&str> {
    match observation {
        Observation::Series(series) if varies(series) => Some(&series.title),
        Observation::Pages(pages) if needs_picture(pages) => Some(&pages.title),
        Observation::Series(_)
        | Observation::Pages(_)
        | Observation::Policies(_)
        | Observation::Probe(_) => None,
    }
}

/// Whether it observed something developing over time.
pub(super) fn is_over_time(cell: &CellReport) -> bool {
    let over_time = |one: &Observation| {
        if let Observation::Series(series) = one {
            series.axis.unit == "ns" && varies(series)
        } else {
            false
        }
    };
    cell.observations.iter().any(over_time)
}

fn varies(series: &Series) -> bool {
    let mut values = series.points.iter().map(|(_, value)| *value);
    let first = values.next();
    series.points.len() >= POINTS_MIN && values.any(|value| Some(value) != first)
}

fn needs_picture(pages: &PageRuns) -> bool {
    (RESIDENT_MIN..=1.0 - RESIDENT_MIN).contains(&resident_share(pages))
}

fn resident_share(pages: &PageRuns) -> f64 {
    let count: u64 = pages.resident.iter().map(|(_, count)| count).sum();
    count as f64 / pages.pages.max(1) as f64
}

/// A label, its strip, and the ends of its range as text.
type StripRow = (String, String, String);

/// What the characters mean, and a row per target.
fn rows(seen: &[(String, &Observation)], strip: usize) -> (&'static str, Vec<StripRow>) {
    let series = seen.iter().filter_map(|(label, one)| {
        if let Observation::Series(series) = one { Some((label, series)) } else { None }
    });
    let series: Vec<(&String, &Series)> = series.collect();
    if !series.is_empty() {
        return series_rows(&series, strip);
    }
    let pages = seen.iter().filter_map(|(label, one)| {
        if let Observation::Pages(pages) = one {
            let words = format!(
                "{:.0} % of {}",
                100.0 * resident_share(pages),
                textual::plural(usize::try_from(pages.pages).unwrap_or(usize::MAX), "page")
            );
            Some((label.clone(), of_pages(pages, strip), words))
        } else {
            None
        }
    });
    ("from start to end of the file", pages.collect())
}

fn series_rows(series: &[(&String, &Series)], strip: usize) -> (&'static str, Vec<StripRow>) {
    let all = || series.iter().flat_map(|(_, one)| &one.points);
    let end = all().map(|(at, _)| *at).fold(0.0, f64::max);
    let most = all().map(|(_, value)| *value).fold(0.0, f64::max);
    let least = all().map(|(_, value)| *value).filter(|value| *value > 0.0).fold(most, f64::min);
    let is_log = least > 0.0 && most / least > LINEAR_MAX;
    let share = |value: f64| match (is_log, value > 0.0) {
        (true, true) => (value / least).ln() / (most / least).ln(),
        (true, false) => 0.0,
        (false, _) => value / most.max(f64::MIN_POSITIVE),
    };
    let row = |(label, one): &(&String, &Series)| {
        let values = one.points.iter().map(|(_, value)| *value);
        let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| {
            (low.min(value), high.max(value))
        });
        let figure = |unit: &str, value| units::figure(unit, value, None, Wording::Short).value;
        let own_end = one.points.iter().map(|(at, _)| *at).fold(0.0, f64::max);
        let words = format!(
            "{} to {} in {}",
            figure(&one.value.unit, low),
            figure(&one.value.unit, high),
            figure(&one.axis.unit, own_end)
        );
        ((*label).clone(), of_series(&one.points, end, strip, share), words)
    };
    let scale = if is_log { "logarithmic" } else { "linear from 0" };
    (scale, series.iter().map(row).collect())
}

/// Means of the points in equal parts of the axis; a part without points repeats the previous one.
fn of_series(points: &[(f64, f64)], end: f64, strip: usize, share: impl Fn(f64) -> f64) -> String {
    let column = |at: f64| index(at / end.max(f64::MIN_POSITIVE), strip);
    let last = points.iter().map(|(at, _)| column(*at)).max().unwrap_or(0);
    let mut before = None;
    let drawn = (0..strip).map(|index| {
        let inside = points.iter().filter(|(at, _)| column(*at) == index).map(|(_, value)| *value);
        let values: Vec<f64> = inside.collect();
        if !values.is_empty() {
            before = Some(values.iter().sum::<f64>() / values.len() as f64);
        }
        match before.filter(|_| index <= last) {
            Some(value) => RAMP[self::index(share(value), RAMP.len())],
            None => ' ',
        }
    });
    drawn.collect()
}

fn of_pages(pages: &PageRuns, strip: usize) -> String {
    let per_column = pages.pages as f64 / strip as f64;
    let drawn = (0..strip).map(|column| {
        let (from, to) = (column as f64 * per_column, (column + 1) as f64 * per_column);
        let inside = pages
            .resident
            .iter()
            .map(|&(first, count)| ((first + count) as f64).min(to) - (first as f64).max(from));
        let share = inside.filter(|overlap| *overlap > 0.0).sum::<f64>() / per_column;
        if share <= 0.0 { ' ' } else { RAMP[index(share, RAMP.len())] }
    });
    drawn.collect()
}

/// The index of the part that contains `share`, if 0 to 1 is divided into `count` equal parts.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the count")]
fn index(share: f64, count: usize) -> usize {
    ((share.clamp(0.0, 1.0) * count as f64) as usize).min(count - 1)
}

#[cfg(test)]
mod tests {
    use record::{Document, Quantity};

    use super::*;
    use crate::layout::Options;
    use crate::sample::Sample;

    fn drawn(observations: &[Vec<Observation>], width: usize) -> String {
        let mut document: Document =
            Sample::new(&["ext4", "xfs"]).benchmark("warm-up", &[&[1.0; 6], &[1.0; 6]]).document();
        for (cell, own) in document.cells.iter_mut().zip(observations) {
            cell.observations.clone_from(own);
        }
        let mut page = Page::new(&Options { width, ..Options::default() });
        render(&mut page, &[document.cells.iter().collect()]);
        page.finish()
    }

    fn series(points: &[(f64, f64)]) -> Vec<Observation> {
        vec![Observation::Series(Series {
            title: "throughput over time".to_owned(),
            axis: Quantity::new("time", "ns"),
            value: Quantity::new("throughput", "operations/s"),
            points: points.to_vec(),
        })]
    }

    #[test]
    fn series_of_all_targets_share_one_axis_and_one_scale() {
        let eight = |last: f64| -> Vec<(f64, f64)> {
            (1..=8).map(|at| (f64::from(at) * 1e9, if at == 8 { last } else { 1000.0 })).collect()
        };
        let half: Vec<(f64, f64)> =
            eight(1e6).iter().map(|(at, value)| (at / 2.0, *value)).collect();
        let text = drawn(&[series(&eight(1e6)), series(&half)], 80);
        let lines: Vec<&str> = text.lines().collect();
        assert!(text.contains(".:-=+*%# runs from least to most"), "{text}");
        let strip = |label: &str| {
            let line = lines.iter().find(|line| line.trim_start().starts_with(label)).unwrap();
            line.split('|').nth(1).unwrap().to_owned()
        };
        assert_eq!(strip("ext4").chars().count(), 32);
        assert!(strip("ext4").ends_with('#') && !strip("ext4")[..31].contains('#'));
        let xfs = strip("xfs");
        assert_eq!(xfs.find('#'), Some(16), "{xfs}");
        assert!(xfs[17..].trim().is_empty(), "{xfs}");
        assert!(text.contains("1.00 k op/s to 1.00 M op/s in 4.00 s"), "{text}");
    }

    #[test]
    fn resident_pages_are_drawn_where_they_lie() {
        let pages = |resident: &[(u64, u64)]| {
            vec![Observation::Pages(PageRuns {
                title: "at the end".to_owned(),
                pages: 320,
                resident: resident.to_vec(),
            })]
        };
        // All of the first quarter, and half of each pair of pages in the last.
        let halves: Vec<(u64, u64)> = (120..160).map(|pair| (pair * 2, 1)).collect();
        let text =
            drawn(&[pages(&[[(0, 80)].as_slice(), &halves].concat()), pages(&[(0, 320)])], 80);
        let expected =
            format!("|{}{}{}| 38 % of 320 pages", "#".repeat(8), " ".repeat(16), "+".repeat(8));
        assert!(text.contains(&expected), "{text}");
        assert!(!text.contains("xfs"), "what is wholly resident needs no picture: {text}");
    }

    #[test]
    fn what_has_few_points_is_not_drawn() {
        assert_eq!(drawn(&[series(&[(1.0, 1.0); 7]), Vec::new()], 80), "");
    }

    #[test]
    fn lines_fit_a_narrow_page() {
        let long: Vec<(f64, f64)> = (1..=8).map(|at| (f64::from(at) * 1e9, 123_456.0)).collect();
        let text = drawn(&[series(&long), Vec::new()], 40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }
}
