//! Files that a guest hands back: a stream of frames over one port of a virtio console.
//!
//! A frame, all numbers little-endian: `FSPH`; kind, one byte (1 a file, 2 the end of a job that
//! did well, 3 the end of one that failed); length of the name, two bytes; length of the content,
//! eight bytes; the name, UTF-8; the content; the sum of all of this, eight bytes. The name is a
//! relative path. An end has no name; of a job that failed, its content is the sentence that says
//! why. Nothing follows an end.

mod reader;
mod sum;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Ending, HandedFiles, HandoverError, read};
pub(crate) use sum::Sum;
pub use writer::Writer;

/// First bytes of each frame.
const MAGIC: [u8; 4] = *b"FSPH";
/// Bytes before the name.
const HEAD_BYTES: usize = 15;
const FILE: u8 = 1;
const WELL: u8 = 2;
const FAILED: u8 = 3;
