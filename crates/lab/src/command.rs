//! A guest whose job is one command of busybox's shell.

use std::fs;
use std::path::Path;

use crate::boot::Boot;
use crate::error::BootError;
use crate::guest;

pub use crate::guest::HAND_BACK;

/// What the job does: the command's output and status are handed back as files.
const SCRIPT: &str = "sh /job/command >/hand-back/output 2>&1 </dev/null\n\
                      echo $? >/hand-back/status\n";

/// A command, and what it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// A text for the shell.
    pub text: String,
    /// Names of file systems and devices that are loaded first.
    pub load: Vec<String>,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// All that it printed.
    pub output: Vec<u8>,
    /// Its exit status.
    pub status: u8,
}

impl Command {
    /// A command of one argument is a text for the shell; of several, each is a word of its own.
    #[must_use]
    pub fn of_words(words: &[String]) -> Self {
        let text = match words {
            [text] => text.clone(),
            words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        };
        Self { text, load: Vec::new() }
    }

    /// Boots a guest that does this, instead of the boot's own job.
    ///
    /// # Errors
    /// The guest does not come to its end.
    pub fn run(&self, boot: Boot) -> Result<Ran, BootError> {
        self.run_into(boot, tempfile::tempdir()?.path())
    }

    /// The same; what the command leaves in [`HAND_BACK`] comes into `directory`, beside files
    /// called `output` and `status`.
    ///
    /// # Errors
    /// The guest does not come to its end.
    pub fn run_into(&self, mut boot: Boot, directory: &Path) -> Result<Ran, BootError> {
        boot.job = vec![
            (guest::SCRIPT.to_owned(), SCRIPT.into()),
            (guest::LOAD.to_owned(), self.load.join("\n").into()),
            ("/job/command".to_owned(), format!("{}\n", self.text).into()),
        ];
        boot.run(directory)?;
        let status = fs::read_to_string(directory.join("status"))?;
        let output = fs::read(directory.join("output"))?;
        let status = status.trim().parse().map_err(std::io::Error::other)?;
        Ok(Ran { output, status })
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn words_stay_words() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(Command::of_words(&words(&["a | b"])).text, "a | b");
        assert_eq!(Command::of_words(&words(&["a", "it's |"])).text, r"'a' 'it'\''s |'");
    }
}
