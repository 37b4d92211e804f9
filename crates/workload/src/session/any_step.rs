//! Every step there is, behind one type: the one place where an operation becomes a compiled loop.

use measure::{Clock, Recorder};

use crate::choose::{Follow, Sequential, Shuffled, Uniform, Zipf};
use crate::error::{EngineError, WorkloadError};
use crate::round::{Meets, Span, run_round};
use crate::run_loop::{self, Halt, LoopLength, LoopOutcome, Step, Tally, run_part};
use crate::steps::entries::{
    CheckAccess, Close, Create, EntryStep, Link, Mkdir, Open, OpenClose, Rmdir, Stat, StatMissing,
    Symlink, Unlink,
};
use crate::steps::{
    Append, AppendFsync, AppendVectored, Mapped, OnPath, Psync, Read, ReadShare, Readdir,
    ReadsOnly, Rename, Rewrite, Stdio, Sync, Truncate, Vectored, Write, WritesOnly,
};
use crate::uring::{AnyTransfers, AsynchronousLatency};

macro_rules! any_step {
    ($($(#[$attribute:meta])* $variant:ident($step:ty),)*) => {
        /// A step of any kind.
        #[derive(Debug)]
        pub(crate) enum AnyStep {
            $($(#[$attribute])* $variant($step),)*
            /// Reads or writes in flight, which have a loop of their own.
            Uring(Box<AnyTransfers>),
        }

        $($(#[$attribute])* impl From<$step> for AnyStep {
            fn from(step: $step) -> Self {
                Self::$variant(step)
            }
        })*

        impl AnyStep {
            /// What it does once, after its last operation.
            pub(crate) fn end(&mut self) -> Result<(), EngineError> {
                match self {
                    $($(#[$attribute])* Self::$variant(step) => run_loop::end(step),)*
                    Self::Uring(_) => Ok(()),
                }
            }

            /// The loop, compiled for this step and clock.
            pub(crate) fn run<C: Clock>(
                &mut self,
                length: LoopLength,
                clock: &C,
                recorder: &mut Recorder,
                halt: &impl Halt,
            ) -> Result<LoopOutcome, EngineError> {
                match self {
                    $(
                        $(#[$attribute])*
                        Self::$variant(step) => run_part(step, length, clock, recorder, halt),
                    )*
                    Self::Uring(transfers) => {
                        transfers.run(length.operations, clock, recorder, halt)
                    }
                }
            }

            /// One round; nothing if it was called off.
            pub(crate) fn run_round<C: Clock>(
                &mut self,
                length: LoopLength,
                clock: &C,
                recorder: &mut Recorder,
                company: &impl Meets,
            ) -> Result<Option<(LoopOutcome, Span)>, EngineError> {
                match self {
                    $(
                        $(#[$attribute])*
                        Self::$variant(step) => run_round(step, length, clock, recorder, company),
                    )*
                    Self::Uring(_) => Err(WorkloadError::NoRounds.into()),
                }
            }

            /// Bytes that were compared so far.
            pub(crate) fn checked_bytes(&self) -> u64 {
                match self {
                    $($(#[$attribute])* Self::$variant(step) => step.checked_bytes(),)*
                    Self::Uring(transfers) => transfers.checked_bytes(),
                }
            }

            /// What was counted so far beside operations and bytes.
            pub(crate) fn tally(&self) -> Tally {
                match self {
                    $($(#[$attribute])* Self::$variant(step) => step.tally(),)*
                    Self::Uring(_) => Tally::default(),
                }
            }
        }
    };
}

impl AnyStep {
    /// What the thread that runs it has to do before the start.
    pub(crate) fn make_ready(&mut self) -> Result<(), EngineError> {
        if let Self::Uring(transfers) = self { transfers.make_ready() } else { Ok(()) }
    }

    /// Whether its operations are in flight together, so that between two of them there is no
    /// moment at which the first half is over.
    pub(crate) fn is_in_flight(&self) -> bool {
        matches!(self, Self::Uring(_))
    }

    /// What is known of its operations beyond their latencies. Whatever it holds open is closed.
    pub(crate) fn into_asynchronous_latency(self) -> Option<AsynchronousLatency> {
        if let Self::Uring(transfers) = self { Some(transfers.into_latency()) } else { None }
    }
}

any_step! {
    ReadSequential(Read<Sequential, false>),
    ReadUniform(Read<Uniform, false>),
    ReadShuffled(Read<Shuffled, false>),
    ReadZipf(Read<Zipf, false>),
    VerifySequential(Read<Sequential, true>),
    VerifyUniform(Read<Uniform, true>),
    VerifyShuffled(Read<Shuffled, true>),
    VerifyZipf(Read<Zipf, true>),
    WriteSequential(Write<Sequential, false>),
    WriteUniform(Write<Uniform, false>),
    WriteShuffled(Write<Shuffled, false>),
    WriteZipf(Write<Zipf, false>),
    WriteContentSequential(Write<Sequential, true>),
    WriteContentUniform(Write<Uniform, true>),
    WriteContentShuffled(Write<Shuffled, true>),
    WriteContentZipf(Write<Zipf, true>),
    ReadFollow(Read<Follow, false>),
    VerifyFollow(Read<Follow, true>),
    WriteFollow(Write<Follow, false>),
    WriteContentFollow(Write<Follow, true>),
    MixPsync(OnPath<Psync, ReadShare>),
    ReadMapped(OnPath<Mapped, ReadsOnly>),
    WriteMapped(OnPath<Mapped, WritesOnly>),
    MixMapped(OnPath<Mapped, ReadShare>),
    ReadVectored(OnPath<Vectored, ReadsOnly>),
    WriteVectored(OnPath<Vectored, WritesOnly>),
    MixVectored(OnPath<Vectored, ReadShare>),
    ReadStdio(OnPath<Stdio, ReadsOnly>),
    WriteStdio(OnPath<Stdio, WritesOnly>),
    MixStdio(OnPath<Stdio, ReadShare>),
    AppendVectored(AppendVectored),
    Append(Append),
    Fsync(Sync<false>),
    Fdatasync(Sync<true>),
    AppendFsync(AppendFsync),
    Truncate(Truncate),
    Open(EntryStep<Open>),
    Close(Close),
    OpenClose(EntryStep<OpenClose>),
    Create(EntryStep<Create>),
    StatPresent(EntryStep<Stat>),
    StatMissing(EntryStep<StatMissing>),
    CheckAccess(EntryStep<CheckAccess>),
    Link(EntryStep<Link>),
    Symlink(EntryStep<Symlink>),
    Unlink(EntryStep<Unlink>),
    Mkdir(EntryStep<Mkdir>),
    Rmdir(EntryStep<Rmdir>),
    Rename(Rename),
    Rewrite(Rewrite),
    Readdir(Readdir),
    #[cfg(test)]
    Locked(super::rounds::tests::Locked),
}
