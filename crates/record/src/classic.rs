//! What a run of a classic benchmark was asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A classic benchmark, with all of its options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "benchmark", rename_all = "kebab-case")]
pub enum ClassicOptions {
    /// The Sprite LFS large-file benchmark.
    SpriteLfs(SpriteLfsOptions),
    /// The array walk, in memory alone.
    ArrayWalk(ArrayWalkOptions),
    /// Bonnie: one file written, rewritten, read and sought in.
    Bonnie(BonnieOptions),
    /// The tests that Bonnie++ added: files made, looked at and deleted.
    BonnieMetadata(BonnieMetadataOptions),
}

/// How Bonnie is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BonnieOptions {
    /// Size of the file, in bytes; a multiple of the chunk.
    pub size_bytes: u64,
    /// What one read or write of a block moves, in bytes.
    pub chunk_bytes: u64,
    /// Number of random seeks, all seekers together.
    pub seeks: u32,
    /// Number of threads that seek.
    pub seekers: u32,
    /// Whether each phase syncs the file before it closes it, as Bonnie++ does and Bonnie does not.
    pub fsync: bool,
}

/// How the metadata tests of Bonnie++ are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BonnieMetadataOptions {
    /// Number of directories.
    pub directories: u32,
    /// Number of empty files in each.
    pub files_per_directory: u32,
}

/// How the array walk is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArrayWalkOptions {
    /// Size of the array, in bytes; none if sizes are swept from the first-level cache to memory.
    pub array_bytes: Option<u64>,
}

/// How the Sprite LFS large-file benchmark is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpriteLfsOptions {
    /// Size of each file, in bytes.
    pub file_bytes: u64,
    /// Number of files; each phase works on all of them, in the same order.
    pub files: u32,
    /// Whether the first file is left out of every phase's figures.
    pub drop_first: bool,
    /// Whether the files exist beforehand, and are read before anything is written.
    pub pre_read: bool,
    /// How often each phase that reads is executed in succession.
    pub repeat_reads: u32,
    /// How often each phase that writes is executed in succession.
    pub repeat_writes: u32,
    /// Pause after each write, in nanoseconds; 0 for none.
    pub write_pause_ns: u64,
    /// Which of the two phases that write comes first.
    pub first_write: FirstWrite,
    /// Where random reads and writes begin.
    pub alignment: RandomAlignment,
    /// Whether each operation of a sequential phase makes the calls of a random one as well.
    pub pad_calls: bool,
}

/// Which of the two phases that write comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstWrite {
    /// The sequential one, as in the original.
    Sequential,
    /// The random one.
    Random,
}

/// Where random reads and writes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RandomAlignment {
    /// At any byte.
    Byte,
    /// At the beginning of a page.
    Page,
}
