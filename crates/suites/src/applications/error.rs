//! Why the suite cannot run as requested.

use textual::{grouped, plural, size};
use thiserror::Error;

/// The most: far beyond the paper's, and still counted in a second.
pub(super) const FILES_MAX: u32 = 5_000_000;
/// The fewest: with less, a program's time is that of its start.
pub(super) const FILES_MIN: u32 = 100;

/// Why the suite cannot run as requested.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApplicationsError {
    /// There is no program of that name.
    #[error("there is no program '{name}'{suggestion}; --program takes {}", taken.join(", "))]
    NoProgram {
        /// The name given.
        name: String,
        /// The nearest name.
        suggestion: String,
        /// All that could be given.
        taken: Vec<&'static str>,
    },
    /// A program is named twice.
    #[error("--program names {name} twice")]
    Twice {
        /// The name given.
        name: String,
    },
    /// A program is not there.
    #[error("{executable} is not installed; install it with `apt install {package}`")]
    NotInstalled {
        /// What would be executed.
        executable: &'static str,
        /// Debian's package.
        package: &'static str,
    },
    /// There are too few files or too many.
    #[error(
        "programs run on trees of {} to {} files, but --files is {}: give {}",
        grouped(f64::from(FILES_MIN)),
        grouped(f64::from(*most)),
        grouped(f64::from(*files)),
        if *files < FILES_MIN { FILES_MIN } else { *most }
    )]
    OddFiles {
        /// The number requested.
        files: u32,
        /// The most.
        most: u32,
    },
    /// It has several threads, or starts other programs.
    #[error(
        "{name} has several threads, which are not told apart in a trace: choose --program from \
         grep, find, tar"
    )]
    NotTraced {
        /// The name given.
        name: String,
    },
    /// The tree does not fit on a target.
    #[error(
        "a tree of {} takes up to {} with its repository, but {label} has {} free: give fewer \
         --files{or_more_room}",
        plural(*files as usize, "file"),
        size(*needed_bytes as f64, 3),
        size(*free_bytes as f64, 3)
    )]
    NoRoom {
        /// The number requested.
        files: u32,
        /// What they take.
        needed_bytes: u64,
        /// The label of the target.
        label: String,
        /// What it has free.
        free_bytes: u64,
        /// What would give it more, as a second suggestion.
        or_more_room: &'static str,
    },
    /// A target cannot hold so many files.
    #[error(
        "a tree of {} needs {needed} inodes with its directories and its repository, but {label} \
         has {free_inodes} free: give fewer --files{or_more_room}",
        plural(*files as usize, "file")
    )]
    NoInodes {
        /// The number requested.
        files: u32,
        /// What they take.
        needed: u64,
        /// The label of the target.
        label: String,
        /// What it has free.
        free_inodes: u64,
        /// What would give it more, as a second suggestion.
        or_more_room: &'static str,
    },
}
