//! File sets: the files and directories that benchmarks work on, made anew for every block.

use workload::{DataFiles, DirectorySet, FileSetSpec, Role, SourceTree};

/// The files and directories that a benchmark works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileSetKind {
    /// One data file that is read and one that is written, both of the run's data size.
    Data,
    /// One data file of the run's data size that is read cold. It is separate from that of
    /// [`FileSetKind::Data`], which thus stays as it was read in for one warm benchmark after
    /// another.
    ColdData,
    /// Many directories of 100 entries, so that they stay near 100 while each directory takes its
    /// share of the operations.
    SmallDirectories,
    /// One directory of 10,000 entries.
    LargeDirectory,
    /// Two directories of 1,000 entries: one for each of two threads, or one shared by both.
    TwoDirectories,
    /// Data files with a size of their own.
    Files(FileSpec),
    /// Directories of any number and shape.
    Directories(DirectorySpec),
    /// A tree of so many files like a program's sources.
    Sources(u32),
}

/// Data files with a size of their own, all for reading or all for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileSpec {
    /// How many.
    pub count: usize,
    /// The size of each, in bytes.
    pub bytes: u64,
    /// Whether operations write them instead of reading them.
    pub are_written: bool,
}

/// Directories of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DirectorySpec {
    /// Entries in each.
    pub entries: u64,
    /// How many.
    pub count: usize,
    /// Components in the paths that operations resolve: 1 means a name in an open directory.
    pub depth: usize,
    /// Bytes of each name.
    pub name_bytes: usize,
    /// The size of each entry, including those that operations add.
    pub entry_bytes: u64,
    /// The most operations per thread that add or remove entries.
    pub additions: u64,
}

impl DirectorySpec {
    /// Bytes of each name by default.
    pub(crate) const NAME_BYTES: usize = 12;
    /// The least number of entries in all directories together, as far as the limit on directories
    /// allows.
    const ENTRIES: u64 = 6400;
    /// The most directories: each is kept open.
    const COUNT: u64 = 480;

    /// Directories of `entries` entries each: empty files with names of 12 bytes, in open
    /// directories. There are several small ones, so that operations change each by a quarter at
    /// most.
    #[must_use]
    pub fn with_entries(entries: u64) -> Self {
        let count = (Self::ENTRIES / entries.max(1)).clamp(1, Self::COUNT);
        Self {
            entries,
            count: usize::try_from(count).unwrap_or(1),
            depth: 1,
            name_bytes: Self::NAME_BYTES,
            entry_bytes: 0,
            additions: (count * entries / 4).max(1),
        }
    }
}

impl FileSetKind {
    /// Number of directories and of entries in each; `None` for data files.
    #[must_use]
    pub fn directories(self) -> Option<(usize, u64)> {
        match self {
            Self::Data | Self::ColdData | Self::Files(_) | Self::Sources(_) => None,
            Self::SmallDirectories => Some((64, 100)),
            Self::LargeDirectory => Some((1, 10_000)),
            Self::TwoDirectories => Some((2, 1_000)),
            Self::Directories(set) => Some((set.count, set.entries)),
        }
    }

    /// The size of each entry of its directories.
    pub(crate) fn entry_bytes(self) -> u64 {
        self.directory_set().entry_bytes
    }

    /// The most operations per thread that add entries to these directories or remove them: few
    /// enough that small and large directories stay what they are, and in the two directories,
    /// enough that threads overlap for much longer than they take to start.
    #[must_use]
    pub(crate) fn additions_max(self) -> u64 {
        match self {
            Self::TwoDirectories => 1_152,
            Self::Directories(set) => set.additions,
            Self::Data
            | Self::ColdData
            | Self::SmallDirectories
            | Self::LargeDirectory
            | Self::Files(_)
            | Self::Sources(_) => self.entries() / 4,
        }
    }

    /// Entries of all its directories together.
    #[must_use]
    pub fn entries(self) -> u64 {
        self.directories().map_or(0, |(count, entries)| count as u64 * entries)
    }

    /// Size of each data file, given the run's data size.
    #[must_use]
    pub fn file_bytes(self, data_file_bytes: u64) -> u64 {
        match self {
            Self::Files(files) => files.bytes,
            Self::Data
            | Self::ColdData
            | Self::SmallDirectories
            | Self::LargeDirectory
            | Self::TwoDirectories
            | Self::Directories(_)
            | Self::Sources(_) => data_file_bytes,
        }
    }

    /// Bytes of all its files together, including those that operations add.
    pub(crate) fn bytes(self, data_file_bytes: u64) -> u64 {
        match self {
            Self::Data => 2 * data_file_bytes,
            Self::ColdData => data_file_bytes,
            Self::Files(files) => files.count as u64 * files.bytes,
            Self::Directories(set) => {
                (set.count as u64 * set.entries + set.additions) * set.entry_bytes
            }
            Self::Sources(files) => SourceTree { files }.bytes(),
            Self::SmallDirectories | Self::LargeDirectory | Self::TwoDirectories => 0,
        }
    }

    /// The name of its directory on a target.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Data => "data".to_owned(),
            Self::ColdData => "cold-data".to_owned(),
            Self::SmallDirectories => "small-directories".to_owned(),
            Self::LargeDirectory => "large-directory".to_owned(),
            Self::TwoDirectories => "two-directories".to_owned(),
            Self::Files(FileSpec { count, bytes, are_written }) => {
                let role = if are_written { "written" } else { "read" };
                format!("files-{count}-of-{bytes}-{role}")
            }
            Self::Directories(set) => {
                let DirectorySpec { entries, count, depth, name_bytes, entry_bytes, additions } =
                    set;
                let form = format!("{depth}-{name_bytes}-{additions}-{entry_bytes}");
                format!("directories-{count}-of-{entries}-{form}")
            }
            Self::Sources(files) => format!("sources-{files}"),
        }
    }

    /// The shape of its directories, if it has any.
    pub(crate) fn directory_set(self) -> DirectorySet {
        let (count, entries) = self.directories().unwrap_or_default();
        let set = DirectorySet { count, entries, ..DirectorySet::default() };
        match self {
            Self::Directories(DirectorySpec { depth, name_bytes, entry_bytes, .. }) => {
                DirectorySet { depth, name_bytes, entry_bytes, ..set }
            }
            Self::Data
            | Self::ColdData
            | Self::SmallDirectories
            | Self::LargeDirectory
            | Self::TwoDirectories
            | Self::Files(_)
            | Self::Sources(_) => set,
        }
    }

    /// What its file set consists of.
    pub(crate) fn specification(self, data_file_bytes: u64) -> FileSetSpec {
        let directories = self.directory_set();
        let (count, size_bytes) = match self {
            Self::Data | Self::ColdData => (1, data_file_bytes),
            Self::Files(files) => (files.count, files.bytes),
            Self::SmallDirectories
            | Self::LargeDirectory
            | Self::TwoDirectories
            | Self::Directories(_)
            | Self::Sources(_) => (0, 0),
        };
        let of_role = |role| {
            let count = if self.has_files_of(role) { count } else { 0 };
            DataFiles { count, size_bytes }
        };
        let (read_files, write_files) = (of_role(Role::Read), of_role(Role::Write));
        let files = if let Self::Sources(files) = self { files } else { 0 };
        FileSetSpec { read_files, write_files, directories, sources: SourceTree { files } }
    }

    fn has_files_of(self, role: Role) -> bool {
        match self {
            Self::Files(files) => files.are_written == (role == Role::Write),
            Self::ColdData => role == Role::Read,
            Self::Data
            | Self::SmallDirectories
            | Self::LargeDirectory
            | Self::TwoDirectories
            | Self::Directories(_)
            | Self::Sources(_) => true,
        }
    }

    /// Roughly how long it takes to make, in seconds.
    pub(crate) fn making_estimate_s(self, data_file_bytes: u64) -> f64 {
        /// Typical of file systems on fast devices.
        const BYTES_PER_S: f64 = 400e6;
        const ENTRIES_PER_S: f64 = 30_000.0;
        let files = if let Self::Sources(files) = self { files.into() } else { self.entries() };
        self.bytes(data_file_bytes) as f64 / BYTES_PER_S + files as f64 / ENTRIES_PER_S
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn small_directories_are_several_so_that_each_changes_by_a_quarter_at_most() {
        for (entries, count, additions) in [
            (10, 480, 1_200),
            (100, 64, 1_600),
            (1_000, 6, 1_500),
            (10_000, 1, 2_500),
            (1, 480, 120),
        ] {
            let set = DirectorySpec::with_entries(entries);
            assert_eq!((set.count, set.additions), (count, additions), "{entries}");
        }
    }

    #[test]
    fn places_that_differ_have_names_that_differ() {
        let set = DirectorySpec::with_entries(100);
        let files = FileSpec { count: 1, bytes: 4096, are_written: false };
        let file_sets = [
            FileSetKind::Data,
            FileSetKind::ColdData,
            FileSetKind::SmallDirectories,
            FileSetKind::Directories(set),
            FileSetKind::Directories(DirectorySpec { depth: 4, ..set }),
            FileSetKind::Directories(DirectorySpec { name_bytes: 64, ..set }),
            FileSetKind::Directories(DirectorySpec { count: 1, ..set }),
            FileSetKind::Directories(DirectorySpec { entry_bytes: 4096, ..set }),
            FileSetKind::Files(files),
            FileSetKind::Files(FileSpec { are_written: true, ..files }),
            FileSetKind::Files(FileSpec { bytes: 8192, ..files }),
            FileSetKind::Sources(10),
            FileSetKind::Sources(11),
        ];
        let names: BTreeSet<String> = file_sets.iter().map(|file_set| file_set.name()).collect();
        assert_eq!(names.len(), file_sets.len());
    }

    #[test]
    fn a_file_set_holds_what_its_place_says_and_nothing_else() {
        let files = FileSpec { count: 3, bytes: 4096, are_written: true };
        let spec = FileSetKind::Files(files).specification(1 << 20);
        assert_eq!((spec.read_files.count, spec.directories.count), (0, 0));
        assert_eq!(spec.write_files, DataFiles { count: 3, size_bytes: 4096 });
        let set = DirectorySpec {
            depth: 4,
            name_bytes: 64,
            entry_bytes: 10,
            ..DirectorySpec::with_entries(1_000)
        };
        let spec = FileSetKind::Directories(set).specification(1 << 20);
        assert_eq!((spec.read_files.count, spec.write_files.count), (0, 0));
        let (depth, name_bytes, entry_bytes) = (4, 64, 10);
        let expected = DirectorySet { count: 6, entries: 1_000, entry_bytes, depth, name_bytes };
        assert_eq!(spec.directories, expected);
        assert_eq!(FileSetKind::Directories(set).bytes(1 << 20), (6_000 + 1_500) * 10);
    }
}
