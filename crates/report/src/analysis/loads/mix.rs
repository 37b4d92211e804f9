//! A load as a mix of operations that benchmarks measure.

/// A mix of operations: how many of each make one unit, such as a transaction or a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Name, as on the command line.
    pub name: String,
    /// Title: `a mail server`.
    pub title: String,
    /// What one unit is: `one message`.
    pub unit: String,
    /// Where the operations and their numbers are taken from.
    pub source: String,
    /// What it leaves out.
    pub leaves_out: String,
    /// Whether what was written must survive a power failure, so that a file system in memory is
    /// not an option.
    pub(crate) must_last: bool,
    /// Its operations.
    pub(crate) operations: Vec<LoadOperation>,
    /// What running a program with this mix has shown; `None` for the user's own mixes.
    pub(crate) validation: Option<Validation>,
}

/// A program that performs a load's mix, and the pairs of file systems that it and a survey have
/// ranked in the same order (docs/loads.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validation {
    /// The program.
    pub(crate) program: &'static str,
    /// The pairs, the faster of each first.
    pub(crate) confirmed: &'static [(&'static str, &'static str)],
    /// The pairs that it ranked in the opposite order.
    pub(crate) contradicted: &'static [(&'static str, &'static str)],
}

impl Load {
    /// The benchmarks that measure its operations.
    #[must_use]
    pub fn benchmarks(&self) -> Vec<&str> {
        let terms = self.operations.iter().flat_map(LoadOperation::terms);
        terms.map(|(benchmark, _)| benchmark).collect()
    }
}

/// Operations of one kind in a unit of a load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadOperation {
    /// Their name in the explanation of a difference: `fsync`, `reads`.
    pub(crate) kind: String,
    /// Number of them in a unit.
    pub(crate) count: f64,
    /// What measures one of them.
    pub(crate) measured: MeasuredBy,
}

/// The benchmarks whose mean times give the time of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MeasuredBy {
    /// The benchmark of this name.
    Benchmark(String),
    /// A transfer of this many bytes.
    Transfer(Transfer, u64),
}

/// Transfers that are measured in two sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// Sequential reads of data in memory.
    SequentialReadWarm,
    /// Sequential reads of data that is not in memory.
    SequentialReadCold,
    /// Random reads of data in memory.
    RandomReadWarm,
    /// Random reads of data that is not in memory.
    RandomReadCold,
    /// Sequential writes to pages in memory.
    SequentialWriteWarm,
    /// Random writes to pages in memory that have been written before.
    RandomWriteWarm,
    /// First random writes to pages in memory.
    RandomWriteClean,
    /// Files in memory that are opened, read whole and closed.
    ReadFile,
    /// Files that are created, written and closed.
    NewFile,
}

impl Transfer {
    pub(crate) const ALL: [Self; 9] = [
        Self::SequentialReadWarm,
        Self::SequentialReadCold,
        Self::RandomReadWarm,
        Self::RandomReadCold,
        Self::SequentialWriteWarm,
        Self::RandomWriteWarm,
        Self::RandomWriteClean,
        Self::ReadFile,
        Self::NewFile,
    ];

    /// Its name in a load file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SequentialReadWarm => "sequential-read-warm",
            Self::SequentialReadCold => "sequential-read-cold",
            Self::RandomReadWarm => "random-read-warm",
            Self::RandomReadCold => "random-read-cold",
            Self::SequentialWriteWarm => "sequential-write-warm",
            Self::RandomWriteWarm => "random-write-warm",
            Self::RandomWriteClean => "random-write-clean",
            Self::ReadFile => "read-file",
            Self::NewFile => "new-file",
        }
    }

    /// Whether it reads.
    pub(crate) fn is_read(self) -> bool {
        match self {
            Self::SequentialReadWarm
            | Self::SequentialReadCold
            | Self::RandomReadWarm
            | Self::RandomReadCold
            | Self::ReadFile => true,
            Self::SequentialWriteWarm
            | Self::RandomWriteWarm
            | Self::RandomWriteClean
            | Self::NewFile => false,
        }
    }

    /// The larger of the two measured sizes; the smaller is [`SMALL`].
    fn large(self) -> f64 {
        match self {
            Self::ReadFile | Self::NewFile => 32_768.0,
            Self::SequentialReadWarm
            | Self::SequentialReadCold
            | Self::RandomReadWarm
            | Self::RandomReadCold
            | Self::SequentialWriteWarm
            | Self::RandomWriteWarm
            | Self::RandomWriteClean => 1_048_576.0,
        }
    }

    /// The benchmarks of the smaller and the larger size.
    fn benchmarks(self) -> [&'static str; 2] {
        match self {
            Self::ReadFile => ["read-file-4k", "read-file-32k"],
            Self::NewFile => ["new-file-4k", "new-file-32k"],
            Self::SequentialReadWarm => ["sequential-read-4k-warm", "sequential-read-1m-warm"],
            Self::SequentialReadCold => ["sequential-read-4k-cold", "sequential-read-1m-cold"],
            Self::RandomReadWarm => ["random-read-4k-warm", "random-read-1m-warm"],
            Self::RandomReadCold => ["random-read-4k-cold", "random-read-1m-cold"],
            Self::SequentialWriteWarm => ["sequential-write-4k-warm", "sequential-write-1m-warm"],
            Self::RandomWriteWarm => ["random-write-4k-warm", "random-write-1m-warm"],
            Self::RandomWriteClean => ["random-write-4k-clean", "random-write-1m-clean"],
        }
    }
}

/// The smaller of the two sizes in which each transfer is measured.
const SMALL: f64 = 4096.0;

impl LoadOperation {
    /// The benchmarks that it is estimated from, each with the weight of its mean time. Beyond 4
    /// KiB, the time of a transfer grows linearly with its size, as given by the two benchmarks. A
    /// smaller transfer takes as long as 4 KiB, since no less is ever moved.
    pub(crate) fn terms(&self) -> Vec<(&str, f64)> {
        match &self.measured {
            MeasuredBy::Benchmark(name) => vec![(name, self.count)],
            &MeasuredBy::Transfer(transfer, bytes) => {
                let [small, large] = transfer.benchmarks();
                let large_bytes = transfer.large();
                let beyond = ((bytes as f64 - SMALL) / (large_bytes - SMALL)).max(0.0);
                let weights = [(small, 1.0 - beyond), (large, beyond)];
                // Beyond the larger size, a transfer counts as a multiple of it.
                let weights = if beyond > 1.0 {
                    vec![(large, bytes as f64 / large_bytes)]
                } else {
                    weights.into_iter().filter(|(_, weight)| *weight > 0.0).collect()
                };
                weights.into_iter().map(|(name, weight)| (name, weight * self.count)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(bytes: u64) -> Vec<(String, f64)> {
        let measured = MeasuredBy::Transfer(Transfer::RandomReadCold, bytes);
        let operation = LoadOperation { kind: "reads".to_owned(), count: 2.0, measured };
        operation.terms().into_iter().map(|(name, weight)| (name.to_owned(), weight)).collect()
    }

    #[test]
    fn a_transfer_lies_between_the_two_sizes_that_are_measured() {
        let [small, large] = ["random-read-4k-cold", "random-read-1m-cold"].map(str::to_owned);
        assert_eq!(terms(512), [(small.clone(), 2.0)]);
        assert_eq!(terms(4096), [(small.clone(), 2.0)]);
        assert_eq!(terms(1 << 20), [(large.clone(), 2.0)]);
        assert_eq!(terms(4 << 20), [(large.clone(), 8.0)]);
        let middle = terms((4096 + (1 << 20)) / 2);
        assert_eq!(middle, [(small, 1.0), (large, 1.0)]);
        let files = LoadOperation {
            kind: "files".to_owned(),
            count: 3.0,
            measured: MeasuredBy::Transfer(Transfer::NewFile, (4096 + 32_768) / 2),
        };
        assert_eq!(files.terms(), [("new-file-4k", 1.5), ("new-file-32k", 1.5)]);
    }
}
