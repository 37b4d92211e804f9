//! `fsprism report`: the report of a run, written again.

use crate::arguments::ReportOptions;
use crate::exit::{Blame, Done};
use crate::output;

/// Prints the report of a run directory.
pub(crate) fn report(options: &ReportOptions) -> anyhow::Result<Done> {
    output::print_run(&options.run, options.output.format).blame_input()?;
    Ok(Done::Well)
}
