//! System calls, as programs make them.

/// A system call that a program is about to make.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct SystemCall {
    /// Its number.
    pub(crate) number: usize,
    /// Its arguments.
    pub(crate) arguments: [usize; 6],
    /// Where the stack of the caller goes on after the call; 0 if it stays where it is. Only for a
    /// call that has been served.
    pub(crate) new_stack: usize,
}

/// What becomes of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) enum Served {
    /// The kernel is to execute it, as the program has made it.
    No = 0,
    /// It has been served, with the result in `arguments[0]`: what the kernel would return, so that
    /// errors are negative.
    Yes = 1,
}
