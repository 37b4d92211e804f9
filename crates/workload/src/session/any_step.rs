//! All steps, behind one type.

use std::sync::atomic::AtomicBool;

use measure::{Clock, Recorder, SystemClock};

use super::CallStep;
use crate::calls::{Kernel, Library};
use crate::error::{EngineError, WorkloadError};
use crate::interleave::{Interleaved, Interleaving, interleave};
use crate::rewrite::Rewrite;
use crate::round::{RoundSync, TickSpan, run_round};
use crate::run_loop::{self, Halt, LoopLength, LoopOutcome, Step, Tally, run_part};
use crate::steps::{
    AppendVectored, Mapped, PathTransfer, Psync, ReadShare, ReadsOnly, Stdio, Vectored, WritesOnly,
};
use crate::uring::{AnyTransfers, AsynchronousLatency};

/// A step of any kind.
#[derive(Debug)]
pub(crate) enum AnyStep {
    /// With system calls.
    Kernel(CallStep<Kernel>),
    /// With calls to a library.
    Library(CallStep<Library>, Library),
    /// On an I/O path that only the kernel has.
    Path(PathStep),
    /// Reads or writes in flight, which have their own loop.
    Uring(Box<AnyTransfers>),
}

/// Defines an enum of several kinds of steps.
macro_rules! steps {
    (
        $(#[$about:meta])* $name:ident<$calls:ident: $bound:ident>:
        $($(#[$attribute:meta])* $variant:ident($step:ty),)*
    ) => {
        steps! {
            @type $(#[$about])* $name <$calls: $bound>:
            $($(#[$attribute])* $variant($step),)*
        }

        $($(#[$attribute])* impl<$calls: $bound> From<$step> for $name<$calls> {
            fn from(step: $step) -> Self {
                Self::$variant(step)
            }
        })*
    };
    (
        $(#[$about:meta])* $name:ident:
        $($(#[$attribute:meta])* $variant:ident($step:ty),)*
    ) => {
        steps! { @type $(#[$about])* $name: $($(#[$attribute])* $variant($step),)* }

        $($(#[$attribute])* impl From<$step> for $name {
            fn from(step: $step) -> Self {
                Self::$variant(step)
            }
        })*
    };
    (
        @type $(#[$about:meta])* $name:ident $(<$calls:ident: $bound:ident>)?:
        $($(#[$attribute:meta])* $variant:ident($step:ty),)*
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) enum $name $(<$calls: $bound>)? {
            $($(#[$attribute])* $variant($step),)*
        }

        impl $(<$calls: $bound>)? $name $(<$calls>)? {
            /// Does what the step does once, after its last operation.
            pub(super) fn end(&mut self) -> Result<(), EngineError> {
                match self {
                    $($(#[$attribute])* Self::$variant(step) => run_loop::end(step),)*
                }
            }

            /// Runs the loop, compiled for this step if the clock is quick.
            pub(super) fn run<C: Clock>(
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
                }
            }

            /// Runs one round; None if it was called off.
            pub(super) fn run_round<C: Clock>(
                &mut self,
                length: LoopLength,
                clock: &C,
                recorder: &mut Recorder,
                company: &impl RoundSync,
            ) -> Result<Option<(LoopOutcome, TickSpan)>, EngineError> {
                match self {
                    $(
                        $(#[$attribute])*
                        Self::$variant(step) => run_round(step, length, clock, recorder, company),
                    )*
                }
            }

            /// Does operations with code between them.
            pub(super) fn interleave(
                &mut self,
                plan: &Interleaving<'_>,
                clock: &SystemClock,
                stop: &AtomicBool,
            ) -> Result<Option<Interleaved>, EngineError> {
                match self {
                    $(
                        $(#[$attribute])*
                        Self::$variant(step) => interleave(step, plan, clock, stop),
                    )*
                }
            }

            /// Bytes compared so far.
            pub(super) fn checked_bytes(&self) -> u64 {
                match self {
                    $($(#[$attribute])* Self::$variant(step) => step.checked_bytes(),)*
                }
            }

            /// What else has been counted so far, besides operations and bytes.
            pub(super) fn tally(&self) -> Tally {
                match self {
                    $($(#[$attribute])* Self::$variant(step) => step.tally(),)*
                }
            }
        }
    };
}

pub(super) use steps;

impl AnyStep {
    /// Does what the step does once, after its last operation.
    pub(crate) fn end(&mut self) -> Result<(), EngineError> {
        match self {
            Self::Kernel(step) => step.end(),
            Self::Library(step, _) => step.end(),
            Self::Path(step) => step.end(),
            Self::Uring(_) => Ok(()),
        }
    }

    /// Runs the loop, compiled for this step if the clock is quick.
    pub(crate) fn run<C: Clock>(
        &mut self,
        length: LoopLength,
        clock: &C,
        recorder: &mut Recorder,
        halt: &impl Halt,
    ) -> Result<LoopOutcome, EngineError> {
        match self {
            Self::Kernel(step) => step.run(length, clock, recorder, halt),
            Self::Library(step, _) => step.run(length, clock, recorder, halt),
            Self::Path(step) => step.run(length, clock, recorder, halt),
            Self::Uring(transfers) => transfers.run(length.operations, clock, recorder, halt),
        }
    }

    /// Runs one round; None if it was called off.
    pub(crate) fn run_round<C: Clock>(
        &mut self,
        length: LoopLength,
        clock: &C,
        recorder: &mut Recorder,
        company: &impl RoundSync,
    ) -> Result<Option<(LoopOutcome, TickSpan)>, EngineError> {
        match self {
            Self::Kernel(step) => step.run_round(length, clock, recorder, company),
            Self::Library(step, _) => step.run_round(length, clock, recorder, company),
            Self::Path(step) => step.run_round(length, clock, recorder, company),
            Self::Uring(_) => Err(WorkloadError::NoRounds.into()),
        }
    }

    /// Does operations with code between them; None if it was told to stop.
    pub(super) fn interleave(
        &mut self,
        plan: &Interleaving<'_>,
        clock: &SystemClock,
        stop: &AtomicBool,
    ) -> Result<Option<Interleaved>, EngineError> {
        match self {
            Self::Kernel(step) => step.interleave(plan, clock, stop),
            Self::Library(step, _) => step.interleave(plan, clock, stop),
            Self::Path(step) => step.interleave(plan, clock, stop),
            Self::Uring(_) => Err(WorkloadError::NotInterleaved.into()),
        }
    }

    /// Bytes compared so far.
    pub(crate) fn checked_bytes(&self) -> u64 {
        match self {
            Self::Kernel(step) => step.checked_bytes(),
            Self::Library(step, _) => step.checked_bytes(),
            Self::Path(step) => step.checked_bytes(),
            Self::Uring(transfers) => transfers.checked_bytes(),
        }
    }

    /// What else has been counted so far, besides operations and bytes.
    pub(crate) fn tally(&self) -> Tally {
        match self {
            Self::Kernel(step) => step.tally(),
            Self::Library(step, _) => step.tally(),
            Self::Path(step) => step.tally(),
            Self::Uring(_) => Tally::default(),
        }
    }

    /// Does what must be done before the start, in the thread that will run the step.
    pub(crate) fn make_ready(&mut self) -> Result<(), EngineError> {
        match self {
            Self::Kernel(_) | Self::Path(_) => Ok(()),
            Self::Library(_, library) => library.make_ready(),
            Self::Uring(transfers) => transfers.make_ready(),
        }
    }

    /// Whether several operations are in flight at once. If so, there is never a moment between two
    /// of them when all earlier ones are done.
    pub(crate) fn is_in_flight(&self) -> bool {
        matches!(self, Self::Uring(_))
    }

    /// The parts of the latencies of operations in flight, if any. Closes everything it has open.
    pub(crate) fn into_asynchronous_latency(self) -> Option<AsynchronousLatency> {
        if let Self::Uring(transfers) = self { Some(transfers.into_latency()) } else { None }
    }
}

steps! {
    /// A step that only exists for the kernel.
    PathStep:
    MixPsync(PathTransfer<Psync, ReadShare>),
    ReadMapped(PathTransfer<Mapped, ReadsOnly>),
    WriteMapped(PathTransfer<Mapped, WritesOnly>),
    MixMapped(PathTransfer<Mapped, ReadShare>),
    ReadVectored(PathTransfer<Vectored, ReadsOnly>),
    WriteVectored(PathTransfer<Vectored, WritesOnly>),
    MixVectored(PathTransfer<Vectored, ReadShare>),
    ReadStdio(PathTransfer<Stdio, ReadsOnly>),
    WriteStdio(PathTransfer<Stdio, WritesOnly>),
    MixStdio(PathTransfer<Stdio, ReadShare>),
    AppendVectored(AppendVectored),
    Rewrite(Rewrite),
    #[cfg(test)]
    Locked(super::rounds::tests::Locked),
}
