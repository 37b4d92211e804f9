//! The engines: what executes an operation, at once or later.

mod asynchronous;
mod by_name;
mod mapped;
mod null;
mod offloaded;
mod posix;
mod space;
mod splice;
mod synchronous;
mod uring;
mod vectored;

pub(crate) use by_name::ByName;

use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use crate::edge::calls::Moved;
use crate::edge::memory::Span;
use crate::edge::thread::Usage;
use job_offsets::Direction;

use crate::plan::{EngineChoice, JobPlan};

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    /// Bytes are moved, or discarded.
    Transfer(Direction),
    /// `fsync`.
    Sync,
    /// `fdatasync`.
    DataSync,
    /// `sync_file_range`, of what was written since the last one.
    SyncRange { offset: u64, bytes: u64, flags: u32 },
}

/// An operation, ready to be executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// Which of the job's operations it is: below its depth.
    pub(crate) unit: u32,
    pub(crate) call: Call,
    pub(crate) file: OpenFile<'a>,
    pub(crate) offset: u64,
    pub(crate) span: Span,
    /// Its priority, if it is not that of the job.
    pub(crate) priority: Option<u16>,
}

/// A file of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenFile<'a> {
    /// Which of the job's files it is.
    pub(crate) index: usize,
    /// Its descriptor; engines that need no files have none.
    pub(crate) descriptor: Option<BorrowedFd<'a>>,
    /// How much of it there is.
    pub(crate) bytes: u64,
}

impl<'a> OpenFile<'a> {
    fn open(self) -> Result<BorrowedFd<'a>, Errno> {
        self.descriptor.ok_or(Errno::BADF)
    }
}

/// What became of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// It is done.
    Complete(Moved),
    /// It will be, after a commit.
    Queued,
    /// It cannot be taken now; what is queued has to be committed, or completions taken, first.
    Busy,
}

/// An operation that is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(crate) unit: u32,
    pub(crate) moved: Moved,
}

/// Executes operations. Dropping an engine waits for those in flight.
pub(crate) trait Engine {
    /// Whether requests are complete when `queue` returns.
    fn is_synchronous(&self) -> bool;

    /// Executes a request, or takes it to do so later.
    fn queue(&mut self, request: &Request<'_>) -> Answer;

    /// Hands queued requests on, oldest first; answers how many were taken.
    fn commit(&mut self) -> Result<usize, Errno> {
        Ok(0)
    }

    /// Adds completions: at least `least`, for which it waits, and at most `most`.
    fn reap(
        &mut self,
        _least: usize,
        _most: usize,
        _into: &mut Vec<Completion>,
    ) -> Result<(), Errno> {
        Ok(())
    }

    /// Registers the job's files, all of which are open, if it was asked to.
    fn register(&mut self, _files: &[i32]) -> Result<(), Errno> {
        Ok(())
    }

    /// The job has a file more.
    fn add_file(&mut self) {}

    /// Forgets what it knows of a file that is about to be closed.
    fn close(&mut self, _file: usize) {}

    /// Ends threads of its own, and tells what they have used.
    fn end(&mut self) -> Usage {
        Usage::default()
    }
}

/// The engine that a job names.
///
/// # Errors
/// What it could not set up, and why.
pub(crate) fn engine(
    plan: &JobPlan,
    buffers: &[Span],
    files: usize,
) -> Result<Box<dyn Engine + Send>, (&'static str, Errno)> {
    match plan.engine_options.is_offloaded {
        true => Ok(Box::new(offloaded::Offloaded::new(plan, files)?)),
        false => inline(plan, buffers, files),
    }
}

/// The engine, executing operations in the thread that uses it.
fn inline(
    plan: &JobPlan,
    buffers: &[Span],
    files: usize,
) -> Result<Box<dyn Engine + Send>, (&'static str, Errno)> {
    let depth = plan.depth.depth;
    let options = plan.engine_options;
    Ok(match plan.engine {
        EngineChoice::Sync => Box::new(synchronous::ByPosition::new(files)),
        EngineChoice::Psync => Box::new(synchronous::ByOffset),
        EngineChoice::Pvsync => Box::new(synchronous::ByVector),
        EngineChoice::Pvsync2 => Box::new(synchronous::WithFlags::new(options)),
        EngineChoice::Vsync => Box::new(vectored::Vectored::new(depth)),
        EngineChoice::Libaio => Box::new(
            asynchronous::Asynchronous::new(depth, options).map_err(|why| ("io_setup", why))?,
        ),
        EngineChoice::IoUring => {
            Box::new(uring::Uring::new(plan, buffers).map_err(|why| ("io_uring_setup", why))?)
        }
        EngineChoice::Mmap => Box::new(mapped::Mapped::new(plan, files)),
        EngineChoice::Null if depth == 1 => Box::new(null::AtOnce),
        EngineChoice::Null => Box::new(null::Later::default()),
        EngineChoice::Falloc => Box::new(space::Allocate),
        EngineChoice::Ftruncate => Box::new(space::Truncate),
        EngineChoice::FileCreate
        | EngineChoice::FileStat
        | EngineChoice::FileDelete
        | EngineChoice::FileRename
        | EngineChoice::DirCreate
        | EngineChoice::DirStat
        | EngineChoice::DirDelete => Box::new(ByName::of(plan).expect("these engines are by name")),
        EngineChoice::Splice => Box::new(splice::Splice::new().map_err(|why| ("pipe", why))?),
        EngineChoice::PosixAio => Box::new(posix::Posix::new(depth)),
    })
}
