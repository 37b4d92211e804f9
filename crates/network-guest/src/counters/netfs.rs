//! `/proc/fs/netfs/stats`: what the kernel's library for network file systems has done since it was
//! loaded, for all mounts. Linux has the file since 6.8, and NFS uses the library since 6.4.
//!
//! The names are those of the kernel's `fs/netfs/stats.c`. A group's name differs from version to
//! version, so counts are told apart by their own names; only `rs` and `ws` have two meanings. The
//! same file holds what `/proc/fs/fscache/stats` says, which is a link to it by now.

use serde::{Deserialize, Serialize};

use super::text::{Unreadable, number};

const OF: &str = "the statistics of network file systems";
/// The group of what was tried again.
const RETRIES: &str = "Retries";

/// What the kernel's library for network file systems has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetfsCounters {
    /// Reads from the server that were begun (`DL`).
    pub server_reads: u64,
    /// Those that failed (`df`).
    pub server_reads_failed: u64,
    /// Those in place of a read from the cache that failed (`di`).
    pub server_reads_instead: u64,
    /// Reads from the cache that were begun (`RD`).
    pub cache_reads: u64,
    /// Those that failed (`rf`).
    pub cache_reads_failed: u64,
    /// Writes to the cache that were begun (`WR`).
    pub cache_writes: u64,
    /// Those that failed (`wf`).
    pub cache_writes_failed: u64,
    /// Writes that were not made since they do not fill whole blocks of the cache (`mis`).
    pub misfits: u64,
    /// Parts of reads that were made again (`rs` of `Retries`); `None` in kernels before 6.14,
    /// which do not count them.
    pub retries: Option<u64>,
}

impl NetfsCounters {
    /// Parses `/proc/fs/netfs/stats`.
    ///
    /// # Errors
    /// If reads from the server or the cache are missing, or a number is malformed.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut counters = Self::default();
        let (mut has_server, mut has_cache) = (false, false);
        for (group, words) in text.lines().filter_map(|line| line.split_once(':')) {
            let is_of_retries = group.trim_end() == RETRIES;
            for (name, value) in words.split_whitespace().filter_map(|word| word.split_once('=')) {
                if is_of_retries {
                    if name == "rs" {
                        counters.retries = Some(number(OF, value)?);
                    }
                    continue;
                }
                let place = match name {
                    "DL" => &mut counters.server_reads,
                    "df" => &mut counters.server_reads_failed,
                    "di" => &mut counters.server_reads_instead,
                    "RD" => &mut counters.cache_reads,
                    "rf" => &mut counters.cache_reads_failed,
                    "WR" => &mut counters.cache_writes,
                    "wf" => &mut counters.cache_writes_failed,
                    "mis" => &mut counters.misfits,
                    _ => continue,
                };
                *place = number(OF, value)?;
                has_server |= name == "DL";
                has_cache |= name == "RD";
            }
        }
        if has_server && has_cache {
            Ok(counters)
        } else {
            Err(Unreadable::Missing { of: OF, what: "what was read from the server and the cache" })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As Linux 6.14 writes it (its `fs/netfs/stats.c`), with numbers of our own.
    const TEXT: &str = concat!(
        "Reads  : DR=0 RA=20 RF=1 RS=0 WB=0 WBZ=0\n",
        "Writes : BW=0 WT=0 DW=0 WP=0 2C=19\n",
        "ZeroOps: ZR=0 sh=0 sk=0\n",
        "DownOps: DL=21 ds=20 df=1 di=2\n",
        "CaRdOps: RD=30 rs=27 rf=3\n",
        "UpldOps: UL=0 us=0 uf=0\n",
        "CaWrOps: WR=19 ws=15 wf=4\n",
        "Retries: rq=6 rs=5 wq=0 ws=0\n",
        "Objs   : rr=0 sr=0 foq=0 wsc=0\n",
        "WbLock : skip=0 wait=0\n",
        "-- FS-Cache statistics --\n",
        "Cookies: n=1 v=1 vcol=0 voom=0\n",
        "IO     : rd=30 wr=19 mis=7\n",
    );

    #[test]
    fn the_statistics_of_a_kernel_are_read() {
        let expected = NetfsCounters {
            server_reads: 21,
            server_reads_failed: 1,
            server_reads_instead: 2,
            cache_reads: 30,
            cache_reads_failed: 3,
            cache_writes: 19,
            cache_writes_failed: 4,
            misfits: 7,
            retries: Some(5),
        };
        assert_eq!(NetfsCounters::parse(TEXT).unwrap(), expected);
        let before: String = TEXT
            .lines()
            .filter(|line| !line.starts_with(RETRIES))
            .map(|l| l.to_owned() + "\n")
            .collect();
        let counters = NetfsCounters::parse(&before).unwrap();
        assert_eq!(counters, NetfsCounters { retries: None, ..expected });
    }

    #[test]
    fn what_is_no_such_text_is_told() {
        assert!(NetfsCounters::parse("DownOps: DL=1\n").is_err());
        let wrong = TEXT.replace("rf=3", "rf=many");
        assert!(NetfsCounters::parse(&wrong).unwrap_err().to_string().contains("many"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\PC|\n){0,200}", cut in 0..TEXT.len()) {
            let _read_or_refused = NetfsCounters::parse(&text);
            let _read_or_refused = NetfsCounters::parse(&TEXT[..cut]);
        }
    }
}
