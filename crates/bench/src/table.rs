//! The table: one row per comparison, as Markdown that is also readable as plain text.

use std::fmt;

use stats::{Sample, order};

const LEVEL: f64 = 0.95;

/// Rows of ratios.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; 3]>,
}

impl Table {
    /// Adds the ratios of one comparison, and prints the row at once.
    pub(crate) fn ratios(&mut self, what: &str, bound: &str, ratios: &[f64]) {
        self.row(what, in_words(ratios, |ratio| format!("{ratio:.3}")), bound);
    }

    /// Adds times in milliseconds.
    pub(crate) fn times_ms(&mut self, what: &str, bound: &str, times_ms: &[f64]) {
        self.row(what, in_words(times_ms, |time| format!("{time:.2} ms")), bound);
    }

    /// Adds times in nanoseconds.
    pub(crate) fn times_ns(&mut self, what: &str, bound: &str, times_ns: &[f64]) {
        self.row(what, in_words(times_ns, |time| format!("{time:.0} ns")), bound);
    }

    /// Adds counts.
    pub(crate) fn counts(&mut self, what: &str, bound: &str, counts: &[f64]) {
        self.row(what, in_words(counts, |count| format!("{count:.0}")), bound);
    }

    /// Adds rates per second, in millions if they are large.
    pub(crate) fn per_second(&mut self, what: &str, bound: &str, rates: &[f64]) {
        let show = |rate: f64| match rate {
            large if large >= 1e6 => format!("{:.1} M/s", large / 1e6),
            small => format!("{small:.0}/s"),
        };
        self.row(what, in_words(rates, show), bound);
    }

    /// Adds a row with a figure in words.
    pub(crate) fn row(&mut self, what: &str, figure: String, bound: &str) {
        eprintln!("{what}: {figure} ({bound})");
        self.rows.push([what.to_owned(), figure, bound.to_owned()]);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = ["what", "median [95 % interval]", "bound"].map(str::to_owned);
        let width = |column: usize| {
            let rows = self.rows.iter().chain([&heading]);
            rows.map(|row| row[column].len()).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2)];
        let line = |f: &mut fmt::Formatter<'_>, row: &[String; 3]| {
            let [what, figure, bound] = row;
            let [first, second, third] = widths;
            writeln!(f, "| {what:first$} | {figure:second$} | {bound:third$} |")
        };
        line(f, &heading)?;
        line(f, &widths.map(|width| "-".repeat(width)))?;
        self.rows.iter().try_for_each(|row| line(f, row))
    }
}

/// The median with its interval, or without one if there are too few rounds.
fn in_words(values: &[f64], show: impl Fn(f64) -> String) -> String {
    let Ok(sample) = Sample::new(values) else { return "nothing measured".to_owned() };
    let median = show(sample.median());
    match order::median_interval(&sample, LEVEL) {
        Ok(interval) => format!("{median} [{}, {}]", show(interval.low), show(interval.high)),
        Err(refusal) => format!("{median} ({refusal})"),
    }
}
