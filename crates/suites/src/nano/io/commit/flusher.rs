//! A flusher: writes much and syncs, repeatedly, until told to stop.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use runner::Failure;
use workload::Content;

use super::MIB;
use crate::experiment::Site;
use crate::failure::failed;

/// Bytes written before each sync, and the file size at which it starts over, always with new
/// blocks.
pub(super) const FLUSHED_BYTES: u64 = 16 * MIB;
const FILE_BYTES_MAX: u64 = 64 * MIB;
/// The most space that it takes. Freed blocks only come back with the next commit of the whole file
/// system; until then, btrfs keeps them in addition to those that replaced them.
pub(super) const ROOM_BYTES: u64 = 4 * FILE_BYTES_MAX;
/// How long the first sync may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// State shared by the flusher and the work beside it.
#[derive(Debug, Default)]
struct Flusher {
    is_over: AtomicBool,
    bytes: AtomicU64,
    syncs: AtomicU64,
    has_failed: AtomicBool,
}

/// Stops the flusher when dropped, whatever happens to the work beside it.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `act` beside a flusher that is under way, and also returns how many bytes per second the
/// flusher wrote meanwhile.
pub(super) fn beside<T>(
    site: &Site<'_>,
    act: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, f64), Failure> {
    let flusher = Flusher::default();
    let path = site.directory.join("flusher");
    let file = File::create_new(&path).map_err(|error| failed(&error))?;
    thread::scope(|scope| {
        let thread = scope.spawn(|| flusher.flush(&file, site.seed));
        let over = StopOnDrop(&flusher.is_over);
        let measured = flusher.has_begun(site).and_then(|()| {
            let (began, before) = (Instant::now(), flusher.written());
            let done = act()?;
            let bytes = flusher.written() - before;
            Ok((done, bytes as f64 / began.elapsed().as_secs_f64()))
        });
        drop(over);
        let flushed = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        flushed.map_err(|error| failed(&error))?;
        measured
    })
}

impl Flusher {
    fn flush(&self, file: &File, seed: u64) -> io::Result<()> {
        let done = self.flush_on(file, seed);
        self.has_failed.store(done.is_err(), Ordering::Relaxed);
        done
    }

    fn flush_on(&self, file: &File, seed: u64) -> io::Result<()> {
        let mut piece = vec![0; 1 << 20];
        Content::new(seed, 1).fill(&mut piece, 0);
        let mut offset = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            file.write_all_at(&piece, offset)?;
            offset += MIB;
            self.bytes.fetch_add(MIB, Ordering::Relaxed);
            if offset.is_multiple_of(FLUSHED_BYTES) {
                file.sync_all()?;
                self.syncs.fetch_add(1, Ordering::Relaxed);
            }
            if offset >= FILE_BYTES_MAX {
                file.set_len(0)?;
                offset = 0;
            }
        }
        Ok(())
    }

    fn written(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Waits until it has synced once, since the initial cost is not the question.
    fn has_begun(&self, site: &Site<'_>) -> Result<(), Failure> {
        let began = Instant::now();
        while self.syncs.load(Ordering::Relaxed) == 0 && !self.has_failed.load(Ordering::Relaxed) {
            site.go_on()?;
            if began.elapsed() > PATIENCE {
                let why = format!("a flusher had synced nothing after {} s", PATIENCE.as_secs());
                return Err(Failure::Cell { why });
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_syncs_and_begins_again_until_it_is_over() {
        let path = std::env::temp_dir().join(format!("fsprism-flusher-{}", std::process::id()));
        let file = File::create_new(&path).expect("it is new");
        let flusher = Flusher::default();
        thread::scope(|scope| {
            let over = StopOnDrop(&flusher.is_over);
            let thread = scope.spawn(|| flusher.flush(&file, 1));
            while flusher.syncs.load(Ordering::Relaxed) < 5 {
                assert!(!flusher.has_failed.load(Ordering::Relaxed));
                thread::yield_now();
            }
            drop(over);
            thread.join().expect("it does not panic").expect("there is room");
        });
        assert!(flusher.written() >= 5 * FLUSHED_BYTES);
        assert!(file.metadata().expect("it is open").len() <= FILE_BYTES_MAX);
        std::fs::remove_file(&path).expect("it is there");
    }
}
