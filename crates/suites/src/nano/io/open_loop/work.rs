//! What is done at each moment of a schedule: a read from memory, a read from the device, or a
//! commit.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rand::seq::SliceRandom;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{CacheEvidence, CacheState, Dimension};
use runner::Failure;
use rustix::fs::{Mode, OFlags};
use targets::cache::cache_state::{self, Residency};
use workload::{IoPath, Operation, Role, Workload};

use crate::counters::CounterDeltas;
use crate::experiment::Site;
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::live_target::LiveTarget;
use crate::nano::io::commit::{self, Log, SyncMethod};
use crate::operations::{Layer, Length, Operations, Pages, Question};
use crate::state::{self, Claim, Warming};

/// Size of each operation.
pub(in crate::nano::io) const REQUEST_BYTES: usize = 4 << 10;

/// The kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::nano::io) enum ScheduledOperation {
    /// Reads a random block of the data file, which is in memory.
    WarmRead,
    /// Reads a random block of the data file past the page cache, each once before any repeats.
    DirectRead,
    /// Appends a block to a new file, then `fsync`.
    Commit,
}

impl ScheduledOperation {
    pub(in crate::nano::io) fn operation(self) -> &'static str {
        match self {
            Self::WarmRead => "read",
            Self::DirectRead => "direct read",
            Self::Commit => "append+fsync",
        }
    }

    pub(in crate::nano::io) fn cache_state(self) -> CacheState {
        match self {
            Self::WarmRead => CacheState::Warm,
            Self::DirectRead => CacheState::Cold,
            Self::Commit => CacheState::Any,
        }
    }

    pub(in crate::nano::io) fn exercises(self) -> Vec<Dimension> {
        match self {
            Self::WarmRead => vec![Dimension::InMemory],
            Self::DirectRead => vec![Dimension::OnDiskLayout],
            Self::Commit => vec![Dimension::OnDiskLayout, Dimension::Metadata],
        }
    }

    /// The file set that it works on.
    pub(in crate::nano::io) fn file_set(self) -> Option<FileSetKind> {
        match self {
            Self::WarmRead | Self::DirectRead => Some(FileSetKind::Data),
            Self::Commit => None,
        }
    }

    /// Whether this many can be done on a target.
    pub(in crate::nano::io) fn check(
        self,
        live: &LiveTarget,
        operations: u64,
    ) -> Result<(), String> {
        match self {
            Self::WarmRead => Ok(()),
            Self::DirectRead => without_direct_reads(live).map_or(Ok(()), Err),
            Self::Commit => commit::check(live, operations * REQUEST_BYTES as u64),
        }
    }
}

/// Why blocks of the target's files cannot be read past the page cache, if they cannot.
fn without_direct_reads(live: &LiveTarget) -> Option<String> {
    let read = Operations {
        workload: Workload { io_path: IoPath::PsyncDirect, ..Workload::new(Operation::Read) },
        file_set: FileSetKind::Data,
        layer: Layer::FileSystem,
        question: Question::Time,
        length: Length::default(),
        pages: Pages::Dirty,
    };
    live.trial().refuses(&read).map(|(_, why)| why)
}

/// The files that operations work on.
pub(in crate::nano::io) enum ScheduledWork {
    /// For [`ScheduledOperation::Commit`].
    Commits(Log),
    /// For the other kinds.
    Reads(Reads),
}

/// Blocks of the data file, read in a random order.
pub(in crate::nano::io) struct Reads {
    kind: ScheduledOperation,
    path: PathBuf,
    file: File,
    /// Block numbers, in the order in which they are read.
    order: Vec<u64>,
    buffer: Vec<u8>,
    before: Residency,
}

/// Warm reads after which their order repeats.
const WARM_ORDER: usize = 4096;

impl Reads {
    fn make(kind: ScheduledOperation, site: &Site<'_>) -> Result<Self, Failure> {
        let path = site.file_set(FileSetKind::Data)?.data_file(Role::Read, 0);
        let files = [path.clone()];
        let root = site.live.target().root();
        let how =
            if site.live.target.supports_cold() { Warming::Unknown } else { Warming::OnlyCopy };
        let made = state::make(kind.cache_state(), how, root, &files, 1);
        let made = made.map_err(|error| failed(&error))?;
        let direct = match kind {
            ScheduledOperation::DirectRead => OFlags::DIRECT,
            ScheduledOperation::WarmRead | ScheduledOperation::Commit => OFlags::empty(),
        };
        // Access times would be written while the file is read.
        let how = OFlags::RDONLY | OFlags::NOATIME | OFlags::CLOEXEC | direct;
        let file: File = rustix::fs::open(&path, how, Mode::empty())
            .map_err(|error| failed(&io::Error::from(error)))?
            .into();
        let blocks = (site.data_file_bytes / REQUEST_BYTES as u64).max(1);
        Ok(Self {
            kind,
            path,
            file,
            order: order(kind, blocks, site.seed),
            // Twice the size, since direct reads need an aligned part of it.
            buffer: vec![0; 2 * REQUEST_BYTES],
            before: made.unwrap_or_default(),
        })
    }

    fn read(&mut self, number: u64) -> io::Result<()> {
        let index = usize::try_from(number).unwrap_or(usize::MAX) % self.order.len();
        let offset = self.order[index] * REQUEST_BYTES as u64;
        let aligned = self.buffer.as_ptr().align_offset(REQUEST_BYTES);
        self.file.read_exact_at(&mut self.buffer[aligned..aligned + REQUEST_BYTES], offset)
    }
}

/// Block numbers in random order.
fn order(kind: ScheduledOperation, blocks: u64, seed: u64) -> Vec<u64> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    match kind {
        ScheduledOperation::DirectRead => {
            let mut all: Vec<u64> = (0..blocks).collect();
            all.shuffle(&mut generator);
            all
        }
        ScheduledOperation::WarmRead | ScheduledOperation::Commit => {
            (0..WARM_ORDER).map(|_| generator.random_range(0..blocks)).collect()
        }
    }
}

impl ScheduledWork {
    /// Makes what it needs, and leaves nothing from earlier phases to be written back.
    pub(in crate::nano::io) fn make(
        kind: ScheduledOperation,
        site: &Site<'_>,
    ) -> Result<Self, Failure> {
        let made = match kind {
            ScheduledOperation::Commit => {
                let path = site.directory.join("commits");
                let log = Log::create(&path, SyncMethod::Fsync, REQUEST_BYTES, site.seed);
                Self::Commits(log.map_err(|error| failed(&error))?)
            }
            ScheduledOperation::WarmRead | ScheduledOperation::DirectRead => {
                Self::Reads(Reads::make(kind, site)?)
            }
        };
        commit::settle(site)?;
        Ok(made)
    }

    /// Executes operation `number`, counted from 0; this is what is timed.
    pub(in crate::nano::io) fn act(&mut self, number: u64) -> io::Result<()> {
        match self {
            Self::Commits(log) => log.commit(),
            Self::Reads(reads) => reads.read(number),
        }
    }

    /// The evidence for the cache state during `operations` operations, given what `deltas`
    /// meanwhile.
    ///
    /// # Errors
    /// If the state was a different one.
    pub(in crate::nano::io) fn proved(
        &self,
        deltas: &CounterDeltas,
        operations: u64,
    ) -> Result<CacheEvidence, Failure> {
        let Self::Reads(reads) = self else {
            return Ok(state::evidence(None, None, deltas));
        };
        let after = cache_state::residency_of([&reads.path]).map_err(|error| failed(&error))?;
        let evidence = state::evidence(Some(reads.before), Some(after), deltas);
        let read_bytes = operations * REQUEST_BYTES as u64;
        let claim = Claim { state: reads.kind.cache_state(), ..Claim::cold_reads(read_bytes) };
        match state::verify(claim, &evidence) {
            Ok(()) => Ok(evidence),
            Err(why) => Err(Failure::State { why, evidence: Box::new(evidence) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_reads_take_each_block_once_and_warm_ones_any() {
        let mut direct = order(ScheduledOperation::DirectRead, 256, 1);
        assert_ne!(direct, (0..256).collect::<Vec<u64>>());
        direct.sort_unstable();
        assert_eq!(direct, (0..256).collect::<Vec<u64>>());
        let warm = order(ScheduledOperation::WarmRead, 256, 1);
        assert_eq!(warm.len(), WARM_ORDER);
        assert!(warm.iter().all(|&block| block < 256));
        assert_ne!(warm, order(ScheduledOperation::WarmRead, 256, 2));
    }
}
