//! Completions and the manual page, from the same definition as the command line.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::exit::Done;

/// Prints the completion script of a shell.
#[expect(clippy::unnecessary_wraps, reason = "all commands end alike")]
pub(crate) fn completions(shell: Shell) -> anyhow::Result<Done> {
    clap_complete::generate(shell, &mut Arguments::command(), "fsprism", &mut io::stdout());
    Ok(Done::Well)
}

/// Prints the manual page.
pub(crate) fn man_page() -> anyhow::Result<Done> {
    clap_mangen::Man::new(Arguments::command()).render(&mut io::stdout())?;
    Ok(Done::Well)
}
