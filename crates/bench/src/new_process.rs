//! Rows that a new process measures: what a process was given by luck, such as the salt of a hash
//! or the layout of its memory, then differs from round to round.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;

/// The rows that this program prints when it is started again with `word`, to work in `work`.
pub(crate) fn rows(word: &str, work: &Path) -> anyhow::Result<Vec<Value>> {
    let output = Command::new(std::env::current_exe()?)
        .arg(word)
        .arg(work)
        .stderr(Stdio::inherit())
        .output()
        .context("this program could not be started again")?;
    anyhow::ensure!(output.status.success(), "a process of its own failed: {}", output.status);
    serde_json::from_slice(&output.stdout).context("a process of its own wrote no rows")
}
