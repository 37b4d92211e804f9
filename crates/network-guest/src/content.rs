//! What the server has: one large file, and a tree as large as a kernel's source.
//!
//! The sizes of the tree's files are drawn from a log-normal distribution, which fits source files:
//! half of them are below 4.6 KB, and the mean is 11.5 KB, as in the tree of "FS-Cache Benchmarks",
//! whose 19,258 files have 221,252,168 bytes. They are then scaled so that their sum is exact.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// The large file's name.
pub const FILE: &str = "file";
/// The tree's name.
pub const TREE: &str = "tree";
/// Mean size of the tree's files in bytes.
pub const TREE_FILE_BYTES: u64 = 11_489;
/// Mean and standard deviation of the logarithm of the size; the former is that of the median size.
const SIZE: (f64, f64) = (8.434, 1.35);
/// Maximum size of the tree's files, before scaling.
const SIZE_MAX: f64 = 1_048_576.0;
/// Maximum depth of the tree below its root.
const DEPTH_MAX: u32 = 6;
/// Bytes per write.
const CHUNK_BYTES: usize = 1 << 20;

/// What the server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Size of the large file in bytes; 0 for none.
    pub file_bytes: u64,
    /// The tree; with 0 files if there is none.
    pub tree: TreeShape,
    /// The seed of everything that is random.
    pub seed: u64,
}

/// The shape of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeShape {
    /// Number of directories, including the root.
    pub directories: u32,
    /// Number of files.
    pub files: u32,
}

/// Files of equal size in a separate directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileSet {
    /// Number of files.
    pub files: u32,
    /// Size of each in bytes; different for every set.
    pub file_bytes: u64,
}

impl FileSet {
    /// Total size of its files in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.files) * self.file_bytes
    }

    /// The name of its directory.
    pub(crate) fn name(self) -> String {
        format!("set-{}", self.file_bytes)
    }

    /// Creates the set below a directory; the seed determines the content of the files.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn make(self, directory: &Path, seed: u64) -> io::Result<()> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ self.file_bytes);
        let directory = directory.join(self.name());
        fs::create_dir(&directory)?;
        (0..self.files).try_for_each(|number| {
            write(&directory.join(format!("f{number:05}")), self.file_bytes, &mut random)
        })
    }
}

impl TreeShape {
    /// Total size of its files in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.files) * TREE_FILE_BYTES
    }
}

impl Content {
    /// Total size of all files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.file_bytes.saturating_add(self.tree.bytes())
    }

    /// Creates the content below a directory.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn make(&self, directory: &Path) -> io::Result<()> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        if self.file_bytes > 0 {
            write(&directory.join(FILE), self.file_bytes, &mut random)?;
        }
        if self.tree.files > 0 {
            make_tree(&directory.join(TREE), self.tree, &mut random)?;
        }
        Ok(())
    }
}

fn make_tree(root: &Path, shape: TreeShape, random: &mut Xoshiro256PlusPlus) -> io::Result<()> {
    fs::create_dir(root)?;
    let mut directories = vec![(root.to_owned(), 0)];
    for number in 1..shape.directories {
        let (parent, depth) = loop {
            let place = random.random_range(0..directories.len());
            let (parent, depth) = &directories[place];
            if *depth < DEPTH_MAX {
                break (parent, *depth);
            }
        };
        let path: PathBuf = parent.join(format!("d{number:04}"));
        fs::create_dir(&path)?;
        directories.push((path, depth + 1));
    }
    for (number, size) in sizes(shape, random).into_iter().enumerate() {
        let place = random.random_range(0..directories.len());
        write(&directories[place].0.join(format!("f{number:05}")), size, random)?;
    }
    Ok(())
}

/// The sizes of the tree's files, which add up to the size of the tree.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "far below 2^53")]
fn sizes(shape: TreeShape, random: &mut Xoshiro256PlusPlus) -> Vec<u64> {
    let drawn = LogNormal::new(SIZE.0, SIZE.1).expect("the deviation is finite");
    let raw: Vec<f64> =
        (0..shape.files).map(|_| drawn.sample(random).clamp(1.0, SIZE_MAX)).collect();
    let sum: f64 = raw.iter().sum();
    let mut left = shape.bytes();
    let scale = left as f64 / sum;
    let mut sizes = Vec::with_capacity(raw.len());
    for size in raw {
        let size = ((size * scale) as u64).max(1).min(left);
        left -= size;
        sizes.push(size);
    }
    if let Some(last) = sizes.last_mut() {
        *last += left;
    }
    sizes
}

fn write(path: &Path, bytes: u64, random: &mut impl Rng) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let mut chunk = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX).min(CHUNK_BYTES)];
    let mut left = bytes;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        random.fill_bytes(&mut chunk[..length]);
        file.write_all(&chunk[..length])?;
        left -= length as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Task, TaskResult};

    #[test]
    fn a_tree_has_the_counts_and_bytes_that_were_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let tree = TreeShape { directories: 12, files: 200 };
        let content = Content { file_bytes: 5000, tree, seed: 7 };
        content.make(directory.path()).unwrap();
        let read = Task::ReadTree.perform(directory.path()).unwrap();
        let expected =
            TaskResult { directories: 12, files: 200, bytes: 200 * TREE_FILE_BYTES, sum: read.sum };
        assert_eq!(read, expected);
        let stated = Task::StatTree.perform(directory.path()).unwrap();
        assert_eq!((stated.directories, stated.files, stated.bytes), (12, 200, 0));
        let read = Task::ReadFile.perform(directory.path()).unwrap();
        assert_eq!((read.files, read.bytes), (1, 5000));
    }

    #[test]
    fn a_set_has_files_of_one_size() {
        let directory = tempfile::tempdir().unwrap();
        let set = FileSet { files: 3, file_bytes: 5000 };
        set.make(directory.path(), 7).unwrap();
        let read = Task::ReadSet(set).perform(directory.path()).unwrap();
        assert_eq!((read.directories, read.files, read.bytes), (1, 3, set.bytes()));
    }

    #[test]
    fn half_of_the_files_are_small() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let shape = TreeShape { directories: 1, files: 19_258 };
        let mut sizes = sizes(shape, &mut random);
        sizes.sort_unstable();
        assert_eq!(sizes.iter().sum::<u64>(), shape.bytes());
        assert!((3_500..6_000).contains(&sizes[sizes.len() / 2]));
    }
}
