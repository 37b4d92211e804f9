//! The manual pages, one per command, generated from the definition of the command line.

use std::path::Path;

use anyhow::{Context, anyhow};
use clap::{Arg, ArgAction, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use crate::arguments::ManOptions;
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::output::destination::Destination;

/// When the command line last changed.
const DATE: &str = "2026-12-01";
const VERSION: &str = concat!("fsprism ", env!("CARGO_PKG_VERSION"));

/// Prints the page of a command, or of fsprism itself; or writes all of them into a directory.
pub(crate) fn man_page(options: &ManOptions, whole: Command) -> anyhow::Result<Outcome> {
    let mut whole = whole.disable_help_subcommand(true);
    whole.build();
    let whole = titled(whole);
    if let Some(directory) = &options.directory {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        write_below(directory, None, &whole)?;
        return Ok(Outcome::Success);
    }
    let (above, command) = find(&whole, &options.command).or_input_error()?;
    output::print(&page(above, command)?)?;
    Ok(Outcome::Success)
}

/// The command and those below it, with titles that can be names of files: the page of
/// `fsprism run nano/io` is fsprism-run-nano-io(1).
fn titled(command: Command) -> Command {
    let title = name_of(&command).replace('/', "-");
    command.display_name(title).mut_subcommands(titled)
}

/// Writes the pages of a command and of those below it.
fn write_below(directory: &Path, above: Option<&Command>, command: &Command) -> anyhow::Result<()> {
    let path = directory.join(format!("{}.1", name_of(command)));
    Destination::new(&path)?.write(page(above, command)?.as_bytes())?;
    shown_below(command).try_for_each(|one| write_below(directory, Some(command), one))
}

/// The subcommands that help texts mention.
fn shown_below(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|one| !one.is_hide_set())
}

/// The command that these words lead to, and its parent.
fn find<'a>(
    whole: &'a Command,
    words: &[String],
) -> anyhow::Result<(Option<&'a Command>, &'a Command)> {
    let (mut above, mut command) = (None, whole);
    for word in words {
        let next = command.find_subcommand(word).ok_or_else(|| unknown(command, word))?;
        (above, command) = (Some(command), next);
    }
    Ok((above, command))
}

fn unknown(command: &Command, word: &str) -> anyhow::Error {
    let of = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    if names.is_empty() {
        return anyhow!("{of} has no commands of its own: leave out {word}");
    }
    match textual::did_you_mean(word, names.iter().copied()) {
        none if none.is_empty() => {
            anyhow!("{of} has no command {word}: choose from {}", names.join(", "))
        }
        suggestion => anyhow!("{of} has no command {word}{suggestion}"),
    }
}

fn page(above: Option<&Command>, command: &Command) -> anyhow::Result<String> {
    let man = Man::new(command.clone());
    let name = name_of(command);
    let title = format!(".TH {name} 1 \"{DATE}\" \"{VERSION}\" \"User Commands\"\n");
    let mut page = title.into_bytes();
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    further_help(command).to_writer(&mut page)?;
    see_also(above, command).to_writer(&mut page)?;
    // The generator writes an empty line between breaks, which mandoc warns of.
    Ok(String::from_utf8(page)?.replace("\n.br\n\n.br\n", "\n.sp\n"))
}

/// The synopsis, with the values of options; the generator's own has only their names.
fn synopsis(command: &Command) -> Roff {
    let mut words = vec![bold(command.get_bin_name().unwrap_or_else(|| command.get_name()))];
    let (operands, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .partition(|arg| arg.is_positional());
    let is_help = |arg: &Arg| matches!(arg.get_id().as_str(), "help" | "version");
    for arg in options.into_iter().filter(|arg| !is_help(arg)).chain(operands) {
        let is_required = arg.is_required_set();
        words.push(roman(if is_required { " " } else { " [" }));
        if arg.is_last_set() {
            words.push(roman("-- "));
        }
        words.extend(usage_of(arg));
        words.push(roman(if is_required { "" } else { "]" }));
        if arg.is_positional() && matches!(arg.get_action(), ArgAction::Append) {
            words.push(roman("..."));
        }
    }
    if command.has_subcommands() {
        words.extend([roman(" "), italic("COMMAND")]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    roff.control("nh", []);
    roff.control("ad", ["l"]);
    roff.text(words);
    roff.control("ad", []);
    roff.control("hy", []);
    roff
}

/// An option with its value, or an operand.
fn usage_of(arg: &Arg) -> Vec<Inline> {
    let option = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => Some(format!("--{long}")),
        (None, Some(short)) => Some(format!("-{short}")),
        (None, None) => None,
    };
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string);
    let values: Vec<String> = values.collect();
    let value = takes_value.then(|| italic(values.join(" ")));
    let apart = option.is_some() && value.is_some();
    let apart = apart.then(|| roman(" "));
    option.map(bold).into_iter().chain(apart).chain(value).collect()
}

/// The title of a command's page: `fsprism-footprint-trace`.
fn name_of(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The help text below the options. A line that is a single word and a colon starts a section;
/// indented lines are kept as they are.
fn further_help(command: &Command) -> Roff {
    let text = command.get_after_long_help().or_else(|| command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    for (at, paragraph) in text.split("\n\n").enumerate() {
        let (heading, lines) = match paragraph.split_once(":\n") {
            Some((word, lines)) if is_heading(word) => (Some(word.to_uppercase()), lines),
            _ => ((at == 0 && !paragraph.is_empty()).then(|| "NOTES".to_owned()), paragraph),
        };
        match &heading {
            Some(heading) => _ = roff.control("SH", [heading.as_str()]),
            None if lines.trim().is_empty() => continue,
            None => _ = roff.control("PP", []),
        }
        lines_of(&mut roff, lines);
    }
    roff
}

/// Adds lines: indented ones verbatim, all others filled.
fn lines_of(roff: &mut Roff, lines: &str) {
    let mut is_filled = true;
    for line in lines.lines() {
        let fill = !line.starts_with(' ');
        if fill != is_filled {
            roff.control(if fill { "fi" } else { "nf" }, []);
            is_filled = fill;
        }
        roff.text([roman(line)]);
    }
    if !is_filled {
        roff.control("fi", []);
    }
}

fn is_heading(words: &str) -> bool {
    !words.is_empty() && words.chars().all(char::is_alphabetic)
}

/// References to the pages of the parent command, of its other subcommands, and of this command's
/// own.
fn see_also(above: Option<&Command>, command: &Command) -> Roff {
    let beside = above.into_iter().flat_map(shown_below);
    let beside = beside.filter(|one| one.get_name() != command.get_name());
    let all = above.into_iter().chain(beside).chain(shown_below(command));
    let mut words = Vec::new();
    for one in all {
        if !words.is_empty() {
            words.push(roman(", "));
        }
        words.extend([bold(name_of(one)), roman("(1)")]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    // Do not hyphenate names, and do not justify the lines.
    roff.control("nh", []);
    roff.control("ad", ["l"]);
    roff.text(words);
    roff
}
