//! A command line that begins with a target or a suite where a command belongs.

use std::io::{self, Write};
use std::{env, process};

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use targets::{SpecError, TargetSpec};
use textual::shell_word;

use crate::arguments::Arguments;
use crate::exit::Blame;
use crate::output;

/// Parses the command line.
///
/// # Errors
/// It begins with a target or a suite; whatever else is wrong with it ends the process.
pub(crate) fn parse() -> anyhow::Result<Arguments> {
    Arguments::try_parse().or_else(|error| {
        let words: Vec<String> =
            env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        match instead(&error, &words) {
            Some(sentence) => Err(anyhow::anyhow!(sentence)).blame_input(),
            None => end(&error),
        }
    })
}

/// Prints help, the version or what is wrong, and ends the process; unlike [`clap::Error::exit`],
/// not as if all were well where help that was asked for could not be written.
fn end(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(why) if !error.use_stderr() && why.kind() != io::ErrorKind::BrokenPipe => {
            output::say(&format!("fsprism: cannot write to standard output: {why}"));
            process::exit(1)
        }
        _ => process::exit(error.exit_code()),
    }
}

/// What to run instead, where that is clear.
fn instead(error: &clap::Error, words: &[String]) -> Option<String> {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(given))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    if words.first() != Some(given) {
        return None;
    }
    let (what, command) = if suites::suites().iter().any(|suite| suite.name == given) {
        ("suite", "run")
    } else {
        match target(given)? {
            Ok(()) => ("target", "survey"),
            Err(sentence) => return Some(sentence),
        }
    };
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    let words = words.join(" ");
    Some(format!("`{given}` is a {what}, not a command: run `fsprism {command} {words}`"))
}

/// Whether a word reads as a target, or what is wrong with it where it does.
fn target(word: &str) -> Option<Result<(), String>> {
    match word.parse::<TargetSpec>() {
        Ok(_) => Some(Ok(())),
        Err(SpecError::UnknownFileSystem { .. } | SpecError::BadLabel { .. }) => None,
        Err(why) => Some(Err(why.to_string())),
    }
}
