//! The reproduction as text: each figure in characters, then the paper's statements and what was
//! found here.

use textual::{Columns, figure, paragraph};

use super::shapes::{measured_regime, plateau, published_regime};
use super::{Estimate, Latencies, LatencySlice, Reproduction, SizePoint, TimeCurve};
use crate::statement::{self, measured, published};

const BAR: usize = 24;
/// Width of a bar beside many columns.
const NARROW: usize = 12;

pub(super) fn render(of: &Reproduction, width: usize) -> String {
    let mib = |bytes: u64| bytes >> 20;
    let scale = format!(
        "one thread reads 4 KiB at random places in one file; memory is {} MiB here, {} MiB in the \
         paper",
        mib(of.scale.memory_bytes),
        mib(of.scale.published_memory_bytes)
    );
    let mut text = paragraph("", "", of.paper, width) + &paragraph("", "", &scale, width);
    text += &paragraph("", "", &format!("targets: {}", of.scale.targets.join("; ")), width);
    let fast = plateau(&of.figure_1);
    text += &sizes("Figure 1: throughput over file size", &of.figure_1, fast);
    text += &sizes("Figure 1, zoom", &of.figure_1_zoom, fast);
    text += &shape(of, 1, width);
    text += &time_curves(&of.figure_2);
    text += &shape(of, 2, width);
    text += &of.figure_3.iter().map(latencies).collect::<String>();
    text += &shape(of, 3, width);
    text += &over_time(&of.figure_4);
    text += &shape(of, 4, width);
    text += &statement::text(&of.statements, "measured here", width);
    for what in &of.missing {
        text += &paragraph("- not measured: ", "  ", what, width);
    }
    text
}

/// A bar whose length is logarithmic between the smallest value and the largest.
fn log_bar(value: f64, least: f64, most: f64) -> String {
    let share = if most > least { (value / least).ln() / (most / least).ln() } else { 1.0 };
    "#".repeat(columns(share, NARROW).max(1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the width")]
fn columns(share: f64, width: usize) -> usize {
    (share.clamp(0.0, 1.0) * width as f64).round() as usize
}

fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let positive = values.filter(|value| *value > 0.0);
    (positive.clone().fold(f64::INFINITY, f64::min), positive.fold(0.0, f64::max))
}

/// A median in thousands, with its interval.
fn with_interval(estimate: &Estimate) -> String {
    let short = |value: f64| figure((value / 10.0).round() / 100.0);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", short(estimate.median), short(low), short(high))
        }
        _ => short(estimate.median),
    }
}

/// The shape of a figure according to the paper, above the shape measured here.
fn shape(of: &Reproduction, figure: u8, width: usize) -> String {
    let of_figure = of.shapes.iter().filter(|shape| shape.figure == figure);
    let lines = of_figure
        .map(|shape| published(shape.published, width) + &measured(&shape.measured, width));
    lines.collect()
}

/// Each size, with what limits it in the paper and, if the plateau is known, here.
fn sizes(title: &str, points: &[SizePoint], plateau: Option<f64>) -> String {
    if points.is_empty() {
        return String::new();
    }
    let (least, most) = range(points.iter().map(|point| point.throughput.median));
    let heading = ["MiB", "of memory", "paper", "here", "1000 op/s", "deviation", "log. scale"];
    let mut columns = Columns::headed(heading);
    for point in points {
        let deviation = point.relative_deviation_percent;
        let rate = point.throughput.median;
        let bar = log_bar(rate, least, most);
        let here = plateau.map_or("", |plateau| measured_regime(rate, plateau).name());
        columns.row([
            figure(point.file_bytes / f64::from(1 << 20)),
            format!("{:.0} %", point.memory_percent),
            published_regime(point.memory_percent).name().to_owned(),
            here.to_owned(),
            with_interval(&point.throughput),
            deviation.map_or(String::new(), |percent| format!("{percent:.1} %")),
            format!("{bar:<NARROW$}"),
        ]);
    }
    format!("\n{title}\n{}", columns.render())
}

fn time_curves(curves: &[TimeCurve]) -> String {
    let Some(first) = curves.first() else { return String::new() };
    let heading = std::iter::once("s").chain(curves.iter().map(|curve| curve.target.as_str()));
    let mut columns = Columns::headed(heading);
    for (index, (at_s, _)) in first.points.iter().enumerate() {
        let rates = curves.iter().map(|curve| {
            curve.points.get(index).map_or(String::new(), |(_, rate)| format!("{rate:.0}"))
        });
        columns.row(std::iter::once(format!("{at_s:.1}")).chain(rates));
    }
    format!("\nFigure 2: operations/s over time from a cold start\n{}", columns.render())
}

/// A line per bucket, each bar a percentage.
fn latencies(of: &Latencies) -> String {
    let mut columns = Columns::headed(["latency from", "of operations", ""]);
    let (Some((low, _)), Some((high, _))) = (of.buckets.first(), of.buckets.last()) else {
        return String::new();
    };
    for log2 in *low..=*high {
        let percent = share_of(&of.buckets, log2);
        let bar = "#".repeat(self::columns(percent / 100.0, BAR));
        columns.row([latency(log2), format!("{percent:.1} %"), format!("{bar:<BAR$}")]);
    }
    format!("\n{}\n{}", of.title, columns.render())
}

fn share_of(buckets: &[(u8, f64)], log2: u8) -> f64 {
    buckets.iter().find(|(own, _)| *own == log2).map_or(0.0, |(_, percent)| *percent)
}

/// The lower bound of a bucket.
fn latency(log2: u8) -> String {
    let ns = 2f64.powi(i32::from(log2));
    let (divisor, unit) = match log2 {
        0..10 => (1.0, "ns"),
        10..20 => (1e3, "us"),
        20..30 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.1} {unit}", ns / divisor)
}

/// Time runs downwards and latency to the right; the denser a character, the more operations.
fn over_time(slices: &[LatencySlice]) -> String {
    const SHADES: [char; 6] = [' ', '.', ':', '+', '*', '#'];
    let buckets = || slices.iter().flat_map(|slice| slice.buckets.iter().map(|(log2, _)| *log2));
    let (Some(low), Some(high)) = (buckets().min(), buckets().max()) else {
        return String::new();
    };
    let mut text = format!(
        "\nFigure 4: latencies over time, {} to {} in octaves from left to right\n",
        latency(low),
        latency(high)
    );
    for slice in slices {
        let shade = |log2| match share_of(&slice.buckets, log2) {
            percent if percent <= 0.0 => SHADES[0],
            percent if percent < 1.0 => SHADES[1],
            percent if percent < 5.0 => SHADES[2],
            percent if percent < 20.0 => SHADES[3],
            percent if percent < 50.0 => SHADES[4],
            _ => SHADES[5],
        };
        // Two characters each, since characters are about twice as high as they are wide.
        let row: String = (low..=high).flat_map(|log2| [shade(log2); 2]).collect();
        text += format!("  {:>6.2} s  {row}", slice.start_s).trim_end();
        text.push('\n');
    }
    text + "  . under 1 %   : under 5 %   + under 20 %   * under 50 %   # more\n"
}
