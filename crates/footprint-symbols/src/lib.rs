//! Names for the addresses in a trace.
//!
//! A trace contains only addresses. While the kernel, programs and libraries are still available,
//! this crate looks up the names of these addresses and stores them in the trace.
//!
//! - [`touched::TouchedAddresses`]: which addresses a trace touches.
//! - Code: [`kallsyms`] of a kernel, [`elf`] symbols of programs and libraries, source files and
//!   inlined functions from [`dwarf`].
//! - Data: symbols, [`per_cpu`] variables, slabs and pages from a table of [`memory`] that the
//!   guest makes ([`inside`]), the layouts of a kernel's types from its [`btf`].
//! - [`describe`] combines all of this, and [`attach_description`] stores it in the trace.

#![forbid(unsafe_code)]

mod attachment;
pub mod btf;
pub mod describe;
pub mod dwarf;
pub mod elf;
mod error;
pub mod inside;
pub mod kallsyms;
pub mod memory;
pub mod per_cpu;
pub mod symbol;
pub mod touched;

pub use attachment::{attach_description, read_description};
pub use error::SymbolsError;
