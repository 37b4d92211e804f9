//! The file that says which writes had ended when a job was stopped: `verify_state_save` and
//! `verify_state_load`.
//!
//! `NAME-verify.state` has a header, a job and its latest writes, in little-endian order:
//!
//! | at | bytes | what |
//! | --- | --- | --- |
//! | 0 | 8 | version: 3 |
//! | 8 | 8 | bytes of what follows the header |
//! | 16 | 8 | crc32c of it, without its last inversion |
//! | 24 | 8 | the number of writes below that count |
//! | 32 | 4 | `iodepth` |
//! | 36 | 4 | `nrfiles` |
//! | 40 | 8 | writes that were begun |
//! | 48 | 8 | the job's thread, from 0 |
//! | 56 | 8 | 1 if the generator of offsets has 64 bits, or 0 |
//! | 64 | 48 | its state: five words of 64 bits or three of 32, and zeros |
//! | 112 | 64 | the job's name, with a zero at its end |
//! | 176 | 16 × depth × files | the writes: number of the file, offset |
//!
//! Source: fio 3.33, `verify-state.h`.

use thiserror::Error;

use crate::checksum::crc32c_uninverted;

mod bytes;
mod completions;

pub use completions::Completions;

/// The version of the format.
const VERSION: u64 = 3;

/// The state of the generator that a job's offsets come from. Nothing that reads the file uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomState {
    /// `tausworthe`.
    Narrow([u32; 3]),
    /// `tausworthe64`.
    Wide([u64; 5]),
}

/// A write that had ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompletedWrite {
    /// The file's number in its job, from 0.
    pub file: u64,
    /// Where it wrote, in bytes.
    pub offset: u64,
}

/// What a state file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyState {
    /// `iodepth`: the most writes that can have been in flight.
    pub depth: u32,
    /// `nrfiles`.
    pub files: u32,
    /// Writes that were begun.
    pub begun: u64,
    /// The job's thread, from 0.
    pub thread_index: u64,
    /// The state of the generator of offsets.
    pub random: RandomState,
    /// The job's name, of which 63 bytes are kept.
    pub name: Vec<u8>,
    /// The latest writes that had ended: [`Completions::latest`].
    pub completed: Vec<CompletedWrite>,
}

/// Why a state file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StateError {
    /// It ends before it should.
    #[error("the state file ends after {length} bytes: verify without `verify_state_load`")]
    Truncated {
        /// Bytes that it has.
        length: usize,
    },
    /// It is of another version.
    #[error("the state file has version {version}, but only version 3 can be read")]
    Version {
        /// The version.
        version: u64,
    },
    /// Its checksum is another one, or its numbers do not go together.
    #[error("the state file is damaged: verify without `verify_state_load`")]
    Damaged,
}

/// How far a job that verifies has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// Reads that have ended.
    pub reads: u64,
    /// The file of the block that would be read next, from 0.
    pub file: u64,
    /// Where that block begins, in bytes.
    pub offset: u64,
}

impl VerifyState {
    /// The name of a job's state file. `thread_index` is from 0.
    ///
    /// # Examples
    /// ```
    /// use job_verify::VerifyState;
    /// assert_eq!(VerifyState::file_name("a/b", 1), "local-a.b-1-verify.state");
    /// ```
    ///
    /// It lies in the directory of `--aux-path`, or the current one. To write the file, fio takes
    /// the name that is kept in it, cut to 63 bytes; to read it, the whole name.
    pub fn file_name(job: &str, thread_index: u64) -> String {
        format!("local-{}-{thread_index}-verify.state", job.replace('/', "."))
    }

    /// The contents of a state file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = bytes::body(self);
        let mut file = Vec::with_capacity(bytes::HEADER_BYTES + body.len());
        file.extend(VERSION.to_le_bytes());
        file.extend((body.len() as u64).to_le_bytes());
        file.extend(u64::from(crc32c_uninverted(&body)).to_le_bytes());
        file.extend(body);
        file
    }

    /// Reads the contents of a state file.
    ///
    /// # Errors
    /// If they are not those of a whole state file of version 3.
    pub fn from_bytes(file: &[u8]) -> Result<Self, StateError> {
        let truncated = StateError::Truncated { length: file.len() };
        let mut reader = bytes::Reader::new(file);
        let mut next = || reader.u64().ok_or_else(|| truncated.clone());
        let (version, size, checksum) = (next()?, next()?, next()?);
        if version != VERSION {
            return Err(StateError::Version { version });
        }
        let body = usize::try_from(size).ok().and_then(|size| reader.rest().get(..size));
        let body = body.ok_or(truncated)?;
        if u64::from(crc32c_uninverted(body)) != checksum {
            return Err(StateError::Damaged);
        }
        bytes::parse(body).ok_or(StateError::Damaged)
    }

    /// Whether a job that verifies ends before a block. It does if the write of that block may not
    /// have ended: if only as many writes are left as could be in flight, and the block is none of
    /// those that are known to have ended.
    ///
    /// Blocks are numbered by the reads that have ended: the job must verify in the order in which
    /// it wrote.
    pub fn should_stop(&self, progress: ReadProgress) -> bool {
        let depth = u64::from(self.depth);
        let left = self.begun.wrapping_sub(progress.reads);
        let is_certain = progress.reads < depth || left > depth;
        if is_certain && self.begun > depth {
            return false;
        }
        let ReadProgress { file, offset, .. } = progress;
        !self.completed.contains(&CompletedWrite { file, offset })
    }
}

#[cfg(test)]
mod tests;
