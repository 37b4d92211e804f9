//! Volumes that are smaller than the size from which a difference is stable.
//!
//! Such a cell already has the warning, if its figure really differs from that of another target.

use record::Warning;
use textual::size;

use super::cells::{CheckedCell, CheckedRun};
use super::{Detection, Evidence, Finding};

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let found: Vec<(&CheckedCell<'_>, Evidence, u64)> = checked
        .cells
        .iter()
        .filter_map(|one| sizes(one).map(|(is, needs)| (one, is, needs)))
        .collect();
    let Some(needed_bytes) = found.iter().map(|(.., needed)| *needed).max() else {
        return Detection::default();
    };
    let (cells, evidence): (Vec<_>, Vec<_>) =
        found.into_iter().map(|(cell, evidence, _)| (cell, evidence)).unzip();
    let message = format!(
        "real differences depend on the volume's size: on a volume of {} they may be gone",
        size(needed_bytes as f64, 3)
    );
    let avoid = format!("size={}g, or a disk as large (--scratch)", needed_bytes >> 30);
    let finding = Finding::in_cells(&cells, message, evidence, avoid);
    Detection { findings: vec![finding], ..Detection::default() }
}

/// The volume's size, and the size from which the cell's figure is stable.
fn sizes(one: &CheckedCell<'_>) -> Option<(Evidence, u64)> {
    one.report.warnings.iter().find_map(|report| {
        let Warning::DependsOnVolumeSize { volume_bytes, stands_from_bytes } = report.warning
        else {
            return None;
        };
        Some((one.evidence("volume_bytes", "bytes", volume_bytes as f64), stands_from_bytes))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::check::sample::outcome_of;
    use crate::check::{Mistake, Outcome};
    use crate::sample::{Sample, around};

    #[test]
    fn a_difference_on_a_small_volume_is_found() {
        let (low, high) = (around(1e5, 12), around(1e6, 12));
        let mut sample = Sample::new(&["ext4", "btrfs"]).benchmark("new", &[&low, &high]);
        sample.change("new", |cell| {
            cell.parameters.insert("operation".to_owned(), json!("create+write+close"));
            cell.parameters.insert("file_bytes".to_owned(), json!(4096));
        });
        let resized = |sample: &mut Sample, size_bytes: u64| {
            for target in &mut sample.run.manifest.targets {
                (target.scratch, target.size_bytes) = (true, size_bytes);
            }
        };
        resized(&mut sample, 2 << 30);
        let found = outcome_of(&sample, Mistake::VolumeSize);
        assert_eq!(found.outcome, Outcome::Found);
        let finding = &found.findings[0];
        assert!(finding.message.contains("on a volume of 64 GiB"), "{finding:?}");
        assert!(finding.avoid.starts_with("size=64g"), "{finding:?}");
        assert_eq!(
            (&*finding.benchmarks, &*finding.targets),
            (&["new".to_owned()][..], &["btrfs".to_owned()][..])
        );
        resized(&mut sample, 64 << 30);
        assert_eq!(outcome_of(&sample, Mistake::VolumeSize).outcome, Outcome::Passed);
    }
}
