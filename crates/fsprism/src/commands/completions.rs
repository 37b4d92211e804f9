//! Completion scripts, from the same definition as the command line.
//!
//! Where an argument is any text, the script also offers the words that are known: suites, file
//! systems, benchmarks, loads, papers. Only the definition that the script is made from holds them,
//! so the command line takes whatever it took.

use std::fmt::Write;

use ::report::known_loads;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use file_system::FileSystem;
use footprint_guest::TracedCall;

use crate::arguments::Arguments;
use crate::commands::reproduce;
use crate::exit::Done;
use crate::output;
use crate::registry;

/// Where a zsh completes a target: a file system or a directory.
const ZSH_TARGETS: &str = "_fsprism_targets";

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> anyhow::Result<Done> {
    let mut command = informed(Arguments::command());
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "fsprism", &mut script);
    let mut script = String::from_utf8(script)?;
    if shell == Shell::Zsh {
        script = with_directories(&script);
    }
    if shell == Shell::Fish {
        script.push_str(&without_option(&command));
    }
    output::print(&script)?;
    Ok(Done::Well)
}

/// The command with the words that its arguments are known to take.
fn informed(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|argument| match known(&name, argument.get_id().as_str()) {
            words if words.is_empty() => argument,
            words => argument.value_parser(PossibleValuesParser::new(words)),
        })
        .mut_subcommands(informed)
}

/// What is known of an argument's values; nothing of most.
fn known(command: &str, argument: &str) -> Vec<String> {
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    match (command, argument) {
        (_, "targets") => owned(file_systems()),
        (_, "benchmarks") => benchmarks(),
        (_, "loads") => known_loads().into_iter().map(|load| load.name).collect(),
        (_, "operation" | "operations") => owned(TracedCall::all().map(TracedCall::name).collect()),
        ("run", "suite") => owned(registry::rows().iter().map(|row| row.name).collect()),
        ("reproduce", "paper") => owned(reproduce::names()),
        ("man", "command") => names_below(&Arguments::command()),
        _ => Vec::new(),
    }
}

fn file_systems() -> Vec<&'static str> {
    FileSystem::made().map(|made| made.row().name).collect()
}

/// The benchmarks of all suites, each once.
fn benchmarks() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for benchmark in suites::suites().into_iter().flat_map(|suite| suite.benchmarks) {
        if !names.contains(&benchmark.name) {
            names.push(benchmark.name);
        }
    }
    names
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
fn without_option(command: &Command) -> String {
    let mut lines = String::new();
    for one in command.get_subcommands() {
        let name = one.get_name();
        let words: Vec<String> = one
            .get_positionals()
            .flat_map(|argument| known(name, argument.get_id().as_str()))
            .collect();
        if !words.is_empty() {
            _ = writeln!(
                lines,
                "complete -c fsprism -n \"__fish_fsprism_using_subcommand {name}\" -a \"{}\"",
                words.join(" ")
            );
        }
    }
    lines
}
