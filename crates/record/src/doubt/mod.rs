//! The doubts: everything that can make figures doubtful, whoever finds it. A row each, which
//! warnings, the known mistakes that `fsprism check` looks for, and the page read.

mod rows;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use rows::Doubt;
use rows::ROWS;

/// What a doubt does to what is read.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// The figure may not be what its name says.
    Misleads,
    /// It is less certain.
    Blurs,
    /// It may not hold elsewhere.
    Limits,
}

/// What is known about a doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubtRow {
    /// Which.
    pub doubt: Doubt,
    /// In a few words.
    pub title: &'static str,
    /// The mistake that `fsprism check` looks for, if it looks for this.
    pub mistake: Option<KnownMistake>,
    /// What it means for the reader.
    pub means: &'static str,
    /// What avoids it; `None` if nothing that a user can do does.
    pub avoid: Option<&'static str>,
    /// What it does to what is read.
    pub weight: Weight,
    /// Where it is described: a paper with its section, or a document of fsprism's.
    pub source: &'static str,
}

/// A doubt as a mistake of whoever benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownMistake {
    /// What it is called.
    pub name: &'static str,
    /// Where it is described as a mistake.
    pub source: &'static str,
}

impl Doubt {
    /// Its row.
    #[must_use]
    pub fn row(self) -> &'static DoubtRow {
        &ROWS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fsprism_describes_itself_is_described_in_a_document_that_users_have() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        for row in ROWS {
            if let Some(document) = row.source.strip_prefix("fsprism, ") {
                assert!(std::path::Path::new(root).join(document).is_file(), "{document}");
            }
        }
    }

    #[test]
    fn rows_are_sentences_and_titles_differ() {
        let titles: std::collections::BTreeSet<_> = ROWS.iter().map(|row| row.title).collect();
        assert_eq!(titles.len(), ROWS.len());
        for row in ROWS {
            assert!(row.means.ends_with('.') && !row.title.ends_with('.'), "{}", row.title);
            assert!(row.avoid.is_none_or(|avoid| avoid.ends_with('.')), "{}", row.title);
        }
    }
}
