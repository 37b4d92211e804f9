//! Whether an interrupted run can be resumed here: its figures must all belong to the same system.

use record::machine::Machine;
use record::{Cell, Manifest, TargetRecord};
use thiserror::Error;

use crate::opening::tool;

/// Smaller differences in total memory are ignored: the kernel takes and returns some.
const MEMORY_MARGIN: f64 = 0.02;

/// Why a run cannot be resumed here.
#[derive(Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// Something that the figures depend on has changed.
    #[error(
        "{what} was {then} when the run began and is {now} here, so the figures would not belong \
         together: begin a new run with --out"
    )]
    Changed {
        /// What has changed.
        what: String,
        /// What it was.
        then: String,
        /// What it is.
        now: String,
    },
    /// The version that began the run measures a cell differently.
    #[error(
        "this fsprism measures '{title}' differently from the version that began the run: continue \
         with that version, or begin a new run with --out"
    )]
    OtherCell {
        /// The cell's title.
        title: String,
    },
}

/// Refuses to resume if anything that the figures depend on has changed.
///
/// # Errors
/// Names the first such change.
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

/// Refuses to resume if this version of fsprism measures a cell differently from the one that began
/// the run.
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

/// What has changed, what it was, and what it is now.
fn difference(
    manifest: &Manifest,
    machine: &Machine,
    targets: &[TargetRecord],
) -> Option<(String, String, String)> {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let mut facts = vec![("fsprism".to_owned(), manifest.tool.version.clone(), tool().version)];
    facts.extend(machine_facts(&manifest.machine, machine));
    for (then, now) in manifest.targets.iter().zip(targets) {
        let of = |what: &str| format!("{}'s {what}", then.label);
        facts.push((of("mkfs"), known(&then.mkfs_version), known(&now.mkfs_version)));
        facts.push((of("mount options"), then.mount_options.clone(), now.mount_options.clone()));
        // Older runs did not record it.
        if let Some(read_ahead) = then.read_ahead_bytes {
            let now = now.read_ahead_bytes.map(|bytes| bytes.to_string());
            facts.push((of("read-ahead in bytes"), read_ahead.to_string(), known(&now)));
        }
    }
    facts.into_iter().find(|(_, then, now)| then != now)
}

/// What may have changed about a machine between two parts of a run: what it is, its old value and
/// its new one. What varies by itself is ignored: a few pages of memory, and mitigations that
/// depend on which guests are running.
fn machine_facts(then: &Machine, now: &Machine) -> Vec<(String, String, String)> {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let governors = |machine: &Machine| match machine.processor.governors.join(", ") {
        none if none.is_empty() => "none".to_owned(),
        some => some,
    };
    let processors = |machine: &Machine| machine.processor.allowed.len().to_string();
    let mut facts = vec![
        ("the kernel", known(&then.kernel.release), known(&now.kernel.release)),
        ("the processor", known(&then.processor.model), known(&now.processor.model)),
        ("the number of usable processors", processors(then), processors(now)),
        ("the frequency governor", governors(then), governors(now)),
        (
            "the setting of huge pages",
            known(&then.memory.transparent_hugepage),
            known(&now.memory.transparent_hugepage),
        ),
    ];
    if let (Some(then), Some(now)) = (then.memory.total_bytes, now.memory.total_bytes)
        && then.abs_diff(now) as f64 > MEMORY_MARGIN * then as f64
    {
        let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
        facts.push(("the memory", gib(then), gib(now)));
    }
    facts.into_iter().map(|(what, then, now)| (what.to_owned(), then, now)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_about_a_machine_is_named() {
        let mut then = Machine::default();
        then.kernel.release = Some("6.1".to_owned());
        then.processor.model = Some("Pentium III".to_owned());
        then.processor.allowed = vec![0, 1];
        then.processor.governors = vec!["performance".to_owned()];
        then.memory.total_bytes = Some(1 << 30);
        then.memory.transparent_hugepage = Some("always".to_owned());
        let changed = |change: fn(&mut Machine)| {
            let mut now = then.clone();
            change(&mut now);
            let mut facts = machine_facts(&then, &now);
            facts.retain(|(_, then, now)| then != now);
            let [(what, then, now)] = &facts[..] else { return format!("{facts:?}") };
            format!("{what}: {then}, {now}")
        };
        for (change, fact) in [
            ((|_| ()) as fn(&mut Machine), "[]"),
            (|now| now.kernel.release = None, "the kernel: 6.1, unknown"),
            (|now| now.processor.model = None, "the processor: Pentium III, unknown"),
            (|now| now.processor.allowed.push(2), "the number of usable processors: 2, 3"),
            (|now| now.processor.governors.clear(), "the frequency governor: performance, none"),
            (
                |now| now.memory.transparent_hugepage = Some("never".to_owned()),
                "the setting of huge pages: always, never",
            ),
            (|now| now.memory.total_bytes = Some((1 << 30) - (16 << 20)), "[]"),
            (|now| now.memory.total_bytes = Some(1 << 29), "the memory: 1.0 GiB, 0.5 GiB"),
        ] {
            assert_eq!(changed(change), fact);
        }
    }
}
