//! Somebody who writes much and syncs, again and again, until told that it is over.

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

/// What is written before each sync, and how large the file becomes before it begins again: new
/// blocks each time.
pub(super) const FLUSHED_BYTES: u64 = 16 * MIB;
const FILE_BYTES_MAX: u64 = 64 * MIB;
/// What it takes of a file system at most: blocks that were freed come back with the next commit of
/// the whole file system only, until when btrfs keeps them beside those that took their place.
pub(super) const ROOM_BYTES: u64 = 4 * FILE_BYTES_MAX;
/// How long the first sync may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the flusher and the one beside it tell each other.
#[derive(Debug, Default)]
struct Flusher {
    is_over: AtomicBool,
    bytes: AtomicU64,
    syncs: AtomicU64,
    has_failed: AtomicBool,
}

/// Ends the flusher, whatever becomes of the one beside it.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does something beside a flusher that has begun; gives besides how many bytes per second that
/// wrote meanwhile.
pub(super) fn beside<T>(
    site: &Site<'_>,
    act: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, f64), Failure> {
    let flusher = Flusher::default();
    let path = site.directory.join("flusher");
    let file = File::create_new(&path).map_err(|error| failed(&error))?;
    thread::scope(|scope| {
        let thread = scope.spawn(|| flusher.flush(&file, site.seed));
        let over = Over(&flusher.is_over);
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

    /// Waits until it has synced once: what it costs at first is not what is asked for.
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
            let over = Over(&flusher.is_over);
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
