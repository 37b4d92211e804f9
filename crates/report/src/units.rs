//! Numbers with units, as people write them: two or three significant digits, and no more digits
//! than the interval supports.
//!
//! Times (ns, us, ms, s) and rates (k, M, G) are scaled by powers of 1000, sizes and bandwidths by
//! powers of 1024, with the matching names (KiB, MiB, GiB).

use record::{Better, IntervalReport, MetricReport, StandardMetric};
use textual::grouped;

/// Units of things that are counted: all digits are written, and no fractions.
const COUNTED: [&str; 3] = ["lines", "instructions", "accesses"];

/// Units of times and rates.
const OF_SPEED: [&str; 3] = ["ns", "operations/s", "bytes/s"];
/// If an interval is wider than this many times its figure, the figure is not shown.
const WIDTH_MAX: f64 = 10.0;
/// The text in its place.
const NO_FIGURE: &str = "too little data";

/// A value with its interval, both in the same unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    /// The value and its unit.
    pub(crate) value: String,
    /// The interval in brackets, without unit.
    pub(crate) interval: Option<String>,
}

impl Figure {
    /// Whether there is no figure because its interval was too wide.
    pub(crate) fn is_none(&self) -> bool {
        self.value == NO_FIGURE
    }
}

/// Whether a unit is written in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// In sentences: `operations/s`.
    Full,
    /// In tables: `op/s`.
    Short,
}

/// Whether the interval of a time or a rate is so wide that its figure says nothing. A value that
/// may be negative is a difference; near 0, its interval says how large it can be.
fn is_no_figure(unit: &str, value: f64, interval: Option<&IntervalReport>) -> bool {
    OF_SPEED.contains(&unit)
        && interval.is_some_and(|one| {
            one.low >= 0.0 && value > 0.0 && one.high - one.low > WIDTH_MAX * value
        })
}

/// The figure of a metric that is shown beside those of others.
pub(crate) fn of_metric(metric: &MetricReport, wording: Wording) -> Figure {
    figure(&metric.unit, metric.figure.value, metric.figure.interval.as_ref(), wording)
}

/// A value of a metric with this unit. If its interval is too wide, neither the value nor the
/// interval is given.
pub(crate) fn figure(
    unit: &str,
    value: f64,
    interval: Option<&IntervalReport>,
    wording: Wording,
) -> Figure {
    if COUNTED.contains(&unit) {
        let number = |value: f64| without_minus_0(grouped(value.round()));
        return Figure {
            value: format!("{} {unit}", number(value)),
            interval: interval.map(|one| format!("[{}, {}]", number(one.low), number(one.high))),
        };
    }
    if is_no_figure(unit, value, interval) {
        return Figure { value: NO_FIGURE.to_owned(), interval: None };
    }
    let half_width = interval.map(|interval| (interval.high - interval.low) / 2.0);
    // For a difference near 0, the interval says how large it can be, and the value says nothing.
    let is_near_0 = |half: &f64| interval.is_some_and(|one| one.low < 0.0) && *half > value.abs();
    let near_0 = half_width.filter(is_near_0);
    let (divisor, name) = scale(unit, near_0.unwrap_or(value), wording);
    let decimals = match near_0 {
        Some(half_width) => decimals_of_width(half_width / divisor / 10.0),
        None => decimals(value / divisor, half_width.map(|half_width| half_width / divisor)),
    };
    let number = |value: f64| without_minus_0(format!("{:.decimals$}", value / divisor));
    let separator = if name.is_empty() || name == "x" { "" } else { " " };
    Figure {
        value: format!("{}{separator}{name}", number(value)),
        interval: interval
            .map(|interval| format!("[{}, {}]", number(interval.low), number(interval.high))),
    }
}

/// A number that is rounded to 0 has no sign.
fn without_minus_0(text: String) -> String {
    let is_0 = !text.contains(|character: char| ('1'..='9').contains(&character));
    if is_0 { text.trim_start_matches('-').to_owned() } else { text }
}

/// A ratio in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RatioText {
    /// The ratio: `4.3x`.
    pub(crate) value: String,
    /// Its interval: `[4.1, 4.6]`.
    pub(crate) interval: String,
    /// Its interval in words: `4.1x to 4.6x`.
    pub(crate) range: String,
}

/// A ratio with its interval. Near 1, it has as many digits as its distance from 1 needs.
pub(crate) fn ratio(value: f64, low: f64, high: f64) -> RatioText {
    let [value, low, high] = ratio_digits([value, low, high], 3);
    RatioText {
        value: format!("{value}x"),
        interval: format!("[{low}, {high}]"),
        range: format!("{low}x to {high}x"),
    }
}

/// The numbers of a ratio and of the ends of its interval, with up to `at_most` digits after the
/// decimal point.
pub(crate) fn ratio_digits([value, low, high]: [f64; 3], at_most: usize) -> [String; 3] {
    let most = if value < 1.5 { 3 } else { decimals(value, None) }.min(at_most);
    let decimals = decimals_of_width((high - low) / 2.0).clamp(most.min(1), most);
    [value, low, high].map(|value| format!("{value:.decimals$}"))
}

/// A size; exact if it is a whole number of its unit.
pub(crate) fn bytes(size_bytes: u64) -> String {
    textual::size(size_bytes as f64, 3)
}

/// A metric's name in words, without `bytes`, which is shown with its figures.
pub(crate) fn words(name: &str) -> String {
    if name == StandardMetric::SPEED_UP.name {
        return "speed-up".to_owned();
    }
    name.strip_suffix("_bytes").unwrap_or(name).replace('_', " ")
}

/// Whether a metric says the same as the time of an operation.
pub(crate) fn is_derived(name: &str) -> bool {
    let derived = [
        StandardMetric::TIME_PER_OPERATION,
        StandardMetric::TIME_PER_KIB,
        StandardMetric::THROUGHPUT,
        StandardMetric::BANDWIDTH,
        StandardMetric::SPEED_UP,
    ];
    derived.iter().any(|metric| metric.name == name)
}

/// The words that compare two values of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comparatives {
    /// What targets do more or less, before the ratio; none if they are slower, larger and so on.
    verb: Option<String>,
    /// The word for the worse one, after the ratio.
    pub(crate) worse: &'static str,
    /// The word for the better one.
    pub(crate) better: &'static str,
}

impl Comparatives {
    /// Those of a metric. Of a slowdown, its name says what is slowed: `code_slowdown`.
    pub(crate) fn new(name: &str, unit: &str, better: Better) -> Self {
        let slowed = name.split_once("_slowdown").filter(|_| better == Better::Lower);
        let (worse, better) = match (unit, better) {
            _ if slowed.is_some() => ("more", "less"),
            ("ns" | "operations/s" | "bytes/s", Better::Lower | Better::Higher) => {
                ("slower", "faster")
            }
            (_, Better::Higher) => ("lower", "higher"),
            _ => ("larger", "smaller"),
        };
        let verb = slowed.map(|(what, _)| format!("slows the {}", what.replace('_', " ")));
        Self { verb, worse, better }
    }

    /// A label, and the verb if there is one: what the ratio follows.
    pub(crate) fn subject(&self, label: &str) -> String {
        self.verb.as_ref().map_or_else(|| label.to_owned(), |verb| format!("{label} {verb}"))
    }

    /// A label and a verb, for sentences whose ratios come later: `ext4 is`.
    pub(crate) fn subject_and_verb(&self, label: &str) -> String {
        format!("{label} {}", self.verb.as_deref().unwrap_or("is"))
    }
}

/// Ratios from the smallest to the largest: `1.3x to 3.7x`, or just one of them if equal.
pub(crate) fn ratio_range(low: f64, high: f64) -> String {
    let text = |value: f64| format!("{value:.*}x", if value < 10.0 { 2 } else { 0 });
    let (low, high) = (text(low), text(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// A duration on the scale of a whole run.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 600.0 {
        format!("{seconds:.0} s")
    } else if seconds < 3.0 * 3600.0 {
        format!("{:.0} min", seconds / 60.0)
    } else if seconds < 72.0 * 3600.0 {
        format!("{:.1} h", seconds / 3600.0)
    } else if seconds < 1000.0 * 86_400.0 {
        format!("{:.0} days", seconds / 86_400.0)
    } else {
        format!("{} years", grouped((seconds / 86_400.0 / 365.0).round()))
    }
}

/// What to divide values of a unit by, and the name of the resulting unit.
fn scale(unit: &str, value: f64, wording: Wording) -> (f64, String) {
    let operations = if wording == Wording::Full { "operations/s" } else { "op/s" };
    match unit {
        "ns" => step(value, 1000.0, &["ns", "us", "ms", "s"], ""),
        "bytes" => step(value, 1024.0, &["bytes", "KiB", "MiB", "GiB", "TiB"], ""),
        "bytes/s" => step(value, 1024.0, &["bytes", "KiB", "MiB", "GiB", "TiB"], "/s"),
        "operations/s" => step(value, 1000.0, &["", "k ", "M ", "G "], operations),
        "count" => step(value, 1000.0, &["", "k", "M", "G"], ""),
        other => (1.0, other.to_owned()),
    }
}

fn step(value: f64, base: f64, names: &[&str], suffix: &str) -> (f64, String) {
    let mut divisor = 1.0;
    let mut names = names.iter();
    let mut name = names.next().copied().unwrap_or_default();
    // A value that would be rounded to 1000 is written as 1 of the next unit.
    while (value / divisor).abs() >= base - 0.5
        && let Some(next) = names.next()
    {
        (divisor, name) = (divisor * base, next);
    }
    (divisor, format!("{name}{suffix}"))
}

/// Decimals that show a value with two or three significant digits: as many as half the width of
/// its interval supports, or three digits without an interval.
fn decimals(value: f64, half_width: Option<f64>) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    // A value that is rounded up to a power of ten has the magnitude of that power: 0.9996 is 1.00.
    let magnitude = (value.abs() * 1.0005).log10().floor();
    let (least, most) = (1.0 - magnitude, 2.0 - magnitude);
    match half_width {
        Some(half_width) => decimals_of_width(half_width).clamp(whole(least), whole(most)),
        None => whole(most),
    }
}

/// Decimals at which half the width of an interval has its first digit.
fn decimals_of_width(half_width: f64) -> usize {
    // The tiny term keeps (6.2 - 6.0) / 2, which is a little off 0.1, at one decimal.
    whole(if half_width > 0.0 { (-half_width.log10() - 1e-9).ceil() } else { 12.0 })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is clamped to a range that fits"
)]
fn whole(decimals: f64) -> usize {
    decimals.clamp(0.0, 12.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(unit: &str, value: f64) -> String {
        figure(unit, value, None, Wording::Full).value
    }

    fn with(unit: &str, value: f64, low: f64, high: f64) -> String {
        let interval = IntervalReport { level: 0.95, low, high };
        let figure = figure(unit, value, Some(&interval), Wording::Full);
        format!("{} {}", figure.value, figure.interval.unwrap())
    }

    #[test]
    fn what_is_counted_has_all_its_digits_and_no_fraction() {
        assert_eq!(with("lines", 33.0, 33.0, 33.0), "33 lines [33, 33]");
        assert_eq!(
            with("instructions", 18_651.5, 7958.0, 18_652.0),
            "18,652 instructions [7,958, 18,652]"
        );
    }

    #[test]
    fn an_interval_wider_than_ten_times_its_figure_leaves_none() {
        let of = |unit: &str, value, low, high| {
            let interval = IntervalReport { level: 0.95, low, high };
            figure(unit, value, Some(&interval), Wording::Full)
        };
        let none = Figure { value: "too little data".to_owned(), interval: None };
        assert_eq!(of("ns", 1.1, 0.0, 3502.8), none);
        assert_eq!(of("operations/s", 1e5, 1e3, 1.1e6), none);
        assert_eq!(with("ns", 1e6, 0.2e6, 10.0e6), "1.0 ms [0.2, 10.0]");
        // For counts, a few that are far off are a finding.
        assert_eq!(of("bytes", 1.0, 0.0, 4096.0).interval.as_deref(), Some("[0.0, 4096.0]"));
    }

    #[test]
    fn a_difference_near_0_is_as_exact_as_its_interval() {
        assert_eq!(with("ns", 344.0, -25_962.0, 57_682.0), "0 us [-26, 58]");
        assert_eq!(with("ns", -300.0, -26_000.0, 30_000.0), "0 us [-26, 30]");
        assert_eq!(with("ns", -1100.0, -2600.0, 400.0), "-1.1 us [-2.6, 0.4]");
        assert_eq!(with("ns", 1_400_000.0, 1_000_000.0, 5_800_000.0), "1.4 ms [1.0, 5.8]");
    }

    #[test]
    fn a_metric_is_named_in_words_without_its_unit() {
        let names = ["speed_up", "window_bytes", "device_bytes_per_entry", "hit_share"];
        let expected = ["speed-up", "window", "device bytes per entry", "hit share"];
        assert_eq!(names.map(words), expected);
    }

    #[test]
    fn units_scale() {
        for (unit, value, text) in [
            ("ns", 0.0, "0 ns"),
            ("ns", 0.34, "0.340 ns"),
            ("ns", 41.7, "41.7 ns"),
            ("ns", 999.4, "999 ns"),
            ("ns", 999.6, "1.00 us"),
            ("ns", 6123.0, "6.12 us"),
            ("ns", 73_400.0, "73.4 us"),
            ("ns", 12_345_678.0, "12.3 ms"),
            ("ns", 2.5e9, "2.50 s"),
            ("ns", 4.2e12, "4200 s"),
            ("operations/s", 812.0, "812 operations/s"),
            ("operations/s", 34_000.0, "34.0 k operations/s"),
            ("operations/s", 1.14e6, "1.14 M operations/s"),
            ("bytes/s", 1000.0, "1000 bytes/s"),
            ("bytes/s", 1024.0, "1.00 KiB/s"),
            ("bytes/s", 50.0 * 1024.0 * 1024.0, "50.0 MiB/s"),
            ("bytes/s", 2.5 * 1024.0 * 1024.0 * 1024.0, "2.50 GiB/s"),
            ("x", 1.95, "1.95x"),
            ("count", 18_201.0, "18.2 k"),
            ("count", 12.0, "12.0 "),
            ("C", 3.0, "3.00 C"),
        ] {
            assert_eq!(plain(unit, value).trim_end(), text.trim_end(), "{value} {unit}");
        }
        assert_eq!(figure("operations/s", 34e3, None, Wording::Short).value, "34.0 k op/s");
    }

    #[test]
    fn an_interval_has_the_unit_and_the_digits_of_its_figure() {
        for (value, low, high, text) in [
            (6100.0, 6000.0, 6200.0, "6.1 us [6.0, 6.2]"),
            (6123.0, 6118.0, 6129.0, "6.12 us [6.12, 6.13]"),
            (6123.0, 4200.0, 8900.0, "6.1 us [4.2, 8.9]"),
            (950.0, 900.0, 1100.0, "950 ns [900, 1100]"),
            (26_100.0, 25_400.0, 27_000.0, "26.1 us [25.4, 27.0]"),
            (26_100.0, 22_000.0, 31_000.0, "26 us [22, 31]"),
            (478.0, 478.0, 478.0, "478 ns [478, 478]"),
            (1.0e6, 0.2e6, 9.0e6, "1.0 ms [0.2, 9.0]"),
        ] {
            assert_eq!(with("ns", value, low, high), text);
        }
    }

    #[test]
    fn ratios_have_digits_that_fit() {
        for (value, low, high, text) in [
            (4.31, 4.1, 4.6, "4.3x [4.1, 4.6]"),
            (104.3, 98.0, 110.0, "104x [98, 110]"),
            (1.004, 1.002, 1.006, "1.004x [1.002, 1.006]"),
            (1.12, 1.09, 1.15, "1.12x [1.09, 1.15]"),
            (2.0, 1.0, 4.0, "2.0x [1.0, 4.0]"),
            (1.2, 0.5, 3.0, "1.2x [0.5, 3.0]"),
            (4.3, 4.3, 4.3, "4.30x [4.30, 4.30]"),
            (12_345.6, 12_000.0, 12_700.0, "12346x [12000, 12700]"),
        ] {
            let ratio = ratio(value, low, high);
            assert_eq!(format!("{} {}", ratio.value, ratio.interval), text);
        }
    }

    #[test]
    fn stretches_of_a_run_have_few_digits() {
        assert_eq!(seconds(3.21), "3.2 s");
        assert_eq!(seconds(119.6), "120 s");
        assert_eq!(seconds(1800.0), "30 min");
    }
}
