//! Whether a run that was cut off may be gone on with here: a figure belongs to one system.

use record::machine::Machine;
use record::{Cell, Manifest, TargetRecord};
use thiserror::Error;

use crate::opening::tool;

/// Why a run cannot be gone on with here.
#[derive(Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// Something is another that the figures depend on.
    #[error(
        "the run began with {what} {then}, but here it is {now}, so the figures would not belong \
         together: begin a new run with --out"
    )]
    Changed {
        /// What is another.
        what: String,
        /// What it was.
        then: String,
        /// What it is.
        now: String,
    },
    /// The program that began the run measures a cell otherwise.
    #[error(
        "this fsprism measures '{title}' differently from the version that began the run: continue \
         with that version, or begin a new run with --out"
    )]
    OtherCell {
        /// The cell's title.
        title: String,
    },
}

/// Refuses to go on where anything is another that the figures depend on.
///
/// # Errors
/// Names the first such thing.
pub fn check_resumable(
    manifest: &Manifest,
    machine: &Machine,
    targets: &[TargetRecord],
) -> Result<(), ResumeError> {
    match difference(manifest, machine, targets) {
        None => Ok(()),
        Some((what, then, now)) => Err(ResumeError::Changed { what, then, now }),
    }
}

/// Refuses to go on where this fsprism measures something otherwise than the one that began.
///
/// # Errors
/// Names the first such cell.
pub fn check_cells(then: &[Cell], now: &[Cell]) -> Result<(), ResumeError> {
    let is_other = |cell: &&Cell| {
        let same = |other: &&Cell| other.benchmark == cell.benchmark && other.target == cell.target;
        let measured = |cell: &Cell| (cell.parameters.clone(), cell.metrics.clone());
        now.iter().find(same).is_some_and(|other| measured(other) != measured(cell))
    };
    match then.iter().find(is_other) {
        None => Ok(()),
        Some(cell) => Err(ResumeError::OtherCell { title: cell.title.clone() }),
    }
}

/// What is another, what it was, and what it is.
fn difference(
    manifest: &Manifest,
    machine: &Machine,
    targets: &[TargetRecord],
) -> Option<(String, String, String)> {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let begun = &manifest.machine;
    let mut facts = vec![
        ("fsprism".to_owned(), manifest.tool.version.clone(), tool().version),
        ("kernel".to_owned(), known(&begun.kernel.release), known(&machine.kernel.release)),
        ("processor".to_owned(), known(&begun.processor.model), known(&machine.processor.model)),
    ];
    for (then, now) in manifest.targets.iter().zip(targets) {
        let of = |what: &str| format!("{}'s {what}", then.label);
        facts.push((of("mkfs"), known(&then.mkfs_version), known(&now.mkfs_version)));
        facts.push((of("mount options"), then.mount_options.clone(), now.mount_options.clone()));
        // Runs of before it was recorded do not tell it.
        if let Some(read_ahead) = then.read_ahead_bytes {
            let now = now.read_ahead_bytes.map(|bytes| bytes.to_string());
            facts.push((of("read-ahead in bytes"), read_ahead.to_string(), known(&now)));
        }
    }
    facts.into_iter().find(|(_, then, now)| then != now)
}
