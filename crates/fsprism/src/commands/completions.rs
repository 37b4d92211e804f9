//! Completion scripts, generated from the definition of the command line.
//!
//! For arguments that take any text, the script also offers the known words: suites, file systems,
//! benchmarks, loads, papers. They are only added to the definition that the script is generated
//! from, so the command line itself accepts as much as before.

use std::fmt::Write;

use ::report::known_loads;
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use file_system::FileSystem;
use footprint_guest::TracedCall;

use crate::commands::{papers, suites};
use crate::exit::Outcome;
use crate::output;

/// The zsh function that completes a target: a file system or a directory.
const ZSH_TARGETS: &str = "_fsprism_targets";

/// Prints the completion script for a shell. `whole` is the definition of the whole command line.
pub(crate) fn completions(shell: Shell, mut whole: Command) -> anyhow::Result<Outcome> {
    // The script also needs what commands define lazily.
    whole.build();
    let pages = names_below(&whole);
    let mut command = informed(whole, &pages);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "fsprism", &mut script);
    let mut script = String::from_utf8(script)?;
    if shell == Shell::Zsh {
        script = with_directories(&script);
    }
    if shell == Shell::Fish {
        script.push_str(&without_option(&command, &pages));
    }
    output::print(&script)?;
    Ok(Outcome::Success)
}

/// The command, with the known words as possible values of its arguments.
fn informed(command: Command, pages: &[String]) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|argument| match known_values(&name, argument.get_id().as_str(), pages) {
            words if words.is_empty() => argument,
            words => argument.value_parser(PossibleValuesParser::new(words)),
        })
        .mut_subcommands(|one| informed(one, pages))
}

/// The known values of an argument; most arguments have none. `pages` are the names of the manual
/// pages, which are those of commands.
fn known_values(command: &str, argument: &str, pages: &[String]) -> Vec<String> {
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    match (command, argument) {
        (_, "targets") => owned(file_systems()),
        (_, "benchmarks") => benchmarks(command),
        (_, "loads") => known_loads().into_iter().map(|load| load.name).collect(),
        (_, "operation" | "operations") => owned(TracedCall::all().map(TracedCall::name).collect()),
        ("reproduce", "paper") => papers::names(),
        ("man", "command") => pages.to_vec(),
        _ => Vec::new(),
    }
}

fn file_systems() -> Vec<&'static str> {
    FileSystem::makeable().map(|made| made.row().name).collect()
}

/// The benchmarks of a suite; its command has the suite's name.
fn benchmarks(suite: &str) -> Vec<String> {
    let row = suites::row(suite).ok();
    row.into_iter().flat_map(|row| row.benchmarks).map(|one| one.name).collect()
}

/// The names of all commands, each once.
fn names_below(command: &Command) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for one in command.get_subcommands() {
        for name in [one.get_name().to_owned()].into_iter().chain(names_below(one)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Makes a zsh script offer directories as well as file systems.
fn with_directories(script: &str) -> String {
    let list = format!("({})", file_systems().join(" "));
    let function = format!(
        "{ZSH_TARGETS}() {{\n    _alternative 'file-systems:file system:{list}' \
         'directories:directory:_files -/'\n}}\n\n_fsprism() {{"
    );
    script.replace(&list, ZSH_TARGETS).replacen("_fsprism() {", &function, 1)
}

/// Completions of positional arguments for fish, which the generated script does not cover.
fn without_option(command: &Command, pages: &[String]) -> String {
    let mut lines = String::new();
    for one in command.get_subcommands() {
        let condition = format!("__fish_fsprism_using_subcommand {}", one.get_name());
        operands(&mut lines, one, &condition, pages);
        for below in one.get_subcommands() {
            let name = below.get_name();
            let condition = format!("{condition}; and __fish_seen_subcommand_from {name}");
            operands(&mut lines, below, &condition, pages);
        }
    }
    lines
}

fn operands(lines: &mut String, command: &Command, condition: &str, pages: &[String]) {
    let operands = command.get_positionals();
    let words =
        operands.flat_map(|one| known_values(command.get_name(), one.get_id().as_str(), pages));
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        let words = words.join(" ");
        _ = writeln!(lines, "complete -c fsprism -n \"{condition}\" -a \"{words}\"");
    }
}
