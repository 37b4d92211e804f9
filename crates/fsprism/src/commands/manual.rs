//! The manual pages, one for each command, from the same definition as the command line.

use anyhow::anyhow;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::arguments::{Arguments, ManOptions};
use crate::exit::{Blame, Done};
use crate::output;

/// Prints the page of a command, or of fsprism itself.
pub(crate) fn man_page(options: &ManOptions) -> anyhow::Result<Done> {
    let mut whole = Arguments::command().disable_help_subcommand(true);
    whole.build();
    let (above, command) = found(&whole, &options.command).blame_input()?;
    output::print(&page(above, command)?)?;
    Ok(Done::Well)
}

/// The command that these words lead to, and the one that it belongs to.
fn found<'a>(
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
    let suggestion = textual::did_you_mean(word, names.iter().copied());
    anyhow!("{of} has no command {word}{suggestion}; choose from {}", names.join(", "))
}

fn page(above: Option<&Command>, command: &Command) -> anyhow::Result<String> {
    let man = Man::new(command.clone())
        .title(name_of(command).to_uppercase())
        .source(concat!("fsprism ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    further_help(command).to_writer(&mut page)?;
    see_also(above, command).to_writer(&mut page)?;
    Ok(String::from_utf8(page)?)
}

/// The title of a command's page: `fsprism-footprint-trace`.
fn name_of(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// What help says below the options. A line that stands alone and ends with a colon begins a
/// section.
fn further_help(command: &Command) -> Roff {
    let text = command.get_after_long_help().or_else(|| command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    let (mut is_begun, mut is_apart) = (false, false);
    for line in text.lines() {
        let heading = line.strip_suffix(':').filter(|words| is_heading(words));
        match heading {
            Some(words) => _ = roff.control("SH", [words.to_uppercase().as_str()]),
            None if line.is_empty() => {}
            None => {
                if !is_begun {
                    roff.control("SH", ["NOTES"]);
                } else if is_apart {
                    roff.control("PP", []);
                }
                roff.text([roman(line)]);
            }
        }
        is_begun |= !line.is_empty();
        is_apart = line.is_empty();
    }
    roff
}

fn is_heading(words: &str) -> bool {
    !words.is_empty() && words.chars().all(char::is_alphabetic)
}

/// The pages of the command above this one, of those beside it and of those below.
fn see_also(above: Option<&Command>, command: &Command) -> Roff {
    let beside = above.into_iter().flat_map(Command::get_subcommands);
    let beside = beside.filter(|one| one.get_name() != command.get_name());
    let all = above.into_iter().chain(beside).chain(command.get_subcommands());
    let mut words = Vec::new();
    for one in all {
        if !words.is_empty() {
            words.push(roman(", "));
        }
        words.extend([bold(name_of(one)), roman("(1)")]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    roff.text(words);
    roff
}
