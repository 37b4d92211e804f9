//! A plugin for QEMU's translator that records which instructions a guest executes and which
//! memory they access, as a trace of `footprint_trace`.
//!
//! Loaded as `-plugin LIBRARY,out=FILE[,regions=whole|marked][,limit=BYTES]`. With
//! `regions=marked`, each vCPU is recorded between marks (see `footprint_trace::mark`).
//!
//! When QEMU translates code, `footprint_trace::translation` cuts it into blocks after every
//! instruction that can fail or access memory, and asks for one callback before each block. So a
//! callback means that every instruction of the block is begun, without one callback per
//! instruction; those after a fault are in blocks which are never called. `recorder` codes what the
//! callbacks tell.
//!
//! QEMU is GPL-2.0-or-later, and so is this library, which runs inside it. fsprism runs QEMU as
//! another process and only names the library's file to it.

mod callbacks;
mod edge;
mod options;
mod recorder;
mod system_calls;
