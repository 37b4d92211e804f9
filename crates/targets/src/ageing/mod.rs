//! Ageing: filling and churning a fresh file system until its free space is fragmented.
//!
//! A fresh file system gives every file one contiguous piece of the device, which flatters it
//! (Smith and Seltzer, "File System Aging: Increasing the Relevance of File System Benchmarks",
//! SIGMETRICS 1997). So it can be aged before anything is measured: filled nearly to capacity once,
//! then reduced to a given share of its space. In each round a given share of that is deleted, file
//! by file at random, and written again. Finally, files are deleted at random until half of the
//! space is free, in fragments, for the benchmarks. The remaining files stay. The operations depend
//! only on the seed and the room. It writes the peak once and a quarter of the fill in each round:
//! 1.9 times the space in five rounds at a fill of 80 %.

mod plan;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Ageing;

use plan::{AfterWrite, AgeingStep, DIRECTORIES, Plan};

use crate::filtered;

/// The directory in the target's root that the files are in.
const DIRECTORY: &str = "aged";
/// Content is taken from a buffer of random bytes, which no file system can compress.
const CONTENT_BYTES: usize = 1 << 20;
/// Files that are kept open between pieces.
const OPEN_MAX: usize = 32;

/// How an ageing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgeingOutcome {
    /// It was completed.
    Done,
    /// The stop flag was raised.
    Stopped,
}

/// Ages the file system at `root`, which is empty and has `room_bytes` of free space.
pub(crate) fn age(
    root: &Path,
    ageing: Ageing,
    room_bytes: u64,
    seed: u64,
    stop: &AtomicBool,
) -> io::Result<AgeingOutcome> {
    let mut plan = Plan::new(ageing, room_bytes, seed);
    let mut executor = PlanExecutor::new(&root.join(DIRECTORY), seed)?;
    let mut parts = vec![plan.fill()];
    // Each round is planned only when it is due, because its operations take memory.
    for round in 0..=ageing.rounds {
        for part in parts.drain(..) {
            for operation in part {
                if stop.load(Ordering::Relaxed) {
                    return Ok(AgeingOutcome::Stopped);
                }
                executor.follow(operation)?;
            }
        }
        // Deleted space can be reused only once the file system has committed the deletion.
        executor.sync(root)?;
        match round < ageing.rounds {
            true => parts.push(plan.round()),
            false => parts.push(plan.clear()),
        }
    }
    for operation in parts.into_iter().flatten() {
        executor.follow(operation)?;
    }
    executor.sync(root)?;
    Ok(AgeingOutcome::Done)
}

/// Carries out the plan.
struct PlanExecutor {
    directory: PathBuf,
    content: Vec<u8>,
    open: HashMap<u64, File>,
}

impl PlanExecutor {
    fn new(directory: &Path, seed: u64) -> io::Result<Self> {
        fs::create_dir(directory)?;
        for number in 0..DIRECTORIES {
            fs::create_dir(directory.join(number.to_string()))?;
        }
        let mut content = vec![0; CONTENT_BYTES];
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut content);
        Ok(Self { directory: directory.to_owned(), content, open: HashMap::new() })
    }

    fn follow(&mut self, operation: AgeingStep) -> io::Result<()> {
        match operation {
            AgeingStep::Write { file, at, bytes, then } => {
                let length = usize::try_from(bytes).map_err(io::Error::other)?;
                // Use a different part of the content for each offset.
                let start = usize::try_from(file.wrapping_add(at) % 4096).expect("below 4096");
                let path = self.path(file);
                let handle = opened(&mut self.open, file, &path)?;
                handle.write_all_at(&self.content[start..start + length], at)?;
                match then {
                    AfterWrite::WriteOut => system_calls::write_out(handle),
                    AfterWrite::Nothing => Ok(()),
                }
            }
            AgeingStep::Delete { file } => {
                self.open.remove(&file);
                fs::remove_file(self.path(file))
            }
        }
    }

    fn sync(&mut self, root: &Path) -> io::Result<()> {
        self.open.clear();
        filtered::sync(root)
    }

    fn path(&self, file: u64) -> PathBuf {
        self.directory.join((file % DIRECTORIES).to_string()).join(file.to_string())
    }
}

fn opened<'a>(open: &'a mut HashMap<u64, File>, file: u64, path: &Path) -> io::Result<&'a File> {
    if open.len() >= OPEN_MAX && !open.contains_key(&file) {
        open.clear();
    }
    match open.entry(file) {
        Entry::Occupied(there) => Ok(there.into_mut()),
        Entry::Vacant(free) => {
            let opened = File::options().write(true).create(true).truncate(false).open(path)?;
            Ok(free.insert(opened))
        }
    }
}
