//! The table: one row per comparison, as Markdown that is also readable as plain text.

use std::fmt;

use stats::{Sample, order};

const LEVEL: f64 = 0.95;

/// What a figure should be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    /// The bound in words, and whether the median of these values is within it. If their interval
    /// is on both sides of it, that is said as well.
    fn judged(self, values: &[f64], show: impl Fn(f64) -> String) -> String {
        let (sign, bound) = match self {
            Self::AtMost(bound) => ("<=", bound),
            Self::AtLeast(bound) => (">=", bound),
        };
        let Ok(sample) = Sample::new(values) else {
            return format!("{sign} {}: nothing measured", show(bound));
        };
        let is_met = |value: f64| match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        };
        let is_met_in_the_middle = is_met(sample.median());
        let verdict = if is_met_in_the_middle { "met" } else { "not met" };
        let interval = order::median_interval(&sample, LEVEL);
        let is_split = interval.is_ok_and(|interval| {
            [interval.low, interval.high].iter().any(|&end| is_met(end) != is_met_in_the_middle)
        });
        let perhaps = if is_split { ", just" } else { "" };
        format!("{sign} {}: {verdict}{perhaps}", show(bound))
    }
}

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

    /// Adds differences in nanoseconds, and whether they are within their bound.
    pub(crate) fn more_ns(&mut self, what: &str, bound: Bound, differences_ns: &[f64]) {
        let figure = in_words(differences_ns, |time| format!("{time:+.1} ns"));
        let said = bound.judged(differences_ns, |bound| format!("{bound} ns more"));
        self.row(what, figure, &said);
    }

    /// Adds differences in milliseconds, and whether they are within their bound.
    pub(crate) fn more_ms(&mut self, what: &str, bound: Bound, differences_ms: &[f64]) {
        let figure = in_words(differences_ms, |time| format!("{time:+.2} ms"));
        let said = bound.judged(differences_ms, |bound| format!("{bound} ms more"));
        self.row(what, figure, &said);
    }

    /// Adds differences of counts, and whether they are within their bound, if there is one.
    pub(crate) fn more(&mut self, what: &str, bound: Option<Bound>, differences: &[f64]) {
        let figure = in_words(differences, |count| format!("{count:+.0}"));
        let judged = bound.map(|bound| bound.judged(differences, |bound| format!("{bound} more")));
        self.row(what, figure, &judged.unwrap_or_else(|| "stated".to_owned()));
    }

    /// Adds ratios, and whether they are within their bound.
    pub(crate) fn judged_ratios(&mut self, what: &str, bound: Bound, ratios: &[f64]) {
        let figure = in_words(ratios, |ratio| format!("{ratio:.3}"));
        self.row(what, figure, &bound.judged(ratios, |bound| bound.to_string()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_met_by_the_median_and_just_so_if_the_interval_is_on_both_sides() {
        let judged = |bound: Bound, values: &[f64]| bound.judged(values, |bound| bound.to_string());
        let (low, high) = ([1.0; 9], [3.0; 9]);
        let around = [1.0, 1.0, 1.0, 1.0, 1.9, 3.0, 3.0, 3.0, 3.0];
        assert_eq!(judged(Bound::AtMost(2.0), &low), "<= 2: met");
        assert_eq!(judged(Bound::AtMost(2.0), &high), "<= 2: not met");
        assert_eq!(judged(Bound::AtMost(2.0), &around), "<= 2: met, just");
        assert_eq!(judged(Bound::AtLeast(2.0), &high), ">= 2: met");
        assert_eq!(judged(Bound::AtLeast(2.0), &around), ">= 2: not met, just");
        assert_eq!(judged(Bound::AtLeast(2.0), &[]), ">= 2: nothing measured");
    }
}
