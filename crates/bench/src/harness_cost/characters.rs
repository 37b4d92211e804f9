//! The reference for characters through stdio: `getc` or `putc` for one request after another,
//! starting over at the end of the file. Nothing else, as in Bonnie.

use std::fs::File;

use anyhow::ensure;
use measure::Clock;
use workload::{
    Access, Alignment, Fault, FileSet, IoPath, Role, Sharing, Stream, ThreadLoop, Workload,
};

use super::bare::Pages;
use super::{BareLoop, Ratios, Rivals, race};

/// The rate of the engine's loop over that of the bare loop, per round, like
/// [`super::engine_to_bare`] for psync.
///
/// Only for sequential aligned reads or writes through [`IoPath::Stdio`] in a single thread.
pub(crate) fn characters_to_bare<C: Clock>(
    workload: &Workload,
    file_set: &FileSet,
    rounds: usize,
    clock: &C,
) -> anyhow::Result<Ratios> {
    let workload = Workload { sharing: Sharing::Same, threads: 1, ..workload.clone() };
    let bare = Bare::new(&workload, file_set)?;
    let engine = ThreadLoop::new(&workload, file_set, 0, clock)?;
    race(&mut [Rivals { bare, engine }], workload.operations_per_thread, rounds, clock)
}

/// The bare loop, with its own stream.
struct Bare {
    role: Role,
    stream: Stream,
    buffer: Pages,
    next_bytes: u64,
    /// The end of the last whole request.
    end_bytes: u64,
}

impl Bare {
    fn new(workload: &Workload, file_set: &FileSet) -> anyhow::Result<Self> {
        let role = super::role_of(workload.operation)?;
        let is_sequential =
            workload.access == Access::Sequential && workload.alignment == Alignment::Request;
        ensure!(is_sequential, "characters are compared in sequence only");
        let IoPath::Stdio(locking) = workload.io_path else {
            anyhow::bail!("characters go through stdio");
        };
        let path = file_set.data_file(role, 0);
        let (file, mode) = match role {
            Role::Read => (File::open(path)?, c"r"),
            Role::Write => (File::options().write(true).open(path)?, c"w"),
        };
        let request_bytes = workload.request_bytes as u64;
        let requests = file_set.data_files(role).size_bytes / request_bytes;
        Ok(Self {
            role,
            stream: Stream::open(file.into(), mode, locking).map_err(in_words)?,
            buffer: Pages::new(workload.request_bytes),
            next_bytes: 0,
            end_bytes: requests * request_bytes,
        })
    }

    #[inline(never)]
    fn run_all(&mut self, operations: u64) -> Result<(), Fault> {
        let buffer = self.buffer.bytes_mut();
        for _ in 0..operations {
            if self.next_bytes == self.end_bytes {
                self.stream.seek(0)?;
                self.next_bytes = 0;
            }
            match self.role {
                Role::Read => drop(self.stream.read(buffer)?),
                Role::Write => self.stream.write(buffer)?,
            }
            self.next_bytes += buffer.len() as u64;
        }
        // The engine flushes its buffer too.
        match self.role {
            Role::Read => Ok(()),
            Role::Write => self.stream.flush(),
        }
    }
}

impl BareLoop for Bare {
    fn run(&mut self, operations: u64) -> anyhow::Result<()> {
        self.run_all(operations).map_err(in_words)
    }
}

fn in_words(fault: Fault) -> anyhow::Error {
    anyhow::anyhow!("stdio failed: {fault:?}")
}
