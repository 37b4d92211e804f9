//! Files that a guest hands back: a stream of frames over one port of a virtio console.
//!
//! A frame, with all numbers little-endian: `FSPH`; kind, one byte (1: a file, 2: the end of a job
//! that succeeded, 3: the end of one that failed); length of the name, two bytes; length of the
//! content, eight bytes; the name, UTF-8; the content; a checksum of everything before it, eight
//! bytes. The name is a relative path. An end frame has no name; if the job failed, its content is
//! a sentence that says why. Nothing follows an end frame.

mod reader;
mod sum;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Ending, HandedFiles, HandoverError, read};
pub(crate) use sum::Sum;
pub use writer::Writer;

/// The first bytes of each frame.
const MAGIC: [u8; 4] = *b"FSPH";
/// The length of the fixed part before the name.
const HEAD_BYTES: usize = 15;
const FILE: u8 = 1;
const WELL: u8 = 2;
const FAILED: u8 = 3;
