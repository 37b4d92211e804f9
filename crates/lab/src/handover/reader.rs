//! The host's side: files that arrive complete are kept, whatever happens to the rest.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use super::sum::Sum;
use super::{FAILED, FILE, HEAD_BYTES, MAGIC, WELL};

/// The temporary name of a file that is not complete yet.
const PARTIAL: &str = ".partial";
/// The longest failure message accepted.
const SENTENCE_BYTES_MAX: u64 = 1 << 16;

/// What a guest handed back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedFiles {
    /// Paths of all files that arrived complete, in order, relative to the directory they were
    /// written to.
    pub files: Vec<PathBuf>,
    /// How the stream ended.
    pub ending: Ending,
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The job succeeded.
    Well,
    /// The job failed; why, according to the guest.
    Failed(String),
    /// The stream stops before an end frame, or is malformed.
    Cut,
}

/// Why what was handed back cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandoverError {
    /// A file cannot be written, or the stream cannot be read.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A name would be outside of the directory.
    #[error("the guest named a file {0:?}, which would be outside the directory")]
    Name(String),
}

/// The head of a frame.
struct Head {
    kind: u8,
    name: String,
    length_bytes: u64,
    sum: Sum,
}

/// Reads a stream into a directory, which is created if missing. A file appears under its name once
/// it is complete.
///
/// # Errors
/// If a file cannot be written, or its name leads out of the directory. A stream that stops early
/// is not an error.
pub fn read(stream: &mut impl Read, into: &Path) -> Result<HandedFiles, HandoverError> {
    make_directory(into)?;
    let mut files = Vec::new();
    let ending = loop {
        let Some(head) = read_head(stream) else { break Ending::Cut };
        match head.kind {
            FILE => {
                let Some(path) = keep(stream, head, into)? else { break Ending::Cut };
                files.push(path);
            }
            WELL | FAILED => break read_ending(stream, &head),
            _ => break Ending::Cut,
        }
    };
    Ok(HandedFiles { files, ending })
}

fn read_head(stream: &mut impl Read) -> Option<Head> {
    let mut bytes = [0; HEAD_BYTES];
    stream.read_exact(&mut bytes).ok()?;
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (&kind, rest) = rest.split_first()?;
    let (name_bytes, rest) = rest.split_first_chunk::<2>()?;
    let length_bytes = u64::from_le_bytes(rest.try_into().ok()?);
    if *magic != MAGIC {
        return None;
    }
    let mut name = vec![0; usize::from(u16::from_le_bytes(*name_bytes))];
    stream.read_exact(&mut name).ok()?;
    let mut sum = Sum::new();
    sum.add(&bytes);
    sum.add(&name);
    Some(Head { kind, name: String::from_utf8(name).ok()?, length_bytes, sum })
}

fn read_ending(stream: &mut impl Read, head: &Head) -> Ending {
    let mut sentence = Vec::new();
    let Head { kind, length_bytes, mut sum, .. } = *head;
    let mut limited = (&mut *stream).take(length_bytes.min(SENTENCE_BYTES_MAX));
    let read = limited.read_to_end(&mut sentence);
    sum.add(&sentence);
    if read.is_err() || sentence.len() as u64 != length_bytes || !agrees(stream, sum) {
        return Ending::Cut;
    }
    if kind == WELL {
        return Ending::Well;
    }
    Ending::Failed(String::from_utf8_lossy(&sentence).into_owned())
}

fn agrees(stream: &mut impl Read, sum: Sum) -> bool {
    let mut expected = [0; 8];
    stream.read_exact(&mut expected).is_ok() && u64::from_le_bytes(expected) == sum.finish()
}

/// Writes one file; `None` if the stream stops within it or its checksum is wrong. Until the
/// checksum has been verified, nothing is created under its name, which may be corrupt too.
fn keep(stream: &mut impl Read, head: Head, into: &Path) -> Result<Option<PathBuf>, HandoverError> {
    let Head { name, length_bytes, mut sum, .. } = head;
    let partial = into.join(PARTIAL);
    let at = |path: &Path| {
        let path = path.to_owned();
        |source| HandoverError::Io { path, source }
    };
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&partial)(error)),
        _ => {}
    }
    let mut file = File::create_new(&partial).map_err(at(&partial))?;
    let copied = copy(stream, &mut file, length_bytes, &mut sum).map_err(at(&partial))?;
    if !copied || !agrees(stream, sum) {
        fs::remove_file(&partial).map_err(at(&partial))?;
        return Ok(None);
    }
    let relative = PathBuf::from(&name);
    let is_below = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below || name.is_empty() {
        fs::remove_file(&partial).map_err(at(&partial))?;
        return Err(HandoverError::Name(name));
    }
    let path = into.join(&relative);
    make_directory(path.parent().unwrap_or(into))?;
    fs::rename(&partial, &path).map_err(at(&path))?;
    Ok(Some(relative))
}

/// Copies `bytes` bytes; `false` if the stream ends before that.
fn copy(
    stream: &mut impl Read,
    to: &mut impl Write,
    bytes: u64,
    sum: &mut Sum,
) -> io::Result<bool> {
    let mut left = bytes;
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = stream.read(&mut buffer[..room])?;
        if read == 0 {
            return Ok(false);
        }
        sum.add(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        left -= read as u64;
    }
    Ok(true)
}

fn make_directory(path: &Path) -> Result<(), HandoverError> {
    let io = |source| HandoverError::Io { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(io)
}
