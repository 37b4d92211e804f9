//! How what was written is verified.

use job_files::pattern::{self, Pattern};

use super::given::Values;
use super::schedule::processors;

/// What is looked for in blocks that are read.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct VerifyPlan {
    /// By what.
    pub method: &'static str,
    /// What blocks are filled with besides; empty for random bytes.
    pub pattern: Pattern,
    /// How far apart headers are, in bytes; 0 for one in each block.
    pub interval: u64,
    /// Where in a block the header is.
    pub offset: u64,
    /// Whether blocks are read again at the end.
    pub at_end: bool,
    /// After how many blocks they are read; 0 for at the end only.
    pub backlog: u64,
    /// How many of them are then.
    pub backlog_batch: u64,
    /// Whether the first that differs ends the job.
    pub is_fatal: bool,
    /// Whether those that differ are written to files.
    pub dumps: bool,
    /// How many threads look at blocks; 0 if the job does.
    pub threads: u32,
    /// Processors that those use; empty for all of the job's.
    pub thread_processors: Vec<usize>,
    /// Blocks that are trimmed before they are verified.
    pub trims: TrimsPlan,
    /// Whether nothing is written, and what an earlier run has written is verified.
    pub only: bool,
    /// Whether the order of writes is not remembered but made again.
    pub without_history: bool,
    /// Whether how far writes have come is saved.
    pub saves_state: bool,
    /// Whether what was saved says how far to verify.
    pub loads_state: bool,
}

/// Which blocks are trimmed before they are verified, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimsPlan {
    /// How many, in percent.
    pub percent: u32,
    /// After how many blocks of those that are written; 0 for never.
    pub backlog: u64,
    /// How many are then; 0 for as many.
    pub batch: u64,
    /// Whether they are verified to be zeros, rather than not at all.
    pub are_verified: bool,
}

/// Whether anything is verified.
pub(super) fn is_on(given: Values<'_>) -> bool {
    match given.choice("verify") {
        Some((word, _)) => word != "0",
        None => given.is_given("verify_pattern"),
    }
}

impl VerifyPlan {
    pub(super) fn read(given: Values<'_>) -> Result<Option<Self>, (&'static str, String)> {
        let text = given.text("verify_pattern");
        let pattern = text.map(pattern::parse).transpose();
        let pattern = pattern.map_err(|why| ("verify_pattern", why))?;
        let method = match (given.choice("verify"), &pattern) {
            (Some(("0", _)), _) | (None, None) => None,
            (Some((method, _)), _) => Some(method),
            (None, Some(_)) => Some("pattern"),
        };
        let thread_processors = given.text("verify_async_cpus").map(processors).transpose();
        let thread_processors = thread_processors.map_err(|why| ("verify_async_cpus", why))?;
        let plan = |method| Self {
            method,
            pattern: pattern.unwrap_or_default(),
            interval: given.count("verify_interval", 0),
            offset: given.count("verify_offset", 0),
            at_end: given.switch("do_verify", true),
            backlog: given.bytes("verify_backlog").unwrap_or(0),
            backlog_batch: given.count("verify_backlog_batch", 0),
            is_fatal: given.switch("verify_fatal", false),
            dumps: given.switch("verify_dump", false),
            threads: given.small("verify_async", 0),
            thread_processors: thread_processors.unwrap_or_default(),
            trims: TrimsPlan {
                percent: given.small("trim_percentage", 0),
                backlog: given.bytes("trim_backlog").unwrap_or(0),
                batch: given.count("trim_backlog_batch", 0),
                are_verified: given.switch("trim_verify_zero", true),
            },
            only: given.switch("verify_only", false),
            without_history: given.switch("experimental_verify", false),
            saves_state: given.switch("verify_state_save", true),
            loads_state: given.switch("verify_state_load", false),
        };
        // Read even if nothing is verified: what cannot be is wrong in any case.
        let all = plan(method.unwrap_or("null"));
        Ok(method.map(|_| all))
    }
}
