//! Pages of a job's files that are in memory: what it found when it had opened them, and what it
//! leaves.

use rustix::fd::BorrowedFd;

/// Pages of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// All.
    pub all: u64,
    /// Those in memory.
    pub resident: u64,
    /// Those that are changed and not written back.
    pub dirty: u64,
}

/// Pages before a job and after it; `None` where the kernel does not count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// When each file had first been opened.
    pub counts_before: Option<Pages>,
    /// When each file was last closed.
    pub counts_after: Option<Pages>,
}

impl PageCounts {
    /// Adds those of another job.
    pub fn add(&mut self, other: Self) {
        add(&mut self.counts_before, other.counts_before);
        add(&mut self.counts_after, other.counts_after);
    }
}

fn add(ours: &mut Option<Pages>, theirs: Option<Pages>) {
    let Some(theirs) = theirs else { return };
    let own = ours.unwrap_or_default();
    *ours = Some(Pages {
        all: own.all + theirs.all,
        resident: own.resident + theirs.resident,
        dirty: own.dirty + theirs.dirty,
    });
}

/// Counts pages of a part of a file.
pub(crate) fn count(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> Option<Pages> {
    let seen = system_calls::cachestat(file, offset, bytes).ok()?;
    let all = bytes.div_ceil(rustix::param::page_size() as u64);
    Some(Pages { all, resident: seen.cached, dirty: seen.dirty })
}
