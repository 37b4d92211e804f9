//! What the paper prints: bandwidths in MB/s, each with the number in brackets that follows it.
//! Figures are drawn without numbers.

use std::collections::BTreeMap;

/// The unit of rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// MB of 2^20 bytes per second.
    Megabytes,
    /// Files per second.
    Files,
}

impl Unit {
    /// Its abbreviation.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Megabytes => "MB/s",
            Self::Files => "files/s",
        }
    }

    /// What to divide a rate in bytes or files per second by.
    pub(super) fn divisor(self) -> f64 {
        match self {
            Self::Megabytes => f64::from(1 << 20),
            Self::Files => 1.0,
        }
    }
}

/// A table or figure of the paper.
pub(super) struct Item {
    /// Its name as an item.
    pub(super) item: &'static str,
    /// What it shows.
    pub(super) title: &'static str,
    /// The unit of its rates.
    pub(super) unit: Unit,
    /// Its columns.
    columns: &'static [&'static str],
    /// Its rows: the phase, and the entry in each column.
    rows: &'static [(&'static str, &'static [&'static str])],
}

impl Item {
    /// What the paper prints for a phase, by column.
    pub(super) fn published(&self, phase: &str) -> BTreeMap<&'static str, &'static str> {
        let row = self.rows.iter().find(|(name, _)| *name == phase);
        let values = row.map(|(_, values)| values.iter().copied()).into_iter().flatten();
        self.columns.iter().copied().zip(values).collect()
    }
}

const SYSTEMS: &[&str] = &["ext2", "ramfs"];

/// Every row for which the paper prints numbers: its item, and its phase.
#[cfg(test)]
pub(super) fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    ITEMS.iter().flat_map(|item| item.rows.iter().map(|(phase, _)| (item.item, *phase)))
}

const fn figure(item: &'static str, title: &'static str) -> Item {
    Item { item, title, unit: Unit::Megabytes, columns: SYSTEMS, rows: &[] }
}

const fn table(
    item: &'static str,
    title: &'static str,
    rows: &'static [(&'static str, &'static [&'static str])],
) -> Item {
    Item { item, title, unit: Unit::Megabytes, columns: SYSTEMS, rows }
}

/// All tables and figures, in the order of the paper.
pub(super) const ITEMS: [Item; 15] = [
    figure("figure-1", "the benchmark as published, 1 MiB"),
    table(
        "table-2",
        "three sequential reads after a write",
        &[
            ("sequential-write", &["14 (+0.29)", "390 (+0.80)"]),
            ("sequential-read-1", &["520 (+1.4)", "400 (+0.65)"]),
            ("sequential-read-2", &["530 (+0.65)", "520 (+2.5)"]),
            ("sequential-read-3", &["530 (+2.6)", "530 (+0.73)"]),
        ],
    ),
    table(
        "table-3",
        "two sequential reads of a file that existed before",
        &[
            ("pre-read-1", &["480 (+0.98)", "480 (+1.3)"]),
            ("pre-read-2", &["520 (+2.7)", "520 (+0.0)"]),
        ],
    ),
    table(
        "table-4",
        "a read, a write and a read of a file that existed before",
        &[
            ("pre-read", &["480 (+1.5)", "480 (+1.4)"]),
            ("sequential-write", &["14 (+0.47)", "400 (+1.2)"]),
            ("sequential-read", &["520 (+0.73)", "400 (+1.3)"]),
        ],
    ),
    table(
        "table-5",
        "a read after a write with pauses of 1 us",
        &[
            // Printed in KB/s: 200 (+0.32) and 200 (+0.40).
            ("sequential-write", &["0.2 (+0.00032)", "0.2 (+0.00040)"]),
            // The paper prints KB/s here as well, but its text contradicts that.
            ("sequential-read", &["510 (+1.9)", "410 (+5.5)"]),
        ],
    ),
    table(
        "table-6",
        "a read after a random write",
        &[
            ("random-write", &["9.2 (+0.27)", "280 (+2.3)"]),
            ("sequential-read", &["510 (+1.4)", "400 (+1.4)"]),
        ],
    ),
    table(
        "table-8",
        "three sequential writes",
        &[
            ("sequential-write-1", &["13 (+0.61)", "380 (+1.4)"]),
            ("sequential-write-2", &["16 (+0.32)", "350 (+0.80)"]),
            ("sequential-write-3", &["16 (+0.32)", "350 (+0.65)"]),
        ],
    ),
    table(
        "table-9",
        "two reads after a write, 128 KiB",
        &[
            ("sequential-write", &["4.9 (+0.43)", "600 (+0.61)"]),
            ("sequential-read-1", &["440 (+5.7)", "810 (+25)"]),
            ("sequential-read-2", &["1200 (+35)", "1400 (+52)"]),
        ],
    ),
    Item {
        item: "table-10",
        title: "an array of 1 MiB written, read and read again, with no file system",
        unit: Unit::Megabytes,
        columns: &["program"],
        rows: &[
            ("write", &["220 (+0.32)"]),
            ("first-read", &["150 (+31)"]),
            ("second-read", &["200 (+1.3)"]),
        ],
    },
    figure("figure-4", "10 of 11 files of 1 MiB"),
    figure("figure-5", "the same with page-aligned random operations"),
    figure("figure-6", "the same on files of 128 KiB"),
    figure("figure-7", "the same with padded sequential operations"),
    Item {
        unit: Unit::Files,
        ..figure("figure-8", "the last six tests of Bonnie++, 1024 directories of 16 empty files")
    },
    figure("section-10", "8 MiB written and read whole or in slices, with more or fewer calls"),
];
