//! Makes what the steps that work with both the kernel and a library consist of, and what must
//! exist before they run.

use std::path::PathBuf;

use rustix::fs::OFlags;

use super::{CallStep, Plan};
use crate::arithmetic::index;
use crate::buffer::Payload;
use crate::calls::Calls;
use crate::choose::{
    Access, AnyChooser, Choices, Choose, Follow, Sequential, Shuffled, Uniform, Zipf,
};
use crate::content::Content;
use crate::description::{Sharing, Verification, Workload};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::file_set::{Maker, open_directory};
use crate::names::{EntryName, NameKind};
use crate::operation::Subject;
use crate::role::Role;
use crate::steps::entries::{
    Directories, Directory, EntryCall, EntryOptions, EntryStep, FreshNames,
};
use crate::steps::{DataFile, EntryShare, GrowingFile, Read, Rename, Spacing, Transfer, Write};

/// A plan to be executed with the calls of `K`.
#[derive(Debug)]
pub(super) struct StepMaker<'a, K> {
    pub(super) plan: Plan<'a>,
    pub(super) calls: K,
}

impl<K: Calls> StepMaker<'_, K> {
    /// The step of one thread.
    pub(super) fn step(&self, thread: usize) -> Result<CallStep<K>, EngineError> {
        match self.plan.workload.operation.subject() {
            Subject::Data(what) => {
                let role = what.role();
                self.transfer_step(thread, role, self.data_files(thread, role)?)
            }
            Subject::Growing(what) => self.growing_step(thread, what),
            Subject::Names(what, _) => self.name_step(thread, what),
        }
    }

    fn open(&self, path: &PathBuf, flags: OFlags) -> Result<K::Open, EngineError> {
        // A symbolic link in place of the file would redirect writes to another file.
        let opened = |flags| self.calls.open(path, flags | OFlags::NOFOLLOW);
        if !self.plan.workload.io_path.is_direct() {
            return opened(flags).map_err(|errno| EngineError::from_errno("openat", path, errno));
        }
        if flags.contains(OFlags::CREATE) {
            // The file must exist before it can be asked for its alignment.
            opened(flags).map_err(|errno| EngineError::from_errno("openat", path, errno))?;
        }
        self.plan.check_direct(path)?;
        opened(flags | OFlags::DIRECT)
            .map_err(|errno| EngineError::from_direct_errno("openat", path, errno))
    }

    /// The step for reads or writes of one thread in these files.
    pub(super) fn transfer_step(
        &self,
        thread: usize,
        role: Role,
        files: Vec<DataFile<K::Open>>,
    ) -> Result<CallStep<K>, EngineError> {
        let (spacing, choices) = self.plan.spacing(role)?;
        let choices = self.plan.choices(thread, files.len(), choices);
        let parts =
            TransferParts { role, files, spacing, content: self.plan.unverified_content(thread) };
        Ok(match self.plan.workload.access {
            Access::Sequential => self.transfer(parts, Sequential::new(&choices)),
            Access::Uniform => self.transfer(parts, Uniform::new(&choices)),
            Access::Shuffled => self.transfer(parts, Shuffled::new(&choices)),
            Access::Zipf { exponent } => self.transfer(parts, Zipf::new(&choices, exponent)?),
            Access::Mixed { sequential_percent } => {
                self.transfer(parts, Follow::new(&choices, sequential_percent))
            }
        })
    }

    pub(super) fn data_files(
        &self,
        thread: usize,
        role: Role,
    ) -> Result<Vec<DataFile<K::Open>>, EngineError> {
        let flags = self.plan.access_flags(role);
        self.plan
            .assigned(thread, self.plan.file_set.data_files(role).count)
            .into_iter()
            .map(|number| {
                let path = self.plan.file_set.data_file(role, number);
                let file = self.open(&path, flags)?;
                if self.plan.workload.advises_random && role == Role::Read {
                    self.calls
                        .fadvise_random(&file)
                        .map_err(|errno| EngineError::from_errno("posix_fadvise", &path, errno))?;
                }
                let content = self.plan.file_set.content(role, number);
                Ok(DataFile { file, path, content, extents: None })
            })
            .collect()
    }

    fn transfer<C>(&self, parts: TransferParts<K::Open>, choose: C) -> CallStep<K>
    where
        C: Choose,
        CallStep<K>: From<Read<C, false, K>>
            + From<Read<C, true, K>>
            + From<Write<C, false, K>>
            + From<Write<C, true, K>>,
    {
        let TransferParts { role, files, spacing, content } = parts;
        let (workload, calls) = (self.plan.workload, self.calls.clone());
        let request_bytes = workload.request_bytes;
        let transfer = Transfer::new(files, choose, spacing, workload.io_path, workload.slots());
        let apart = index(workload.writes_apart());
        match (role, workload.verification) {
            (Role::Read, Verification::Off) => {
                Read::<C, false, K>::new(calls, transfer, request_bytes).into()
            }
            (Role::Read, Verification::On) => {
                Read::<C, true, K>::new(calls, transfer, request_bytes).into()
            }
            (Role::Write, Verification::Off) => {
                Write::<C, false, K>::new(calls, transfer, request_bytes, content, apart).into()
            }
            (Role::Write, Verification::On) => {
                Write::<C, true, K>::new(calls, transfer, request_bytes, content, apart).into()
            }
        }
    }

    /// The file that a thread's operations let grow, opened for writing.
    pub(super) fn growing(
        &self,
        thread: usize,
        end: OFlags,
    ) -> Result<GrowingFile<K>, EngineError> {
        let Plan { workload, file_set, .. } = self.plan;
        let number = if workload.sharing == Sharing::Same { 0 } else { thread };
        let path = file_set.growing_file(number);
        let file = self.open(&path, OFlags::WRONLY | OFlags::CREATE | end)?;
        let Workload { request_bytes, io_path, .. } = *workload;
        let payload = Payload::incompressible(request_bytes, self.plan.unverified_content(thread));
        let starts = vec![0; workload.slots()];
        Ok(GrowingFile { calls: self.calls.clone(), file, path, payload, io_path, starts })
    }

    /// A step on entries that chooses among `names`.
    pub(super) fn entry_step<E: EntryCall>(
        &self,
        thread: usize,
        directories: Directories<K>,
        names: u64,
    ) -> Result<EntryStep<K, E>, EngineError> {
        let choices = self.plan.choices(thread, 1, names.max(1));
        let choose = AnyChooser::new(self.plan.workload.access, &choices)?;
        Ok(EntryStep::new(directories, choose, self.fresh(thread), self.options()))
    }

    pub(super) fn rename_step(
        &self,
        thread: usize,
        directories: Directories<K>,
    ) -> Result<CallStep<K>, EngineError> {
        let entries = self.plan.file_set.spec().directories.entries;
        let number = if self.plan.workload.sharing == Sharing::Same { thread as u64 } else { 0 };
        let share = EntryShare::for_thread(entries, number, self.plan.sharers() as u64);
        // Shares are disjoint, so threads need not start at different places.
        let alone = Choices { sharers: 1, ..self.plan.choices(thread, 1, share.count) };
        let choose = AnyChooser::new(self.plan.workload.access, &alone)?;
        Ok(Rename::new(directories, choose, share, self.options()).into())
    }

    /// The new names of a thread.
    fn fresh(&self, thread: usize) -> FreshNames {
        let form = self.plan.file_set.spec().directories.name_form();
        FreshNames::for_thread(self.plan.seed, form, thread, self.plan.workload.threads)
    }

    fn options(&self) -> EntryOptions {
        let (slots, sync) = (self.plan.workload.slots(), self.plan.workload.directory_sync);
        EntryOptions { form: self.plan.file_set.spec().directories.path_form(), slots, sync }
    }

    pub(super) fn directories(&self, thread: usize) -> Result<Directories<K>, EngineError> {
        let numbers = self.plan.assigned(thread, self.plan.file_set.spec().directories.count);
        let open = |number| {
            let path = self.plan.file_set.directory(number);
            let start = open_directory(&self.calls, &self.plan.file_set.directory_start(number))?;
            let is_start = self.plan.file_set.spec().directories.depth == 1;
            let end = if is_start { None } else { Some(open_directory(&self.calls, &path)?) };
            Ok(Directory { start, end, path })
        };
        let all: Result<Vec<_>, EngineError> = numbers.into_iter().map(open).collect();
        Ok(Directories::new(self.calls.clone(), all?))
    }

    /// Makes what this thread's operations will remove: one entry per operation, in the directory
    /// whose turn it will be.
    pub(super) fn make_victims(&self, thread: usize) -> Result<(), EngineError> {
        let Some(kind) = self.plan.workload.operation.victim() else { return Ok(()) };
        let mut directories = self.directories(thread)?;
        let mut maker = Maker::default();
        let fresh = self.fresh(thread);
        let mut name = EntryName::new(self.plan.file_set.spec().directories.name_form());
        for index in 0..self.plan.workload.all_operations() {
            name.set(kind, fresh.number(index));
            let turn = directories.take_turn();
            let directory = &directories.all[turn];
            let descriptor = directory.itself();
            let made = if kind == NameKind::File {
                maker.make(&self.calls, descriptor, &name)
            } else {
                self.calls
                    .mkdirat(descriptor, &name)
                    .map_err(|errno| Fault::errno("mkdirat", errno))
            };
            made.map_err(|fault| fault.into_error(&directory.path))?;
        }
        Ok(())
    }
}

/// What reads and writes need, whatever the access pattern.
struct TransferParts<F> {
    role: Role,
    files: Vec<DataFile<F>>,
    spacing: Spacing,
    /// The data for unverified writes.
    content: Content,
}
