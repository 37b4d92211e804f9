//! I/O logs of fio 3.33: what `write_iolog` records, and what `read_iolog` replays.
//!
//! A log is text. Its first line has the version, every other line an [`Entry`]: a file is added,
//! opened or closed, or an operation goes to one. In version 3, the only one that is written,
//! each line begins with microseconds since the log was begun. Version 2 has no times, but lines
//! that wait. The format is in fio's manual, section "Trace file format".
//!
//! - [`IologWriter`] records.
//! - [`IologReader`] reads the lines of a log, as they are.
//! - [`Replay`] is what a job executes: the same lines with the options that change them applied,
//!   checked to be possible one after another, and timed.
//!
//! What fio makes of a log was observed in fio 3.33, since its manual differs:
//!
//! - In version 2, `wait` has milliseconds since fio began, not microseconds since the last wait.
//! - In version 3, times up to the first that isn't 0 are not waited for, and neither is a time
//!   that is before that of the line above or comes just after a 0.
//! - The time between a line that is ignored and the line above it is not waited for.
//! - Trims are not replayed ([`TrimReplay`]); `replay_skip` is only heeded for traces of blktrace.
//! - No file is created, extended or filled for a replay beyond what opening for writing does.
//!
//! Where fio crashes, as with files that were never added, there is an [`IologError`].

#![forbid(unsafe_code)]

mod entry;
mod error;
mod job_log;
mod parse;
mod place;
mod reader;
mod replay;
mod source;
mod writer;

pub use entry::{Entry, EntryAction, IoKind, IologVersion};
pub use error::IologError;
pub use job_log::log_of_job;
pub use parse::{Line, Unusable, UnusableReason};
pub use place::Place;
pub use reader::IologReader;
pub use replay::{
    Access, DirectionTotals, Extent, FileIndex, Remark, RemarkReason, Remarks, Replay,
    ReplayAction, ReplayEvent, ReplayFile, ReplayOptions, ReplaySkip, Totals, TrimReplay,
    UnknownSkip,
};
pub use source::Source;
pub use writer::{IologWriter, LoggedFile};
