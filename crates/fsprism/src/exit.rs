//! How a command ends: its exit status, and one sentence where it failed.

use std::fmt;
use std::process::ExitCode;

use record::{Document, EndReason};

use crate::output;

/// Exit status of a command that a signal ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit status where the data do not tell what was asked.
const UNDECIDED: u8 = 3;

/// The end of a command that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Everything as asked.
    Well,
    /// Something that was to be measured or checked failed; the output says what.
    WithFailures,
    /// What was asked could not be told from the data; the output says what would tell.
    Undecided,
    /// A signal ended it; what was measured is kept.
    Interrupted,
    /// As a guest's command ended.
    As(u8),
}

impl Done {
    /// The end of a run that ended so, of which this is reported.
    pub(crate) fn of(reason: EndReason, document: &Document) -> Self {
        let failed = document.cells.iter().any(|cell| cell.failed.is_some());
        match reason {
            EndReason::Interrupted => Self::Interrupted,
            EndReason::Busy => Self::WithFailures,
            _ if failed => Self::WithFailures,
            EndReason::Precision
            | EndReason::Blocks
            | EndReason::Budget
            | EndReason::NothingLeft
            | EndReason::Searched
            | EndReason::Full => Self::Well,
        }
    }
}

/// Marks an error as one of the command line or of an input, not of the work itself.
#[derive(Debug)]
struct WrongInput;

impl fmt::Display for WrongInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrong input")
    }
}

/// A signal came before there was anything to keep.
#[derive(Debug)]
pub(crate) struct InterruptedEarly;

impl fmt::Display for InterruptedEarly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted before anything was measured")
    }
}

impl std::error::Error for InterruptedEarly {}

/// Says of an error whose fault it is.
pub(crate) trait Blame<T> {
    /// The command line or an input is wrong: exit status 2.
    fn blame_input(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> Blame<T> for Result<T, E> {
    fn blame_input(self) -> anyhow::Result<T> {
        self.map_err(|error| error.into().context(WrongInput))
    }
}

fn status_of(error: &anyhow::Error) -> u8 {
    if error.is::<InterruptedEarly>() {
        INTERRUPTED
    } else if error.is::<WrongInput>() {
        2
    } else {
        1
    }
}

/// The exit status of a command, after its error has been printed.
pub(crate) fn code(done: anyhow::Result<Done>) -> ExitCode {
    match done {
        Ok(Done::Well) if output::page::has_failed() => ExitCode::from(1),
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::WithFailures) => ExitCode::from(1),
        Ok(Done::Undecided) => ExitCode::from(UNDECIDED),
        Ok(Done::As(status)) => ExitCode::from(status),
        Ok(Done::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(error) => {
            let sentences: Vec<String> = error
                .chain()
                .map(ToString::to_string)
                .filter(|text| *text != WrongInput.to_string())
                .collect();
            // An error that quotes its source in its own sentence does not need it again.
            let said = sentences.first().map_or("failed", String::as_str);
            output::say(&format!("fsprism: {said}"));
            ExitCode::from(status_of(&error))
        }
    }
}
