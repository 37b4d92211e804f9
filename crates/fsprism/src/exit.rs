//! How a command ends: its exit status, and one sentence if it failed.

use std::fmt;

use record::{Document, EndReason};

/// Exit status of a command that was ended by a signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit status if the data cannot answer the question.
pub(crate) const UNDECIDED: u8 = 3;

/// How a command ended that did not fail with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything went as asked.
    Success,
    /// Something that was to be measured or checked failed; the output says what.
    WithFailures,
    /// The data could not answer the question; the output says what would.
    Undecided,
    /// A signal ended the command; what had been measured is kept.
    Interrupted,
    /// With the exit status of another process: a command in a guest, or one of several runs.
    ExitStatus(u8),
}

impl Outcome {
    /// How a command ends whose run ended for this reason and was analysed into this document.
    pub(crate) fn of_run(reason: EndReason, document: &Document) -> Self {
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
            | EndReason::Full => Self::Success,
        }
    }
}

/// Marks an error as the fault of the command line or of an input, not of the work itself.
#[derive(Debug)]
struct InputError;

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrong input")
    }
}

/// Marks an error as one that ends the command with this exit status.
#[derive(Debug)]
struct StatusOf(u8);

impl fmt::Display for StatusOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit status {}", self.0)
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

/// Marks errors as the fault of the command line or of an input.
pub(crate) trait OrInputError<T> {
    /// Marks the error, if there is one: exit status 2.
    fn or_input_error(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrInputError<T> for Result<T, E> {
    fn or_input_error(self) -> anyhow::Result<T> {
        self.map_err(|error| error.into().context(InputError))
    }
}

/// Marks errors that have exit statuses of their own.
pub(crate) trait OrExitStatus<T, E> {
    /// Marks the error, if there is one.
    fn or_exit_status(self, status: impl FnOnce(&E) -> u8) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrExitStatus<T, E> for Result<T, E> {
    fn or_exit_status(self, status: impl FnOnce(&E) -> u8) -> anyhow::Result<T> {
        self.map_err(|error| {
            let status = StatusOf(status(&error));
            error.into().context(status)
        })
    }
}

/// The exit status of a command that failed with this error.
pub(crate) fn status_of(error: &anyhow::Error) -> u8 {
    if error.is::<InterruptedEarly>() {
        INTERRUPTED
    } else if error.is::<InputError>() {
        2
    } else {
        error.downcast_ref().map_or(1, |&StatusOf(status)| status)
    }
}

/// The sentence that says why a command failed.
pub(crate) fn sentence_of(error: &anyhow::Error) -> String {
    let marks = [Some(InputError.to_string()), error.downcast_ref().map(StatusOf::to_string)];
    // The outermost sentence is enough: errors include the text of their source where it matters.
    let said = error.chain().map(ToString::to_string);
    let said = said.into_iter().find(|text| !marks.contains(&Some(text.clone())));
    said.unwrap_or_else(|| "failed".to_owned())
}
