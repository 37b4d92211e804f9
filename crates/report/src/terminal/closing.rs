//! How certain the report is, why measuring ended, and what would make it more certain.

use record::{
    CellReport, Document, EndReason, MetricReport, Percentile, PercentileOf, RunRecord, Verdict,
};
use stats::planning::{self, Precision};

use super::table::percent;
use super::text::{Page, Style};
use super::{footprint, names};
use crate::analysis::BLOCKS_MIN;
use crate::units;
use textual::{grouped, plural};

/// Runs longer than this are said to be out of reach.
const SECONDS_WITHIN_REACH: f64 = 24.0 * 3600.0;

/// The last section.
pub(super) fn render(page: &mut Page, document: &Document) {
    // On a narrow page, the columns with marks may have been left out.
    let has_marks = page.contains('*');
    page.heading("How sure this is");
    items(document, has_marks).iter().for_each(|text| page.item(text, Style::Plain));
}

/// Its items; `has_marks` is whether percentiles of all operations are marked with `*`.
pub(super) fn items(document: &Document, has_marks: bool) -> Vec<String> {
    let level = percent(document.run.confidence_level);
    let is_counted = footprint::is_counted(document);
    let mut items = match is_counted {
        true => footprint::closing(document),
        false => vec![figures(document, &level, has_marks)],
    };
    if !document.comparisons.is_empty() {
        items.push(comparisons(document));
    }
    items.extend(of_dimensions(document));
    if !is_counted {
        items.extend(widths(document));
        items.push(end(document));
    }
    items
}

/// What the figures are.
fn figures(document: &Document, level: &str, has_marks: bool) -> String {
    let mut text = format!(
        "A block's value is the mean over its operations; what is printed is the median of these \
         means over all blocks, with its {level} % interval (order statistics), adjusted so that \
         dividing one target's figure by another's gives their ratio, which compares them block by \
         block. "
    );
    let percentiles = || {
        let metrics = document.cells.iter().flat_map(|cell| &cell.metrics);
        metrics.flat_map(|metric| &metric.percentiles)
    };
    if percentiles().any(|one| one.of == PercentileOf::EachReplicate) {
        let where_to_find = match percentiles().any(|one| one.interval.is_some()) {
            true => ", with their intervals in the JSON document",
            false => " (too few blocks for intervals)",
        };
        text.push_str(&format!(
            "p50 to p99.9 are percentiles of single operations: medians over blocks of each \
             block's percentile{where_to_find}. "
        ));
    }
    if has_marks && percentiles().any(|one| one.of == PercentileOf::AllOperations) {
        text.push_str(&format!(
            "A percentile marked * is taken over the operations of all blocks together; a high one \
             mostly reflects the slowest blocks. Compare it only with others marked *. In these \
             cells at least one block has too few operations for its own percentile ({}). Its \
             interval, in the JSON document, allows for differences between blocks{}. ",
            needs(document.run.confidence_level),
            lacking(percentiles()),
        ));
    }
    text.push_str(&format!("Ratios are paired by block, with their {level} % interval."));
    if document.cells.iter().any(|cell| cell.baseline.is_some()) {
        text.push_str(
            " A speed-up compares operations per second of elapsed time with those of its 1x, on \
             the same target in the same block.",
        );
    }
    text
}

/// How many percentiles of all operations have no interval, and how many operations they need.
fn lacking<'a>(percentiles: impl Iterator<Item = &'a Percentile>) -> String {
    let needed: Vec<u64> = percentiles.filter_map(|one| one.operations_needed).collect();
    let (Some(least), Some(most)) = (needed.iter().min(), needed.iter().max()) else {
        return String::new();
    };
    let range = match least == most {
        true => grouped(*least as f64),
        false => format!("{} to {}", grouped(*least as f64), grouped(*most as f64)),
    };
    format!("; {} of them have too few operations for one, which takes {range}", needed.len())
}

/// How many operations the percentiles in the tables need.
fn needs(level: f64) -> String {
    let need = |(name, quantile): (&str, f64)| {
        let least = stats::order::least_n(quantile, level).ok()?;
        Some(format!("{name} needs {}", grouped(least as f64)))
    };
    let all = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];
    all.into_iter().filter_map(need).collect::<Vec<_>>().join(", ")
}

/// How many comparisons there were, and how many of those called real may be false.
fn comparisons(document: &Document) -> String {
    let count = |verdict: Verdict| {
        document.comparisons.iter().filter(|comparison| comparison.verdict == verdict).count()
    };
    let unknown = count(Verdict::RealSizeUnknown);
    let (real, alike) = (count(Verdict::Real) + unknown, count(Verdict::NotToldApart));
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
    let small = match unknown {
        0 => String::new(),
        unknown => format!(" ({unknown} of them may be smaller than 2 %)"),
    };
    let is_busy = |one: &&record::Comparison| one.verdict.is_different() && one.busy_blocks > 0;
    let busy = match document.comparisons.iter().filter(is_busy).count() {
        0 => String::new(),
        count => format!(" ({count} of them on a busy machine)"),
    };
    let real = plural(real, "difference");
    format!(
        "{all} of targets: {real} called real{small}{busy}, {alike} not told apart{refused}. \
         p is adjusted for their number (Benjamini-Hochberg): among the differences called real, \
         at most {} % are expected to be false{bound}. Intervals of the real differences are \
         widened because these were picked out; the other intervals are not widened and may just \
         miss 1. \"Not told apart\" means that the data do not show which is faster, not that both \
         are equally fast.",
        percent(share)
    )
}

/// What the comparisons per dimension are based on, if the report includes them.
fn of_dimensions(document: &Document) -> Option<String> {
    let compared = document.dimensions.iter().filter(|one| one.ratio.is_some()).count();
    (compared > 0).then(|| {
        format!(
            "{} of targets by dimension: p is adjusted for these alone. In each block a benchmark \
             counts once, and so does a curve, whose points are averaged first.",
            plural(compared, "comparison")
        )
    })
}

/// How wide the intervals of the primary metrics are.
fn widths(document: &Document) -> Option<String> {
    let widths = widths_of_cells(document);
    let (widest, cell) = *widths.last()?;
    let (middle, widest) = (median_width(document)?, percent_of_figure(widest));
    let (title, target) = (&cell.title, names::label(&cell.target));
    Some(format!(
        "The median width of an interval is +/- {middle} %, the widest is +/- {widest} % ({title}, \
         {target}); the precision asked for was {} %.",
        percent_of_figure(document.run.precision_percent / 100.0)
    ))
}

/// Half of the median width of an interval, in percent.
pub(super) fn median_width(document: &Document) -> Option<String> {
    let widths = widths_of_cells(document);
    widths.get(widths.len() / 2).map(|(middle, _)| percent_of_figure(*middle))
}

/// Half of each cell's interval over its median, the narrowest first.
fn widths_of_cells(document: &Document) -> Vec<(f64, &CellReport)> {
    let mut widths: Vec<(f64, &CellReport)> = document
        .cells
        .iter()
        .filter_map(|cell| Some((relative_half_width(cell.metrics.first()?)?, cell)))
        .collect();
    widths.sort_by(|left, right| left.0.total_cmp(&right.0));
    widths
}

fn relative_half_width(metric: &MetricReport) -> Option<f64> {
    let interval = metric.interval?;
    (metric.median > 0.0).then(|| (interval.high - interval.low) / 2.0 / metric.median)
}

fn percent_of_figure(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// Says that a run can be resumed, if it can.
fn continues(run: &RunRecord) -> &'static str {
    if run.kind.can_be_resumed() { "; --resume continues it" } else { "" }
}

/// Why measuring ended, and what would make the report more certain.
pub(super) fn end(document: &Document) -> String {
    let run = &document.run;
    let Some(end) = &document.end else {
        return format!("Measuring was cut off{}.", continues(run));
    };
    let blocks = document.cells.iter().map(|cell| cell.replicates).max().unwrap_or(0);
    match end.reason {
        EndReason::Precision => "Measuring ended because every interval was narrow enough after \
             two successive blocks; for narrower ones, use a smaller --precision."
            .to_owned(),
        EndReason::Blocks if blocks < BLOCKS_MIN => format!(
            "Measuring ended after the {} asked for; intervals and comparisons need --blocks \
             {BLOCKS_MIN} or more.",
            plural(blocks as usize, "block")
        ),
        EndReason::Blocks => {
            let further = forecast(document).map_or_else(
                || "more blocks narrow the intervals".to_owned(),
                |forecast| forecast.sentence(document, &format!("--blocks {}", forecast.blocks)),
            );
            format!("Measuring ended after the blocks asked for; {further}.")
        }
        EndReason::Budget => {
            let used = format!(
                "Measuring ended because the budget of {} was used up",
                units::seconds(run.budget_s)
            );
            let further = if blocks < BLOCKS_MIN {
                let factor = f64::from(BLOCKS_MIN) / f64::from(blocks.max(1));
                let budget = option_seconds(run.budget_s * factor);
                format!("intervals and comparisons need {BLOCKS_MIN} blocks (--budget {budget})")
            } else {
                forecast(document).map_or_else(
                    || "a larger budget narrows the intervals".to_owned(),
                    |forecast| {
                        let budget = option_seconds(forecast.seconds);
                        forecast.sentence(document, &format!("--budget {budget}"))
                    },
                )
            };
            format!("{used}; {further}.")
        }
        EndReason::Interrupted => format!("Measuring was interrupted{}.", continues(run)),
        EndReason::Busy => {
            format!(
                "Measuring ended because other programs kept the machine busy{}.",
                continues(run)
            )
        }
        EndReason::Full => {
            "Measuring ended because one run holds no more; to measure more, make several (--runs)."
                .to_owned()
        }
        EndReason::NothingLeft | EndReason::Searched => {
            "Measuring ended because no cell was left to measure.".to_owned()
        }
    }
}

/// What the requested precision would take, given the spread so far.
struct Forecast {
    /// Number of blocks so far.
    have: u64,
    /// Number of blocks needed in total.
    blocks: u64,
    /// Time needed in total.
    seconds: f64,
}

impl Forecast {
    fn sentence(&self, document: &Document, option: &str) -> String {
        let asked = percent_of_figure(document.run.precision_percent / 100.0);
        let (blocks, time) = (grouped(self.blocks as f64), units::seconds(self.seconds));
        if self.blocks <= self.have {
            let ended = document.end.as_ref().map(|end| end.reason);
            let but = if ended == Some(EndReason::Budget) {
                ", but were not after two successive blocks"
            } else {
                ""
            };
            format!("the intervals are as narrow as asked (+/- {asked} %){but}")
        } else if self.seconds > SECONDS_WITHIN_REACH {
            format!(
                "with this spread, the +/- {asked} % asked for is out of reach: it takes about \
                 {blocks} blocks, {time}; use a larger --precision"
            )
        } else {
            format!(
                "with this spread, the +/- {asked} % asked for takes about {blocks} blocks, {time} \
                 in all ({option})"
            )
        }
    }
}

/// `None` if no cell has an interval, or the run is not over.
fn forecast(document: &Document) -> Option<Forecast> {
    let wanted = document.run.precision_percent / 100.0;
    let needed = |cell: &CellReport| {
        if cell.failed.is_some() {
            return None;
        }
        let metric = cell.metrics.first()?;
        let blocks = u64::from(cell.replicates);
        let relative_half_width = relative_half_width(metric)?;
        let now = Precision { blocks, relative_half_width, level: metric.interval?.level };
        Some((blocks, planning::blocks_needed(now, wanted).ok()?))
    };
    let (have, blocks) =
        document.cells.iter().filter_map(needed).max_by_key(|&(_, blocks)| blocks)?;
    let seconds = document.end.as_ref()?.used_s * blocks as f64 / have.max(1) as f64;
    Some(Forecast { have, blocks, seconds })
}

/// A time as `--budget` accepts it.
pub(super) fn option_seconds(seconds: f64) -> String {
    format!("{:.0}s", seconds.ceil())
}

#[cfg(test)]
mod tests {
    use crate::sample::{Sample, around, swaying};
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
    fn one_difference_is_no_plural() {
        let times: [&[f64]; 2] = [&around(1e3, 12), &around(2e3, 12)];
        let text = text(&Sample::new(&["a", "b"]).benchmark("create", &times));
        let expected = "1 comparison of targets: 1 difference called real, 0 not told apart.";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn the_end_says_what_would_narrow_the_intervals() {
        let sample = Sample::new(&["a"]).benchmark("create", &[&around(1.0, 6)]);
        assert!(text(&sample).contains("Measuring was cut off; --resume continues it."));
        let mut of_guests = sample.clone();
        of_guests.run.manifest.run.kind = record::RunKind::Networked;
        assert!(text(&of_guests).contains("Measuring was cut off."));
        let mut sample = sample.ended();
        assert!(
            text(&sample).contains("are as narrow as asked (+/- 2.0 %), but were not after two")
        );
        for (reason, expected) in [
            (
                EndReason::Precision,
                "after two successive blocks; for narrower ones, use a smaller --precision",
            ),
            (EndReason::Blocks, "asked for; the intervals are as narrow as asked (+/- 2.0 %)."),
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
    fn what_the_precision_asked_for_would_take_is_forecast() {
        let mut sample = Sample::new(&["a"]).benchmark("create", &[&swaying(1e4, 11)]).ended();
        let mut of = |precision_percent: f64| {
            sample.run.manifest.run.precision_percent = precision_percent;
            text(&sample)
        };
        // 11 blocks took 60.4 s and gave +/- 1.8 %: 1 % takes (1.8 / 1)^2 times as many, minus what
        // the smaller t of more blocks saves.
        let expected = "the +/- 1.0 % asked for takes about 31 blocks, 170 s in all (--budget \
             171s)";
        assert!(of(1.0).contains(expected), "{}", of(1.0));
        let absurd = of(0.01);
        assert!(absurd.contains("% asked for is out of reach: it takes about "), "{absurd}");
        assert!(absurd.contains(" days; use a larger --precision"), "{absurd}");
    }

    #[test]
    fn pooled_percentiles_are_said_to_be_so() {
        let of = |operations: u64| {
            let sample = Sample::new(&["a"]).operations(operations);
            text(&sample.benchmark("create", &[&around(1e4, 8)]))
        };
        let few = of(4);
        assert!(
            few.contains("marked * is taken over the operations of all blocks together"),
            "{few}"
        );
        assert!(few.contains("10.0 us*") && !few.contains("medians over blocks of each"), "{few}");
        let mut in_flight =
            Sample::new(&["a"]).operations(4).benchmark("create", &[&around(1e4, 8)]);
        in_flight.change("create", |cell| cell.metrics[0].name = "latency".to_owned());
        assert!(text(&in_flight).contains("10.0 us*"), "{}", text(&in_flight));
        let many = of(3000);
        assert!(!many.contains('*') && many.contains("medians over blocks of each"), "{many}");
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
