//! Differences that depend on the size of the volume: on a larger one they would not exist.
//!
//! The facts were measured once, on volumes of several sizes
//! ([docs/volume-size.md](../../../../docs/volume-size.md)), and are listed here in a table.

use record::{CellReport, Comparison, TargetRecord, Warning};
use serde_json::Value;

/// Figures of a file system that change with the size of its volume.
struct SizeDependence {
    file_system: &'static str,
    /// The operation and, if it matters, the order in which it accesses its file.
    operation: &'static str,
    access: Option<&'static str>,
    /// The parameter that says how much one operation writes, and the amount that was measured.
    written: (&'static str, u64),
    /// The smallest measured size from which the figure is stable: at four times that, it is the
    /// same.
    stands_from_bytes: u64,
}

/// docs/volume-size.md, "What moves with the size": btrfs waits for metadata space.
const KNOWN: [SizeDependence; 2] = [
    SizeDependence {
        file_system: "btrfs",
        operation: "write",
        access: Some("random"),
        written: ("request_bytes", 4096),
        stands_from_bytes: 64 << 30,
    },
    SizeDependence {
        file_system: "btrfs",
        operation: "create+write+close",
        access: None,
        written: ("file_bytes", 4096),
        stands_from_bytes: 64 << 30,
    },
];

/// Adds a warning to cells whose figures depend on the volume's size, if that leads to a real
/// difference.
pub(super) fn warn(cells: &mut [CellReport], comparisons: &[Comparison], targets: &[TargetRecord]) {
    for cell in cells {
        let is_of_cell = |one: &&Comparison| {
            one.benchmark == cell.benchmark && [&one.first, &one.second].contains(&&cell.target)
        };
        let mut differences = comparisons.iter().filter(|one| one.verdict.is_different());
        let target = targets.iter().find(|target| target.label == cell.target);
        let (Some(_), Some(target)) = (differences.find(is_of_cell), target) else { continue };
        cell.warnings.extend(depends(cell, target).map(record::WarningReport::from));
    }
}

fn depends(cell: &CellReport, target: &TargetRecord) -> Option<Warning> {
    let known = KNOWN.iter().find(|known| known.is_of(cell, target))?;
    // The size of a user's own volume is a given, not a condition of the run.
    let is_smaller = target.scratch && target.size_bytes < known.stands_from_bytes;
    is_smaller.then_some(Warning::DependsOnVolumeSize {
        volume_bytes: target.size_bytes,
        stands_from_bytes: known.stands_from_bytes,
    })
}

impl SizeDependence {
    fn is_of(&self, cell: &CellReport, target: &TargetRecord) -> bool {
        let word = |name: &str| cell.parameters.get(name).and_then(Value::as_str);
        let (name, bytes) = self.written;
        // Only buffered I/O: an I/O path past the page cache reserves nothing for pages.
        target.file_system == self.file_system
            && word("io_path").is_none()
            && word("operation") == Some(self.operation)
            && self.access.is_none_or(|access| word("access") == Some(access))
            && cell.parameters.get(name).and_then(Value::as_u64) == Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use record::{Document, Warning};
    use serde_json::json;

    use crate::Options;
    use crate::sample::{Sample, around};
    use crate::terminal::{render_answer, render_terminal};

    /// A random write on two volumes; the second takes `times` as long.
    fn document(file_system: &str, size_bytes: u64, times: f64, request_bytes: u64) -> Document {
        let (low, high) = (around(1e5, 12), around(1e5 * times, 12));
        let mut sample = Sample::new(&["ext4", file_system]).benchmark("write", &[&low, &high]);
        sample.change("write", |cell| {
            for (name, value) in [
                ("operation", json!("write")),
                ("access", json!("random")),
                ("request_bytes", json!(request_bytes)),
            ] {
                cell.parameters.insert(name.to_owned(), value);
            }
        });
        for target in &mut sample.run.manifest.targets {
            (target.scratch, target.size_bytes) = (true, size_bytes);
        }
        sample.ended().document()
    }

    /// The targets whose cells have the warning.
    fn warned(file_system: &str, size_bytes: u64, times: f64, request_bytes: u64) -> Vec<String> {
        let document = document(file_system, size_bytes, times, request_bytes);
        let warned = document.cells.iter().filter(|cell| {
            let mut warnings = cell.warnings.iter().map(|report| &report.warning);
            warnings.any(|warning| matches!(warning, Warning::DependsOnVolumeSize { .. }))
        });
        warned.map(|cell| cell.target.clone()).collect()
    }

    #[test]
    fn a_real_difference_is_doubted_below_the_size_from_which_the_figure_stands() {
        assert_eq!(warned("btrfs", 2 << 30, 10.0, 4096), ["btrfs"]);
        assert!(warned("btrfs", 64 << 30, 10.0, 4096).is_empty(), "the usual size");
        assert!(warned("btrfs", 2 << 30, 1.0, 4096).is_empty(), "no difference");
        assert!(warned("xfs", 2 << 30, 10.0, 4096).is_empty(), "another file system");
        assert!(warned("btrfs", 2 << 30, 10.0, 1 << 20).is_empty(), "another size of requests");
    }

    #[test]
    fn the_report_and_the_closing_screen_say_so() {
        let options = Options { width: 80, colour: false };
        let texts = |size_bytes| {
            let document = document("btrfs", size_bytes, 10.0, 4096);
            let report = render_terminal(&document, &options);
            let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
            (report, render_answer(&document, Path::new("run"), None, &options))
        };
        let (report, screen) = texts(2 << 30);
        assert!(report.contains("; depends on the volume's size (btrfs)"), "{report}");
        assert!(report.contains("Depends on the volume's size, which is 2 GiB: on"), "{report}");
        assert!(screen.contains("\n* write: btrfs 10.0"), "{screen}");
        assert!(screen.contains("\n* depends on the volume's size"), "{screen}");
        let (report, screen) = texts(64 << 30);
        assert!(!report.contains("depends on the volume") && !screen.contains("depends on"));
    }
}
