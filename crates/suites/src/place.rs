//! Places: the files and directories that benchmarks work on, made anew for every block.

use workload::{DataFiles, DirectorySet, FileSetSpec};

/// The files and directories that a benchmark works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// One data file that is read and one that is written, both of the run's data size.
    Data,
    /// Many directories of 100 entries: the number of entries stays about 100 while each
    /// directory takes its share of the operations.
    SmallDirectories,
    /// One directory of 10,000 entries.
    LargeDirectory,
    /// Two directories of 1,000 entries, for one thread each or for both in one.
    TwoDirectories,
    /// One file of so many bytes that is only read.
    ReadFile(u64),
}

impl Place {
    /// Number of directories and of entries in each; none for data files.
    #[must_use]
    pub fn directories(self) -> Option<(usize, u64)> {
        match self {
            Self::Data | Self::ReadFile(_) => None,
            Self::SmallDirectories => Some((32, 100)),
            Self::LargeDirectory => Some((1, 10_000)),
            Self::TwoDirectories => Some((2, 1_000)),
        }
    }

    /// Most operations per thread that add entries to these directories (or take them away): few
    /// enough that small and large directories stay what they are; in the two directories, enough
    /// that threads overlap for much longer than they take to start.
    #[must_use]
    pub fn additions_max(self) -> u64 {
        match self {
            Self::TwoDirectories => 1_000,
            _ => self.entries() / 10,
        }
    }

    /// Entries of all its directories together.
    #[must_use]
    pub fn entries(self) -> u64 {
        self.directories().map_or(0, |(count, entries)| count as u64 * entries)
    }

    /// The name of its directory within a target.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Data => "data".to_owned(),
            Self::SmallDirectories => "small-directories".to_owned(),
            Self::LargeDirectory => "large-directory".to_owned(),
            Self::TwoDirectories => "two-directories".to_owned(),
            Self::ReadFile(bytes) => format!("read-file-{bytes}"),
        }
    }

    /// What its file set consists of.
    pub(crate) fn specification(self, data_file_bytes: u64) -> FileSetSpec {
        let file = |size_bytes| DataFiles { count: 1, size_bytes };
        if let Self::ReadFile(bytes) = self {
            return FileSetSpec { read_files: file(bytes), ..FileSetSpec::default() };
        }
        let file = file(data_file_bytes);
        match self.directories() {
            None => FileSetSpec { read_files: file, write_files: file, ..FileSetSpec::default() },
            Some((count, entries)) => FileSetSpec {
                directories: DirectorySet { count, entries },
                ..FileSetSpec::default()
            },
        }
    }

    /// Roughly what making it takes, in seconds.
    pub(crate) fn making_estimate_s(self, data_file_bytes: u64) -> f64 {
        /// What file systems on fast devices do.
        const BYTES_PER_S: f64 = 400e6;
        const ENTRIES_PER_S: f64 = 30_000.0;
        match self {
            Self::Data => 2.0 * data_file_bytes as f64 / BYTES_PER_S,
            Self::ReadFile(bytes) => bytes as f64 / BYTES_PER_S,
            _ => self.entries() as f64 / ENTRIES_PER_S,
        }
    }
}
