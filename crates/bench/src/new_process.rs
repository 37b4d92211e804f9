//! Rows that are measured in a new process, so that its accidental properties, such as the salt of
//! a hash or its memory layout, differ from round to round.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;
use targets::{Surroundings, TargetSpec, Workshop, availability};

use crate::table::Table;

/// Starts this program again with `word`, to work in `work`, and returns the rows that it prints.
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

/// The rows that `measure` returns for the root of a new target whose image is in `scratch`, or why
/// there cannot be such a target. Called while the process is single-threaded.
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
