//! The engine: executes a described [`Workload`] on a [`FileSet`], and times each operation.
//!
//! A replicate has four steps:
//!
//! 1. [`prepare`] opens files and directories, fills buffers and makes the files to be unlinked:
//!    untimed.
//! 2. The caller establishes and verifies the cache state of the paths in [`Session::touched`].
//! 3. [`Session::run`] starts the threads together and returns an [`Outcome`].
//! 4. [`Session::restore`] puts the file set back as it was: untimed. Dropping a session does the
//!    same.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use workload::{DirectorySet, FileSet, FileSetSpec, Operation, Workload, prepare};
//!
//! # fn main() -> Result<(), workload::EngineError> {
//! # let root = std::env::temp_dir().join(format!("fsprism-example-{}", std::process::id()));
//! # std::fs::create_dir_all(&root).expect("the temporary directory is writable");
//! let stop = AtomicBool::new(false);
//! let directories = DirectorySet { count: 1, entries: 100, ..DirectorySet::default() };
//! let spec = FileSetSpec { directories, ..FileSetSpec::default() };
//! let file_set = FileSet::create(&root, &spec, 42, &stop)?;
//!
//! let mut session = prepare(&Workload::new(Operation::StatPresent), &file_set, 42)?;
//! let (clock, _) = measure::SystemClock::calibrate();
//! let outcome = session.run(&clock, &stop)?;
//! session.restore()?;
//! assert_eq!(outcome.recorder.operations(), 1000);
//! # file_set.remove()?;
//! # std::fs::remove_dir(&root).expect("it is empty again");
//! # Ok(())
//! # }
//! ```
//!
//! Start reading at [`Workload`], then [`run_loop`]; `session` connects the two.

mod alignment;
mod arithmetic;
mod buffer;
mod calls;
mod choose;
mod content;
mod description;
mod direct;
mod edge;
mod error;
mod fault;
mod file_set;
mod interleave;
mod io_path;
mod names;
mod on_device;
mod operation;
mod processors;
mod rewrite;
mod role;
mod round;
mod run_loop;
mod schedule;
mod session;
mod steps;
mod uring;

pub use alignment::{AlignmentSource, DirectAlignment};
pub use buffer::AlignedBuffer;
pub use calls::ReachedBy;
pub use choose::Access;
pub use content::{Content, Mismatch};
pub use description::{
    Alignment, DirectorySync, Pinning, Sharing, Verification, Workers, Workload, WriteMemory,
};
pub use direct::direct_alignment;
pub use edge::Stream;
pub use error::{AtOffset, EngineError, UringRefusal, WorkloadError};
pub use fault::Fault;
pub use file_set::{DataFiles, DirectorySet, FileSet, FileSetSpec, SourceTree, create_empty_files};
pub use interleave::{CountedStretches, Interleaved, Interleaving, RoundTicks};
pub use io_path::{
    Buffering, Caching, CallFlag, CallFlags, IoPath, MapAdvice, MapOptions, Populate,
    Preadv2Options, StdioLocking, UringOptions,
};
pub use names::MISSING_PER_ENTRY;
pub use on_device::{DeviceExtent, FileOnDevice};
pub use operation::{DataOperation, Entries, GrowingOperation, NameOperation, Operation, Subject};
pub use processors::{cores_of, near};
pub use role::Role;
pub use run_loop::{Halt, LoopLength, LoopOutcome, Step, Tally, run_loop};
pub use schedule::{
    ExactSleeps, OnSchedule, Schedule, SleepThenSpin, Spacing, Wait, run_on_schedule,
};
pub use session::{
    ClosedSession, Course, Outcome, Session, Stretch, ThreadLoop, ThreadOutcome,
    interleave_by_functions, prepare, prepare_on_device,
};
pub use steps::Noop;
pub use uring::{AsynchronousLatency, TaskWork, io_uring_availability, io_uring_buffers};
