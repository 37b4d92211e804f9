//! The reference for characters through stdio: `getc` or `putc` over one request after the other,
//! and back to the beginning at the end of the file. Nothing else, as in Bonnie.

use measure::Clock;

use super::{BareLoop, Ratios, Rivals, race};
use crate::buffer::{AlignedBuffer, Payload};
use crate::description::{Access, Alignment, IoPath, Sharing, Workload};
use crate::edge::Stream;
use crate::error::{EngineError, WorkloadError};
use crate::fault::Fault;
use crate::file_set::{FileSet, Role};
use crate::session::Plan;
use crate::steps::DataFile;

/// The rate of the engine's loop over the rate of the bare loop, per round, as
/// [`super::engine_to_bare`] has it for psync.
///
/// Only for sequential aligned reads or writes by [`IoPath::Stdio`]; of one thread.
///
/// # Errors
/// As [`crate::prepare`] and [`crate::Session::run`].
pub fn characters_to_bare<C: Clock>(
    workload: &Workload,
    file_set: &FileSet,
    rounds: usize,
    clock: &C,
) -> Result<Ratios, EngineError> {
    let workload = Workload { sharing: Sharing::Same, threads: 1, ..workload.clone() };
    workload.check()?;
    let plan = Plan { workload: &workload, file_set, seed: 1, on_device: None };
    let mut rivals = [Rivals::new(Bare::new(&plan)?, &plan, 0, clock)?];
    race(&mut rivals, &workload, rounds, clock)
}

/// The bare side, with a stream of its own.
struct Bare {
    role: Role,
    stream: Stream,
    file: DataFile,
    buffer: AlignedBuffer,
    payload: Payload,
    next_bytes: u64,
    /// Where the last whole request ends.
    end_bytes: u64,
}

impl Bare {
    fn new(plan: &Plan<'_>) -> Result<Self, EngineError> {
        let workload = plan.workload;
        let role = super::role_of(workload.operation)?;
        let mode = match role {
            Role::Read => c"r",
            Role::Write => c"w",
        };
        let is_sequential =
            workload.access == Access::Sequential && workload.alignment == Alignment::Request;
        let IoPath::Stdio(locking) = workload.io_path else {
            return Err(WorkloadError::NotATransfer(workload.io_path.name()).into());
        };
        if !is_sequential {
            return Err(WorkloadError::NotATransfer("random access by stdio").into());
        }
        let (spacing, choices) = plan.spacing(role)?;
        let missing = WorkloadError::Zero("the number of files");
        let file = plan.data_files(0, role)?.pop().ok_or(missing)?;
        let failed = |fault: Fault| fault.into_error(&file.path);
        let descriptor = rustix::io::fcntl_dupfd_cloexec(&file.file, 0)
            .map_err(|errno| failed(Fault::errno("fcntl", errno)))?;
        let stream = Stream::open(descriptor, mode, locking).map_err(failed)?;
        let request_bytes = workload.request_bytes;
        Ok(Self {
            role,
            stream,
            buffer: AlignedBuffer::new(request_bytes),
            payload: Payload::incompressible(request_bytes, plan.unverified_content(0)),
            next_bytes: 0,
            end_bytes: spacing.offset_bytes(choices),
            file,
        })
    }

    #[inline(never)]
    fn run_all(&mut self, operations: u64) -> Result<(), Fault> {
        let request_bytes = self.buffer.bytes().len() as u64;
        for index in 0..operations {
            if self.next_bytes == self.end_bytes {
                self.stream.seek(0)?;
                self.next_bytes = 0;
            }
            match self.role {
                Role::Read => drop(self.stream.read(self.buffer.bytes_mut())?),
                Role::Write => {
                    let start = self.payload.take_stamped(index);
                    self.stream.write(self.payload.request(start))?;
                }
            }
            self.next_bytes += request_bytes;
        }
        // The engine hands over what is buffered, too.
        match self.role {
            Role::Read => Ok(()),
            Role::Write => self.stream.flush(),
        }
    }
}

impl BareLoop for Bare {
    fn run(&mut self, operations: u64) -> Result<(), EngineError> {
        self.run_all(operations).map_err(|fault| fault.into_error(&self.file.path))
    }
}
