//! What a guest is asked to execute, and what came of it.

use serde::{Deserialize, Serialize};
use targets::TargetFacts;

/// The text in the arguments of a program that means the directory.
pub const DIRECTORY: &str = "{}";

/// A program to execute on a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplicationJob {
    /// The target, as on the command line.
    pub target: String,
    /// The program's file.
    pub program: String,
    /// Its arguments, with [`DIRECTORY`] in place of the directory.
    pub arguments: Vec<String>,
    /// How many files the tree has.
    pub files: u32,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplicationOutcome {
    /// Release of the guest's kernel, as `uname -r` prints it.
    pub kernel: String,
    /// The target, unless it could not be made.
    pub target: Option<TargetFacts>,
    /// What is mapped into the program on the tree, as in `/proc/PID/maps`.
    pub maps: String,
    /// Bytes that it wrote.
    pub answer_bytes: u64,
    /// Lines that it wrote.
    pub answer_lines: u64,
    /// How often the word that is searched for is in what it wrote.
    pub answer_words: u64,
    /// Why it was not traced, if so.
    pub failed: Option<String>,
}
