//! Chunks: everything in a trace after its header. Each has a length and a checksum, so that a torn
//! or damaged chunk is detected before any of its content is used.

use std::io::{self, ErrorKind, Read, Write};

use crate::TraceError;

/// Largest payload of a chunk in bytes, which bounds the memory that an untrusted length can claim.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 1 << 20;

/// Bytes of a chunk besides its payload: kind, length, checksum.
pub(crate) const FRAME_BYTES: usize = 1 + 4 + 8;

/// What a chunk contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ChunkKind {
    /// Descriptions of blocks.
    Blocks = 1,
    /// What one vCPU did.
    Events = 2,
    /// The end of the trace.
    End = 3,
    /// A part of an attachment.
    Attachment = 4,
}

/// What precedes a payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: ChunkKind,
    /// Bytes of the payload.
    pub(crate) length: usize,
}

/// A checksum that almost certainly changes if any byte does: words of eight bytes, each mixed in
/// by xor, multiplication by an odd number, and rotation.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(ODD).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum =
        words.iter().fold(bytes.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(sum, u64::from_le_bytes(last)), 0)
}

/// Writes one chunk.
pub(crate) fn write(sink: &mut impl Write, kind: ChunkKind, payload: &[u8]) -> io::Result<()> {
    let too_long = || io::Error::new(ErrorKind::InvalidInput, "a chunk of the trace is too long");
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(too_long());
    }
    let length = u32::try_from(payload.len()).map_err(|_| too_long())?;
    sink.write_all(&[kind as u8])?;
    sink.write_all(&length.to_le_bytes())?;
    sink.write_all(payload)?;
    sink.write_all(&checksum(payload).to_le_bytes())
}

/// Reads one chunk into `payload`. `at_bytes` is where it begins.
pub(crate) fn read(
    source: &mut impl Read,
    at_bytes: u64,
    payload: &mut Vec<u8>,
) -> Result<ChunkKind, TraceError> {
    let frame = read_frame(source, at_bytes)?;
    read_payload(source, frame, at_bytes, payload)?;
    Ok(frame.kind)
}

/// Reads the kind and the length of the chunk that begins at `at_bytes`.
pub(crate) fn read_frame(source: &mut impl Read, at_bytes: u64) -> Result<Frame, TraceError> {
    let damaged = |what| TraceError::Damaged { at_bytes, what };
    let mut frame = [0; 5];
    if read_whole(source, &mut frame)? < frame.len() {
        return Err(TraceError::Truncated { at_bytes });
    }
    let [kind, length @ ..] = frame;
    let kind = match kind {
        1 => ChunkKind::Blocks,
        2 => ChunkKind::Events,
        3 => ChunkKind::End,
        4 => ChunkKind::Attachment,
        _ => return Err(damaged("an unknown kind of chunk")),
    };
    let length = u32::from_le_bytes(length) as usize;
    if length > PAYLOAD_BYTES_MAX {
        return Err(damaged("a chunk longer than any"));
    }
    Ok(Frame { kind, length })
}

/// Reads and checks what follows a frame.
pub(crate) fn read_payload(
    source: &mut impl Read,
    frame: Frame,
    at_bytes: u64,
    payload: &mut Vec<u8>,
) -> Result<(), TraceError> {
    payload.resize(frame.length + 8, 0);
    if read_whole(source, payload)? < payload.len() {
        return Err(TraceError::Truncated { at_bytes });
    }
    let sum = payload.split_off(frame.length);
    if sum != checksum(payload).to_le_bytes() {
        return Err(TraceError::Damaged { at_bytes, what: "a chunk's checksum" });
    }
    Ok(())
}

/// Reads until `bytes` is full or the source ends, and says how many were read.
pub(crate) fn read_whole(source: &mut impl Read, bytes: &mut [u8]) -> Result<usize, TraceError> {
    let mut got = 0;
    while got < bytes.len() {
        match source.read(&mut bytes[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(TraceError::Io(error)),
        }
    }
    Ok(got)
}
