//! The steps that work with both the kernel and a library, behind one type. Only here does such an
//! operation become a compiled loop.

use measure::{Clock, Recorder};

use super::any_step::steps;
use crate::calls::Calls;
use crate::choose::{Follow, Sequential, Shuffled, Uniform, Zipf};
use crate::error::EngineError;
use crate::round::{RoundSync, TickSpan, run_round};
use crate::run_loop::{self, Halt, LoopLength, LoopOutcome, Step, Tally, run_part};
use crate::steps::entries::{
    CheckAccess, Close, Create, EntryStep, Link, Mkdir, Open, OpenClose, Rmdir, Stat, StatMissing,
    Symlink, Unlink,
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
