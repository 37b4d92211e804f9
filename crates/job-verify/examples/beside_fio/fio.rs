//! Runs fio, and says what it made of it.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a run of fio said.
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) is_success: bool,
}

/// Runs one job, called `job`, in a directory, with options without their dashes.
pub(crate) fn run(directory: &Path, options: &[String]) -> Outcome<Run> {
    command(Command::new("fio"), directory, options)
}

/// Runs one job under `strace` and gives its calls.
pub(crate) fn traced(directory: &Path, calls: &str, options: &[String]) -> Outcome<Run> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-qq", "-s", "0", "-e", &format!("trace={calls}"), "fio"]);
    command(strace, directory, options)
}

fn command(mut command: Command, directory: &Path, options: &[String]) -> Outcome<Run> {
    command.current_dir(directory).args(["--name=job", "--thread=1", "--output-format=json"]);
    command.args(options.iter().map(|option| format!("--{option}")));
    let Output { status, stdout, stderr } = command.output()?;
    let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    Ok(Run { text, is_success: status.success() })
}

impl Run {
    /// The first number of this name in the JSON.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        let (_, rest) = self.text.split_once(&format!("\"{name}\" : "))?;
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    }

    /// Fails unless fio has succeeded and complained of nothing.
    pub(crate) fn assert_good(&self, what: &str) -> Outcome<()> {
        let complains = self.text.contains("verify:") || self.text.contains("failed");
        if self.is_success && !complains {
            return Ok(());
        }
        Err(format!("{what}: {}", self.text).into())
    }
}

/// Options that are words.
pub(crate) fn options(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
