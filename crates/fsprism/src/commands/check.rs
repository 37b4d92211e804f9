//! `fsprism check`: which known benchmarking mistakes a run contains.

use ::report::Source;
use ::report::check::check as look;
use record::Run;
use textual::plain_path;

use crate::arguments::reports::CheckOptions;
use crate::exit::{Blame, Done};
use crate::output;

/// Reads a run and prints its known mistakes. That it contains some is no failure of the command.
pub(crate) fn check(options: &CheckOptions) -> anyhow::Result<Done> {
    let run = Run::read(&options.run).blame_input()?;
    output::say_left_out(&run);
    let source = Source::new(&run, &options.run);
    let document = look(&source, &plain_path(&options.run)).blame_input()?;
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &document, || document.text(width))
}
