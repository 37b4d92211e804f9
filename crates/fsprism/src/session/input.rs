//! Input files from the user, each read once and completely.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use textual::plain_text;

use crate::exit::OrInputError;

/// A file's text, and what to call the file in messages.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Input {
    /// Reads `path`, or standard input if that is `-`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| anyhow::anyhow!("cannot read standard input: {error}"))
                .or_input_error()?;
            return Ok(Self { name: "standard input".to_owned(), text: unmarked(&text) });
        }
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            if error.kind() == io::ErrorKind::InvalidData {
                return anyhow::anyhow!("{name} is not UTF-8 text");
            }
            anyhow::anyhow!("cannot read {name}: {error}")
        });
        let text = text.or_input_error()?;
        Ok(Self { name, text: unmarked(&text) })
    }

    /// An error that names this file and why an analysis refuses it.
    pub(crate) fn refused(&self, refusal: &::stats::Refusal) -> anyhow::Error {
        anyhow::anyhow!("{}: {refusal}", self.name)
    }
}

/// Strips the byte order mark that spreadsheets write, and control characters: names in the text
/// will be printed, and must not reach the terminal as escape sequences.
fn unmarked(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let plain = |line: &str| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.split('\t').map(plain_text).collect::<Vec<_>>().join("\t")
    };
    text.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_in_a_file_is_an_order_to_a_terminal() {
        assert_eq!(unmarked("\u{feff}a,b\r\n\u{1b}[2Jx\t1\n"), "a,b\n?[2Jx\t1\n");
    }
}
