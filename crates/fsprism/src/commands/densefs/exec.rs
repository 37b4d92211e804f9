//! `fsprism densefs exec`: runs programs as they are, with a DenseFS below a prefix.

use densefs_exec::Place;

use crate::arguments::densefs::ExecOptions;
use crate::exit::{OrExitStatus, Outcome};
use crate::output;

/// Becomes the command, unless that is refused.
pub(super) fn exec(options: &ExecOptions) -> anyhow::Result<Outcome> {
    let run = || {
        let place = Place::parse(&options.place)?;
        densefs_exec::exec(&place, &options.command, &mut |sentence| output::say(sentence))
    };
    let never = run().or_exit_status(densefs_exec::ExecError::exit_status)?;
    match never {}
}
