//! `fsprism reproduce --all`: all papers one after another, and a table of what holds.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use ::reproduce::{Outcome as Verdict, Statement};
use serde::Serialize;
use textual::paragraph;

use super::Paper;
use crate::arguments::reproduce::ReproduceOptions;
use crate::exit::{InterruptedEarly, OrInputError, Outcome, sentence_of};
use crate::output;

/// What the statements of a paper turned out to be.
#[derive(Debug, Serialize)]
struct PaperVerdicts {
    /// The paper's name.
    paper: &'static str,
    /// The run from which they are.
    run: String,
    /// Its statements.
    statements: Vec<Statement>,
    /// Why there are none, if it could not be reproduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// Reproduces each paper into a directory of its own within one, or takes those of an earlier
/// `--all`, and prints what holds. A paper that cannot be reproduced here is listed with the
/// reason.
pub(super) fn reproduce(
    papers: &[Box<dyn Paper>],
    options: &ReproduceOptions,
) -> anyhow::Result<Outcome> {
    check(options).or_input_error()?;
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let made = match &options.run {
        Some(_) => None,
        None => {
            let out = options.out.as_deref();
            Some(runner::directory_of_runs(out, &started, "reproduce").or_input_error()?)
        }
    };
    let earlier = options.run.as_deref().unwrap_or(Path::new(""));
    let directory = made.as_ref().map_or(earlier, |made| made.path()).to_owned();
    let mut verdicts: Vec<PaperVerdicts> = Vec::new();
    let mut ended = Outcome::Success;
    for (index, paper) in papers.iter().enumerate() {
        if made.is_some() {
            say_progress(papers, index);
        }
        let began = Instant::now();
        let (own, outcome) = match one(paper.as_ref(), &directory, options) {
            Err(error) if error.is::<InterruptedEarly>() => {
                ended = Outcome::Interrupted;
                break;
            }
            found => found?,
        };
        if made.is_some() {
            let seconds = began.elapsed().as_secs();
            output::say(&format!("{} took {} min {} s", own.paper, seconds / 60, seconds % 60));
        }
        verdicts.push(own);
        match outcome {
            Outcome::Success => {}
            Outcome::Interrupted => {
                ended = outcome;
                break;
            }
            Outcome::WithFailures | Outcome::Undecided | Outcome::ExitStatus(_) => {
                ended = Outcome::WithFailures;
            }
        }
    }
    output::print_answer(options.output.format, &verdicts, |width| text(&verdicts, width))?;
    if let Some(made) = made {
        let path = made.path().to_owned();
        made.give_up_if_empty();
        if path.exists() {
            output::say(&path.display().to_string());
        }
    }
    Ok(ended)
}

fn check(options: &ReproduceOptions) -> anyhow::Result<()> {
    if options.size.is_some() {
        anyhow::bail!("--size is for bonnie-anova, not for --all: leave it out");
    }
    if let Some(path) = options.run.as_ref().filter(|path| !path.is_dir()) {
        anyhow::bail!(
            "{} is no directory: with --all, --run needs one made by `fsprism reproduce --all`",
            path.display()
        );
    }
    Ok(())
}

/// Reproduces one paper, or takes its earlier run, and tells how that ended.
fn one(
    paper: &dyn Paper,
    directory: &Path,
    options: &ReproduceOptions,
) -> anyhow::Result<(PaperVerdicts, Outcome)> {
    let path: PathBuf = directory.join(paper.name());
    let run = options.run.is_some().then(|| path.clone());
    let own = ReproduceOptions { run, out: Some(path.clone()), ..options.clone() };
    let verdicts = |statements, failed| PaperVerdicts {
        paper: paper.name(),
        run: textual::plain_path(&path),
        statements,
        failed,
    };
    match paper.reproduce(None, &own) {
        Ok(answer) => {
            let statements = answer.statements().into_iter().cloned().collect();
            Ok((verdicts(statements, None), answer.end()))
        }
        Err(error) if error.is::<InterruptedEarly>() => Err(error),
        Err(error) => {
            let why = sentence_of(&error);
            output::say(&format!("{} is left out: {why}", paper.name()));
            Ok((verdicts(Vec::new(), Some(why)), Outcome::WithFailures))
        }
    }
}

/// Which paper comes next, and how long it and those after it take.
fn say_progress(papers: &[Box<dyn Paper>], index: usize) {
    let left: u32 = papers[index..].iter().map(|paper| paper.minutes()).sum();
    output::say(&format!(
        "paper {} of {}: {}; about {left} minutes to go",
        index + 1,
        papers.len(),
        papers[index].name()
    ));
}

fn text(papers: &[PaperVerdicts], width: usize) -> String {
    let mut text = String::new();
    for paper in papers {
        let head = match &paper.failed {
            Some(why) => format!("{}: not reproduced: {why}", paper.paper),
            None => format!("{}: {}", paper.paper, counts(&paper.statements)),
        };
        text += &paragraph("", "  ", &head, width);
        for statement in &paper.statements {
            let verdict = format!("  {:<14} ", statement.outcome.words());
            let claim = format!("{} ({})", statement.claim, statement.source);
            text += &paragraph(&verdict, &" ".repeat(verdict.len()), &claim, width);
        }
        text.push('\n');
    }
    let all = papers.iter().flat_map(|paper| &paper.statements);
    text + &paragraph("", "", &format!("All papers: {}", counts(all)), width)
}

/// How many statements hold, do not, and cannot be told.
fn counts<'a>(statements: impl IntoIterator<Item = &'a Statement>) -> String {
    let outcomes: Vec<Verdict> = statements.into_iter().map(|one| one.outcome).collect();
    let count = |verdict| outcomes.iter().filter(|own| **own == verdict).count();
    format!(
        "{} of {} statements hold, {} do not, {} cannot be told",
        count(Verdict::Holds),
        outcomes.len(),
        count(Verdict::DoesNotHold),
        count(Verdict::Unknown)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(outcome: Verdict) -> Statement {
        Statement {
            source: "Figure 1",
            claim: "a claim that is so long that it does not fit into a line of a terminal",
            published: "",
            measured: String::new(),
            outcome,
            tolerance: None,
            why: None,
        }
    }

    #[test]
    fn each_paper_has_its_verdicts_or_why_there_are_none() {
        let paper = |statements, failed| PaperVerdicts {
            paper: "a-paper",
            run: "run".to_owned(),
            statements,
            failed,
        };
        let statements = [Verdict::Holds, Verdict::DoesNotHold, Verdict::Unknown].map(statement);
        let failed = Some("it needs root".to_owned());
        let text = text(&[paper(statements.to_vec(), None), paper(Vec::new(), failed)], 70);
        assert!(text.starts_with("a-paper: 1 of 3 statements hold, 1 do not, 1 cannot be told\n"));
        assert!(text.contains("\n  does not hold  a claim that is so"), "{text}");
        assert!(text.contains("\na-paper: not reproduced: it needs root\n"), "{text}");
        assert!(text.ends_with("All papers: 1 of 3 statements hold, 1 do not, 1 cannot be told\n"));
        assert!(text.lines().all(|line| line.len() <= 70), "{text}");
    }
}
