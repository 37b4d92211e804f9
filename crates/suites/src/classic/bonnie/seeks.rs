//! Random seeks: threads that each open the file themselves and draw tickets from one pipe, so that
//! the next seek is always waiting.
//!
//! Bonnie forks processes; these are threads, but they too share only the pipe, and each has its
//! own table of file descriptors. Tickets are those of Bonnie++ 2.00a: each names a block that was
//! chosen beforehand, and whether it is changed and written back.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use measure::{Clock, SystemClock, thread_processor_ns};
use rand::{Rng, RngExt};
use record::BonnieOptions;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use rustix::pipe::{PipeFlags, pipe_with};
use workload::AlignedBuffer;

use super::timed::TimeTaken;
use crate::classic::calls;

/// One in this many seeks writes its block back.
pub(super) const UPDATE_EVERY: u32 = 10;
/// The last ticket of each thread.
const END: u64 = u64::MAX;

/// The tickets for all threads, drawn beforehand: random blocks, every tenth to be changed.
pub(super) fn tickets(options: &BonnieOptions, generator: &mut impl Rng) -> Vec<u64> {
    let blocks = options.size_bytes / options.chunk_bytes;
    let ticket = |number: u32| {
        let block = generator.random_range(0..blocks);
        block << 1 | u64::from(number.is_multiple_of(UPDATE_EVERY))
    };
    (0..options.seeks).map(ticket).collect()
}

/// What one thread reports: its processor time, and when it started and ended.
struct Report {
    start_ticks: u64,
    end_ticks: u64,
    processor_ns: u64,
}

/// Seeks in the file at `path`. The time is from the start of the first thread to the end of the
/// last. Seeking stops early once `goes_on` returns false.
pub(super) fn seek(
    path: &Path,
    options: &BonnieOptions,
    tickets: &[u64],
    clock: &SystemClock,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> io::Result<TimeTaken> {
    let (out, into) = pipe_with(PipeFlags::CLOEXEC)?;
    let written_to = into.as_raw_fd();
    // All threads wait for a ticket before the first one is written.
    let ready = Barrier::new(options.seekers as usize + 1);
    let ends = std::iter::repeat_n(END, options.seekers as usize);
    let written: Vec<u8> = tickets.iter().copied().chain(ends).flat_map(u64::to_ne_bytes).collect();
    let reports: io::Result<Vec<Report>> = thread::scope(|scope| {
        // As in a process of its own. Only this thread writes tickets: once it has closed the pipe,
        // they end.
        let seeker = || {
            let run = |own| Seeker { path, options, clock, goes_on }.run(own, out.as_fd(), &ready);
            system_calls::on_own_descriptors(Some(written_to), run)
        };
        let threads: Vec<_> = (0..options.seekers).map(|_| scope.spawn(seeker)).collect();
        ready.wait();
        File::from(into).write_all(&written)?;
        let joined = threads.into_iter().map(|thread| thread.join().expect("no seeker panics"));
        joined.collect()
    });
    let reports = reports?;
    let start_ticks = reports.iter().map(|one| one.start_ticks).min().unwrap_or(0);
    let end_ticks = reports.iter().map(|one| one.end_ticks).max().unwrap_or(0);
    Ok(TimeTaken {
        elapsed_ns: clock.nanos(end_ticks.saturating_sub(start_ticks)),
        processor_ns: reports.iter().map(|one| one.processor_ns).sum(),
    })
}

struct Seeker<'a> {
    path: &'a Path,
    options: &'a BonnieOptions,
    clock: &'a SystemClock,
    goes_on: &'a (dyn Fn() -> bool + Sync),
}

impl Seeker<'_> {
    fn run(
        &self,
        own: io::Result<()>,
        tickets: BorrowedFd<'_>,
        ready: &Barrier,
    ) -> io::Result<Report> {
        let open = || File::options().read(true).write(true).open(self.path);
        let opened = own.and_then(|()| open());
        ready.wait();
        let mut buffer = AlignedBuffer::new(self.chunk());
        let mut ticket = next(tickets)?;
        let processor_before_ns = thread_processor_ns();
        let start_ticks = self.clock.start();
        let mut file = opened;
        // Tickets are drawn to the last one even if they are no longer used, so that their writer
        // never waits for room in the pipe.
        while ticket != END {
            if let Ok(open) = &mut file
                && (self.goes_on)()
                && let Err(error) = self.visit(open, buffer.bytes_mut(), ticket)
            {
                file = Err(error);
            }
            ticket = next(tickets)?;
        }
        let file = file?;
        if self.options.fsync {
            file.sync_all()?;
        }
        drop(file);
        let end_ticks = self.clock.end();
        let processor_ns = thread_processor_ns().saturating_sub(processor_before_ns);
        Ok(Report { start_ticks, end_ticks, processor_ns })
    }

    fn visit(&self, file: &mut File, buffer: &mut [u8], ticket: u64) -> io::Result<()> {
        let (block, changes) = (ticket >> 1, ticket & 1 == 1);
        let at = SeekFrom::Start(block * self.options.chunk_bytes);
        file.seek(at)?;
        calls::read_exact(file, buffer)?;
        if changes {
            let place = usize::try_from(block).unwrap_or(0) % buffer.len();
            buffer[place] = buffer[place].wrapping_sub(1);
            file.seek(at)?;
            calls::write_all(file, buffer)?;
        }
        Ok(())
    }

    fn chunk(&self) -> usize {
        usize::try_from(self.options.chunk_bytes).expect("a chunk fits into memory")
    }
}

/// The next ticket. The pipe delivers whole ones, since all are written at once and a page holds a
/// whole number of them.
fn next(tickets: BorrowedFd<'_>) -> io::Result<u64> {
    let mut ticket = [0; 8];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(tickets, &mut ticket))?;
    if read == ticket.len() {
        Ok(u64::from_ne_bytes(ticket))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn a_tenth_of_the_tickets_writes_back_and_all_lie_in_the_file() {
        let options = super::super::published();
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
        let drawn = tickets(&options, &mut generator);
        assert_eq!(drawn.len(), 4000);
        assert_eq!(drawn.iter().filter(|&ticket| ticket & 1 == 1).count(), 400);
        let blocks = options.size_bytes / options.chunk_bytes;
        assert!(drawn.iter().all(|ticket| ticket >> 1 < blocks));
    }
}
