//! Completion scripts, from the same definition as the command line.
//!
//! Where an argument is any text, the script also offers the words that are known: suites, file
//! systems, benchmarks, loads, papers. Only the definition that the script is made from holds them,
//! so the command line takes whatever it took.

use std::fmt::Write;

use ::report::known_loads;
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use file_system::FileSystem;
use footprint_guest::TracedCall;

use crate::commands::{papers, suites};
use crate::exit::Done;
use crate::output;

/// Where a zsh completes a target: a file system or a directory.
const ZSH_TARGETS: &str = "_fsprism_targets";

/// Prints the completion script of a shell, from the whole command line.
pub(crate) fn completions(shell: Shell, mut whole: Command) -> anyhow::Result<Done> {
    // What commands work out only when they are needed is part of the script.
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
    Ok(Done::Well)
}

/// The command with the words that its arguments are known to take.
fn informed(command: Command, pages: &[String]) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|argument| match known(&name, argument.get_id().as_str(), pages) {
            words if words.is_empty() => argument,
            words => argument.value_parser(PossibleValuesParser::new(words)),
        })
        .mut_subcommands(|one| informed(one, pages))
}

/// What is known of an argument's values; nothing of most. The pages of the manual are those of
/// commands.
fn known(command: &str, argument: &str, pages: &[String]) -> Vec<String> {
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
    FileSystem::made().map(|made| made.row().name).collect()
}

/// The benchmarks of a suite, which its command is named after.
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

/// A zsh's script that offers directories beside the file systems.
fn with_directories(script: &str) -> String {
    let list = format!("({})", file_systems().join(" "));
    let function = format!(
        "{ZSH_TARGETS}() {{\n    _alternative 'file-systems:file system:{list}' \
         'directories:directory:_files -/'\n}}\n\n_fsprism() {{"
    );
    script.replace(&list, ZSH_TARGETS).replacen("_fsprism() {", &function, 1)
}

/// What a fish is told of arguments without an option, of which the generated script says nothing.
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
    let words = operands.flat_map(|one| known(command.get_name(), one.get_id().as_str(), pages));
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        let words = words.join(" ");
        _ = writeln!(lines, "complete -c fsprism -n \"{condition}\" -a \"{words}\"");
    }
}
