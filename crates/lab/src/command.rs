//! A guest whose job is a single command of busybox's shell.

use std::fs;
use std::path::Path;

use crate::boot::Boot;
use crate::error::BootError;
use crate::guest;

pub use crate::guest::HAND_BACK;

/// The job: the command's output and exit status are handed back as files.
const SCRIPT: &str = "sh /job/command >/hand-back/output 2>&1 </dev/null\n\
                      echo $? >/hand-back/status\n";

/// A command and the modules it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The command line, for the shell.
    pub text: String,
    /// Names of file systems and devices whose modules are loaded first.
    pub load: Vec<String>,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandResult {
    /// Everything it printed.
    pub output: Vec<u8>,
    /// Its exit status.
    pub status: u8,
}

impl Command {
    /// A single argument is a command line for the shell; each of several arguments is a separate
    /// word.
    #[must_use]
    pub fn from_words(words: &[String]) -> Self {
        let text = match words {
            [text] => text.clone(),
            words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        };
        Self { text, load: Vec::new() }
    }

    /// Boots a guest that runs this command, beside whose files it has those of the boot's own job.
    ///
    /// # Errors
    /// If the guest does not run to completion.
    pub fn run(&self, boot: Boot) -> Result<CommandResult, BootError> {
        self.run_into(boot, tempfile::tempdir()?.path())
    }

    /// Like [`Self::run`]; what the command leaves in [`HAND_BACK`] is put into `directory`, along
    /// with files named `output` and `status`.
    ///
    /// # Errors
    /// If the guest does not run to completion.
    pub fn run_into(&self, mut boot: Boot, directory: &Path) -> Result<CommandResult, BootError> {
        boot.job.extend([
            (guest::SCRIPT.to_owned(), SCRIPT.into()),
            (guest::LOAD.to_owned(), self.load.join("\n").into()),
            ("/job/command".to_owned(), format!("{}\n", self.text).into()),
        ]);
        boot.run(directory)?;
        let status = fs::read_to_string(directory.join("status"))?;
        let output = fs::read(directory.join("output"))?;
        let status = status.trim().parse().map_err(std::io::Error::other)?;
        Ok(CommandResult { output, status })
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
        assert_eq!(Command::from_words(&words(&["a | b"])).text, "a | b");
        assert_eq!(Command::from_words(&words(&["a", "it's |"])).text, r"'a' 'it'\''s |'");
    }
}
