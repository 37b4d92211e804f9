//! DenseFS in a kernel: the core, as the module's C calls it.
//!
//! The C files in `module/` take system calls, copy paths and buffers from and to the memory of
//! programs, and let in one thread at a time. The functions here are called in between: they see
//! kernel memory only, never sleep, and never fault. So the core is compiled without locks, without
//! notes for the repair of what a dead thread left, and without checks of references.
//!
//! Functions return 0 or a count, or a negative error number, as system calls do. `module/core.h`
//! declares them.

#![no_std]

mod answer;
pub mod attributes;
pub mod content;
pub mod directories;
mod edge;
pub mod names;
pub mod open_files;
pub mod path;
pub mod process;
