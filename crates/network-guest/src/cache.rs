//! The client's cache: a file system on a separate disk, maintained by cachefilesd.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use lab::inside::load_modules_for;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};

use crate::counters::{Counters, tracing};
use crate::culling::{CullLimits, FreePercents};
use crate::messages::{CachePlace, Settled};
use crate::{programs, server};

const DIRECTORY: &str = "/var/cache/fscache";
const CONFIGURATION: &str = "/etc/cachefilesd.conf";
const SAID: &str = "/tmp/cachefilesd.said";
/// Where the kernel lists caches.
const CACHES: &str = "/proc/fs/fscache/caches";
const TAG: &str = "fsprism";
/// How long to wait for the cache to become active, and to write everything that it holds.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// If nothing has been culled for this long, there is nothing left to cull.
const REST: Duration = Duration::from_secs(3);
/// The unit of a file's block count in bytes.
const BLOCK_BYTES: u64 = 512;

/// A running cache.
#[derive(Debug)]
pub(crate) struct Cache {
    keeper: Child,
    disk: String,
    limits: CullLimits,
}

/// Makes a new cache on this file system; a previous cache is lost.
pub(crate) fn make(place: &CachePlace) -> Result<(), String> {
    load_modules_for(&place.file_system).map_err(|error| error.to_string())?;
    server::make_file_system(&place.file_system, &server::disk(place.disk), &place.mkfs)
}

/// Starts the cache that is there.
pub(crate) fn start(place: &CachePlace) -> Result<Cache, String> {
    let (file_system, disk) = (place.file_system.as_str(), server::disk(place.disk));
    for name in [file_system, "cachefiles"] {
        load_modules_for(name).map_err(|error| error.to_string())?;
    }
    tracing::begin(place.is_timed)?;
    server::mount_disk(file_system, &disk, DIRECTORY)?;
    let text = format!("dir {DIRECTORY}\ntag {TAG}\n{}", place.limits.configuration());
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
    Ok(Cache { keeper, disk, limits: place.limits })
}

/// Whether the kernel lists an active cache; the state is in the sixth column.
fn is_active() -> bool {
    let text = fs::read_to_string(CACHES).unwrap_or_default();
    let mut caches = text.lines().skip(2).map(|line| line.split_whitespace().nth(5));
    caches.any(|state| state == Some("A"))
}

impl Cache {
    /// The disk that it is on.
    pub(crate) fn disk(&self) -> &str {
        &self.disk
    }

    /// Waits until all cached files have been relinquished and culling has finished, stops the
    /// cache, and counts its contents.
    pub(crate) fn settle(mut self) -> Result<Settled, String> {
        let disk = self.disk.clone();
        let count = || Counters::now(None, Some(&disk)).map_err(|error| error.to_string());
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
        wait_for_culling(self.limits, || Ok(count()?.cache.map_or(0, |cache| cache.culled)))?;
        let process = Pid::from_child(&self.keeper);
        let ended = kill_process(process, Signal::TERM).map_err(io::Error::from);
        ended.and_then(|()| self.keeper.wait()).map_err(|error| format!("cachefilesd: {error}"))?;
        let held =
            CacheContents::read(Path::new(DIRECTORY)).map_err(|error| format!("cache: {error}"))?;
        unmount(DIRECTORY, UnmountFlags::empty())
            .map_err(|error| format!("cannot unmount the cache: {error}"))?;
        Ok(Settled { objects: held.objects, bytes: held.bytes, counters: count()? })
    }
}

/// Waits until there is enough space again, or nothing more is culled.
fn wait_for_culling(
    limits: CullLimits,
    culled: impl Fn() -> Result<u64, String>,
) -> Result<(), String> {
    let begun = Instant::now();
    let (mut last, mut since) = (culled()?, begun);
    let has_room = || has_room(limits).map_err(|error| format!("cache: {error}"));
    while !has_room()? && begun.elapsed() < PATIENCE {
        std::thread::sleep(BETWEEN_LOOKS);
        let now = culled()?;
        if now > last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() > REST {
            break;
        }
    }
    Ok(())
}

/// Whether as much is free as culling aims for.
fn has_room(limits: CullLimits) -> io::Result<bool> {
    let free = rustix::fs::statvfs(DIRECTORY)?;
    // A file system that allocates inodes dynamically reports none.
    let is_enough = |free: u64, of: u64, percents: FreePercents| {
        of == 0 || free * 100 >= of * u64::from(percents.run)
    };
    Ok(is_enough(free.f_bavail, free.f_blocks, limits.blocks)
        && is_enough(free.f_ffree, free.f_files, limits.files))
}

/// The contents of a cache.
#[derive(Default)]
struct CacheContents {
    /// Number of files, each of which is an object, whether its content was written or not.
    objects: u64,
    /// Size of their blocks in bytes.
    bytes: u64,
}

impl CacheContents {
    fn read(directory: &Path) -> io::Result<Self> {
        let mut held = Self::default();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                let below = Self::read(&entry.path())?;
                held.objects += below.objects;
                held.bytes += below.bytes;
            } else if metadata.is_file() {
                held.objects += 1;
                held.bytes += metadata.blocks() * BLOCK_BYTES;
            }
        }
        Ok(held)
    }
}
