//! `fsprism stats`: anybody's table or series, analysed.

use ::stats::Refusal;
use ::stats::changepoint::warmup::BetterValues;
use ::stats::design::{ModelChoice, Options, Refused};
use ::stats::steady_state::Rule;
use tables::answer::{
    AnovaAnswer, ChangepointAnswer, ChangepointMethod, IntervalAnswer, IntervalQuestion,
    ScalabilityAnswer, SteadyStateAnswer,
};
use tables::{Grid, Observations, pairs, series};

use crate::arguments::analysis::{
    Analysis, AnovaOptions, ChangepointOptions, IntervalOptions, Meaning, Model,
    ScalabilityOptions, SeriesOptions,
};
use crate::exit::{Blame, Done};
use crate::output;
use crate::session::input::Input;

/// Reads, analyses, prints.
pub(crate) fn stats(analysis: &Analysis) -> anyhow::Result<Done> {
    match analysis {
        Analysis::Anova(options) => anova(options),
        Analysis::Interval(options) => interval(options),
        Analysis::Changepoint(options) => changepoint(options),
        Analysis::SteadyState(options) => steady_state(options),
        Analysis::Scalability(options) => scalability(options),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
fn anova(options: &AnovaOptions) -> anyhow::Result<Done> {
    let input = Input::read(&options.table)?;
    let grid = Grid::parse(&input.name, &input.text).blame_input()?;
    // As in a sentence, a comma may be followed by a blank.
    let factors: Vec<String> =
        options.factors.iter().map(|factor| factor.trim().to_owned()).collect();
    let observations = match &options.response {
        Some(response) => Observations::long(&grid, response.trim(), &factors),
        None => Observations::wide(&grid, &factors),
    };
    let observations = observations.blame_input()?;
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
    let answer = AnovaAnswer::new(&observations, &how).map_err(refused).blame_input()?;
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &answer, || answer.text(width))
}

fn interval(options: &IntervalOptions) -> anyhow::Result<Done> {
    let input = Input::read(&options.file)?;
    let values = series(&input.name, &input.text, options.column.as_deref()).blame_input()?;
    let (quantiles, level) = (options.quantiles.clone(), options.confidence);
    let question = IntervalQuestion { quantiles, level };
    let answer = IntervalAnswer::new(&values, &question).map_err(|why| input.refused(&why));
    let answer = answer.blame_input()?;
    output::print_answer(options.output.format, &answer, || {
        answer.text(output::terminal_options().width)
    })
}

fn changepoint(
    ChangepointOptions { series: options, penalty }: &ChangepointOptions,
) -> anyhow::Result<Done> {
    let input = Input::read(&options.file)?;
    let values = series(&input.name, &input.text, options.column.as_deref()).blame_input()?;
    let better = match options.values {
        Meaning::Times => BetterValues::Smaller,
        Meaning::Rates => BetterValues::Larger,
    };
    let method = penalty.map_or(ChangepointMethod::ByLength, ChangepointMethod::Penalty);
    let answer = ChangepointAnswer::new(&values, better, method).map_err(|why| input.refused(&why));
    let answer = answer.blame_input()?;
    output::print_answer(options.output.format, &answer, || answer.text())
}

fn steady_state(options: &SeriesOptions) -> anyhow::Result<Done> {
    let input = Input::read(&options.file)?;
    let values = series(&input.name, &input.text, options.column.as_deref()).blame_input()?;
    let answer = SteadyStateAnswer::new(&values, Rule::default());
    let answer = answer.map_err(|why| input.refused(&why)).blame_input()?;
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &answer, || answer.text(width))
}

fn scalability(options: &ScalabilityOptions) -> anyhow::Result<Done> {
    let input = Input::read(&options.file)?;
    let (n, x) = pairs(&input.name, &input.text, "n", "x").blame_input()?;
    let answer = ScalabilityAnswer::new(&n, &x, options.fit.into(), options.confidence);
    let answer = answer.map_err(|why| input.refused(&why)).blame_input()?;
    output::print_answer(options.output.format, &answer, || {
        answer.text(output::terminal_options().width)
    })
}
