//! What functions that serve calls decide.

/// What a call returned: a result, or an error number below 0.
pub(crate) type Answer = isize;

/// What a function that serves a call decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The kernel is to execute the call.
    Pass,
    /// It has been served.
    Done(Answer),
}
