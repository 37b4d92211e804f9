//! The result of an analysis of variance as tables (laid out as in Jain, "The Art of Computer
//! Systems Performance Analysis", chapters 21 and 22) and sentences.

use super::IntervalDocument;
use super::anova::{
    AnovaAnswer, ContrastDocument, EstimateDocument, RankTestDocument, RatioDocument,
};
use stats::design::LACK_OF_FIT;

use textual::{Columns, figure, p_equation, p_value, paragraph, percent};

/// If there are more pairs than this, sentences say how many differ, and the table which.
const PAIRS_NAMED: usize = 6;

pub(super) fn render(answer: &AnovaAnswer, width: usize) -> String {
    let model = format!("{} model: {}", answer.model, answer.why);
    let mut text = capitalised(&answer.design) + "\n";
    text += &paragraph("  ", "  ", &model, width);
    let mut needed = 0;
    let mut fitted =
        |table: &dyn Fn(ShownColumns) -> String| fitting(width, levels(answer), &mut needed, table);
    text += "\nAnalysis of variance\n";
    text += &fitted(&|shown| variance(answer, shown));
    text += "\nEffects";
    text += if answer.is_multiplicative() { " (factors of the geometric mean)\n" } else { "\n" };
    text += &fitted(&|shown| effects(answer, shown));
    if !answer.contrasts.is_empty() {
        text += if answer.is_multiplicative() {
            "\nRatios of levels (unadjusted intervals; p adjusted for all pairs by Tukey)\n"
        } else {
            "\nDifferences of levels (unadjusted intervals; p adjusted for all pairs by Tukey)\n"
        };
        text += &fitted(&|shown| differences(answer, shown));
    }
    if needed > width {
        let left_out = format!(
            "some columns are left out for want of room: a terminal of {needed} columns shows \
             them, and so does --format json"
        );
        text += &paragraph("! ", "  ", &left_out, width);
    }
    text.push('\n');
    for sentence in sentences(answer) {
        text += &paragraph("- ", "  ", &sentence, width);
    }
    for diagnostic in &answer.diagnostics {
        let mark = if diagnostic.warning { "! " } else { "- " };
        text += &paragraph(mark, "  ", &diagnostic.message, width);
    }
    for test in &answer.rank_tests {
        text += &paragraph("- ", "  ", &rank_test(test), width);
    }
    text
}

/// The number of confidence levels.
fn levels(answer: &AnovaAnswer) -> usize {
    answer.grand_mean.intervals.len()
}

/// Which columns a table has.
#[derive(Clone, Copy)]
struct ShownColumns {
    /// How many confidence levels are shown; the last ones.
    levels: usize,
    /// Whether standard errors are shown.
    errors: bool,
}

/// A table with as many columns as fit in `width`: the lower confidence levels are dropped first,
/// then the standard errors. `needed` is raised to the width of the table with all columns.
fn fitting(
    width: usize,
    levels: usize,
    needed: &mut usize,
    table: impl Fn(ShownColumns) -> String,
) -> String {
    let width_of = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    *needed = width_of(&table(ShownColumns { levels, errors: true })).max(*needed);
    let with_errors = (1..=levels).rev().map(|levels| ShownColumns { levels, errors: true });
    let least = ShownColumns { levels: levels.min(1), errors: false };
    let mut tables = with_errors.map(&table);
    tables.find(|text| width_of(text) <= width).unwrap_or_else(|| table(least))
}

/// The last `shown` of `all`.
fn last<T>(all: &[T], shown: usize) -> &[T] {
    &all[all.len().saturating_sub(shown)..]
}

fn variance(answer: &AnovaAnswer, shown: ShownColumns) -> String {
    let levels =
        answer.anova.first().map_or(&[][..], |source| last(&source.f_quantiles, shown.levels));
    let heads = levels.iter().map(|one| format!("F[{}]", percent(one.level).replace(' ', "")));
    let mut heading: Vec<String> =
        ["component", "sum of squares", "% of variation", "df", "mean square", "F"]
            .map(str::to_owned)
            .to_vec();
    heading.extend(heads);
    heading.push("p".to_owned());
    let mut columns = Columns::headed(heading);
    let totals = answer.totals;
    columns.row(["y".to_owned(), figure(totals.observations)]);
    columns.row(["y..".to_owned(), figure(totals.mean)]);
    let df = totals.df.to_string();
    columns.row(["y - y..".to_owned(), figure(totals.about_mean), "100".to_owned(), df]);
    for source in &answer.anova {
        let mut row = vec![
            source.source.clone(),
            figure(source.sum_sq),
            format!("{:.2}", source.percent_of_variation),
            source.df.to_string(),
            figure(source.mean_sq),
            source.f.map_or_else(String::new, figure),
        ];
        let with_f = source.f.is_some();
        let quantiles = last(&source.f_quantiles, shown.levels).iter();
        row.extend(quantiles.map(|one| if with_f { figure(one.f) } else { String::new() }));
        row.resize(6 + levels.len(), String::new());
        row.push(source.p.map_or_else(String::new, p_value));
        columns.row(row);
    }
    columns.render()
}

fn effects(answer: &AnovaAnswer, shown: ShownColumns) -> String {
    let mut columns = Columns::headed(heading("effect", &answer.grand_mean, shown));
    let geometric = answer.geometric_mean.as_ref().map(RatioDocument::as_estimate);
    let mean = geometric.unwrap_or_else(|| answer.grand_mean.clone());
    columns.row(estimate_row("mean".to_owned(), &mean, shown));
    let mut factor = "";
    for effect in &answer.effects {
        if effect.factor != factor {
            factor = &effect.factor;
            columns.row([factor.to_owned()]);
        }
        let ratio = effect.ratio.as_ref().map(RatioDocument::as_estimate);
        let estimate = ratio.unwrap_or_else(|| effect.estimate.clone());
        columns.row(estimate_row(format!("  {}", effect.level), &estimate, shown));
    }
    columns.render()
}

fn differences(answer: &AnovaAnswer, shown: ShownColumns) -> String {
    let word = if answer.is_multiplicative() { "ratio" } else { "difference" };
    let mut heading = heading(word, &answer.grand_mean, shown);
    heading.extend(["p".to_owned(), "adjusted".to_owned()]);
    let mut columns = Columns::headed(heading);
    let mut factor = "";
    for contrast in &answer.contrasts {
        if contrast.factor != factor {
            factor = &contrast.factor;
            columns.row([factor.to_owned()]);
        }
        let sign = if answer.is_multiplicative() { "/" } else { "-" };
        let name = format!("  {} {sign} {}", contrast.first, contrast.second);
        let mut row = estimate_row(name, &estimate_of(contrast), shown);
        row.extend([p_value(contrast.p), p_value(contrast.p_adjusted)]);
        columns.row(row);
    }
    columns.render()
}

/// The ratio under a multiplicative model, otherwise the difference.
fn estimate_of(contrast: &ContrastDocument) -> EstimateDocument {
    let ratio = contrast.ratio.as_ref().map(RatioDocument::as_estimate);
    ratio.unwrap_or_else(|| EstimateDocument {
        estimate: contrast.difference,
        std_error: Some(contrast.std_error),
        intervals: contrast.intervals.clone(),
    })
}

fn heading(word: &str, like: &EstimateDocument, shown: ShownColumns) -> Vec<String> {
    let mut heading = vec![String::new(), word.to_owned()];
    heading.extend(shown.errors.then(|| "std error".to_owned()));
    let levels = last(&like.intervals, shown.levels).iter();
    heading.extend(levels.map(|one| format!("{} interval", percent(one.level))));
    heading
}

fn estimate_row(name: String, estimate: &EstimateDocument, shown: ShownColumns) -> Vec<String> {
    let mut row = vec![name, figure(estimate.estimate)];
    row.extend(shown.errors.then(|| estimate.std_error.map_or_else(String::new, figure)));
    row.extend(last(&estimate.intervals, shown.levels).iter().map(bracketed));
    row
}

fn bracketed(interval: &IntervalDocument) -> String {
    format!("[{}, {}]", figure(interval.low), figure(interval.high))
}

/// 95 % if it is among the requested levels, otherwise the highest of them.
fn level_of_sentences(answer: &AnovaAnswer) -> f64 {
    let levels = || answer.grand_mean.intervals.iter().map(|one| one.level);
    let usual = levels().find(|level| (level - 0.95).abs() < 1e-9);
    usual.or_else(|| levels().reduce(f64::max)).unwrap_or(0.95)
}

/// Sentences that say which effects are real.
fn sentences(answer: &AnovaAnswer) -> Vec<String> {
    let level = level_of_sentences(answer);
    let confidence = percent(level);
    let mut sentences: Vec<String> = Vec::new();
    for source in &answer.anova {
        let (Some(f), Some(p)) = (source.f, source.p) else { continue };
        if source.source == LACK_OF_FIT {
            sentences.push(lack_of_fit(p > 1.0 - level, &confidence, f, p));
            continue;
        }
        let verdict = if p <= 1.0 - level { "matters" } else { "is not shown to matter" };
        sentences.push(format!(
            "{} {verdict} at {confidence} (F = {}, {}); it explains {:.1} % of the variation.",
            source.source,
            figure(f),
            p_equation(p),
            source.percent_of_variation
        ));
    }
    let mut factors: Vec<&str> = answer.effects.iter().map(|one| one.factor.as_str()).collect();
    factors.dedup();
    sentences.extend(factors.iter().filter_map(|factor| apart(answer, factor, level)));
    sentences
}

/// The sentence about lack of fit.
fn lack_of_fit(fits: bool, confidence: &str, f: f64, p: f64) -> String {
    let numbers = format!("F = {}, {}", figure(f), p_equation(p));
    if fits {
        return format!("No lack of fit is found at {confidence} ({numbers}).");
    }
    format!(
        "The model does not fit at {confidence} (lack of fit: {numbers}): what one factor does \
         depends on the levels of others."
    )
}

fn rank_test(found: &RankTestDocument) -> String {
    let RankTestDocument { test, factor, statistic, df, p } = found;
    let (statistic, p) = (figure(*statistic), p_equation(*p));
    format!("rank test: {test} of {factor}, chi-square({df}) = {statistic}, {p}")
}

/// Which levels of a factor differ.
fn apart(answer: &AnovaAnswer, factor: &str, level: f64) -> Option<String> {
    let pairs: Vec<&ContrastDocument> =
        answer.contrasts.iter().filter(|one| one.factor == factor).collect();
    if pairs.is_empty() {
        return None;
    }
    let of = |real: bool| -> Vec<String> {
        let wanted = |pair: &&&ContrastDocument| (pair.p_adjusted <= 1.0 - level) == real;
        let name = |pair: &&ContrastDocument| format!("{} and {}", pair.first, pair.second);
        pairs.iter().filter(wanted).map(name).collect()
    };
    let (real, not) = (of(true), of(false));
    let confidence = percent(level);
    if pairs.len() > PAIRS_NAMED {
        let (apart, all) = (real.len(), pairs.len());
        return Some(format!(
            "{apart} of {all} pairs of levels of {factor} differ at {confidence}."
        ));
    }
    Some(match (real.is_empty(), not.is_empty()) {
        (true, _) => format!("No two levels of {factor} can be told apart at {confidence}."),
        (false, true) => format!("All levels of {factor} differ at {confidence}."),
        (false, false) => format!(
            "{} differ at {confidence}; {} cannot be told apart.",
            real.join(", "),
            not.join(", ")
        ),
    })
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + characters.as_str()
    })
}
