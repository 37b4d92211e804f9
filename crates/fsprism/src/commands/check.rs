//! `fsprism check`: which known benchmarking mistakes a run contains.

use std::path::Path;

use ::report::AnalysedRun;
use ::report::check::check as look;
use record::Run;
use textual::plain_path;

use crate::arguments::reports::CheckOptions;
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::session::named;

/// Reads a run and prints its known mistakes. Finding some is not a failure of the command.
pub(crate) fn check(options: &CheckOptions) -> anyhow::Result<Outcome> {
    let named = named::single_runs_or_latest(options.run.as_slice())?;
    let path = named.first().map_or(Path::new("."), |path| path.as_path());
    let run = Run::read(path).or_input_error()?;
    output::say_left_out(&run);
    let source = AnalysedRun::new(&run, path);
    let document = look(&source, &plain_path(path)).or_input_error()?;
    output::print_answer(options.output.format, &document, |width| document.text(width))
}
