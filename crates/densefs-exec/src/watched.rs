//! Commands that are watched: this process stays and waits for them.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use densefs_calls::Counts;
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::{Pid, Resource, WaitOptions, getrlimit, waitpid};

use crate::detached::pipe;
use crate::environment::REPORT;
use crate::report::Report;
use crate::strict::{Proof, Tracer};
use crate::{ExecError, Place};

/// How a command is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Whether its calls are counted.
    pub report: bool,
    /// Whether it is stopped if a call on the arena goes past the library.
    pub strict: bool,
}

/// How a command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this exit status.
    Exited(u8),
    /// By this signal.
    Killed(i32),
}

/// A command that was watched.
#[derive(Debug)]
pub struct Watched {
    /// How it has ended.
    pub ending: Ending,
    /// What has become of its calls, if they were counted.
    pub report: Option<Report>,
    /// What was seen of it, if nothing was to go past the library.
    pub proof: Option<Proof>,
}

/// Counts that programs inherit.
pub(crate) struct Counting {
    file: OwnedFd,
    counts: &'static Counts,
}

impl Counting {
    pub(crate) fn new() -> Result<Self, ExecError> {
        Self::make().map_err(|why| ExecError::Kernel { doing: "counting calls", why })
    }

    /// The counts, which children of this process have too.
    pub(crate) fn counts(&self) -> &'static Counts {
        self.counts
    }

    fn make() -> io::Result<Self> {
        /// The library keeps as many of the highest descriptors for itself.
        const RESERVED: i32 = 64;
        const HIGHEST: i32 = 1024;
        let (file, counts) = densefs_calls::create()?;
        // What this process looks for in the mount is not the command's.
        counts.leave_out(rustix::process::getpid().as_raw_nonzero().get().unsigned_abs());
        let limit = getrlimit(Resource::Nofile).current;
        let limit = limit.and_then(|limit| i32::try_from(limit).ok()).unwrap_or(HIGHEST);
        let lowest = (limit.min(HIGHEST) - RESERVED).max(3);
        Ok(Self { file: fcntl_dupfd_cloexec(file, lowest)?, counts })
    }
}

/// Both ends of a pipe, each of which a process can close without the other.
struct Ends {
    reads: Cell<Option<OwnedFd>>,
    writes: Cell<Option<OwnedFd>>,
}

impl Ends {
    fn new() -> io::Result<Self> {
        let (reads, writes) = pipe()?;
        Ok(Self { reads: Cell::new(Some(reads)), writes: Cell::new(Some(writes)) })
    }

    /// Writes all of it, after which nobody reads here.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.reads.take();
        self.writes.take().map_or(Ok(()), |end| File::from(end).write_all(bytes))
    }

    /// Reads up to the end, after which nobody writes here.
    fn read(&self) -> io::Result<Vec<u8>> {
        self.writes.take();
        let mut bytes = Vec::new();
        if let Some(end) = self.reads.take() {
            File::from(end).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }
}

/// Runs a command, and waits for its end; if it is traced, for that of all its descendants.
pub(crate) fn run(
    mut command: Command,
    counting: Option<Counting>,
    watch: Watch,
    place: &Place,
) -> Result<Watched, ExecError> {
    let failed = |why| ExecError::Kernel { doing: "running the command", why };
    if let Some(counting) = &counting {
        command.env(REPORT, counting.file.as_raw_fd().to_string());
    }
    let tracer = if watch.strict { Some(Tracer::new(place).map_err(failed)?) } else { None };
    let gate = Ends::new().map_err(failed)?;
    let failure = Ends::new().map_err(failed)?;
    let child = system_calls::fork(|| {
        // There is a byte if this process may go on, and none if the other one has ended.
        if !gate.read().is_ok_and(|bytes| !bytes.is_empty()) {
            return 1;
        }
        let why = match prepare(counting.as_ref(), watch) {
            Ok(()) => command.exec(),
            Err(why) => why,
        };
        let _lost = failure.write(&why.raw_os_error().unwrap_or(0).to_ne_bytes());
        1
    })
    .map_err(failed)?;
    let ended = follow(child, tracer, &gate);
    if let Ok(number) = failure.read().map_err(failed)?.try_into() {
        let why = io::Error::from_raw_os_error(i32::from_ne_bytes(number));
        return Err(ExecError::NotRun { name: command.get_program().to_owned(), why });
    }
    let (ending, proof) = ended?;
    Ok(Watched { ending, report: counting.map(|counting| Report::new(counting.counts)), proof })
}

/// What the child does before it executes the command.
fn prepare(counting: Option<&Counting>, watch: Watch) -> io::Result<()> {
    if let Some(counting) = counting {
        fcntl_setfd(&counting.file, FdFlags::empty())?;
    }
    if watch.strict { Tracer::stop_here() } else { Ok(()) }
}

/// Opens the gate for the child, and waits until it has ended.
fn follow(
    child: Pid,
    tracer: Option<Tracer>,
    gate: &Ends,
) -> Result<(Ending, Option<Proof>), ExecError> {
    let failed = |why| ExecError::Kernel { doing: "running the command", why };
    if tracer.is_some() {
        // Without this, the child waits at the gate until that is closed.
        system_calls::trace(child).map_err(|why| ExecError::NotTraced { why })?;
    }
    system_calls::leave_signals_to(child).map_err(failed)?;
    gate.write(&[1]).map_err(failed)?;
    if let Some(tracer) = tracer {
        let (status, proof) = tracer.follow(child)?;
        return Ok((Ending::of(status), Some(proof)));
    }
    loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Err(Errno::INTR) | Ok(None) => {}
            Err(why) => return Err(failed(why.into())),
            Ok(Some((_, status))) => {
                return Ok((Ending::of(ExitStatus::from_raw(status.as_raw())), None));
            }
        }
    }
}

impl Ending {
    fn of(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Killed(signal),
            None => {
                let status = status.code().and_then(|status| u8::try_from(status).ok());
                Self::Exited(status.unwrap_or(u8::MAX))
            }
        }
    }
}
