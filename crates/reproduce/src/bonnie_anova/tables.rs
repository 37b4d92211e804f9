//! The paper's tables, number by number.

use stats::Refusal;
use stats::design::{Adjustment, Analysis, Contrast, Estimate, contrasts};
use stats::distribution::student;

use super::PaperTable;
use super::published as paper;
use super::raw;
use crate::item::Item;

/// The names of the factors in the analysis.
pub(super) const FACTORS: [&str; 2] = ["file system", "action"];

/// All tables of section 3.
pub(super) fn all(analysis: &Analysis) -> Result<Vec<PaperTable>, Refusal> {
    Ok(vec![
        raw::table(),
        PaperTable { title: "3.1 Computation of effects", items: effects(analysis) },
        PaperTable { title: "3.1 Analysis of variance", items: variance(analysis) },
        PaperTable { title: "3.2 Standard deviations and t", items: deviations(analysis) },
        PaperTable { title: "3.2 Confidence intervals of effects", items: intervals(analysis) },
        PaperTable { title: "3.3 Differences of file systems", items: differences(analysis)? },
    ])
}

/// All pairs of file systems.
pub(super) fn pairs(analysis: &Analysis) -> Result<Vec<Contrast>, Refusal> {
    contrasts(analysis, FACTORS[0], Adjustment::Holm)
}

/// Whether two levels are equal except for rounding.
pub(super) fn is_level(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

fn effects(analysis: &Analysis) -> Vec<Item> {
    let mut items = Vec::new();
    let count = paper::RATES.len() as f64;
    let across = paper::FILE_SYSTEMS.len() as f64;
    for (action, (rates, printed)) in
        paper::ACTIONS.iter().zip(paper::RATES.iter().zip(paper::ROWS))
    {
        let sum: f64 = rates.iter().sum();
        let effect = effect(analysis, FACTORS[1], action);
        let values = [("sum", sum), ("mean", sum / across), ("effect", effect.estimate)];
        for ((column, value), printed) in values.into_iter().zip(printed) {
            items.push(Item::new(*action, column, printed, value));
        }
    }
    for (place, (file_system, printed)) in
        paper::FILE_SYSTEMS.iter().zip(paper::COLUMNS).enumerate()
    {
        let sum: f64 = paper::RATES.iter().map(|rates| rates[place]).sum();
        let effect = effect(analysis, FACTORS[0], file_system);
        let values = [("sum", sum), ("mean", sum / count), ("effect", effect.estimate)];
        for ((column, value), printed) in values.into_iter().zip(printed) {
            items.push(Item::new(*file_system, column, printed, value));
        }
    }
    let all: f64 = paper::RATES.iter().flatten().sum();
    items.push(Item::new("all", "sum", paper::ALL[0], all));
    items.push(Item::new("all", "mean", paper::ALL[1], analysis.grand_mean.estimate));
    items
}

fn variance(analysis: &Analysis) -> Vec<Item> {
    let totals = analysis.totals;
    let sums = [("y", totals.observations), ("y..", totals.mean), ("y - y..", totals.about_mean)];
    let mut items: Vec<Item> = sums
        .into_iter()
        .zip(paper::TOTALS)
        .map(|((row, value), printed)| Item::new(row, "sum of squares", printed, value))
        .collect();
    for (source, printed) in analysis.anova.iter().zip(paper::SOURCES) {
        let values = [
            ("sum of squares", source.sum_sq),
            ("% of variation", source.percent_of_variation),
            ("degrees of freedom", source.df as f64),
            ("mean square", source.mean_sq),
        ];
        for ((column, value), printed) in values.into_iter().zip(printed) {
            items.push(Item::new(&source.name, column, printed, value));
        }
    }
    for (source, printed) in analysis.anova.iter().zip(paper::F) {
        let at = |level| {
            let quantiles = source.f_quantiles.iter();
            quantiles.filter(|one| is_level(one.level, level)).map(|one| one.f).sum::<f64>()
        };
        let values = [
            ("F", source.f.unwrap_or(0.0)),
            ("F at 90 %", at(0.9)),
            ("F at 95 %", at(0.95)),
            ("F at 99 %", at(0.99)),
        ];
        for ((column, value), printed) in values.into_iter().zip(printed) {
            items.push(Item::new(&source.name, column, printed, value));
        }
    }
    items
}

fn deviations(analysis: &Analysis) -> Vec<Item> {
    let error = |estimate: &Estimate| estimate.std_error.unwrap_or(0.0);
    let values = [
        ("errors", analysis.error_deviation.unwrap_or(0.0)),
        ("grand mean", error(&analysis.grand_mean)),
        ("effect of a file system", error(effect(analysis, FACTORS[0], "ext2"))),
        ("effect of an action", error(effect(analysis, FACTORS[1], "rewrite"))),
    ];
    let deviations = values.into_iter().zip(paper::DEVIATIONS);
    let mut items: Vec<Item> = deviations
        .map(|((row, value), printed)| Item::new(row, "standard deviation", printed, value))
        .collect();
    let df = analysis.error_df as f64;
    for (level, printed) in [0.9, 0.95].into_iter().zip(paper::T_OF_EFFECTS) {
        let t = student::quantile(f64::midpoint(1.0, level), df);
        items.push(Item::new(format!("t at {:.0} %", level * 100.0), "quantile", printed, t));
    }
    items
}

fn intervals(analysis: &Analysis) -> Vec<Item> {
    let mean = std::iter::once(("grand mean", &analysis.grand_mean));
    let of = |factor: &'static str, names: &'static [&'static str]| {
        names.iter().map(move |&name| (name, effect(analysis, factor, name)))
    };
    let rows =
        mean.chain(of(FACTORS[0], &paper::FILE_SYSTEMS)).chain(of(FACTORS[1], &paper::ACTIONS));
    let mut items = Vec::new();
    for ((name, estimate), printed) in rows.zip(paper::INTERVALS) {
        let ends = ends(&estimate.intervals, &[0.9, 0.95]);
        for ((column, value), printed) in ends.into_iter().zip(printed) {
            items.push(Item::new(name, column, printed, value));
        }
    }
    items
}

fn differences(analysis: &Analysis) -> Result<Vec<Item>, Refusal> {
    let df = analysis.error_df as f64;
    let mut items = Vec::new();
    for (level, printed) in paper::LEVELS_OF_DIFFERENCES.into_iter().zip(paper::T_OF_DIFFERENCES) {
        let t = student::quantile(f64::midpoint(1.0, level), df);
        items.push(Item::new(format!("t at {:.0} %", level * 100.0), "quantile", printed, t));
    }
    let pairs = pairs(analysis)?;
    for (place, (first, second)) in paper::PAIRS.into_iter().enumerate() {
        let [first, second] = [paper::FILE_SYSTEMS[first], paper::FILE_SYSTEMS[second]];
        let found = pairs.iter().find(|pair| pair.first == first && pair.second == second);
        let Some(pair) = found else { continue };
        let name = format!("{first} - {second}");
        let [difference, deviation] = paper::DIFFERENCES[place];
        items.push(Item::new(&name, "difference", difference, pair.difference));
        items.push(Item::new(&name, "standard deviation", deviation, pair.std_error));
        let ends = ends(&pair.intervals, &paper::LEVELS_OF_DIFFERENCES);
        for ((column, value), printed) in
            ends.into_iter().zip(paper::INTERVALS_OF_DIFFERENCES[place])
        {
            items.push(Item::new(&name, column, printed, value));
        }
    }
    Ok(items)
}

/// The ends of the intervals at these levels, with the names of their columns.
fn ends(intervals: &[stats::Interval], levels: &[f64]) -> Vec<(String, f64)> {
    let mut ends = Vec::new();
    for &level in levels {
        for interval in intervals.iter().filter(|one| is_level(one.level, level)) {
            let percent = level * 100.0;
            ends.push((format!("{percent:.0} % low"), interval.low));
            ends.push((format!("{percent:.0} % high"), interval.high));
        }
    }
    ends
}

/// The effect of one of the levels in the paper.
fn effect<'a>(analysis: &'a Analysis, factor: &str, level: &str) -> &'a Estimate {
    let of = analysis.effects.iter().find(|one| one.factor == factor && one.level == level);
    &of.expect("the analysis has every level of the paper").estimate
}
