//! Making a session: what is open, what is filled and what exists before the first timed operation.

use std::path::PathBuf;

use rustix::fd::OwnedFd;
use rustix::fs::{Advice, CWD, Mode, OFlags, fadvise, mkdirat, openat};

use super::{AnyStep, Session};
use crate::arithmetic::index;
use crate::buffer::Payload;
use crate::choose::{AnyChooser, Choices, Choose, Follow, Sequential, Shuffled, Uniform, Zipf};
use crate::content::{Content, mix};
use crate::description::{Access, IoPath, Sharing, Verification, Workload};
use crate::error::{EngineError, WorkloadError};
use crate::fault::Fault;
use crate::file_set::{FILE_MODE, FileSet, Maker, Role, open_directory};
use crate::names::{EntryName, Kind, MISSING_PER_ENTRY};
use crate::on_device::OnDevice;
use crate::operation::{DataOperation, GrowingOperation, NameOperation, Operation, Subject};
use crate::steps::entries::{Close, Directories, Directory, EntryCall, EntryStep, Fresh, Manner};
use crate::steps::{
    Append, AppendFsync, AppendVectored, DataFile, Growing, Read, Readdir, Rename, Share, Spacing,
    Sync, Transfer, Truncate, Write,
};

/// Opens files and directories, allocates buffers and makes what will be removed. Untimed.
///
/// `seed` decides which places are chosen, in which order, what unverified writes write, and which
/// new names are used; the file set has its own. Give another one to each session in the same
/// directories: names that were there before are remembered by the kernel as missing.
///
/// Of data files, it opens those of [`Session::touched`] and reads nothing.
///
/// # Errors
/// What cannot be executed as described, or the first call that failed. What was made until then is
/// removed.
pub fn prepare(workload: &Workload, file_set: &FileSet, seed: u64) -> Result<Session, EngineError> {
    workload.check()?;
    Plan { workload, file_set, seed, on_device: None }.session()
}

/// As [`prepare`], for direct reads of the one read file, or direct writes of the one write file,
/// on the device, at the places where it lies; that it lies there is proved by its content. The
/// session touches no file.
///
/// Writes change nothing: they write back what this reads where they go, and only if the file holds
/// the same there. The session keeps that in memory, all requests of each
/// thread. What has been written to the file has to be on the device.
///
/// # Errors
/// As [`prepare`]; [`WorkloadError::NotOnDevice`] for other workloads, [`EngineError::Corrupt`] or
/// for writes [`EngineError::Elsewhere`] if the file lies elsewhere.
pub fn prepare_on_device(
    workload: &Workload,
    file_set: &FileSet,
    on_device: &OnDevice,
    seed: u64,
) -> Result<Session, EngineError> {
    workload.check()?;
    if workload.operation == Operation::Write {
        OnDevice::check(workload, file_set.data_files(Role::Write).count)?;
        on_device.check_writable()?;
    } else {
        let read_files = file_set.data_files(Role::Read);
        OnDevice::check(workload, read_files.count)?;
        on_device.prove(file_set.content(Role::Read, 0), read_files.size_bytes)?;
    }
    Plan { workload, file_set, seed, on_device: Some(on_device) }.session()
}

/// All that decides what each thread does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) file_set: &'a FileSet,
    pub(crate) seed: u64,
    /// Where reads or writes go instead of to the file.
    pub(crate) on_device: Option<&'a OnDevice>,
}

impl Plan<'_> {
    fn session(&self) -> Result<Session, EngineError> {
        self.check_file_set()?;
        // From here on the session removes what was made, should anything fail.
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
        match self.workload.operation.subject() {
            Subject::Data(what) => self.transfer_step(thread, what),
            Subject::Growing(what) => self.growing_step(thread, what),
            Subject::Names(what, _) => self.name_step(thread, what),
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
        if let Subject::Names(what, _) = subject {
            let entries = self.entries_needed(what);
            self.enough("entries in a directory", entries, spec.directories.entries)?;
        }
        self.check_new_names()
    }

    /// How many entries each directory must have.
    fn entries_needed(&self, what: NameOperation) -> u64 {
        match what {
            NameOperation::Rename => self.sharers() as u64,
            NameOperation::Open
            | NameOperation::Close
            | NameOperation::OpenClose
            | NameOperation::StatPresent
            | NameOperation::CheckAccess
            | NameOperation::Link
            | NameOperation::Symlink => 1,
            NameOperation::Create
            | NameOperation::StatMissing
            | NameOperation::Readdir
            | NameOperation::Unlink
            | NameOperation::Mkdir
            | NameOperation::Rmdir => 0,
        }
    }

    /// Whether each operation can have a new name of its own, where it needs one.
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

    /// How many threads work on the files or directories that a thread works on.
    fn sharers(&self) -> usize {
        match self.workload.sharing {
            Sharing::Own => 1,
            Sharing::Same => self.workload.threads,
        }
    }

    /// Which of `count` files or directories are this thread's.
    fn assigned(&self, thread: usize, count: usize) -> Vec<usize> {
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

    fn open(&self, path: &PathBuf, flags: OFlags) -> Result<OwnedFd, EngineError> {
        // A link in a file's place would have another written.
        let own = OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let opened = |flags| openat(CWD, path, flags | own, FILE_MODE);
        if !self.workload.io_path.is_direct() {
            return opened(flags).map_err(|errno| EngineError::from_errno("openat", path, errno));
        }
        if flags.contains(OFlags::CREATE) {
            // Only a file that exists can say what it wants.
            opened(flags).map_err(|errno| EngineError::from_errno("openat", path, errno))?;
        }
        self.check_direct(path)?;
        opened(flags | OFlags::DIRECT)
            .map_err(|errno| EngineError::from_direct_errno("openat", path, errno))
    }

    fn transfer_step(&self, thread: usize, what: DataOperation) -> Result<AnyStep, EngineError> {
        if self.has_path_step() {
            return self.path_step(thread, what);
        }
        let role = what.role();
        let workload = self.workload;
        if let (Some(on_device), Role::Write) = (self.on_device, role) {
            return self.rewrite_step(thread, on_device);
        }
        let (spacing, choices) = self.spacing(role)?;
        let files = self.data_files(thread, role)?;
        let choices = self.choices(thread, files.len(), choices);
        let parts = Parts { role, files, spacing, content: self.unverified_content(thread) };
        Ok(match workload.access {
            Access::Sequential => self.transfer(parts, Sequential::new(&choices)),
            Access::Uniform => self.transfer(parts, Uniform::new(&choices)),
            Access::Shuffled => self.transfer(parts, Shuffled::new(&choices)),
            Access::Zipf { exponent } => self.transfer(parts, Zipf::new(&choices, exponent)?),
            Access::Mixed { sequential_percent } => {
                self.transfer(parts, Follow::new(&choices, sequential_percent))
            }
        })
    }

    /// The spacing of requests in the span of each file that operations range over, and how many
    /// choices there are.
    pub(crate) fn spacing(&self, role: Role) -> Result<(Spacing, u64), WorkloadError> {
        let Workload { access, alignment, span_bytes, .. } = *self.workload;
        let request_bytes = self.workload.request_bytes as u64;
        let file_bytes = self.file_set.data_files(role).size_bytes;
        let Some(span_bytes) = span_bytes else {
            return Spacing::of(access, alignment, request_bytes, file_bytes);
        };
        let refused = WorkloadError::Span { span_bytes, request_bytes, file_bytes };
        if span_bytes > file_bytes {
            return Err(refused);
        }
        Spacing::of(access, alignment, request_bytes, span_bytes).map_err(|_| refused)
    }

    pub(crate) fn data_files(
        &self,
        thread: usize,
        role: Role,
    ) -> Result<Vec<DataFile>, EngineError> {
        if let Some(on_device) = self.on_device {
            return Ok(vec![self.file_on_device(on_device)?]);
        }
        let flags = self.access_flags(role);
        self.assigned(thread, self.file_set.data_files(role).count)
            .into_iter()
            .map(|number| {
                let path = self.file_set.data_file(role, number);
                let file = self.open(&path, flags)?;
                if self.workload.advises_random && role == Role::Read {
                    fadvise(&file, 0, None, Advice::Random)
                        .map_err(|errno| EngineError::from_errno("posix_fadvise", &path, errno))?;
                }
                let content = self.file_set.content(role, number);
                Ok(DataFile { file, path, content, places: None })
            })
            .collect()
    }

    fn file_on_device(&self, on_device: &OnDevice) -> Result<DataFile, EngineError> {
        Ok(DataFile {
            file: on_device.open()?,
            path: on_device.path().to_path_buf(),
            content: self.file_set.content(Role::Read, 0),
            places: Some(on_device.places(self.workload.request_bytes)),
        })
    }

    /// What a thread writes where nobody checks: no file's content, no other thread's, and another
    /// one for each seed.
    pub(crate) fn unverified_content(&self, thread: usize) -> Content {
        Content::new(mix(!self.seed), thread as u64)
    }

    fn transfer<C>(&self, parts: Parts, choose: C) -> AnyStep
    where
        C: Choose,
        AnyStep: From<Read<C, false>>
            + From<Read<C, true>>
            + From<Write<C, false>>
            + From<Write<C, true>>,
    {
        let Parts { role, files, spacing, content } = parts;
        let workload = self.workload;
        let request_bytes = workload.request_bytes;
        let transfer = Transfer::new(files, choose, spacing, workload.io_path, workload.slots());
        let apart = index(workload.writes_apart());
        match (role, workload.verification) {
            (Role::Read, Verification::Off) => {
                Read::<C, false>::new(transfer, request_bytes).into()
            }
            (Role::Read, Verification::On) => Read::<C, true>::new(transfer, request_bytes).into(),
            (Role::Write, Verification::Off) => {
                Write::<C, false>::new(transfer, request_bytes, content, apart).into()
            }
            (Role::Write, Verification::On) => {
                Write::<C, true>::new(transfer, request_bytes, content, apart).into()
            }
        }
    }

    fn growing_step(&self, thread: usize, what: GrowingOperation) -> Result<AnyStep, EngineError> {
        let number = if self.workload.sharing == Sharing::Same { 0 } else { thread };
        let path = self.file_set.growing_file(number);
        // Each call that is to append says so itself.
        let end = if let IoPath::Preadv2(_) = self.workload.io_path {
            OFlags::empty()
        } else {
            OFlags::APPEND
        };
        let file = self.open(&path, OFlags::WRONLY | OFlags::CREATE | end)?;
        let Workload { request_bytes, io_path, .. } = *self.workload;
        let payload = Payload::incompressible(request_bytes, self.unverified_content(thread));
        let starts = vec![0; self.workload.slots()];
        let growing = Growing { file, path, payload, io_path, starts };
        if let IoPath::Preadv2(options) = io_path {
            return Ok(AppendVectored::new(growing, options).into());
        }
        Ok(match what {
            GrowingOperation::Append => Append(growing).into(),
            GrowingOperation::Fsync => Sync::<false>(growing).into(),
            GrowingOperation::Fdatasync => Sync::<true>(growing).into(),
            GrowingOperation::AppendFsync => AppendFsync(growing).into(),
            GrowingOperation::Truncate => Truncate(growing).into(),
        })
    }

    fn name_step(&self, thread: usize, what: NameOperation) -> Result<AnyStep, EngineError> {
        let directories = self.directories(thread)?;
        let entries = self.file_set.spec().directories.entries;
        // Each missing name is looked for in one of the directories; there is at least one.
        let missing = entries * directories.all.len() as u64 * MISSING_PER_ENTRY;
        Ok(match what {
            NameOperation::Readdir => Readdir::new(directories, entries).into(),
            NameOperation::Rename => self.rename_step(thread, directories)?,
            NameOperation::Open => AnyStep::Open(self.entry_step(thread, directories, entries)?),
            NameOperation::Close => {
                AnyStep::Close(Close(self.entry_step(thread, directories, entries)?))
            }
            NameOperation::OpenClose => {
                AnyStep::OpenClose(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Create => {
                AnyStep::Create(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::StatPresent => {
                AnyStep::StatPresent(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::StatMissing => {
                AnyStep::StatMissing(self.entry_step(thread, directories, missing)?)
            }
            NameOperation::CheckAccess => {
                AnyStep::CheckAccess(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Link => AnyStep::Link(self.entry_step(thread, directories, entries)?),
            NameOperation::Symlink => {
                AnyStep::Symlink(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Unlink => {
                AnyStep::Unlink(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Mkdir => {
                AnyStep::Mkdir(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Rmdir => {
                AnyStep::Rmdir(self.entry_step(thread, directories, entries)?)
            }
        })
    }

    /// A step on entries that chooses among `names`.
    fn entry_step<E: EntryCall>(
        &self,
        thread: usize,
        directories: Directories,
        names: u64,
    ) -> Result<EntryStep<E>, EngineError> {
        let choices = self.choices(thread, 1, names.max(1));
        let choose = AnyChooser::new(self.workload.access, &choices)?;
        Ok(EntryStep::new(directories, choose, self.fresh(thread), self.manner()))
    }

    fn rename_step(&self, thread: usize, directories: Directories) -> Result<AnyStep, EngineError> {
        let entries = self.file_set.spec().directories.entries;
        let place = if self.workload.sharing == Sharing::Same { thread as u64 } else { 0 };
        let share = Share::of(entries, place, self.sharers() as u64);
        // Shares are disjoint, so nobody has to start elsewhere.
        let alone = Choices { sharers: 1, ..self.choices(thread, 1, share.count) };
        let choose = AnyChooser::new(self.workload.access, &alone)?;
        Ok(Rename::new(directories, choose, share, self.manner()).into())
    }

    /// The new names of a thread.
    fn fresh(&self, thread: usize) -> Fresh {
        let form = self.file_set.spec().directories.name_form();
        Fresh::of(self.seed, form, thread, self.workload.threads)
    }

    fn manner(&self) -> Manner {
        let (slots, sync) = (self.workload.slots(), self.workload.directory_sync);
        Manner { form: self.file_set.spec().directories.path_form(), slots, sync }
    }

    fn directories(&self, thread: usize) -> Result<Directories, EngineError> {
        let numbers = self.assigned(thread, self.file_set.spec().directories.count);
        let open = |number| {
            let path = self.file_set.directory(number);
            let start = open_directory(&self.file_set.directory_start(number))?;
            let is_start = self.file_set.spec().directories.depth == 1;
            let end = if is_start { None } else { Some(open_directory(&path)?) };
            Ok(Directory { start, end, path })
        };
        let all: Result<Vec<_>, EngineError> = numbers.into_iter().map(open).collect();
        Ok(Directories::new(all?))
    }

    /// Makes what this thread's operations will remove: for operation i, in the directory of its
    /// turn.
    fn make_victims(&self, thread: usize) -> Result<(), EngineError> {
        let Some(kind) = self.workload.operation.victim() else { return Ok(()) };
        let mut directories = self.directories(thread)?;
        let mut maker = Maker::default();
        let fresh = self.fresh(thread);
        let mut name = EntryName::new(self.file_set.spec().directories.name_form());
        for index in 0..self.workload.all_operations() {
            name.set(kind, fresh.number(index));
            let turn = directories.take_turn();
            let directory = &directories.all[turn];
            let descriptor = directory.itself();
            let made = if kind == Kind::File {
                maker.make(descriptor, &name)
            } else {
                mkdirat(descriptor, name.as_c_str(), Mode::RWXU)
                    .map_err(|errno| Fault::errno("mkdirat", errno))
            };
            made.map_err(|fault| fault.into_error(&directory.path))?;
        }
        Ok(())
    }
}

/// What reads and writes of all access patterns are made of.
struct Parts {
    role: Role,
    files: Vec<DataFile>,
    spacing: Spacing,
    /// What unverified writes write.
    content: Content,
}
