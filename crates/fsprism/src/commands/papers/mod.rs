//! `fsprism reproduce`: a paper's published numbers and figures beside computed or measured ones.

mod all;
mod answer;
mod bonnie_anova;
mod bonnie_in_guest;
mod densefs;
mod fscache;
mod grep_in_guests;
mod memory_rich;
mod paper_run;
mod rocket_science;

use serde_json::json;

use answer::Answer;

use crate::arguments::reproduce::ReproduceOptions;
use crate::exit::{OrInputError, Outcome};
use crate::output;

/// A paper that can be reproduced. The command, its list of papers, its examples, completions and
/// refusals are derived from it.
trait Paper {
    /// The name by which `fsprism reproduce` takes it.
    fn name(&self) -> &'static str;

    /// Its authors and title, and what is done with it.
    fn summary(&self) -> &'static str;

    /// Example command lines, each with what it does.
    fn examples(&self) -> &'static [(&'static str, &'static str)];

    /// Its tables, figures and sections that can be reproduced individually.
    fn items(&self) -> Vec<&'static str>;

    /// Whether an item is computed from the paper's own numbers, without measuring anything.
    fn is_computed(&self, _item: &str) -> bool {
        false
    }

    /// Whether `--size` applies to it.
    fn takes_size(&self) -> bool {
        false
    }

    /// How many minutes the whole paper usually takes.
    fn minutes(&self) -> u32;

    /// Reproduces one item, or the whole paper.
    fn reproduce(&self, item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Answer>;
}

/// The width of commands in examples.
const COMMAND_WIDTH: usize = 53;

/// All papers.
fn papers() -> [Box<dyn Paper>; 5] {
    [
        Box::new(bonnie_anova::BonnieAnova),
        Box::new(rocket_science::RocketScience),
        Box::new(memory_rich::MemoryRich),
        Box::new(densefs::DenseFs),
        Box::new(fscache::FsCache),
    ]
}

/// Reproduces what was named; without a name, lists the papers.
pub(crate) fn reproduce(options: &ReproduceOptions) -> anyhow::Result<Outcome> {
    let papers = papers();
    if options.all {
        return all::reproduce(&papers, options);
    }
    let Some(wanted) = requested(options)? else {
        let list: Vec<_> = papers
            .iter()
            .map(|paper| json!({ "name": paper.name(), "paper": paper.summary() }))
            .collect();
        let lines =
            papers.iter().map(|paper| format!("{:<27}  {}\n", paper.name(), paper.summary()));
        return output::print_answer(options.output.format, &list, |_| lines.collect());
    };
    let (name, item) = match wanted.split_once('/') {
        Some((name, item)) => (name, Some(item)),
        None => (wanted.as_str(), None),
    };
    let paper = papers.iter().find(|paper| paper.name() == name);
    let paper = paper.ok_or_else(|| unknown(&wanted, name)).or_input_error()?;
    check(paper.as_ref(), item, options).or_input_error()?;
    paper.reproduce(item, options)?.print(options.output.format)
}

/// The examples in the command's help.
pub(crate) fn examples() -> String {
    let papers = papers();
    let of_papers = papers.iter().flat_map(|paper| paper.examples());
    let all = [
        ("fsprism reproduce", "lists the papers"),
        ("sudo fsprism reproduce --all", "all papers, and a table of what holds"),
    ];
    let lines = all.iter().chain(of_papers).map(|(command, what)| match command.len() {
        ..=COMMAND_WIDTH => format!("  {command:<COMMAND_WIDTH$}  {what}\n"),
        _ => format!("  {command}\n  {:COMMAND_WIDTH$}  {what}\n", ""),
    });
    format!("Examples:\n{}", lines.collect::<String>())
}

/// Everything that can be reproduced: papers, and their individual items.
pub(crate) fn names() -> Vec<String> {
    let names = |paper: &dyn Paper| {
        let items = paper.items().into_iter().map(|item| format!("{}/{item}", paper.name()));
        [paper.name().to_owned()].into_iter().chain(items.collect::<Vec<_>>())
    };
    papers().iter().flat_map(|paper| names(paper.as_ref())).collect()
}

/// What to reproduce, as `PAPER` or `PAPER/ITEM`.
fn requested(options: &ReproduceOptions) -> anyhow::Result<Option<String>> {
    match (&options.paper, &options.item) {
        (Some(paper), Some(item)) if paper.contains('/') => {
            let refusal = anyhow::anyhow!("{paper} names an item already: leave out {item}");
            Err(refusal).or_input_error()
        }
        (Some(paper), Some(item)) => Ok(Some(format!("{paper}/{item}"))),
        (paper, _) => Ok(paper.clone()),
    }
}

fn unknown(wanted: &str, name: &str) -> anyhow::Error {
    let names = papers().map(|paper| paper.name());
    let suggestion = textual::did_you_mean(name, names);
    anyhow::anyhow!("no paper {wanted} to reproduce{suggestion}; choose from {}", names.join(", "))
}

/// Refuses an item that the paper does not have, and options that do not apply.
fn check(paper: &dyn Paper, item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<()> {
    let name = paper.name();
    if let Some(item) = item {
        check_item(paper, item)?;
    }
    if options.size.is_some() && (item.is_some() || !paper.takes_size()) {
        let sized: Vec<&str> =
            papers().iter().filter(|one| one.takes_size()).map(|one| one.name()).collect();
        let wanted = item.map_or_else(|| name.to_owned(), |item| format!("{name}/{item}"));
        anyhow::bail!("--size is for {}, not for {wanted}: leave it out", sized.join(" and "));
    }
    let given = [("--run", options.run.is_some()), ("--blocks", options.blocks.is_some())];
    let given = given.into_iter().find(|(_, is_given)| *is_given);
    if let (Some(item), Some((option, _))) = (item.filter(|item| paper.is_computed(item)), given) {
        anyhow::bail!(
            "{name}/{item} is computed from the paper's numbers: leave out {option}, or name \
             {name} to measure"
        );
    }
    Ok(())
}

fn check_item(paper: &dyn Paper, item: &str) -> anyhow::Result<()> {
    let (name, mut items) = (paper.name(), paper.items());
    if items.contains(&item) {
        return Ok(());
    }
    if items.is_empty() {
        anyhow::bail!("{name} is reproduced as a whole: leave out {item}");
    }
    items.sort_unstable();
    let suggestion = textual::did_you_mean(item, items.iter().copied());
    anyhow::bail!("no {item} in {name}{suggestion}; choose from {}", items.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_paper_is_shown_with_what_it_has() {
        let (help, names) = (examples(), names());
        for paper in papers() {
            assert!(!paper.examples().is_empty(), "{}", paper.name());
            for (command, what) in paper.examples() {
                let (_, given) = command.split_once("fsprism reproduce ").expect("its command");
                let given = given.split(' ').next().unwrap_or(given);
                assert!(given.split('/').next() == Some(paper.name()), "{command}");
                assert!(names.iter().any(|name| name == given), "{command}");
                assert!(help.contains(command) && help.contains(what), "{help}");
            }
        }
        assert!(help.lines().all(|line| line.len() <= 100), "{help}");
    }
}
