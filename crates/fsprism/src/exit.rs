//! How a command ends: its exit status, and one sentence where it failed.

use std::fmt;

use record::{Document, EndReason};

/// Exit status of a command that a signal ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit status where the data do not tell what was asked.
pub(crate) const UNDECIDED: u8 = 3;

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

/// The exit status of a command that failed so.
pub(crate) fn status_of(error: &anyhow::Error) -> u8 {
    if error.is::<InterruptedEarly>() {
        INTERRUPTED
    } else if error.is::<WrongInput>() {
        2
    } else {
        1
    }
}

/// The sentence that says why a command failed.
pub(crate) fn sentence_of(error: &anyhow::Error) -> String {
    let mark = WrongInput.to_string();
    // An error that quotes its source in its own sentence does not need it again.
    let said = error.chain().map(ToString::to_string).find(|text| *text != mark);
    said.unwrap_or_else(|| "failed".to_owned())
}
