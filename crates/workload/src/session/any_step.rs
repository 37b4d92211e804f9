//! Every step there is, behind one type: the one place where an operation becomes a compiled loop.

use measure::{Clock, Recorder};

use crate::choose::{Sequential, Shuffled, Uniform, Zipf};
use crate::error::EngineError;
use crate::run_loop::{Halt, LoopLength, LoopOutcome, Step, run_loop};
use crate::steps::{
    Append, AppendFsync, Close, Create, EntryStep, Link, Mkdir, Open, OpenClose, Read, Readdir,
    Rename, Rmdir, Stat, StatMissing, Symlink, Sync, Truncate, Unlink, Write,
};

macro_rules! any_step {
    ($($variant:ident($step:ty),)*) => {
        /// A step of any kind.
        #[derive(Debug)]
        pub(crate) enum AnyStep {
            $($variant($step),)*
        }

        $(impl From<$step> for AnyStep {
            fn from(step: $step) -> Self {
                Self::$variant(step)
            }
        })*

        impl AnyStep {
            /// [`run_loop`], compiled for this step and clock.
            pub(crate) fn run<C: Clock>(
                &mut self,
                length: LoopLength,
                clock: &C,
                recorder: &mut Recorder,
                halt: &impl Halt,
            ) -> Result<LoopOutcome, EngineError> {
                match self {
                    $(Self::$variant(step) => run_loop(step, length, clock, recorder, halt),)*
                }
            }

            /// Bytes that were compared so far.
            pub(crate) fn checked_bytes(&self) -> u64 {
                match self {
                    $(Self::$variant(step) => step.checked_bytes(),)*
                }
            }
        }
    };
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
    Link(EntryStep<Link>),
    Symlink(EntryStep<Symlink>),
    Unlink(EntryStep<Unlink>),
    Mkdir(EntryStep<Mkdir>),
    Rmdir(EntryStep<Rmdir>),
    Rename(Rename),
    Readdir(Readdir),
}
