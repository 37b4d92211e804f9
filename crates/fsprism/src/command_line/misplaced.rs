//! Command lines that make no sense as they are, and what was probably meant.

use std::io::{self, Write};
use std::{env, process};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use targets::{SpecError, TargetSpec};
use textual::{list, shell_word};

use super::Arguments;
use super::suite_first::suite_first;
use crate::commands::suites;
use crate::exit::OrInputError;
use crate::output;

/// How many suites to name when more than that take an option.
const NAMED: usize = 3;

/// Parses the command line.
///
/// # Errors
/// If it starts with a target or a suite instead of a command, or runs a suite that does not exist.
/// Any other mistake ends the process.
pub(crate) fn parse() -> anyhow::Result<Arguments> {
    let words = suite_first(env::args_os().collect());
    Arguments::try_parse_from(&words).or_else(|error| {
        let words: Vec<String> =
            words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        match instead(&error, &words) {
            Some(sentence) => Err(anyhow::anyhow!(sentence)).or_input_error(),
            None => end(&with_takers(error, &words)),
        }
    })
}

/// If the suite does not take an argument, adds what does to the error.
fn with_takers(error: clap::Error, words: &[String]) -> clap::Error {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return error;
    };
    let path: Vec<&str> = match words {
        [command, suite, ..] if command == "run" && !suite.starts_with('-') => {
            vec![command, suite]
        }
        [command, ..] if command == "run" || command == "survey" => vec![command],
        _ => return error,
    };
    let given = given.clone();
    let Some(tip) = tip(&given, &path) else { return error };
    let mut whole = Arguments::command();
    whole.build();
    let found = path.iter().try_fold(&mut whole, |at, word| at.find_subcommand_mut(word));
    let Some(command) = found else { return error };
    let usage = ContextValue::StyledStr(command.render_usage());
    let mut refusal = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(command);
    refusal.insert(ContextKind::InvalidArg, ContextValue::String(given));
    refusal.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    refusal.insert(ContextKind::Usage, usage);
    refusal
}

/// Advice about an argument that a command does not take.
fn tip(given: &str, path: &[&str]) -> Option<String> {
    let Some(option) = given.strip_prefix("--") else {
        let suite = path.get(1)?;
        return Some(format!("{suite} takes no targets"));
    };
    let option = option.split('=').next().unwrap_or_default();
    let takers = suites::takers(option);
    let mut named: Vec<String> = takers.iter().take(NAMED).map(|&one| one.to_owned()).collect();
    if takers.len() > NAMED {
        named.push("others".to_owned());
    }
    if named.is_empty() {
        return None;
    }
    let of = format!("--{option} is an option of {}", list(&named, "and"));
    Some(match *path {
        ["run"] => format!("{of}; a resumed run keeps what it began with"),
        _ => of,
    })
}

/// Prints help, the version or what is wrong, and ends the process. Unlike [`clap::Error::exit`],
/// it does not exit with success if the help that was asked for could not be written.
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

/// What to run instead, if that is clear.
fn instead(error: &clap::Error, words: &[String]) -> Option<String> {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(given))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    if words.first().is_some_and(|command| command == "run") {
        return suites::row(given).err().map(|error| error.to_string());
    }
    if words.first() != Some(given) {
        return None;
    }
    let (what, command) = if suites::row(given).is_ok() {
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

/// Tries to read a word as a target: `None` if it does not look like one, an error if it does but
/// is wrong.
fn target(word: &str) -> Option<Result<(), String>> {
    match word.parse::<TargetSpec>() {
        Ok(_) => Some(Ok(())),
        Err(SpecError::UnknownFileSystem { .. } | SpecError::BadLabel { .. }) => None,
        Err(why) => Some(Err(why.to_string())),
    }
}
