//! What is wrong with a job file.

use std::io;
use std::path::PathBuf;

use crate::place::Place;

/// Why a job file cannot be read. Each message says where.
#[derive(Debug, thiserror::Error)]
pub enum JobFileError {
    /// The file cannot be read.
    #[error("the job file {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Not text.
    #[error("the job file {} is not text: line {line} is not UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first line that is not.
        line: usize,
    },
    /// A setting before the first section.
    #[error(
        "{place}: `{text}` stands before the first section; put [global] or a job's name, such \
             as [job1], above it"
    )]
    OutsideOfSections {
        /// Where.
        place: Place,
        /// The line.
        text: String,
    },
    /// A section line that does not end.
    #[error("{place}: `{text}` begins a section but does not end with `]`")]
    OpenSection {
        /// Where.
        place: Place,
        /// The line.
        text: String,
    },
    /// A section without a name.
    #[error("{place}: this section has no name; give it one, such as [job1]")]
    NamelessSection {
        /// Where.
        place: Place,
    },
    /// A section in an included file.
    #[error(
        "{place}: `{text}` begins a section, which an included file cannot do; it can only \
             have settings"
    )]
    SectionInIncluded {
        /// Where.
        place: Place,
        /// The line.
        text: String,
    },
    /// A file that includes itself, perhaps by way of others.
    #[error("{place}: {} includes itself", path.display())]
    IncludesItself {
        /// Where.
        place: Place,
        /// The file.
        path: PathBuf,
    },
    /// An included file that cannot be read.
    #[error("{place}: {} cannot be included: {source}", path.display())]
    NotIncluded {
        /// Where.
        place: Place,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A setting without a name.
    #[error("{place}: `{text}` has no option before the `=`")]
    NamelessSetting {
        /// Where.
        place: Place,
        /// The line.
        text: String,
    },
    /// A calculation that has no result.
    #[error("{place}: `{text}` cannot be calculated: {why}")]
    Calculation {
        /// Where.
        place: Place,
        /// The line.
        text: String,
        /// Why not.
        why: String,
    },
    /// A setting of no option.
    #[error("{place}: fio has no option `{name}`{hint}")]
    NoSuchOption {
        /// Where.
        place: Place,
        /// The name.
        name: String,
        /// One that may be meant.
        hint: String,
    },
    /// An option of another engine.
    #[error("{place}: `{name}` is an option of {engines}, and the engine is {engine}")]
    NotOfEngine {
        /// Where.
        place: Place,
        /// The option.
        name: &'static str,
        /// The engines that have it.
        engines: String,
        /// The job's.
        engine: String,
    },
    /// A value that its option cannot have.
    #[error("{place}: `{text}`: {why}")]
    BadValue {
        /// Where.
        place: Place,
        /// The line.
        text: String,
        /// Why not.
        why: String,
    },
    /// No job.
    #[error("the job file {} has no job: add a section such as [job1]", path.display())]
    NoJob {
        /// The file.
        path: PathBuf,
    },
    /// A section that was asked for and is not there.
    #[error("the job file {} has no section [{name}]", path.display())]
    NoSuchSection {
        /// The file.
        path: PathBuf,
        /// Its name.
        name: String,
    },
}
