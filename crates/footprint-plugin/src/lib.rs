//! A plugin for QEMU's translator that records which instructions a guest executes and which memory
//! they access, as a trace of `footprint_trace`.
//!
//! Loaded as `-plugin LIBRARY,out=FILE[,regions=whole|marked][,limit=BYTES]`. With
//! `regions=marked`, each vCPU is recorded between marks (see `footprint_trace::mark`).
//!
//! When QEMU translates code, `footprint_trace::translation` cuts it into blocks after every
//! instruction that can fail or access memory. The plugin requests one callback before each block,
//! not one per instruction; the callback means that every instruction of the block is started.
//! Instructions after a fault are in blocks whose callback is never made. `recorder` encodes what
//! the callbacks report.
//!
//! QEMU is GPL-2.0-or-later, and so is this library, which runs inside it. fsprism runs QEMU as a
//! separate process and only passes it the name of the library's file.

mod callbacks;
mod edge;
mod options;
mod recorder;
mod system_calls;
