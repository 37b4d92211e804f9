//! `fsprism report`: the report of a run, written again.

use record::Run;

use crate::arguments::ReportOptions;
use crate::exit::{Blame, Done};
use crate::output;

/// Prints the report of a run directory.
pub(crate) fn report(options: &ReportOptions) -> anyhow::Result<Done> {
    let run = Run::read(&options.run).blame_input()?;
    output::print_document(&run, &options.run, options.output.format)?;
    Ok(Done::Well)
}
