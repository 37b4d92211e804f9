//! `fsprism footprint diff`: compares two traces, or the traces in two directories.

use std::path::{Path, PathBuf};

use ::caches::Hierarchy;
use ::report::footprint::documents::{DiffDocument, Difference, SCHEMA_VERSION};
use ::report::footprint::text;
use ::report::{ComparedPair, Comparison, render_comparison};
use footprint_study::{Questions, Studied, caches_of, recorded, traces_in};
use record::CachesOrigin;
use textual::plain_path;

use crate::arguments::footprint::DiffOptions;
use crate::commands::footprint::study::{StudiedTraces, categorised, studied};
use crate::exit::{OrInputError, Outcome};
use crate::output::destination::Destination;
use crate::output::{self, page};

/// Compares traces.
pub(crate) fn diff(options: &DiffOptions) -> anyhow::Result<Outcome> {
    let out = options.out.as_deref().map(page::destination).transpose()?;
    let mut warnings = Vec::new();
    // Only the page shows misses.
    let machine = || caches_of(&::machine::describe::describe().caches);
    let caches = options.out.is_some().then(machine).flatten();
    let questions = Questions { caches };
    let mut compared = Vec::new();
    let pairs = pairs(&options.before, &options.after, &mut warnings)?;
    if pairs.is_empty() {
        let why = anyhow::anyhow!(
            "{} and {} have no trace with the same name: name two traces",
            options.before.display(),
            options.after.display()
        );
        return Err(why).or_input_error();
    }
    warnings.iter().for_each(|warning| output::say(&format!("fsprism: {warning}")));
    for (before, after) in pairs {
        compared.extend(compare(&before, &after, &questions, options, &mut warnings)?);
    }
    if compared.is_empty() {
        let why = anyhow::anyhow!(
            "{} and {} have no operation in common: name others",
            options.before.display(),
            options.after.display()
        );
        return Err(why).or_input_error();
    }
    if let Some(out) = &out {
        return write(out, &compared, questions.caches.as_ref(), &warnings);
    }
    let differences = compared.into_iter().flat_map(|pair| pair.differences).collect();
    let document = DiffDocument { schema_version: SCHEMA_VERSION, differences, warnings };
    output::print_answer(options.output.format, &document, |_| {
        document.differences.iter().map(text::difference).collect::<Vec<String>>().join("\n")
    })
}

/// Writes a page of the comparison and prints its path.
fn write(
    out: &Destination,
    compared: &[ComparedPair],
    caches: Option<&Hierarchy>,
    warnings: &[String],
) -> anyhow::Result<Outcome> {
    let caches = caches.map(|caches| recorded(caches, CachesOrigin::Machine));
    let comparison = Comparison { caches: caches.as_ref(), warnings };
    out.write(render_comparison(compared, &comparison).as_bytes())?;
    output::print_written(out.path())?;
    Ok(Outcome::Success)
}

/// Two traces and what changed between them; `None` if they have no operation in common.
fn compare(
    before: &Path,
    after: &Path,
    questions: &Questions,
    options: &DiffOptions,
    warnings: &mut Vec<String>,
) -> anyhow::Result<Option<ComparedPair>> {
    let mut read = |path: &Path| -> anyhow::Result<Studied> {
        let StudiedTraces { traces, warnings: own } = studied(path, questions)?;
        warnings.extend(own);
        let mut traces = categorised(traces, options.categories.as_deref())?;
        Ok(traces.swap_remove(0))
    };
    let (before, after) = (read(before)?, read(after)?);
    let operations = operations(&before, &after, options.operation.as_deref());
    let differences = operations.iter().map(|name| Difference::new(&before, &after, name));
    let differences: Vec<Difference> = differences.collect::<Result<_, _>>().or_input_error()?;
    let is_comparable = !differences.is_empty();
    Ok(is_comparable.then_some(ComparedPair { before, after, differences }))
}

/// The operation that was asked for, or all that both traces have.
fn operations(first: &Studied, second: &Studied, asked: Option<&str>) -> Vec<String> {
    if let Some(asked) = asked {
        return vec![asked.to_owned()];
    }
    let has = |name: &String| second.executed.iter().any(|one| one.operation == *name);
    let mut names: Vec<String> = Vec::new();
    for one in &first.executed {
        if has(&one.operation) && !names.contains(&one.operation) {
            names.push(one.operation.clone());
        }
    }
    names
}

/// The two traces, or those with the same name in two directories. A trace without a counterpart
/// becomes a warning.
fn pairs(
    before: &Path,
    after: &Path,
    warnings: &mut Vec<String>,
) -> anyhow::Result<Vec<(PathBuf, PathBuf)>> {
    let (first, second) = (traces_in(before).or_input_error()?, traces_in(after).or_input_error()?);
    if let ([one], [other]) = (first.as_slice(), second.as_slice()) {
        return Ok(vec![(one.clone(), other.clone())]);
    }
    let mut pairs = Vec::new();
    for one in first {
        match second.iter().find(|other| other.file_name() == one.file_name()) {
            Some(other) => pairs.push((one, other.clone())),
            None => {
                let warning = format!(
                    "{} has no trace with the same name in {}",
                    plain_path(&one),
                    plain_path(after)
                );
                warnings.push(warning);
            }
        }
    }
    Ok(pairs)
}
