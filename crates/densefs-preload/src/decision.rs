//! What functions that serve calls decide.

use std::ffi::c_int;

/// What a call returned: a result, or an error number below 0.
pub(crate) type Answer = isize;

/// What a function that serves a call decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The kernel is to execute the call.
    Pass,
    /// It has been served.
    Done(Answer),
    /// It is not about the arena, and the kernel has executed it already.
    Executed(Answer),
    /// It cannot be served, and fails with this error number. Programs have other ways.
    Refused(c_int),
}
