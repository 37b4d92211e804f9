//! Traces of execution: which instructions were executed and which memory they accessed, as the
//! plugin in QEMU's translator writes them and the analysis reads them.
//!
//! Every field of the format is specified in `docs/footprint-trace.md`. In short: *blocks*,
//! sequences of instructions of which only the last can fail or access memory, are described once;
//! the stream then names blocks as they are executed, each followed by the accesses of its last
//! instruction. So what a failing instruction leaves undone is never recorded as done.
//!
//! [`writer::TraceWriter`] and [`event::EventEncoder`] write, [`reader::TraceReader`] reads and
//! checks, both in bounded memory. [`attachments`] reads and adds what a trace carries along.
//! [`mark`] and [`x86`] hold what must be known of instructions.

pub mod attachments;
mod block;
mod chunk;
mod error;
pub mod event;
pub mod header;
pub mod maps;
pub mod mark;
pub mod reader;
pub mod trace_file;
pub mod translation;
mod varint;
pub mod writer;
pub mod x86;

pub use block::{Block, BlockId};
pub use error::TraceError;
