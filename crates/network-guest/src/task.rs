//! What is done with the files, locally or over the network.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::content::{FILE, FileSet, TREE};

/// Bytes per read, no less than cat and tar use.
const BUFFER_BYTES: usize = 128 << 10;
/// How many 8-byte words of each read go into the checksum if reading is what is measured.
const SUMMED_WORDS: usize = 64;
/// Bytes per random read.
const RANDOM_BYTES: usize = 4096;

/// Something to do with the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Read the large file once, from start to end.
    ReadFile,
    /// Read the tree like tar: list each directory, stat each entry, read each file.
    ReadTree,
    /// Read each file of a set.
    ReadSet(FileSet),
    /// Read the tree and checksum all its bytes.
    SumTree,
    /// List each directory of the tree and stat each entry.
    StatTree,
    /// Read this many 4 KiB blocks at random offsets of the large file.
    ReadRandom(u32),
    /// Overwrite all of the large file, and wait until the data has reached its storage.
    Rewrite,
}

/// What has been done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskResult {
    /// Directories listed.
    pub directories: u64,
    /// Files read or examined.
    pub files: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// A checksum of the bytes, which tells different content apart.
    pub sum: u64,
}

impl Task {
    /// Performs the task below a directory.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn perform(self, directory: &Path) -> io::Result<TaskResult> {
        let summed_words = if self == Self::SumTree { BUFFER_BYTES } else { SUMMED_WORDS };
        let buffer = vec![0; BUFFER_BYTES];
        let mut runner = TaskRunner { buffer, summed_words, did: TaskResult::default() };
        match self {
            Self::ReadFile => runner.read(&directory.join(FILE))?,
            Self::ReadTree | Self::SumTree => runner.walk(&directory.join(TREE), true)?,
            Self::ReadSet(set) => runner.walk(&directory.join(set.name()), true)?,
            Self::StatTree => runner.walk(&directory.join(TREE), false)?,
            Self::ReadRandom(reads) => runner.read_randomly(&directory.join(FILE), reads)?,
            Self::Rewrite => runner.rewrite(&directory.join(FILE))?,
        }
        Ok(runner.did)
    }
}

struct TaskRunner {
    buffer: Vec<u8>,
    /// How many words of each read go into the checksum.
    summed_words: usize,
    did: TaskResult,
}

impl TaskRunner {
    fn read(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        self.did.files += 1;
        loop {
            let read = file.read(&mut self.buffer)?;
            if read == 0 {
                return Ok(());
            }
            self.count(read);
        }
    }

    fn read_randomly(&mut self, path: &Path, reads: u32) -> io::Result<()> {
        let file = File::open(path)?;
        self.did.files += 1;
        // No read-ahead, so that the reads are independent of each other.
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)?;
        let pages = file.metadata()?.len() / RANDOM_BYTES as u64;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..reads {
            let place = random.random_range(0..pages.max(1)) * RANDOM_BYTES as u64;
            let read = file.read_at(&mut self.buffer[..RANDOM_BYTES], place)?;
            self.count(read);
        }
        Ok(())
    }

    fn rewrite(&mut self, path: &Path) -> io::Result<()> {
        let file = File::options().write(true).open(path)?;
        self.did.files += 1;
        let mut left = file.metadata()?.len();
        let mut place = 0;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(BUFFER_BYTES);
            self.buffer[..length].fill(0x5a);
            file.write_all_at(&self.buffer[..length], place)?;
            self.count(length);
            place += length as u64;
            left -= length as u64;
        }
        file.sync_all()
    }

    fn walk(&mut self, directory: &Path, reads: bool) -> io::Result<()> {
        self.did.directories += 1;
        let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
        // A different order would mean different requests.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path)?;
            if metadata.is_dir() {
                self.walk(&path, reads)?;
            } else if reads {
                self.read(&path)?;
            } else {
                self.did.files += 1;
            }
        }
        Ok(())
    }

    fn count(&mut self, read: usize) {
        self.did.bytes += read as u64;
        for word in self.buffer[..read].as_chunks::<8>().0.iter().take(self.summed_words) {
            self.did.sum = self.did.sum.rotate_left(5) ^ u64::from_le_bytes(*word);
        }
    }
}
