//! What the kernel's texts have in common.

use std::io;

/// A text of the kernel's that is not what is known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// It cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// Its file.
        path: &'static str,
        /// What the kernel says.
        source: io::Error,
    },
    /// A part that is needed is missing.
    #[error("{of} do not tell {what}")]
    Missing {
        /// What the text is of.
        of: &'static str,
        /// What is missing.
        what: &'static str,
    },
    /// A number is none.
    #[error("{of} hold {word:?} where a number is expected")]
    NoNumber {
        /// What the text is of.
        of: &'static str,
        /// What stands there.
        word: String,
    },
}

impl Unreadable {
    pub(super) fn io(path: &'static str, source: io::Error) -> Self {
        Self::Io { path, source }
    }
}

/// The numbers of a line, all of them.
pub(super) fn numbers(of: &'static str, words: &str) -> Result<Vec<u64>, Unreadable> {
    words.split_whitespace().map(|word| number(of, word)).collect()
}

pub(super) fn number(of: &'static str, word: &str) -> Result<u64, Unreadable> {
    word.parse().map_err(|_| Unreadable::NoNumber { of, word: word.to_owned() })
}
