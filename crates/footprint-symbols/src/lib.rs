//! Names for the addresses of a trace.
//!
//! A trace has addresses; this crate finds what they are called, as long as the kernel, programs
//! and libraries are at hand, and puts it into the trace.
//!
//! - Code: [`kallsyms`] of a kernel, [`elf`] symbols of programs and libraries, source files and
//!   inlined functions from [`dwarf`].
//! - Data: symbols, the layouts of a kernel's types from its [`btf`].

#![forbid(unsafe_code)]

pub mod btf;
pub mod dwarf;
pub mod elf;
mod error;
pub mod inside;
pub mod kallsyms;
pub mod memory;
pub mod symbol;

pub use error::SymbolsError;
