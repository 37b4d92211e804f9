//! How sure the report is, why measuring ended, and what would make it surer.

use record::{CellReport, Document, EndReason, MetricReport, Verdict};

use super::table::percent;
use super::text::{Page, Style, plural};
use super::{names, units};
use crate::analysis::BLOCKS_LEAST;

/// Quadrupling the time halves an interval: its width goes with one over the square root.
const FACTOR_FOR_HALF: f64 = 4.0;

/// The last section.
pub(super) fn render(page: &mut Page, document: &Document) {
    page.heading("How sure this is");
    let level = percent(document.run.confidence_level);
    page.item(
        &format!(
            "Figures are medians over blocks, each block's being a mean over its operations, with \
         their {level} % interval (order statistics); p50 to p99.9 are those of single \
         operations. Ratios are paired by block, with the {level} % interval of their geometric \
         mean."
        ),
        Style::Plain,
    );
    if !document.comparisons.is_empty() {
        page.item(&comparisons(document), Style::Plain);
    }
    if let Some(widths) = widths(document) {
        page.item(&widths, Style::Plain);
    }
    page.item(&end(document), Style::Plain);
}

/// How many comparisons there were, and how many of those called real may be false.
fn comparisons(document: &Document) -> String {
    let count = |verdict: Verdict| {
        document.comparisons.iter().filter(|comparison| comparison.verdict == verdict).count()
    };
    let (real, alike) = (count(Verdict::Real), count(Verdict::NotToldApart));
    let all = plural(document.comparisons.len(), "comparison");
    if real + alike == 0 {
        return format!("{all} of targets, none of them with enough data.");
    }
    let refused = match count(Verdict::NotEnoughData) {
        0 => String::new(),
        refused => format!(", {refused} with too little data"),
    };
    let share = 1.0 - document.run.confidence_level;
    let expected = real as f64 * share;
    let bound = match real {
        0 => String::new(),
        _ if expected < 1.0 => " (here: less than one)".to_owned(),
        _ => format!(" (here: {expected:.0})"),
    };
    format!(
        "{all} of targets: {real} differences called real, {alike} not told apart{refused}. p is \
         adjusted for their number (Benjamini-Hochberg): among the differences called real, at \
         most {} % are expected to be false{bound}. The intervals of ratios are not adjusted: one \
         can leave 1 out by a little where the difference is not called real. Not told apart does \
         not mean the same.",
        percent(share)
    )
}

/// How wide the intervals of the primary metrics are.
fn widths(document: &Document) -> Option<String> {
    let mut widths: Vec<(f64, &CellReport)> = document
        .cells
        .iter()
        .filter_map(|cell| Some((relative_half_width(cell.metrics.first()?)?, cell)))
        .collect();
    widths.sort_by(|left, right| left.0.total_cmp(&right.0));
    let middle = widths.get(widths.len() / 2)?.0;
    let (widest, cell) = *widths.last()?;
    let (middle, widest) = (percent_of_figure(middle), percent_of_figure(widest));
    let (title, target) = (&cell.title, names::label(&cell.target));
    Some(format!(
        "Intervals are +/- {middle} % at the middle of all cells and +/- {widest} % at the widest \
         ({title}, {target}); asked for was {} %.",
        percent_of_figure(document.run.precision_percent / 100.0)
    ))
}

fn relative_half_width(metric: &MetricReport) -> Option<f64> {
    let interval = metric.interval?;
    (metric.median > 0.0).then(|| (interval.high - interval.low) / 2.0 / metric.median)
}

fn percent_of_figure(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// Why measuring ended, and what would make the report surer.
fn end(document: &Document) -> String {
    let run = &document.run;
    let Some(end) = &document.end else {
        return "Measuring was cut off; --resume goes on with it.".to_owned();
    };
    let blocks = document.cells.iter().map(|cell| cell.replicates).max().unwrap_or(0);
    match end.reason {
        EndReason::Precision => "Measuring ended because every interval was narrow enough; a \
             smaller --precision asks for more."
            .to_owned(),
        EndReason::Blocks if blocks < BLOCKS_LEAST => format!(
            "Measuring ended after the {} asked for; intervals and comparisons need --blocks \
             {BLOCKS_LEAST} or more.",
            plural(blocks as usize, "block")
        ),
        EndReason::Blocks => {
            "Measuring ended after the blocks asked for; more --blocks narrow the intervals."
                .to_owned()
        }
        EndReason::Budget => {
            let used = format!(
                "Measuring ended because the budget of {} was used",
                units::seconds(run.budget_s)
            );
            let further = if blocks < BLOCKS_LEAST {
                let factor = f64::from(BLOCKS_LEAST) / f64::from(blocks.max(1));
                let budget = option_seconds(run.budget_s * factor);
                format!("intervals and comparisons need {BLOCKS_LEAST} blocks (--budget {budget})")
            } else {
                let budget = option_seconds(run.budget_s * FACTOR_FOR_HALF);
                format!(
                    "intervals of half the width take about four times as long (--budget {budget})"
                )
            };
            format!("{used}; {further}.")
        }
        EndReason::Interrupted => "Measuring was interrupted; --resume goes on with it.".to_owned(),
        EndReason::NothingLeft => "Measuring ended because no cell was left to measure.".to_owned(),
    }
}

/// A time as `--budget` takes it.
fn option_seconds(seconds: f64) -> String {
    format!("{:.0}s", seconds.ceil())
}

#[cfg(test)]
mod tests {
    use crate::sample::{Sample, around};
    use crate::{Options, render_terminal};

    use super::*;

    fn text(sample: &Sample) -> String {
        let text = render_terminal(&sample.document(), &Options { width: 100, colour: false });
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comparisons_are_counted_and_so_are_the_false_ones_expected() {
        let text = text(&Sample::four_targets());
        let expected = "6 comparisons of targets: 5 differences called real, 1 not told apart. p \
            is adjusted for their number (Benjamini-Hochberg): among the differences called \
            real, at most 5 % are expected to be false (here: less than one).";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn the_end_says_what_would_narrow_the_intervals() {
        let sample = Sample::new(&["a"]).benchmark("create", &[&around(1.0, 6)]);
        assert!(text(&sample).contains("Measuring was cut off; --resume goes on with it."));
        let mut sample = sample.ended();
        assert!(text(&sample).contains("(--budget 240s)."));
        for (reason, expected) in [
            (EndReason::Precision, "a smaller --precision"),
            (EndReason::Blocks, "more --blocks"),
            (EndReason::Interrupted, "was interrupted; --resume"),
            (EndReason::NothingLeft, "no cell was left"),
        ] {
            let sample = &mut sample;
            let Some(record::Line::End(end)) = sample.run.lines.last_mut() else { panic!("ended") };
            end.reason = reason;
            assert!(text(sample).contains(expected), "{reason:?}");
        }
    }

    #[test]
    fn with_too_few_blocks_it_says_what_would_give_enough() {
        let few = around(1.0, 4);
        let mut sample = Sample::new(&["a", "b"]).benchmark("create", &[&few, &few]).ended();
        assert!(text(&sample).contains("1 comparison of targets, none of them with enough data."));
        assert!(text(&sample).contains("intervals and comparisons need 6 blocks (--budget 90s)."));
        let Some(record::Line::End(end)) = sample.run.lines.last_mut() else { panic!("ended") };
        end.reason = EndReason::Blocks;
        assert!(text(&sample).contains("after the 4 blocks asked for; intervals and comparisons"));
    }
}
