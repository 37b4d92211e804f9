//! The steps that work with both the kernel and a library, behind one type, and which of them an
//! operation is. Only here does such an operation become a compiled loop.

use std::sync::atomic::AtomicBool;

use measure::{Clock, Recorder, SystemClock};
use rustix::fs::OFlags;

use super::any_step::steps;
use super::step_maker::StepMaker;
use crate::buffer::Payload;
use crate::calls::Calls;
use crate::choose::{Follow, Sequential, Shuffled, Uniform, Zipf};
use crate::description::Workload;
use crate::error::EngineError;
use crate::interleave::{Interleaved, Interleaving, interleave};
use crate::names::MISSING_PER_ENTRY;
use crate::operation::{GrowingOperation, NameOperation};
use crate::round::{RoundSync, TickSpan, run_round};
use crate::run_loop::{self, Halt, LoopLength, LoopOutcome, Step, Tally, run_part};
use crate::steps::entries::EntryStep;
use crate::steps::entries::each::{
    CheckAccess, Close, Create, Link, Mkdir, Open, OpenClose, Rmdir, Stat, StatMissing, Symlink,
    Unlink,
};
use crate::steps::{
    Append, AppendFsync, NewFile, Read, ReadFile, Readdir, Rename, Sync, Truncate, Write,
};

steps! {
    /// A step that uses the calls of `K`.
    CallStep<K: Calls>:
    ReadSequential(Read<Sequential, false, K>),
    ReadUniform(Read<Uniform, false, K>),
    ReadShuffled(Read<Shuffled, false, K>),
    ReadZipf(Read<Zipf, false, K>),
    VerifySequential(Read<Sequential, true, K>),
    VerifyUniform(Read<Uniform, true, K>),
    VerifyShuffled(Read<Shuffled, true, K>),
    VerifyZipf(Read<Zipf, true, K>),
    WriteSequential(Write<Sequential, false, K>),
    WriteUniform(Write<Uniform, false, K>),
    WriteShuffled(Write<Shuffled, false, K>),
    WriteZipf(Write<Zipf, false, K>),
    WriteContentSequential(Write<Sequential, true, K>),
    WriteContentUniform(Write<Uniform, true, K>),
    WriteContentShuffled(Write<Shuffled, true, K>),
    WriteContentZipf(Write<Zipf, true, K>),
    ReadFollow(Read<Follow, false, K>),
    VerifyFollow(Read<Follow, true, K>),
    WriteFollow(Write<Follow, false, K>),
    WriteContentFollow(Write<Follow, true, K>),
    Append(Append<K>),
    Fsync(Sync<K, false>),
    Fdatasync(Sync<K, true>),
    AppendFsync(AppendFsync<K>),
    Truncate(Truncate<K>),
    Open(EntryStep<K, Open>),
    Close(Close<K>),
    OpenClose(EntryStep<K, OpenClose>),
    ReadFile(ReadFile<K>),
    Create(EntryStep<K, Create>),
    NewFile(NewFile<K>),
    StatPresent(EntryStep<K, Stat>),
    StatMissing(EntryStep<K, StatMissing>),
    CheckAccess(EntryStep<K, CheckAccess>),
    Link(EntryStep<K, Link>),
    Symlink(EntryStep<K, Symlink>),
    Unlink(EntryStep<K, Unlink>),
    Mkdir(EntryStep<K, Mkdir>),
    Rmdir(EntryStep<K, Rmdir>),
    Rename(Rename<K>),
    Readdir(Readdir<K>),
}

impl<K: Calls> StepMaker<'_, K> {
    /// The step of an operation on a file that grows.
    pub(super) fn growing_step(
        &self,
        thread: usize,
        what: GrowingOperation,
    ) -> Result<CallStep<K>, EngineError> {
        let growing = self.growing(thread, OFlags::APPEND)?;
        Ok(match what {
            GrowingOperation::Append => Append(growing).into(),
            GrowingOperation::Fsync => Sync::<K, false>(growing).into(),
            GrowingOperation::Fdatasync => Sync::<K, true>(growing).into(),
            GrowingOperation::AppendFsync => AppendFsync(growing).into(),
            GrowingOperation::Truncate => Truncate(growing).into(),
        })
    }

    /// The step of an operation on names.
    pub(super) fn name_step(
        &self,
        thread: usize,
        what: NameOperation,
    ) -> Result<CallStep<K>, EngineError> {
        let directories = self.directories(thread)?;
        let entries = self.plan.file_set.spec().directories.entries;
        // Each missing name is looked up in one of the directories; there is at least one.
        let missing = entries * directories.all.len() as u64 * MISSING_PER_ENTRY;
        Ok(match what {
            NameOperation::Readdir => Readdir::new(directories, entries).into(),
            NameOperation::Rename => self.rename_step(thread, directories)?,
            NameOperation::Open => CallStep::Open(self.entry_step(thread, directories, entries)?),
            NameOperation::Close => {
                CallStep::Close(Close(self.entry_step(thread, directories, entries)?))
            }
            NameOperation::OpenClose => {
                CallStep::OpenClose(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Create => {
                CallStep::Create(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::ReadFile => {
                let open = self.entry_step(thread, directories, entries)?;
                ReadFile::new(open, self.plan.workload.request_bytes).into()
            }
            NameOperation::NewFile => {
                let create = self.entry_step(thread, directories, entries)?;
                let Workload { request_bytes, .. } = *self.plan.workload;
                let content = self.plan.unverified_content(thread);
                let payload = Payload::incompressible(request_bytes, content);
                NewFile::new(create, payload, self.plan.workload.slots()).into()
            }
            NameOperation::StatPresent => {
                CallStep::StatPresent(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::StatMissing => {
                CallStep::StatMissing(self.entry_step(thread, directories, missing)?)
            }
            NameOperation::CheckAccess => {
                CallStep::CheckAccess(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Link => CallStep::Link(self.entry_step(thread, directories, entries)?),
            NameOperation::Symlink => {
                CallStep::Symlink(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Unlink => {
                CallStep::Unlink(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Mkdir => {
                CallStep::Mkdir(self.entry_step(thread, directories, entries)?)
            }
            NameOperation::Rmdir => {
                CallStep::Rmdir(self.entry_step(thread, directories, entries)?)
            }
        })
    }
}
