//! Rows that a new process measures: what a process was given by luck, such as the salt of a hash
//! or the layout of its memory, then differs from round to round.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;
use targets::{Surroundings, TargetSpec, Workshop, availability};

use crate::table::Table;

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

/// The rows that `measure` makes at the root of a new target whose image lies in `scratch`; or why
/// there can be no such target. Called before a process has a second thread.
pub(crate) fn on_target(
    text: &str,
    scratch: PathBuf,
    measure: impl FnOnce(&Path) -> anyhow::Result<Vec<Value>>,
) -> anyhow::Result<Result<Vec<Value>, String>> {
    let surroundings = Surroundings { scratch, ..Surroundings::default() };
    let spec: TargetSpec = text.parse()?;
    if let Err(why) = availability(&spec, &surroundings) {
        return Ok(Err(why.to_string()));
    }
    let workshop = Workshop::open(surroundings)?;
    let mut target = workshop.make(&spec)?;
    let rows = measure(target.root())?;
    target.close()?;
    drop(target);
    workshop.close()?;
    Ok(Ok(rows))
}

/// Adds rows to the table: `what` with its `bound`, and its `ratios`, or `why_not`.
pub(crate) fn add(table: &mut Table, rows: Vec<Value>) {
    for row in rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        match row["ratios"].as_array() {
            Some(ratios) => {
                let ratios: Vec<f64> = ratios.iter().filter_map(Value::as_f64).collect();
                table.ratios(&text("what"), &text("bound"), &ratios);
            }
            None => table.row(&text("what"), text("why_not"), &text("bound")),
        }
    }
}
