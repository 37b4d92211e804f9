//! DenseFS under programs as they are: a library that a program loads before the C library.
//!
//! What the program asks of the kernel comes here first, in one form: a [`call::SystemCall`].

mod call;
mod sites;
