//! Files that a user brings: read whole, once.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::exit::Blame;

/// A file's text and what it is called in sentences.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Input {
    /// Reads `path`, or standard input where that is `-`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| anyhow::anyhow!("cannot read standard input: {error}"))
                .blame_input()?;
            return Ok(Self { name: "standard input".to_owned(), text: unmarked(text) });
        }
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            if error.kind() == io::ErrorKind::InvalidData {
                return anyhow::anyhow!("{name} is not UTF-8 text");
            }
            anyhow::anyhow!("cannot read {name}: {error}")
        });
        let text = text.blame_input()?;
        Ok(Self { name, text: unmarked(text) })
    }

    /// The sentence that names this file and what an analysis of it refuses.
    pub(crate) fn refused(&self, refusal: &::stats::Refusal) -> anyhow::Error {
        anyhow::anyhow!("{}: {refusal}", self.name)
    }
}

/// Without the byte order mark that spreadsheets put in front.
fn unmarked(text: String) -> String {
    text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
}
