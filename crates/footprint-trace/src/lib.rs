//! Execution traces: which instructions were executed and which memory they accessed, as written by
//! the plugin in QEMU's translator and read by the analysis.
//!
//! `docs/footprint-trace.md` specifies every field of the format. In short, *blocks* are sequences
//! of instructions of which only the last can fail or access memory. Each block is described once.
//! The stream then refers to blocks by number as they are executed, each followed by the accesses
//! of its last instruction. So a trace never claims that instructions after a fault were executed.
//!
//! [`writer::TraceWriter`] and [`event::EventEncoder`] write a trace, and [`reader::TraceReader`]
//! reads and checks it, all in bounded memory. [`attachments`] reads and adds attachments. [`mark`]
//! and [`x86`] contain the necessary facts about instructions; [`marked`] executes marks.

pub mod attachments;
mod block;
mod chunk;
mod ending;
mod error;
pub mod event;
pub mod header;
pub mod maps;
pub mod mark;
pub mod marked;
pub mod reader;
pub mod trace_file;
pub mod translation;
mod varint;
pub mod writer;
pub mod x86;

pub use block::{BlockId, TracedBlock};
pub use error::TraceError;
