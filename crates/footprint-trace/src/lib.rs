//! Execution traces: which instructions were executed and which memory they accessed, as written by
//! the plugin in QEMU's translator and read by the analysis.
//!
//! `docs/footprint-trace.md` of fsprism specifies every field of the format. In short, *blocks* are
//! sequences of instructions of which only the last can fail or access memory. Each block is
//! described once. The stream then refers to blocks by number as they are executed, each followed
//! by the accesses of its last instruction. So a trace never claims that instructions after a fault
//! were executed.
//!
//! ```
//! use footprint_trace::TracedBlock;
//! use footprint_trace::event::{Access, AccessKind, Event, EventEncoder};
//! use footprint_trace::header::{Coverage, Header, Scope};
//! use footprint_trace::reader::TraceReader;
//! use footprint_trace::writer::{LIMIT_BYTES_MIN, TraceWriter};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (scope, coverage) = (Scope::Program, Coverage::Whole);
//! let header = Header { architecture: 62, scope, coverage, limit_bytes: LIMIT_BYTES_MIN };
//! let mut writer = TraceWriter::new(Vec::new(), &header)?;
//! // A `nop`, then `mov (%rdi),%rax`, which loads eight bytes.
//! let (lengths, code) = (&[1, 3][..], &[0x90, 0x48, 0x8b, 0x07][..]);
//! let block = writer.describe(&TracedBlock { address: 0x40_1000, lengths, code })?;
//! let load = Access { kind: AccessKind::Load, address: 0x7fff_0040, bytes: 8 };
//! let mut events = EventEncoder::new();
//! events.execute(block);
//! events.access(load);
//! writer.write_events(0, &mut events)?;
//! let trace = writer.finish(None, 0)?;
//!
//! let mut reader = TraceReader::new(&trace[..])?;
//! assert_eq!(reader.next_event()?, Some(Event::Execute(block)));
//! assert_eq!(reader.block(block).map(|block| block.instructions().count()), Some(2));
//! assert_eq!(reader.next_event()?, Some(Event::Access(load)));
//! assert_eq!(reader.next_event()?, None);
//! # Ok(())
//! # }
//! ```
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
