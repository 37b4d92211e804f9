//! `fsprism fio`: fio's jobs, done as fio does them.

use std::io::{self, IsTerminal};

use fio_command::{Streams, run};

use crate::arguments::FioOptions;
use crate::exit::Outcome;

/// Does fio's jobs.
pub(crate) fn fio(options: &FioOptions) -> anyhow::Result<Outcome> {
    let is_terminal = io::stdout().is_terminal();
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let mut streams = Streams { out: &mut out, err: &mut err, is_terminal };
    Ok(match run(&options.arguments, &mut streams) {
        0 => Outcome::Success,
        status => Outcome::ExitStatus(status),
    })
}
