//! The reference: a hand-written loop with nothing in it but the choice of an offset and the call.
//!
//! It shares no code with the engine: any harness looks free if the reference is slower than it
//! needs to be.

use std::fs::File;
use std::hint::black_box;

use anyhow::ensure;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::io::{pread, pwrite};
use workload::{Access, Content, FileSet, IoPath, Role, Workload};

use super::BareLoop;

const PAGE_BYTES: usize = 4096;
const LINE_BYTES: usize = 64;
/// Writes cycle through this many bytes, as the engine's do, so that file systems that compress or
/// deduplicate never see the same request again.
const PAYLOAD_BYTES: usize = 128 << 10;

/// One thread's bare loop.
pub(super) struct Bare {
    role: Role,
    file: File,
    buffer: Pages,
    request_bytes: usize,
    requests: u64,
    choice: Choice,
}

/// Which of `requests` requests is next.
trait Choose {
    fn next(&mut self, requests: u64) -> u64;
}

#[derive(Clone)]
enum Choice {
    Sequential(Sequential),
    Uniform(Uniform),
}

#[derive(Clone)]
struct Sequential(u64);

impl Choose for Sequential {
    #[inline(always)]
    fn next(&mut self, requests: u64) -> u64 {
        let chosen = self.0;
        self.0 = if chosen + 1 == requests { 0 } else { chosen + 1 };
        chosen
    }
}

#[derive(Clone)]
struct Uniform(Xoshiro256PlusPlus);

impl Choose for Uniform {
    /// The high word of a product (Lemire, "Fast random integer generation in an interval", ACM
    /// TOMACS 29(1), 2019).
    #[inline(always)]
    fn next(&mut self, requests: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(requests)) >> 64) as u64
    }
}

impl Bare {
    /// This thread's loop over the one file that all threads share.
    pub(super) fn new(
        workload: &Workload,
        file_set: &FileSet,
        thread: usize,
    ) -> anyhow::Result<Self> {
        ensure!(
            workload.io_path == IoPath::PsyncBuffered,
            "the bare loop knows pread and pwrite only"
        );
        let role = super::role_of(workload.operation)?;
        let path = file_set.data_file(role, 0);
        let file =
            File::options().read(role == Role::Read).write(role == Role::Write).open(path)?;
        let request_bytes = workload.request_bytes;
        let requests = file_set.data_files(role).size_bytes / request_bytes as u64;
        // Offsets differ from the engine's, since whoever comes second would find the data in the
        // processor's caches. Sequential ones start half a thread's share further on.
        let (sharers, number) = (2 * workload.threads as u64, 2 * thread as u64 + 1);
        let choice = match workload.access {
            Access::Sequential => Choice::Sequential(Sequential(requests / sharers * number)),
            Access::Uniform => Choice::Uniform(Uniform(Xoshiro256PlusPlus::seed_from_u64(number))),
            Access::Shuffled | Access::Zipf { .. } | Access::Mixed { .. } => {
                anyhow::bail!("the bare loop knows sequential and uniformly random places only")
            }
        };
        let buffer_bytes = match role {
            Role::Read => request_bytes,
            Role::Write => PAYLOAD_BYTES.max(request_bytes) / request_bytes * request_bytes,
        };
        Ok(Self { role, file, buffer: Pages::new(buffer_bytes), request_bytes, requests, choice })
    }

    /// `choose` is passed and returned by value, so that it is a local variable of the loop.
    #[inline(never)]
    fn transfer<C: Choose>(&mut self, mut choose: C, operations: u64) -> anyhow::Result<C> {
        let (file, request_bytes, requests) = (&self.file, self.request_bytes, self.requests);
        let bytes = self.buffer.bytes_mut();
        match self.role {
            Role::Read => {
                for _ in 0..operations {
                    let offset_bytes = choose.next(requests) * request_bytes as u64;
                    let moved = pread(file, &mut *bytes, offset_bytes)?;
                    ensure!(moved == request_bytes, "a read came back short");
                }
            }
            Role::Write => {
                let (mut start, end) = (0, bytes.len());
                for number in 0..operations {
                    let request = &mut bytes[start..start + request_bytes];
                    make_unlike(request, number);
                    start = if start + request_bytes == end { 0 } else { start + request_bytes };
                    let offset_bytes = choose.next(requests) * request_bytes as u64;
                    let moved = pwrite(file, request, offset_bytes)?;
                    ensure!(moved == request_bytes, "a write came back short");
                }
            }
        }
        Ok(choose)
    }
}

impl BareLoop for Bare {
    fn run(&mut self, operations: u64) -> anyhow::Result<()> {
        self.choice = match self.choice.clone() {
            Choice::Sequential(choose) => Choice::Sequential(self.transfer(choose, operations)?),
            Choice::Uniform(choose) => Choice::Uniform(self.transfer(choose, operations)?),
        };
        Ok(())
    }
}

/// Gives a request a new first word, and loads the request into the nearest cache. Programs that
/// write new data do this with or without a harness.
#[inline(always)]
fn make_unlike(request: &mut [u8], number: u64) {
    if let Some(word) = request.first_chunk_mut() {
        *word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    }
    black_box(request.iter().step_by(LINE_BYTES).fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
}

/// Page-aligned memory.
pub(super) struct Pages {
    storage: Vec<u8>,
    start: usize,
    length: usize,
}

impl Pages {
    /// `length` incompressible bytes; writing them here faults all pages in.
    pub(super) fn new(length: usize) -> Self {
        let storage = vec![0; length + PAGE_BYTES];
        let start = storage.as_ptr().align_offset(PAGE_BYTES);
        let mut pages = Self { storage, start, length };
        Content::new(2, 0).fill(pages.bytes_mut(), 0);
        pages
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.start + self.length]
    }
}
