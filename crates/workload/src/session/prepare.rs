//! Makes a session: everything that is opened, filled or created before the first timed operation.

use std::path::PathBuf;

use super::step_maker::StepMaker;
use super::{AnyStep, Session};
use crate::calls::{Kernel, Library, ReachedBy};
use crate::choose::Choices;
use crate::content::{Content, mix};
use crate::description::{Sharing, Workload};
use crate::error::{EngineError, WorkloadError};
use crate::file_set::FileSet;
use crate::io_path::IoPath;
use crate::on_device::FileOnDevice;
use crate::operation::{DataOperation, Entries, NameOperation, Operation, Subject};
use crate::role::Role;
use crate::steps::{DataFile, Spacing};

/// Opens files and directories, allocates buffers and makes what will be removed. Untimed.
///
/// `seed` determines which places are chosen and in which order, what unverified writes write, and
/// which new names are used; the file set has its own seed. Use a different one for each session in
/// the same directories: the kernel remembers that names used before are missing.
///
/// Among data files, it opens only those of [`Session::touched`], and reads none.
///
/// # Errors
/// What cannot be executed as described, or the first call that failed. Whatever was made until
/// then is removed.
pub fn prepare(workload: &Workload, file_set: &FileSet, seed: u64) -> Result<Session, EngineError> {
    workload.check()?;
    Plan { workload, file_set, seed, on_device: None }.session()
}

/// Like [`prepare`], for direct reads of the only read file, or direct writes of the only write
/// file, on the device itself, at the places where the file is. Its content proves that it is
/// there. The session touches no file.
///
/// Writes change nothing: they write back what this function reads from the same places, and only
/// if the file has the same content there. The session keeps all requests of each thread in memory
/// for this. Everything written to the file must have reached the device.
///
/// # Errors
/// As for [`prepare`]; [`WorkloadError::NotOnDevice`] for other workloads; if the file is
/// elsewhere, [`EngineError::Corrupt`], or for writes [`EngineError::Elsewhere`].
pub fn prepare_on_device(
    workload: &Workload,
    file_set: &FileSet,
    on_device: &FileOnDevice,
    seed: u64,
) -> Result<Session, EngineError> {
    workload.check()?;
    if workload.operation == Operation::Write {
        FileOnDevice::check(workload, file_set.data_files(Role::Write).count)?;
        on_device.check_writable()?;
    } else {
        let read_files = file_set.data_files(Role::Read);
        FileOnDevice::check(workload, read_files.count)?;
        on_device.prove(file_set.content(Role::Read, 0), read_files.size_bytes)?;
    }
    Plan { workload, file_set, seed, on_device: Some(on_device) }.session()
}

/// Everything that determines what each thread does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) file_set: &'a FileSet,
    pub(crate) seed: u64,
    /// Where reads or writes go, if not to the file.
    pub(crate) on_device: Option<&'a FileOnDevice>,
}

impl Plan<'_> {
    fn session(&self) -> Result<Session, EngineError> {
        self.check_file_set()?;
        // From here on, the session removes what was made if anything fails.
        let mut session = Session {
            workload: self.workload.clone(),
            file_set: self.file_set.clone(),
            seed: self.seed,
            touched: self.touched(),
            steps: Vec::with_capacity(self.workload.threads),
            is_restored: false,
        };
        for thread in 0..self.workload.threads {
            self.make_victims(thread)?;
            session.steps.push(self.step(thread)?);
        }
        Ok(session)
    }

    /// The step of one thread.
    pub(crate) fn step(&self, thread: usize) -> Result<AnyStep, EngineError> {
        let plan = *self;
        match self.file_set.reached() {
            ReachedBy::BySystemCalls => match self.kernels_step(thread)? {
                Some(step) => Ok(step),
                None => StepMaker { plan, calls: Kernel }.step(thread).map(AnyStep::Kernel),
            },
            ReachedBy::ByLibrary(files) => {
                self.check_library()?;
                let calls = Library::new(files);
                let step = StepMaker { plan, calls: calls.clone() }.step(thread)?;
                Ok(AnyStep::Library(step, calls))
            }
        }
    }

    /// The step of one thread, if it only exists for the kernel.
    fn kernels_step(&self, thread: usize) -> Result<Option<AnyStep>, EngineError> {
        match (self.workload.operation.subject(), self.on_device) {
            (Subject::Data(what), _) if self.has_path_step() => {
                self.path_step(thread, what).map(Some)
            }
            (
                Subject::Data(DataOperation::Write | DataOperation::Mixed { .. }),
                Some(on_device),
            ) => self.rewrite_step(thread, on_device).map(Some),
            (Subject::Data(DataOperation::Read), Some(on_device)) => {
                let files = vec![self.file_on_device(on_device)?];
                let called = StepMaker { plan: *self, calls: Kernel };
                called.transfer_step(thread, Role::Read, files).map(AnyStep::Kernel).map(Some)
            }
            (Subject::Growing(_), _) => self.growing_path_step(thread),
            (Subject::Data(_), None) | (Subject::Names(..), _) => Ok(None),
        }
    }

    /// Checks that a library can execute the plan.
    fn check_library(&self) -> Result<(), WorkloadError> {
        if self.on_device.is_some() {
            return Err(WorkloadError::NotByLibrary("reads and writes on the device"));
        }
        if !matches!(self.workload.io_path, IoPath::PsyncBuffered) {
            return Err(WorkloadError::NotByLibrary("I/O paths other than psync"));
        }
        let is_mix = matches!(self.workload.operation, Operation::Mixed { .. });
        if is_mix { Err(WorkloadError::NotByLibrary("mixes of reads and writes")) } else { Ok(()) }
    }

    /// Makes what this thread's operations will remove.
    fn make_victims(&self, thread: usize) -> Result<(), EngineError> {
        let plan = *self;
        match self.file_set.reached() {
            ReachedBy::BySystemCalls => StepMaker { plan, calls: Kernel }.make_victims(thread),
            ReachedBy::ByLibrary(files) => {
                StepMaker { plan, calls: Library::new(files) }.make_victims(thread)
            }
        }
    }

    fn check_file_set(&self) -> Result<(), WorkloadError> {
        let spec = self.file_set.spec();
        let threads = self.workload.threads as u64;
        let subject = self.workload.operation.subject();
        let (what, present) = match subject {
            Subject::Data(what) => match what.role() {
                Role::Read => ("read files", spec.read_files.count),
                Role::Write => ("write files", spec.write_files.count),
            },
            Subject::Names(..) => ("directories", spec.directories.count),
            Subject::Growing(_) => return Ok(()),
        };
        let needed = match self.workload.sharing {
            Sharing::Own => threads,
            Sharing::Same => 1,
        };
        self.enough(what, needed, present as u64)?;
        if let Subject::Names(what, entries) = subject {
            let needed = self.entries_needed(entries);
            self.enough("entries in a directory", needed, spec.directories.entries)?;
            if what == NameOperation::ReadFile {
                let read_bytes = self.workload.request_bytes as u64;
                self.enough("bytes in each entry", read_bytes, spec.directories.entry_bytes)?;
            }
        }
        self.check_new_names()
    }

    /// How many entries each directory must have.
    fn entries_needed(&self, entries: Entries) -> u64 {
        match entries {
            Entries::Moved => self.sharers() as u64,
            Entries::LookedAt => 1,
            // Links lead to one.
            Entries::Added { .. } => u64::from(self.workload.operation.needs_links()),
            Entries::Missed | Entries::Listed | Entries::Removed { .. } => 0,
        }
    }

    /// Checks that there are enough names for each operation to have a new one, if it needs one.
    fn check_new_names(&self) -> Result<(), WorkloadError> {
        let Workload { operation, threads, .. } = *self.workload;
        let value = self.workload.all_operations();
        let numbers = self.file_set.spec().directories.name_form().numbers();
        let most = numbers / threads as u64;
        if operation.changes_directories() && value > most {
            let what = "the number of operations with names of that length";
            return Err(WorkloadError::TooLarge { what, value, most });
        }
        Ok(())
    }

    fn enough(&self, what: &'static str, needed: u64, present: u64) -> Result<(), WorkloadError> {
        let operation = self.workload.operation.name();
        if present >= needed {
            return Ok(());
        }
        Err(WorkloadError::FileSetLacks { operation, what, needed, present })
    }

    /// How many threads share the files or directories of a thread, including itself.
    pub(super) fn sharers(&self) -> usize {
        match self.workload.sharing {
            Sharing::Own => 1,
            Sharing::Same => self.workload.threads,
        }
    }

    /// Which of `count` files or directories belong to this thread.
    pub(super) fn assigned(&self, thread: usize, count: usize) -> Vec<usize> {
        match self.workload.sharing {
            Sharing::Own => (thread..count).step_by(self.workload.threads).collect(),
            Sharing::Same => vec![0],
        }
    }

    fn touched(&self) -> Vec<PathBuf> {
        if self.on_device.is_some() {
            return Vec::new();
        }
        let all = |count: usize| match self.workload.sharing {
            Sharing::Own => 0..count,
            Sharing::Same => 0..1,
        };
        let data_files = |role| {
            let count = self.file_set.data_files(role).count;
            all(count).map(|number| self.file_set.data_file(role, number)).collect()
        };
        match self.workload.operation.subject() {
            Subject::Data(what) => data_files(what.role()),
            Subject::Growing(_) => all(self.workload.threads)
                .map(|number| self.file_set.growing_file(number))
                .collect(),
            Subject::Names(..) => all(self.file_set.spec().directories.count)
                .map(|number| self.file_set.directory(number))
                .collect(),
        }
    }

    pub(crate) fn choices(&self, thread: usize, resources: usize, choices: u64) -> Choices {
        Choices { resources, choices, thread, sharers: self.sharers(), seed: self.seed }
    }

    /// The spacing of requests within the span of each file that operations range over, and the
    /// number of choices.
    pub(crate) fn spacing(&self, role: Role) -> Result<(Spacing, u64), WorkloadError> {
        let Workload { access, alignment, span_bytes, .. } = *self.workload;
        let request_bytes = self.workload.request_bytes as u64;
        let file_bytes = self.file_set.data_files(role).size_bytes;
        let Some(span_bytes) = span_bytes else {
            return Spacing::for_requests(access, alignment, request_bytes, file_bytes);
        };
        let refused = WorkloadError::Span { span_bytes, request_bytes, file_bytes };
        if span_bytes > file_bytes {
            return Err(refused);
        }
        Spacing::for_requests(access, alignment, request_bytes, span_bytes).map_err(|_| refused)
    }

    /// The open data files of one thread, or the device in their place.
    pub(crate) fn data_files(
        &self,
        thread: usize,
        role: Role,
    ) -> Result<Vec<DataFile>, EngineError> {
        match self.on_device {
            Some(on_device) => Ok(vec![self.file_on_device(on_device)?]),
            None => StepMaker { plan: *self, calls: Kernel }.data_files(thread, role),
        }
    }

    fn file_on_device(&self, on_device: &FileOnDevice) -> Result<DataFile, EngineError> {
        Ok(DataFile {
            file: on_device.open()?,
            path: on_device.path().to_path_buf(),
            content: self.file_set.content(Role::Read, 0),
            extents: Some(on_device.extent_map(self.workload.request_bytes)),
        })
    }

    /// What a thread writes where nobody checks: the content of no file and of no other thread, and
    /// different for each seed.
    pub(crate) fn unverified_content(&self, thread: usize) -> Content {
        Content::new(mix(!self.seed), thread as u64)
    }
}
