//! Attachments: named bytes that travel with a trace, such as the names of its addresses.
//!
//! A whole trace is only ever appended to: attachments and a new end follow the existing end. Until
//! the new end is written, readers see the trace as it was before. So a process killed at any
//! moment leaves a whole trace, with all of the attachments or none of them.

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use crate::TraceError;
use crate::chunk::{self, ChunkKind, FRAME_BYTES, Frame};
use crate::ending::{CutReason, Ending};
use crate::header::{Header, VERSION_ATTACHMENTS};
use crate::trace_file::{open_plain, open_to_write};
use crate::varint;

/// Attachment that describes what was traced and names the addresses: JSON, compressed with zlib.
pub const DESCRIPTION: &str = "description";

/// Attachment with the files mapped into a program: lines of `/proc/self/maps`, with the guest's
/// addresses. Lines of later mappings follow those of earlier ones.
pub const MAPS: &str = "maps";

/// Length of the longest attachment name, in bytes.
pub const NAME_BYTES_MAX: usize = 255;

/// Size of the largest attachment that is read, in bytes.
const BYTES_MAX: usize = 1 << 28;

/// How many bytes of an attachment go into one chunk.
const PART_BYTES: usize = 1 << 19;

/// Writes an attachment as chunks and returns how many there are.
pub(crate) fn write(sink: &mut impl Write, name: &str, bytes: &[u8]) -> std::io::Result<u64> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        let what = format!("the attachment's name {name:?} must have 1 to {NAME_BYTES_MAX} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, what));
    }
    let parts = bytes.len().div_ceil(PART_BYTES).max(1);
    for part in 0..parts {
        let mut payload = Vec::with_capacity(2 + name.len() + PART_BYTES.min(bytes.len()));
        varint::put(&mut payload, name.len() as u64);
        payload.extend(name.as_bytes());
        payload.extend(bytes.iter().skip(part * PART_BYTES).take(PART_BYTES));
        chunk::write(sink, ChunkKind::Attachment, &payload)?;
    }
    Ok(parts as u64)
}

/// Splits a chunk's payload into the attachment's name and this part of its bytes.
pub(crate) fn decode(payload: &[u8]) -> Option<(&str, &[u8])> {
    let mut rest = payload;
    let length = usize::try_from(varint::take(&mut rest)?).ok()?;
    let (name, bytes) = rest.split_at_checked(length)?;
    let is_sound = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
    Some((str::from_utf8(name).ok().filter(|_| is_sound)?, bytes))
}

/// Reads the attachment `name` of the trace in a file, or `None` if it has no such attachment.
/// Events are neither read nor checked.
///
/// # Errors
/// The file is not a trace, has a newer format, is damaged, or stops before its end.
pub fn read(path: &Path, name: &str) -> Result<Option<Vec<u8>>, TraceError> {
    let mut file = open_plain(path).map_err(TraceError::Io)?;
    Ok(scan(&mut file, Some(name))?.attachment)
}

/// Adds attachments to a whole trace. An attachment replaces an earlier one of the same name. They
/// do not count towards the trace's size limit.
///
/// # Errors
/// The file is not a trace, has an older or newer format, is damaged, stops before its end, or
/// cannot be written. If it was a whole trace before, it still is, without the attachments.
pub fn append(path: &Path, attachments: &[(&str, &[u8])]) -> Result<(), TraceError> {
    let mut file = open_to_write(path, false).map_err(TraceError::Io)?;
    file.lock().map_err(TraceError::Io)?;
    let Scan { version, ending, end_bytes, .. } = scan(&mut file, None)?;
    if version < VERSION_ATTACHMENTS {
        return Err(TraceError::Older { found: version, needed: VERSION_ATTACHMENTS });
    }
    let written = add(&mut file, ending, end_bytes, attachments);
    if written.is_err() {
        // The old end is still valid; this only frees the space.
        let _ = file.set_len(end_bytes);
    }
    written.map_err(TraceError::Io)
}

/// Ends a trace whose writer could not write an end: cuts the file after its last whole chunk and
/// appends an end that says [`CutReason::Killed`]. Returns whether that was necessary. The number
/// of forked processes is unknown in this case and recorded as 0.
///
/// # Errors
/// The file is not a trace, has a newer format, is damaged, or cannot be written.
pub fn end_early(path: &Path) -> Result<bool, TraceError> {
    let mut file = open_to_write(path, false).map_err(TraceError::Io)?;
    file.lock().map_err(TraceError::Io)?;
    match scan(&mut file, None) {
        Err(TraceError::Truncated { .. }) => {}
        scanned => return scanned.map(|_| false),
    }
    let (end_bytes, chunks) = whole_chunks(&mut file)?;
    let ending = Ending { cut: Some(CutReason::Killed), forks: 0, chunks };
    let write = |file: &mut File| {
        file.set_len(end_bytes)?;
        file.seek(SeekFrom::Start(end_bytes))?;
        chunk::write(file, ChunkKind::End, &ending.encode())?;
        file.sync_data()
    };
    write(&mut file).map_err(TraceError::Io)?;
    Ok(true)
}

/// Offset of the first chunk that is not whole, and the number of chunks before it.
fn whole_chunks(file: &mut File) -> Result<(u64, u64), TraceError> {
    file.rewind().map_err(TraceError::Io)?;
    let mut source = BufReader::new(file);
    Header::read(&mut source)?;
    let (mut at_bytes, mut chunks) = (Header::BYTES as u64, 0);
    let mut payload = Vec::new();
    loop {
        match chunk::read(&mut source, at_bytes, &mut payload) {
            Ok(_) => {}
            // A partial write over an old end can look like anything.
            Err(TraceError::Truncated { .. } | TraceError::Damaged { .. }) => {
                return Ok((at_bytes, chunks));
            }
            Err(error) => return Err(error),
        }
        at_bytes += (payload.len() + FRAME_BYTES) as u64;
        chunks += 1;
    }
}

fn add(
    file: &mut File,
    ending: Ending,
    end_bytes: u64,
    attachments: &[(&str, &[u8])],
) -> std::io::Result<()> {
    // First drop what a killed process left after the end, so that it does not become part of this
    // addition.
    file.set_len(end_bytes)?;
    file.seek(SeekFrom::Start(end_bytes))?;
    let mut chunks = ending.chunks + 1;
    for (name, bytes) in attachments {
        chunks += write(file, name, bytes)?;
    }
    // The end must not reach the disk before the attachments that it covers.
    file.sync_data()?;
    chunk::write(file, ChunkKind::End, &Ending { chunks, ..ending }.encode())?;
    file.sync_data()
}

/// What a scan finds without reading the events.
struct Scan {
    version: u32,
    ending: Ending,
    /// Bytes up to and including the last end.
    end_bytes: u64,
    attachment: Option<Vec<u8>>,
}

fn scan(file: &mut File, wanted: Option<&str>) -> Result<Scan, TraceError> {
    let length = file.seek(SeekFrom::End(0)).map_err(TraceError::Io)?;
    file.rewind().map_err(TraceError::Io)?;
    let (_, version) = Header::read(file)?;
    let (mut at_bytes, mut chunks) = (Header::BYTES as u64, 0);
    let mut found: Option<Scan> = None;
    let mut section = None::<Vec<u8>>;
    let mut payload = Vec::new();
    while found.is_none() || at_bytes < length {
        let begin = at_bytes;
        let damaged = |what| TraceError::Damaged { at_bytes: begin, what };
        let step = read_unless_events(file, at_bytes, length, &mut payload);
        let frame = match step {
            Err(TraceError::Truncated { .. }) if version >= VERSION_ATTACHMENTS => {
                // After an end, this is an unfinished addition.
                return found.ok_or(TraceError::Truncated { at_bytes });
            }
            step => step?,
        };
        at_bytes += (frame.length + FRAME_BYTES) as u64;
        match frame.kind {
            ChunkKind::Attachment if version >= VERSION_ATTACHMENTS => {
                let (name, bytes) = decode(&payload).ok_or_else(|| damaged("an attachment"))?;
                if wanted == Some(name) {
                    let section = section.get_or_insert_default();
                    if section.len() + bytes.len() > BYTES_MAX {
                        return Err(damaged("an attachment, which is too large"));
                    }
                    section.extend(bytes);
                }
            }
            ChunkKind::Attachment => return Err(damaged("an unknown kind of chunk")),
            ChunkKind::Blocks | ChunkKind::Events if found.is_none() => {}
            ChunkKind::Blocks | ChunkKind::Events => return Err(damaged("its end")),
            ChunkKind::End => {
                let before = found.as_ref().map(|found| &found.ending);
                let is_sound = version >= VERSION_ATTACHMENTS || at_bytes == length;
                let ending = Ending::decode(&payload)
                    .filter(|ending| is_sound && ending.follows(before, chunks))
                    .ok_or_else(|| damaged("its end"))?;
                let kept = found.take().and_then(|found| found.attachment);
                let attachment = section.take().or(kept);
                found = Some(Scan { version, ending, end_bytes: at_bytes, attachment });
            }
        }
        chunks += 1;
    }
    found.ok_or(TraceError::Truncated { at_bytes })
}

/// Reads a chunk, or skips its payload if it contains blocks or events.
fn read_unless_events(
    file: &mut File,
    at_bytes: u64,
    file_bytes: u64,
    payload: &mut Vec<u8>,
) -> Result<Frame, TraceError> {
    let frame = chunk::read_frame(file, at_bytes)?;
    if at_bytes + (frame.length + FRAME_BYTES) as u64 > file_bytes {
        return Err(TraceError::Truncated { at_bytes });
    }
    match frame.kind {
        ChunkKind::Blocks | ChunkKind::Events => {
            let skipped = (frame.length + FRAME_BYTES) as u64;
            file.seek(SeekFrom::Start(at_bytes + skipped)).map_err(TraceError::Io)?;
        }
        ChunkKind::Attachment | ChunkKind::End => {
            chunk::read_payload(file, frame, at_bytes, payload)?;
        }
    }
    Ok(frame)
}
