//! What is wrong with a trace.

use std::{error, fmt, io};

/// A trace that cannot be read to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The bytes are not a trace.
    Foreign,
    /// The trace has a newer version of the format.
    Newer {
        /// Version in the header.
        found: u32,
        /// The newest version that this reader knows.
        known: u32,
    },
    /// The trace has an older version of the format, which cannot contain attachments.
    Older {
        /// Version in the header.
        found: u32,
        /// The first version that can.
        needed: u32,
    },
    /// The bytes stop before the trace's end.
    Truncated {
        /// Up to which byte the trace is whole.
        at_bytes: u64,
    },
    /// The bytes from here on are not valid.
    Damaged {
        /// Where the damaged part begins, in bytes from the start.
        at_bytes: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// Reading failed.
    Io(io::Error),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => {
                f.write_str("this is not a footprint trace: name one made by `footprint trace`")
            }
            Self::Newer { found, known } => write!(
                f,
                "the trace has format version {found}, but this fsprism knows only up to version \
                 {known}: update fsprism"
            ),
            Self::Older { found, needed } => write!(
                f,
                "the trace has format version {found}, but attachments need version {needed}: \
                 trace again"
            ),
            Self::Truncated { at_bytes } => write!(
                f,
                "the trace is cut off after {at_bytes} bytes: QEMU was killed, or the disk is \
                 full; trace again"
            ),
            Self::Damaged { at_bytes, what } => {
                write!(f, "the trace is damaged at byte {at_bytes} ({what}): trace again")
            }
            Self::Io(error) => write!(f, "the trace cannot be read: {error}"),
        }
    }
}

impl error::Error for TraceError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}
