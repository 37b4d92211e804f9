//! What a benchmark says besides its primary metric and what follows from that.

use record::CellReport;

use super::names;
use super::units::{self, Wording, unbroken};

/// One sentence per further metric, for example `first touch, brought in: ext4 128 KiB, xfs 64
/// KiB`.
pub(super) fn sentences(title: &str, cells: &[&CellReport]) -> Vec<String> {
    let mut metrics: Vec<&str> = Vec::new();
    for cell in cells {
        for metric in cell.metrics.iter().skip(1) {
            let name = metric.name.as_str();
            if !units::is_derived(name) && !metrics.contains(&name) {
                metrics.push(name);
            }
        }
    }
    let sentence = |name: &&str| {
        let of = |cell: &&CellReport| {
            let metric = cell.metrics.iter().find(|metric| metric.name == **name)?;
            let figure =
                units::figure(&metric.unit, metric.median, metric.interval.as_ref(), Wording::Full);
            let own = format!("{} {}", names::label(&cell.target), figure.value.trim_end());
            let interval = metric.interval.filter(|one| one.low < one.high);
            let interval = interval.and(figure.interval).map(|text| format!(" {text}"));
            Some(unbroken(&(own + &interval.unwrap_or_default())))
        };
        let figures: Vec<String> = cells.iter().filter_map(of).collect();
        format!("{title}, {}: {}", units::words(name), figures.join(", "))
    };
    metrics.iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use record::{Better, MetricReport};

    use super::*;
    use crate::sample::Sample;

    #[test]
    fn further_metrics_have_a_sentence_and_derived_ones_have_none() {
        let mut document = Sample::four_targets().document();
        for (cell, pages) in document.cells.iter_mut().zip([32.0, 32.0, 16.0, 8.0]) {
            cell.metrics.push(MetricReport {
                name: "window_size".to_owned(),
                unit: "bytes".to_owned(),
                better: Better::Neither,
                median: pages * 4096.0,
                mean: pages * 4096.0,
                interval: None,
                percentiles: Vec::new(),
                values: Vec::new(),
            });
        }
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        let said = sentences("create", &cells).join("|").replace('\u{a0}', " ");
        let expected =
            "create, window size: tmpfs 128 KiB, ext4 128 KiB, xfs 64.0 KiB, btrfs 32.0 KiB";
        assert_eq!(said, expected);
    }
}
