//! What the kernel's texts have in common.

use std::io;

/// Why one of the kernel's texts cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// A required part is missing.
    #[error("{of} do not tell {what}")]
    Missing {
        /// What the text is about.
        of: &'static str,
        /// What is missing.
        what: &'static str,
    },
    /// A number is malformed.
    #[error("{of} hold {word:?} where a number is expected")]
    NoNumber {
        /// What the text is about.
        of: &'static str,
        /// What is in its place.
        word: String,
    },
}

impl Unreadable {
    pub(super) fn io(path: &'static str, source: io::Error) -> Self {
        Self::Io { path, source }
    }
}

/// All the numbers on a line.
pub(super) fn numbers(of: &'static str, words: &str) -> Result<Vec<u64>, Unreadable> {
    words.split_whitespace().map(|word| number(of, word)).collect()
}

pub(super) fn number(of: &'static str, word: &str) -> Result<u64, Unreadable> {
    word.parse().map_err(|_| Unreadable::NoNumber { of, word: word.to_owned() })
}
