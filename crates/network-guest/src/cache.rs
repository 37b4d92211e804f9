//! The client's cache: a file system on a disk of its own, kept by cachefilesd.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use lab::inside::load_modules_for;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};

use crate::counters::Counters;
use crate::messages::Settled;
use crate::{programs, server};

/// The disk that the cache lies on.
pub(crate) const DISK: &str = "vda";
const DIRECTORY: &str = "/var/cache/fscache";
const CONFIGURATION: &str = "/etc/cachefilesd.conf";
const SAID: &str = "/tmp/cachefilesd.said";
/// Where the kernel lists caches.
const CACHES: &str = "/proc/fs/fscache/caches";
/// As Debian's package has it, with the directory of this guest.
const LIMITS: &str = "brun 10%\nbcull 7%\nbstop 3%\nfrun 10%\nfcull 7%\nfstop 3%\n";
const TAG: &str = "fsprism";
/// How long the cache may take to be there, and to have written all that it holds.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A cache that runs.
#[derive(Debug)]
pub(crate) struct Cache {
    keeper: Child,
}

/// Makes a new cache of this file system: what an earlier one held is gone.
pub(crate) fn make(file_system: &str) -> Result<(), String> {
    load_modules_for(file_system).map_err(|error| error.to_string())?;
    server::make_file_system(file_system, DISK)
}

/// Starts the cache that lies on the disk.
pub(crate) fn start(file_system: &str) -> Result<Cache, String> {
    for name in [file_system, "cachefiles"] {
        load_modules_for(name).map_err(|error| error.to_string())?;
    }
    server::mount_disk(file_system, DISK, DIRECTORY)?;
    let text = format!("dir {DIRECTORY}\ntag {TAG}\n{LIMITS}");
    fs::create_dir_all("/etc").map_err(|error| format!("/etc: {error}"))?;
    fs::write(CONFIGURATION, text).map_err(|error| format!("{CONFIGURATION}: {error}"))?;
    let failed = |why: String| format!("cachefilesd failed on {file_system}: {why}");
    let keeper = programs::start("cachefilesd", &["-n", "-s", "-f", CONFIGURATION], SAID);
    let mut keeper = keeper.map_err(|error| failed(error.to_string()))?;
    let begun = Instant::now();
    while !is_active() {
        let ended = keeper.try_wait().map_err(|error| failed(error.to_string()))?;
        if let Some(status) = ended {
            let said = programs::last_lines(SAID).unwrap_or_else(|| status.to_string());
            return Err(failed(said));
        }
        if begun.elapsed() > PATIENCE {
            return Err(failed("the kernel does not list its cache".to_owned()));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    Ok(Cache { keeper })
}

/// Whether the kernel lists a cache that may be used: the sixth column is its state.
fn is_active() -> bool {
    let text = fs::read_to_string(CACHES).unwrap_or_default();
    let mut caches = text.lines().skip(2).map(|line| line.split_whitespace().nth(5));
    caches.any(|state| state == Some("A"))
}

impl Cache {
    /// Waits until all cached files are given back, stops the cache, and counts what lies in it.
    pub(crate) fn settle(mut self) -> Result<Settled, String> {
        let count = || Counters::now(None, Some(DISK)).map_err(|error| error.to_string());
        let begun = Instant::now();
        loop {
            let cookies = count()?.cache.map_or(0, |cache| cache.cookies);
            if cookies == 0 {
                break;
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("the cache still holds {cookies} files open"));
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        let process = Pid::from_child(&self.keeper);
        let ended = kill_process(process, Signal::TERM).map_err(io::Error::from);
        ended.and_then(|()| self.keeper.wait()).map_err(|error| format!("cachefilesd: {error}"))?;
        let objects = objects(Path::new(DIRECTORY)).map_err(|error| format!("cache: {error}"))?;
        unmount(DIRECTORY, UnmountFlags::empty())
            .map_err(|error| format!("cannot unmount the cache: {error}"))?;
        Ok(Settled { objects, counters: count()? })
    }
}

/// Files below a directory that hold something: each is an object.
fn objects(directory: &Path) -> io::Result<u64> {
    let mut found = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            found += objects(&entry.path())?;
        } else if metadata.is_file() {
            found += 1;
        }
    }
    Ok(found)
}
