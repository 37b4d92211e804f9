//! The steps of transfers that are not plain reads or plain writes: on another I/O path, or mixed.

use rustix::fs::OFlags;

use super::any_step::PathStep;
use super::called::Called;
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
    AppendVectored, DataFile, Direction, Mapped, OnPath, Path, Psync, ReadShare, ReadsOnly,
    Requests, Stdio, Transfer, Vectored, WritesOnly,
};

impl Plan<'_> {
    /// Whether reads or writes are carried by a step of this file.
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
            // Who maps for writing has to be allowed to read.
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
                let step = OnPath::new(Psync { io_path }, mix, transfer, self.requests(thread));
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

    /// The step of appends on an I/O path of the kernel's, if they are on one.
    pub(super) fn growing_path_step(&self, thread: usize) -> Result<Option<AnyStep>, EngineError> {
        let IoPath::Preadv2(options) = self.workload.io_path else { return Ok(None) };
        // Each call that is to append says so itself.
        let called = Called { plan: *self, calls: Kernel };
        let growing = called.growing(thread, OFlags::empty())?;
        Ok(Some(AnyStep::Path(AppendVectored::new(growing, options).into())))
    }

    /// The span of each file that operations range over, mapped.
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

    /// A step whose directions are those of the operation, compiled for them.
    fn directed<P: Path>(
        &self,
        thread: usize,
        what: DataOperation,
        path: P,
        transfer: Transfer<AnyChooser>,
    ) -> AnyStep
    where
        PathStep:
            From<OnPath<P, ReadsOnly>> + From<OnPath<P, WritesOnly>> + From<OnPath<P, ReadShare>>,
    {
        let requests = self.requests(thread);
        AnyStep::Path(match what {
            DataOperation::Mixed { .. } => {
                OnPath::new(path, self.read_share(thread, what), transfer, requests).into()
            }
            DataOperation::Read => OnPath::new(path, ReadsOnly, transfer, requests).into(),
            DataOperation::Write => OnPath::new(path, WritesOnly, transfer, requests).into(),
        })
    }

    /// The mix of reads and writes; of other operations, all of the one.
    fn read_share(&self, thread: usize, what: DataOperation) -> ReadShare {
        ReadShare::new(what.read_percent(), self.seed, thread)
    }

    fn requests(&self, thread: usize) -> Requests {
        let Workload { request_bytes, verification, .. } = *self.workload;
        Requests { request_bytes, verification, content: self.unverified_content(thread) }
    }

    /// Refuses a file on which direct I/O would be, and would not be aligned as it has to be.
    pub(super) fn check_direct(&self, path: &std::path::Path) -> Result<(), EngineError> {
        if !self.workload.io_path.is_direct() {
            return Ok(());
        }
        let alignment = direct_alignment(path)?;
        let only_reads = self.workload.operation == Operation::Read;
        let alignment = if only_reads { alignment.of_reads() } else { alignment };
        let request_bytes = self.workload.request_bytes as u64;
        let granule_bytes = match self.workload.alignment {
            Alignment::Request => request_bytes,
            Alignment::Sector => 512,
            Alignment::Unaligned => 1,
        };
        // Each part of a request has a length and, in a buffer that begins on a page, an address.
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
