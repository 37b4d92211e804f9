//! Completions and the manual page, from the same definition as the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::exit::Done;
use crate::output;

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> anyhow::Result<Done> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fsprism", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Done::Well)
}

/// Prints the manual page.
pub(crate) fn man_page() -> anyhow::Result<Done> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(Done::Well)
}
