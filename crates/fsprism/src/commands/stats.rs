//! `fsprism stats`: analyses the user's own tables and series.

use ::stats::Refusal;
use ::stats::changepoint::warmup::BetterValues;
use ::stats::design::{ModelChoice, Options, Refused};
use ::stats::steady_state::Rule;
use serde::Serialize;
use tables::answer::{
    AnovaAnswer, ChangepointAnswer, ChangepointMethod, IntervalAnswer, IntervalQuestion,
    ScalabilityAnswer, SteadyStateAnswer,
};
use tables::{Grid, Observations, pairs, series, series_by};
use textual::{list, plain_text, shell_word};

use crate::arguments::analysis::{
    Analysis, AnovaOptions, AnswerFormat, BetterDirection, ChangepointOptions, IntervalOptions,
    Model, ScalabilityOptions, SeriesOptions,
};
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::session::input::Input;

/// Reads the data, analyses it and prints the answer.
pub(crate) fn stats(analysis: &Analysis) -> anyhow::Result<Outcome> {
    match analysis {
        Analysis::Anova(options) => anova(options),
        Analysis::Interval(options) => interval(options),
        Analysis::Changepoint(options) => changepoint(options),
        Analysis::SteadyState(options) => steady_state(options),
        Analysis::Scalability(options) => scalability(options),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
fn anova(options: &AnovaOptions) -> anyhow::Result<Outcome> {
    let input = Input::read(&options.table)?;
    let grid = Grid::parse(&input.name, &input.text).or_input_error()?;
    // As in prose, a comma may be followed by a space.
    let factors: Vec<String> =
        options.factors.iter().map(|factor| factor.trim().to_owned()).collect();
    let observations = match &options.response {
        _ if options.wide => Observations::wide(&grid, &factors),
        Some(response) if !factors.is_empty() => {
            Observations::long(&grid, response.trim(), &factors)
        }
        Some(_) | None => return Err(unnamed_columns(&grid)).or_input_error(),
    };
    let observations = observations.or_input_error()?;
    let model = match options.model {
        Model::Additive => ModelChoice::Additive,
        Model::Multiplicative => ModelChoice::Multiplicative,
        Model::Auto => ModelChoice::Auto,
    };
    let how = Options { model, levels: options.confidence.clone(), ..Options::default() };
    let refused = |refusal: Refusal| match refusal {
        Refusal::Design(Refused::NotPositive { index, value }) => {
            let line = observations.lines.get(index).copied().unwrap_or_default();
            anyhow::anyhow!(
                "{}, line {line}: {value} has no logarithm, and a multiplicative model needs \
                 values above 0",
                input.name
            )
        }
        other => input.refused(&other),
    };
    let answer = AnovaAnswer::new(&observations, &how).map_err(refused).or_input_error()?;
    output::print_answer(options.output.format, &answer, |width| answer.text(width))
}

/// Says which columns to name: `... has the columns a, b and c (--response c --factors a,b)`.
fn unnamed_columns(grid: &Grid) -> anyhow::Error {
    let columns = grid.header();
    let (factors, response) = columns.split_at(columns.len().saturating_sub(1));
    anyhow::anyhow!(
        "name the column of measured values and those of the factors: {} has the columns {} \
         (perhaps --response {} --factors {}; or --wide)",
        grid.file(),
        list(columns, "and"),
        shell_word(&response.join(",")),
        shell_word(&factors.join(",")),
    )
}

/// The answer for each group of values.
#[derive(Debug, Serialize)]
struct Groups {
    by: String,
    groups: Vec<Group>,
}

#[derive(Debug, Serialize)]
struct Group {
    level: String,
    #[serde(flatten)]
    answer: IntervalAnswer,
}

/// Analyses each group separately.
fn intervals_by(
    input: &Input,
    column: &str,
    by: &str,
    question: &IntervalQuestion,
    format: AnswerFormat,
) -> anyhow::Result<Outcome> {
    let groups = series_by(&input.name, &input.text, column, by).or_input_error()?;
    let answered = |(level, values): (String, Vec<f64>)| {
        let answer = IntervalAnswer::new(&values, question);
        let answer = answer.map_err(|why| input.refused(&why)).or_input_error()?;
        Ok(Group { level, answer })
    };
    let groups = groups.into_iter().map(answered).collect::<anyhow::Result<Vec<Group>>>()?;
    let answer = Groups { by: by.to_owned(), groups };
    output::print_answer(format, &answer, |width| {
        let text = |group: &Group| {
            format!("{by} {}: {}", plain_text(&group.level), group.answer.text(width))
        };
        answer.groups.iter().map(text).collect::<Vec<_>>().join("\n")
    })
}

fn interval(options: &IntervalOptions) -> anyhow::Result<Outcome> {
    let input = Input::read(&options.file)?;
    let (quantiles, level) = (options.quantiles.clone(), options.confidence);
    let question = IntervalQuestion { quantiles, level };
    if let (Some(column), Some(by)) = (&options.column, &options.by) {
        return intervals_by(&input, column, by, &question, options.output.format);
    }
    let values = series(&input.name, &input.text, options.column.as_deref()).or_input_error()?;
    let answer = IntervalAnswer::new(&values, &question).map_err(|why| input.refused(&why));
    let answer = answer.or_input_error()?;
    output::print_answer(options.output.format, &answer, |width| answer.text(width))
}

fn changepoint(
    ChangepointOptions { series: options, penalty, better }: &ChangepointOptions,
) -> anyhow::Result<Outcome> {
    let input = Input::read(&options.file)?;
    let values = series(&input.name, &input.text, options.column.as_deref()).or_input_error()?;
    let better = match better {
        Some(BetterDirection::Lower) => BetterValues::Smaller,
        Some(BetterDirection::Higher) => BetterValues::Larger,
        None => BetterValues::Unknown,
    };
    let method = penalty.map_or(ChangepointMethod::ByLength, ChangepointMethod::Penalty);
    let answer = ChangepointAnswer::new(&values, better, method).map_err(|why| input.refused(&why));
    let answer = answer.or_input_error()?;
    output::print_answer(options.output.format, &answer, |_| answer.text())
}

fn steady_state(options: &SeriesOptions) -> anyhow::Result<Outcome> {
    let input = Input::read(&options.file)?;
    let values = series(&input.name, &input.text, options.column.as_deref()).or_input_error()?;
    let answer = SteadyStateAnswer::new(&values, Rule::default());
    let answer = answer.map_err(|why| input.refused(&why)).or_input_error()?;
    output::print_answer(options.output.format, &answer, |width| answer.text(width))
}

fn scalability(options: &ScalabilityOptions) -> anyhow::Result<Outcome> {
    let input = Input::read(&options.file)?;
    let (n, x) = pairs(&input.name, &input.text, "n", "x").or_input_error()?;
    let answer = ScalabilityAnswer::new(&n, &x, options.fit.into(), options.confidence);
    let answer = answer.map_err(|why| input.refused(&why)).or_input_error()?;
    output::print_answer(options.output.format, &answer, |width| answer.text(width))
}
