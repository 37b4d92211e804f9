//! `/proc/fs/fscache/stats`: the activity of FS-Cache since it was loaded, for all caches and
//! mounts.
//!
//! The names are those of the kernel's `Documentation/filesystems/caching/fscache.rst` since 5.17.
//! Before that, pages were counted individually under other names, which are not supported here.

use serde::{Deserialize, Serialize};

use super::text::{Unreadable, number};

const OF: &str = "the statistics of FS-Cache";

/// The activity of FS-Cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheCounters {
    /// Cookies (cached files) that exist now.
    pub cookies: u64,
    /// Requests to acquire a cookie for a file.
    pub acquires: u64,
    /// How many of these succeeded.
    pub acquired: u64,
    /// Files whose cached content was dropped because it was out of date.
    pub invalidations: u64,
    /// Files that were relinquished.
    pub relinquishments: u64,
    /// Writes that failed for lack of space.
    pub writes_without_room: u64,
    /// Files that were not created for lack of space.
    pub creates_without_room: u64,
    /// Files that were removed to free space.
    pub culled: u64,
    /// Reads from the cache.
    pub reads: u64,
    /// Writes to the cache.
    pub writes: u64,
}

impl CacheCounters {
    /// Parses `/proc/fs/fscache/stats`.
    ///
    /// # Errors
    /// If reads from and writes to the cache are missing, or a number is malformed.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut counters = Self::default();
        let mut has_io = false;
        for (group, words) in text.lines().filter_map(|line| line.split_once(':')) {
            for (name, value) in words.split_whitespace().filter_map(|word| word.split_once('=')) {
                let place = match (group.trim_end(), name) {
                    ("Cookies", "n") => &mut counters.cookies,
                    ("Acquire", "n") => &mut counters.acquires,
                    ("Acquire", "ok") => &mut counters.acquired,
                    ("Invals", "n") => &mut counters.invalidations,
                    ("Relinqs", "n") => &mut counters.relinquishments,
                    ("NoSpace", "nwr") => &mut counters.writes_without_room,
                    ("NoSpace", "ncr") => &mut counters.creates_without_room,
                    ("NoSpace", "cull") => &mut counters.culled,
                    ("IO", "rd") => &mut counters.reads,
                    ("IO", "wr") => &mut counters.writes,
                    _ => continue,
                };
                *place = number(OF, value)?;
                has_io |= group.trim_end() == "IO" && name == "wr";
            }
        }
        if has_io {
            Ok(counters)
        } else {
            Err(Unreadable::Missing { of: OF, what: "what was read from the cache and written" })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From Linux 6.1.0-56-amd64, after 201 files were read with an empty cache.
    const TEXT: &str = concat!(
        "FS-Cache statistics\n",
        "Cookies: n=201 v=1 vcol=0 voom=0\n",
        "Acquire: n=201 ok=201 oom=0\n",
        "LRU    : n=0 exp=12 rmv=3 drp=0 at=-12\n",
        "Invals : n=0\n",
        "Updates: n=201 rsz=0 rsn=0\n",
        "Relinqs: n=7 rtr=0 drop=7\n",
        "NoSpace: nwr=1 ncr=2 cull=3\n",
        "IO     : rd=5920 wr=5921\n",
        "RdHelp : RA=0 RP=0 WB=0 WBZ=0 rr=0 sr=0\n",
        "RdHelp : ZR=0 sh=0 sk=0\n",
    );

    #[test]
    fn the_statistics_of_a_kernel_are_read() {
        let counters = CacheCounters::parse(TEXT).unwrap();
        let expected = CacheCounters {
            cookies: 201,
            acquires: 201,
            acquired: 201,
            invalidations: 0,
            relinquishments: 7,
            writes_without_room: 1,
            creates_without_room: 2,
            culled: 3,
            reads: 5920,
            writes: 5921,
        };
        assert_eq!(counters, expected);
    }

    #[test]
    fn what_is_no_such_text_is_told() {
        assert!(CacheCounters::parse("FS-Cache statistics\n").is_err());
        let wrong = TEXT.replace("wr=5921", "wr=many");
        assert!(CacheCounters::parse(&wrong).unwrap_err().to_string().contains("many"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\PC|\n){0,200}", cut in 0..TEXT.len()) {
            let _read_or_refused = CacheCounters::parse(&text);
            let _read_or_refused = CacheCounters::parse(&TEXT[..cut]);
        }
    }
}
