//! Whether a run that was cut off may be gone on with here: a figure belongs to one system.

use record::machine::Machine;
use record::{Cell, Manifest, TargetRecord};

/// Refuses to go on where anything is another that the figures depend on.
pub(crate) fn check(
    manifest: &Manifest,
    machine: &Machine,
    targets: &[TargetRecord],
) -> anyhow::Result<()> {
    match difference(manifest, machine, targets) {
        None => Ok(()),
        Some(Difference { what, then, now }) => anyhow::bail!(
            "the run began with {what} {then}, but here it is {now}, so the figures would not \
             belong together: begin a new run with --out"
        ),
    }
}

/// Refuses to go on where this fsprism measures something otherwise than the one that began.
pub(crate) fn check_cells(then: &[Cell], now: &[Cell]) -> anyhow::Result<()> {
    let is_other = |cell: &&Cell| {
        let same = |other: &&Cell| other.benchmark == cell.benchmark && other.target == cell.target;
        let measured = |cell: &Cell| (cell.parameters.clone(), cell.metrics.clone());
        now.iter().find(same).is_some_and(|other| measured(other) != measured(cell))
    };
    match then.iter().find(is_other) {
        None => Ok(()),
        Some(cell) => anyhow::bail!(
            "this fsprism measures '{}' differently from the version that began the run: continue \
             with that version, or begin a new run with --out",
            cell.title
        ),
    }
}

/// What is another, what it was, and what it is.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    what: String,
    then: String,
    now: String,
}

fn difference(
    manifest: &Manifest,
    machine: &Machine,
    targets: &[TargetRecord],
) -> Option<Difference> {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let begun = &manifest.machine;
    let mut facts = vec![
        ("fsprism".to_owned(), manifest.tool.version.clone(), env!("CARGO_PKG_VERSION").to_owned()),
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
    let (what, then, now) = facts.into_iter().find(|(_, then, now)| then != now)?;
    Some(Difference { what, then, now })
}
