//! A tree of files like a program's sources: many small texts in nested directories.
//!
//! What programs should find in it follows from its shape alone: how many lines have a certain
//! word, how many names have a certain ending, and how many bytes there are. Only which file has
//! which size, and the rest of the text, is drawn from the seed, so that trees of the same shape
//! are equally much work.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::OFlags;
use stats::distribution::normal;

use super::create::make_directory;
use crate::calls::{Calls, write_whole};
use crate::error::EngineError;

/// How many files a directory has, and how many directories.
const FILES_PER_DIRECTORY: u32 = 16;
const DIRECTORIES_PER_DIRECTORY: u32 = 12;
/// Sizes are log-normal: half of the files are smaller than this, and the mean is 3.1 times that.
const MEDIAN_BYTES: f64 = 1_000.0;
/// The standard deviation of the sizes' natural logarithm.
const SPREAD: f64 = 1.5;
/// The smallest and the largest size: a line always fits.
const BYTES: [f64; 2] = [64.0, 1_048_576.0];
/// Lines that the files consist of.
const LINES: usize = 1000;
/// One file in so many has a line with the word.
const FILES_PER_WORD: u32 = 50;
const WORDS: [&str; 16] = [
    "struct", "static", "return", "device", "buffer", "length", "if", "else", "unsigned", "int",
    "pointer", "register", "lock", "error", "->next", "flags",
];
/// The endings of names, each of as many files as the others, but the first of twice as many.
const ENDINGS: [&str; 4] = ["c", "c", "h", "rst"];

/// A tree of files like a program's sources; by default without files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceTree {
    /// How many files, up to 2^32 - 1.
    pub files: u32,
}

impl SourceTree {
    /// A word that is nowhere but in the lines that [`SourceTree::lines_with_word`] counts.
    pub const WORD: &'static str = "EXPORT_SYMBOL_GPL";
    /// The ending of the names that [`SourceTree::names_with_ending`] counts.
    pub const ENDING: &'static str = ".h";

    /// How many directories it has, with that of the tree itself.
    #[must_use]
    pub fn directories(self) -> u32 {
        self.files.div_ceil(FILES_PER_DIRECTORY).max(1)
    }

    /// Bytes of all files together.
    #[must_use]
    pub fn bytes(self) -> u64 {
        (0..self.files).map(|number| self.size_bytes(number) as u64).sum()
    }

    /// How many lines have the word.
    #[must_use]
    pub fn lines_with_word(self) -> u32 {
        self.files.div_ceil(FILES_PER_WORD)
    }

    /// How many names have the ending.
    #[must_use]
    pub fn names_with_ending(self) -> u32 {
        // One in four; the third of each four.
        (self.files + 1) / 4
    }

    /// The size that so many others are smaller than.
    fn size_bytes(self, others: u32) -> usize {
        let share = (f64::from(others) + 0.5) / f64::from(self.files);
        let bytes = MEDIAN_BYTES * (SPREAD * normal::quantile(share)).exp();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is clamped"
        )]
        let bytes = bytes.clamp(BYTES[0], BYTES[1]) as usize;
        bytes
    }
}

/// Makes it in a directory that does not exist yet.
pub(super) fn create<K: Calls>(
    calls: &K,
    root: &Path,
    tree: SourceTree,
    seed: u64,
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let lines: Vec<String> = (0..LINES).map(|number| line(number, &mut random)).collect();
    let mut ranks: Vec<u32> = (0..tree.files).collect();
    ranks.shuffle(&mut random);
    let mut within = root.to_owned();
    make_directory(calls, &within)?;
    for (number, rank) in (0..tree.files).zip(ranks) {
        if stop.load(Ordering::Relaxed) {
            return Err(EngineError::Stopped);
        }
        if number > 0 && number.is_multiple_of(FILES_PER_DIRECTORY) {
            within = root.join(directory(number / FILES_PER_DIRECTORY));
            make_directory(calls, &within)?;
        }
        let path = within.join(name(number));
        let text = text(number, tree.size_bytes(rank), &lines, &mut random);
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let opened = calls.open(&path, new);
        let file = opened.map_err(|errno| EngineError::from_errno("openat", &path, errno))?;
        write_whole(calls, &file, text.as_bytes(), 0).map_err(|fault| fault.into_error(&path))?;
    }
    Ok(())
}

/// The path of a directory: in number 0 are numbers 1 to 12, in number 1 the next twelve, and so
/// on.
fn directory(number: u32) -> PathBuf {
    if number == 0 {
        return PathBuf::new();
    }
    let above = (number - 1) / DIRECTORIES_PER_DIRECTORY;
    directory(above).join(format!("part{:02}", (number - 1) % DIRECTORIES_PER_DIRECTORY))
}

fn name(number: u32) -> String {
    let of = |count: usize| number as usize % count;
    format!("{}_{number:06x}.{}", WORDS[of(8)], ENDINGS[of(ENDINGS.len())])
}

fn line(number: usize, random: &mut Xoshiro256PlusPlus) -> String {
    let words: Vec<&str> = (0..random.random_range(1..8))
        .map(|_| WORDS[random.random_range(0..WORDS.len())])
        .collect();
    format!("\t{}_{number}({});\n", words[0], words.join(" "))
}

/// The text of a file; the last line may be cut off.
fn text(number: u32, bytes: usize, lines: &[String], random: &mut Xoshiro256PlusPlus) -> String {
    let mut text = String::with_capacity(bytes + 128);
    if number.is_multiple_of(FILES_PER_WORD) {
        text.push_str(&format!("{}(symbol_{number});\n", SourceTree::WORD));
    }
    while text.len() < bytes {
        text.push_str(&lines[random.random_range(0..lines.len())]);
    }
    text.truncate(bytes);
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::calls::Kernel;

    /// The paths and texts of all files below a directory.
    fn all(directory: &Path) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory).expect("it is there") {
            let path = entry.expect("it is there").path();
            match path.is_dir() {
                true => found.extend(all(&path)),
                false => found.push((path.clone(), fs::read_to_string(&path).expect("it is text"))),
            }
        }
        found.sort();
        found
    }

    #[test]
    fn a_tree_has_what_its_shape_says_whatever_the_seed() {
        let place = tempfile::tempdir().expect("there is room");
        for (files, seed) in [(1, 1), (203, 1), (203, 2), (640, 3)] {
            let tree = SourceTree { files };
            let root = place.path().join(format!("{files}-{seed}"));
            create(&Kernel, &root, tree, seed, &AtomicBool::new(false)).expect("there is room");
            let all = all(&root);
            assert_eq!(all.len(), files as usize);
            let bytes: usize = all.iter().map(|(_, text)| text.len()).sum();
            assert_eq!(bytes as u64, tree.bytes());
            let words = all.iter().flat_map(|(_, text)| text.lines());
            let words = words.filter(|line| line.contains(SourceTree::WORD)).count();
            assert_eq!(words, tree.lines_with_word() as usize);
            let names =
                all.iter().filter(|(path, _)| path.to_string_lossy().ends_with(SourceTree::ENDING));
            assert_eq!(names.count(), tree.names_with_ending() as usize);
            let directories: std::collections::BTreeSet<_> =
                all.iter().map(|(path, _)| path.parent()).collect();
            assert_eq!(directories.len(), tree.directories() as usize);
        }
        let texts = |name: &str| all(&place.path().join(name)).into_iter().map(|one| one.1);
        assert!(texts("203-1").ne(texts("203-2")), "the seed matters");
    }

    #[test]
    fn files_have_the_mean_size_of_the_papers() {
        let tree = SourceTree { files: 3_000 };
        let mean = tree.bytes() / u64::from(tree.files);
        assert!((2_950..3_150).contains(&mean), "{mean}");
        assert!((990..1_010).contains(&tree.size_bytes(1_500)));
    }
}
