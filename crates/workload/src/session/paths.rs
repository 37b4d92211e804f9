//! Makes the steps of transfers other than plain reads and writes: mixes, and other I/O paths.

use rustix::fs::OFlags;

use super::any_step::PathStep;
use super::step_maker::StepMaker;
use super::{AnyStep, Plan};
use crate::buffer::ALIGNMENT_BYTES;
use crate::calls::Kernel;
use crate::choose::AnyChooser;
use crate::description::{Alignment, Workload};
use crate::direct::{check_polling, direct_alignment};
use crate::edge::MapAccess;
use crate::error::EngineError;
use crate::io_path::{CallFlag, IoPath, MapOptions, Preadv2Options};
use crate::operation::{DataOperation, Operation};
use crate::role::Role;
use crate::steps::{
    AppendVectored, DataFile, Direction, Mapped, Path, PathTransfer, Psync, ReadShare, ReadsOnly,
    Requests, Stdio, Transfer, Vectored, WritesOnly,
};

impl Plan<'_> {
    /// Whether the step for these reads or writes is made in this file.
    pub(super) fn has_path_step(&self) -> bool {
        let is_mix = matches!(self.workload.operation, Operation::Mixed { .. });
        is_mix || !self.workload.io_path.is_psync()
    }

    /// How the files of a role are opened.
    pub(super) fn access_flags(&self, role: Role) -> OFlags {
        let is_mapped = matches!(self.workload.io_path, IoPath::Mmap(_));
        let is_mix = matches!(self.workload.operation, Operation::Mixed { .. });
        match role {
            Role::Read => OFlags::RDONLY,
            // A writable shared mapping requires read permission.
            Role::Write if is_mapped || is_mix => OFlags::RDWR,
            Role::Write => OFlags::WRONLY,
        }
    }

    pub(super) fn path_step(
        &self,
        thread: usize,
        what: DataOperation,
    ) -> Result<AnyStep, EngineError> {
        let role = what.role();
        let (spacing, choices) = self.spacing(role)?;
        let files = self.data_files(thread, role)?;
        let choices = self.choices(thread, files.len(), choices);
        let choose = AnyChooser::new(self.workload.access, &choices)?;
        let io_path = self.workload.io_path;
        let transfer = Transfer::new(files, choose, spacing, io_path, self.workload.slots());
        let files = &transfer.files;
        match io_path {
            IoPath::PsyncBuffered | IoPath::PsyncDirect => {
                let mix = self.read_share(thread, what);
                let step =
                    PathTransfer::new(Psync { io_path }, mix, transfer, self.requests(thread));
                Ok(AnyStep::Path(step.into()))
            }
            IoPath::IoUring(options) => self.uring_step(thread, role, options),
            IoPath::Mmap(options) => {
                let mapped = self.mapped(files, role, options)?;
                Ok(self.directed(thread, what, mapped, transfer))
            }
            IoPath::Preadv2(options) => {
                check_device(files, options)?;
                Ok(self.directed(thread, what, Vectored::new(options), transfer))
            }
            IoPath::Stdio(locking) => {
                let always = match what {
                    DataOperation::Mixed { .. } => None,
                    DataOperation::Read => Some(Direction::Read),
                    DataOperation::Write => Some(Direction::Write),
                };
                let stdio = Stdio::new(files, always, locking)?;
                Ok(self.directed(thread, what, stdio, transfer))
            }
        }
    }

    /// The step for appends, if they use an I/O path that only the kernel has.
    pub(super) fn growing_path_step(&self, thread: usize) -> Result<Option<AnyStep>, EngineError> {
        let IoPath::Preadv2(options) = self.workload.io_path else { return Ok(None) };
        // Each appending call has a flag for that, so the file needs none.
        let called = StepMaker { plan: *self, calls: Kernel };
        let growing = called.growing(thread, OFlags::empty())?;
        Ok(Some(AnyStep::Path(AppendVectored::new(growing, options).into())))
    }

    /// Maps the span of each file that operations range over.
    fn mapped(
        &self,
        files: &[DataFile],
        role: Role,
        options: MapOptions,
    ) -> Result<Mapped, EngineError> {
        let access = match role {
            Role::Read => MapAccess::Read,
            Role::Write => MapAccess::Write,
        };
        let size_bytes = self.file_set.data_files(role).size_bytes;
        let span_bytes = self.workload.span_bytes.unwrap_or(size_bytes);
        Mapped::new(files, span_bytes, access, options)
    }

    /// A step compiled for the directions of the operation.
    fn directed<P: Path>(
        &self,
        thread: usize,
        what: DataOperation,
        path: P,
        transfer: Transfer<AnyChooser>,
    ) -> AnyStep
    where
        PathStep: From<PathTransfer<P, ReadsOnly>>
            + From<PathTransfer<P, WritesOnly>>
            + From<PathTransfer<P, ReadShare>>,
    {
        let requests = self.requests(thread);
        AnyStep::Path(match what {
            DataOperation::Mixed { .. } => {
                PathTransfer::new(path, self.read_share(thread, what), transfer, requests).into()
            }
            DataOperation::Read => PathTransfer::new(path, ReadsOnly, transfer, requests).into(),
            DataOperation::Write => PathTransfer::new(path, WritesOnly, transfer, requests).into(),
        })
    }

    /// The share of reads in a mix; 0 or 100 % for other operations.
    fn read_share(&self, thread: usize, what: DataOperation) -> ReadShare {
        ReadShare::new(what.read_percent(), self.seed, thread)
    }

    fn requests(&self, thread: usize) -> Requests {
        let Workload { request_bytes, verification, .. } = *self.workload;
        Requests { request_bytes, verification, content: self.unverified_content(thread) }
    }

    /// Refuses a file for which the requests of direct I/O would be misaligned.
    pub(super) fn check_direct(&self, path: &std::path::Path) -> Result<(), EngineError> {
        if !self.workload.io_path.is_direct() {
            return Ok(());
        }
        let alignment = direct_alignment(path)?;
        let only_reads = self.workload.operation == Operation::Read;
        let alignment = if only_reads { alignment.for_reads() } else { alignment };
        let request_bytes = self.workload.request_bytes as u64;
        let granule_bytes = match self.workload.alignment {
            Alignment::Request => request_bytes,
            Alignment::Sector => 512,
            Alignment::Unaligned => 1,
        };
        // Each part of a request has its own length and, within a page-aligned buffer, its own
        // address.
        let part_bytes = if let IoPath::Preadv2(options) = self.workload.io_path {
            request_bytes / options.segments as u64
        } else {
            request_bytes
        };
        let is_aligned = part_bytes.is_multiple_of(alignment.offset_bytes)
            && granule_bytes.is_multiple_of(alignment.offset_bytes)
            && part_bytes.is_multiple_of(alignment.memory_bytes)
            && (ALIGNMENT_BYTES as u64).is_multiple_of(alignment.memory_bytes);
        if is_aligned {
            return Ok(());
        }
        let path = path.to_path_buf();
        Err(EngineError::DirectAlignment { path, request_bytes, granule_bytes, alignment })
    }
}

fn check_device(files: &[DataFile], options: Preadv2Options) -> Result<(), EngineError> {
    if options.flags.contains(CallFlag::Hipri) {
        return files.iter().try_for_each(|file| check_polling(&file.path));
    }
    Ok(())
}
