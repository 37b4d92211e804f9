//! `fsprism compare`: compares the targets of a run, runs, or two sides of several runs each.

use std::path::{Path, PathBuf};

use ::report::compare::{
    CompareDocument, CompareOptions as How, ComparedMetric, Factor, NamedRun,
    compare as compare_runs, name_runs,
};
use anyhow::anyhow;
use record::{Better, Run};
use textual::plural;

use crate::arguments::analysis::AnswerFormat;
use crate::arguments::format::Format;
use crate::arguments::reports::CompareOptions;
use crate::arguments::values::Gate;
use crate::commands::plan;
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::session::{named, runs};

/// Reads the runs and prints how they compare.
pub(crate) fn compare(options: &CompareOptions) -> anyhow::Result<Outcome> {
    let factors =
        options.factors.iter().map(|name| Factor::named(name.trim())).collect::<Result<_, _>>();
    let factors = factors.or_input_error()?;
    let RunsToCompare { paths, first_side } = runs_to_compare(options).or_input_error()?;
    if let Some(percent) = options.plan_for {
        if first_side.is_some_and(|firsts| firsts < paths.len()) {
            let why = "--plan-for takes the runs of one command, not two sides";
            return Err(anyhow!("{why}: name one directory of runs")).or_input_error();
        }
        let metric = ComparedMetric::named(&options.metric);
        let how = How { metric, level: options.confidence, ..How::default() };
        return plan::print(&paths, percent, &how, options.output.format);
    }
    if !options.fail_above.is_empty() && (paths.len() < 2 || first_side == Some(paths.len())) {
        let why = "--fail-above is for what got worse from one run or side to the next";
        return Err(anyhow!("{why}: name two")).or_input_error();
    }
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let runs = paths.iter().map(|path| Run::read(path)).collect::<Result<Vec<Run>, _>>();
    let runs = name_runs(&paths, runs.or_input_error()?);
    let how = How {
        metric: ComparedMetric::named(&options.metric),
        factors,
        margin: options.margin / 100.0,
        level: options.confidence,
        unlike: options.unlike,
        first_side,
    };
    let document = compare_runs(&runs, &how).or_input_error()?;
    // A gate that is wrong must be refused before anything is printed.
    let gates = options.fail_above.iter().map(|gate| JudgedGate::compare(gate, &runs, &how));
    let gates = gates.collect::<anyhow::Result<Vec<JudgedGate<'_>>>>().or_input_error()?;
    let done =
        output::print_answer(options.output.format, &document, |width| match options.full {
            true => document.text(width),
            false => document.summary(width),
        })?;
    let mut ends = done;
    for one in &gates {
        ends = one.judge(&document, ends);
    }
    Ok(ends)
}

/// A gate (`--fail-above`) and the comparison that it is judged by.
struct JudgedGate<'a> {
    gate: &'a Gate,
    /// A comparison in the gate's own metric; `None` if that is the metric shown.
    own: Option<CompareDocument>,
}

impl<'a> JudgedGate<'a> {
    /// Compares the runs in the gate's metric, if that is not the one shown.
    fn compare(gate: &'a Gate, runs: &[NamedRun], shown: &How) -> anyhow::Result<Self> {
        let metric = gate.metric.as_deref().map(ComparedMetric::named);
        let Some(metric) = metric.filter(|metric| *metric != shown.metric) else {
            return Ok(Self { gate, own: None });
        };
        let name = metric.name().to_owned();
        // A gate needs no analysis of variance.
        let how = How { metric, factors: Vec::new(), ..shown.clone() };
        let document = compare_runs(runs, &how)?;
        if document.comparisons.iter().all(|one| one.better == Better::Neither) {
            return Err(anyhow!(
                "--fail-above takes a metric that can get worse, and {name} only describes"
            ));
        }
        Ok(Self { gate, own: Some(document) })
    }

    /// Reports the gate's result and returns how the command now ends. Failing takes precedence
    /// over being undecided.
    fn judge(&self, shown: &CompareDocument, before: Outcome) -> Outcome {
        let answer = self.own.as_ref().unwrap_or(shown).gate(self.gate.percent / 100.0);
        let of = self.gate.metric.as_ref().map_or_else(String::new, |name| format!("{name}: "));
        let (failure, blindness) = (answer.failure(), answer.blindness());
        let said = failure.iter().chain(&blindness).map(|said| format!("{of}{said}"));
        for said in self.hole().into_iter().chain(said) {
            output::say(&said);
        }
        match (failure, blindness) {
            (Some(_), _) => Outcome::WithFailures,
            (None, Some(_)) if before == Outcome::Success => Outcome::Undecided,
            (None, _) => before,
        }
    }

    /// What a gate with its own metric does not cover: benchmarks without that metric.
    fn hole(&self) -> Option<String> {
        let document = self.own.as_ref()?;
        let (name, many) = (&document.metric, document.without_metric.len());
        (many > 0).then(|| {
            format!("{} without {name} on some target: not gated there", plural(many, "benchmark"))
        })
    }
}

/// Prints how the targets compare over all runs in a directory of runs.
pub(crate) fn over_runs(group: &Path, format: Format) -> anyhow::Result<Outcome> {
    let paths = runs::in_group(group).unwrap_or_default();
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let runs = paths.iter().map(|path| Run::read(path)).collect::<Result<Vec<Run>, _>>()?;
    let how = How { first_side: Some(runs.len()), ..How::default() };
    let document = compare_runs(&name_runs(&paths, runs), &how)?;
    let format = format.for_answers().unwrap_or(AnswerFormat::Terminal);
    output::print_answer(format, &document, |width| document.text(width))
}

/// The runs in order, and how many of them are the first side, if there are sides.
struct RunsToCompare {
    paths: Vec<PathBuf>,
    first_side: Option<usize>,
}

impl RunsToCompare {
    /// Refuses a run that is named twice: counted twice, it would make chance look significant.
    fn refuse_duplicates(self) -> anyhow::Result<Self> {
        let real: Vec<PathBuf> =
            self.paths.iter().map(|path| path.canonicalize().unwrap_or(path.clone())).collect();
        let twice = (0..real.len()).find(|&place| real[..place].contains(&real[place]));
        match twice {
            Some(place) => {
                let name = self.paths[place].display();
                Err(anyhow!("{name} is named twice: each run counts once"))
            }
            None => Ok(self),
        }
    }
}

/// Which runs to compare. A directory of runs stands for all runs in it, which form one side.
fn runs_to_compare(options: &CompareOptions) -> anyhow::Result<RunsToCompare> {
    if !options.a.is_empty() {
        let mut paths = all_of(&options.a);
        let first_side = Some(paths.len());
        paths.extend(all_of(&options.b));
        return RunsToCompare { paths, first_side }.refuse_duplicates();
    }
    let named = named::runs_or_latest(&options.runs)?;
    let groups: Vec<Option<Vec<PathBuf>>> = named.iter().map(|path| runs::in_group(path)).collect();
    let of_group = groups.iter().flatten().count();
    match (of_group, groups.len()) {
        (0, _) => RunsToCompare { paths: named, first_side: None }.refuse_duplicates(),
        (1, 1) | (2, 2) => {
            let mut sides = groups.into_iter().flatten();
            let mut paths = sides.next().unwrap_or_default();
            let first_side = Some(paths.len());
            paths.extend(sides.flatten());
            RunsToCompare { paths, first_side }.refuse_duplicates()
        }
        _ => Err(anyhow!(
            "name one or two directories of several runs and no single run, or choose the sides \
             with --a and --b"
        )),
    }
}

/// The named runs, with directories of runs replaced by the runs in them.
fn all_of(paths: &[PathBuf]) -> Vec<PathBuf> {
    let each = paths.iter().map(|path| runs::in_group(path).unwrap_or_else(|| vec![path.clone()]));
    each.flatten().collect()
}
