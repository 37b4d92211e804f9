//! `--plan-for`: how many runs, and of what length, it takes to detect a change.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ::report::compare::{CompareOptions, name_runs, plan};
use anyhow::anyhow;
use record::Run;
use textual::shell_word;

use crate::arguments::analysis::AnswerFormat;
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::session::runs;

/// Options that are set anew for each side.
const SET_FOR_EACH_SIDE: [&str; 8] =
    ["--runs", "--plan-for", "--out", "--format", "--seed", "--budget", "--blocks", "--precision"];
/// The option that each run of a group gets in addition.
const ADDED_IN_GROUP: &str = "--drop-caches";

/// Prints how many runs it takes to detect a change of `percent`, judging by these runs.
pub(crate) fn print(
    paths: &[PathBuf],
    percent: f64,
    options: &CompareOptions,
    format: AnswerFormat,
) -> anyhow::Result<Outcome> {
    if paths.len() < 2 {
        let why = "--plan-for takes two or more runs of one command, to see how much runs vary";
        let then = "name the directory that --runs made, or use `fsprism survey --plan-for`";
        return Err(anyhow!("{why}: {then}")).or_input_error();
    }
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let runs = paths.iter().map(|path| Run::read(path)).collect::<Result<Vec<Run>, _>>();
    let runs = name_runs(&paths, runs.or_input_error()?);
    let document = plan(&runs, percent / 100.0, options).or_input_error()?;
    let command = command_of_each_side(&runs[0].run.manifest.run.arguments);
    output::print_answer(format, &document, |width| document.text(&command, width))
}

/// The command of a run as each side repeats it, without the program's name.
fn command_of_each_side(arguments: &[String]) -> String {
    let arguments = arguments.iter().skip(1).map(OsString::from);
    let words = runs::without(arguments, &SET_FOR_EACH_SIDE);
    let words = words.iter().map(|word| word.to_string_lossy());
    let words: Vec<String> =
        words.filter(|word| word != ADDED_IN_GROUP).map(|word| shell_word(&word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_repeats_what_was_measured() {
        let of = |text: &str| {
            command_of_each_side(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(
            of(
                "/bin/fsprism survey --drop-caches --out d/run-1 --seed=3 ext4:mkfs=-O x --size 8m \
                --budget 30s --precision 1%"
            ),
            "survey ext4:mkfs=-O x --size 8m"
        );
    }
}
