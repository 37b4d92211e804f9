//! What cachefiles found when it looked at its files: a histogram of its tracepoint
//! `cachefiles_coherency`, in an instance of the kernel's tracing that only guests have.
//!
//! The attributes with which the file was stored are read from it (getxattr) and compared with
//! those of the server's file. The reasons are those of the kernel's
//! `include/trace/events/cachefiles.h`, whose numbers differ from version to version: what each is
//! called stands in the event's format.

use std::io;

use serde::{Deserialize, Serialize};

use super::text::{Unreadable, number};
use super::tracing;

const OF: &str = "the checks of cached files";
/// The event.
const EVENT: &str = "cachefiles/cachefiles_coherency";
/// What a check is called that finds a file up to date, and how those begin that do not.
const GOOD: &str = "OK";
const BAD: &str = "BAD";

/// How cachefiles found the files that it looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCounters {
    /// Files that were up to date.
    pub good: u64,
    /// Files that were not, whose content is not used.
    pub stale: u64,
}

/// Begins to count.
pub(super) fn begin() -> io::Result<()> {
    tracing::trigger(EVENT, "hist:keys=why")
}

impl CheckCounters {
    /// All files that were looked at.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.good + self.stale
    }

    /// Reads what has been counted; `None` if nothing counts.
    pub(super) fn now() -> Result<Option<Self>, Unreadable> {
        let [format, histogram] = ["format", "hist"].map(|file| tracing::read(EVENT, file));
        match (format?, histogram?) {
            (Some(format), Some(histogram)) => Self::parse(&format, &histogram).map(Some),
            _ => Ok(None),
        }
    }

    /// Parses a histogram by the names that the event's format gives to its keys.
    fn parse(format: &str, histogram: &str) -> Result<Self, Unreadable> {
        let names = names(format);
        if !names.iter().any(|(_, name)| *name == GOOD) {
            return Err(Unreadable::Missing { of: OF, what: "what their results are called" });
        }
        let mut counters = Self::default();
        for line in histogram.lines().filter_map(|line| line.trim().strip_prefix("{ why:")) {
            let (key, count) = line.split_once('}').unwrap_or((line, ""));
            let count = number(OF, count.trim().trim_start_matches("hitcount:").trim())?;
            let key = number(OF, key.trim())?;
            let name = names.iter().find_map(|(of, name)| (*of == key).then_some(*name));
            match name {
                Some(GOOD) => counters.good += count,
                Some(name) if name.starts_with(BAD) => counters.stale += count,
                Some(_) | None => {}
            }
        }
        Ok(counters)
    }
}

/// Keys and their names, as in `{ 0, "BAD aux " }, { 5, "OK      " }`.
fn names(format: &str) -> Vec<(u64, &str)> {
    format.split('{').skip(1).filter_map(name).collect()
}

fn name(text: &str) -> Option<(u64, &str)> {
    let (key, rest) = text.split_once(',')?;
    Some((key.trim().parse().ok()?, rest.split('"').nth(1)?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Linux 6.1.0-56-amd64, shortened.
    const FORMAT: &str = "name: cachefiles_coherency\nID: 1509\nformat:\n\
        \tfield:enum cachefiles_coherency_trace why;\toffset:12;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"o=%08x %s B=%llx c=%u\", REC->obj, __print_symbolic(REC->why, \
        { 0, \"BAD aux \" }, { 5, \"OK      \" }, { 9, \"SET ok  \" }, \
        { 11, \"VOL BAD cmp \" }), REC->ino, REC->content\n";
    const HISTOGRAM: &str = "# event histogram\n#\n\
        # trigger info: hist:keys=why:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n\
        { why:         11 } hitcount:          1\n\
        { why:          0 } hitcount:          2\n\
        { why:          9 } hitcount:          3\n\
        { why:          5 } hitcount:        201\n\n\
        Totals:\n    Hits: 207\n    Entries: 4\n    Dropped: 0\n";

    #[test]
    fn checks_are_told_apart_by_their_names() {
        let counters = CheckCounters::parse(FORMAT, HISTOGRAM).unwrap();
        assert_eq!(counters, CheckCounters { good: 201, stale: 2 });
        let renumbered = FORMAT.replace("{ 0,", "{ 9,").replace("{ 9, \"SET", "{ 0, \"SET");
        let counters = CheckCounters::parse(&renumbered, HISTOGRAM).unwrap();
        assert_eq!(counters, CheckCounters { good: 201, stale: 3 });
        assert_eq!(CheckCounters::parse(FORMAT, "").unwrap(), CheckCounters::default());
    }

    #[test]
    fn a_format_without_the_names_is_told() {
        assert!(CheckCounters::parse("format:", HISTOGRAM).is_err());
        assert!(CheckCounters::parse(FORMAT, "{ why: x } hitcount: 1").is_err());
    }
}
