//! The battery: traces that together tell the policies apart, though each alone does not.
//!
//! On a scan FIFO, LRU and CLOCK are the same, and on a loop all that go by recency; uniform reads
//! tell those apart that look at hits, Zipf's law and a hot set beside a scan those that look at
//! frequency, a set that comes back those that remember what they evicted, a hot set that moves
//! those that forget, and writes those that look at dirty pages.

use crate::generate::{Generator, HotAndScan, cycle, scan};
use crate::trace::{Access, Trace};

/// The least limit that a battery is made for, in pages.
pub const LIMIT_MIN_PAGES: u32 = 64;

/// How often residency is looked at during each trace.
const LOOKS: usize = 4;

/// Eight traces for a cache that may hold about `limit_pages`: some 24 accesses together for each
/// page of the limit, to files at most three and a third times as long as it. The seed draws the
/// accesses, and each size within 10 %.
///
/// Each is to be run on an empty cache and without read-ahead, which no policy here knows; under
/// Linux either with `memory.stat` of the control group read all along, which keeps the statistics
/// current that reclaim goes by, or without, within the two seconds that they may be old.
///
/// # Panics
/// When the limit is below [`LIMIT_MIN_PAGES`] or above 2^30.
pub fn battery(limit_pages: u32, seed: u64) -> Vec<Trace> {
    assert!((LIMIT_MIN_PAGES..=1 << 30).contains(&limit_pages), "a limit that is covered");
    let mut draw = Generator::new(seed);
    let limit = limit_pages;
    let trace = |name, accesses| Trace::new(name, accesses, LOOKS);
    vec![
        trace("scan", scan(draw.about(2.5, limit))),
        trace("loop", {
            let pages = draw.about(1.25, limit);
            cycle(pages, pages as usize * 2)
        }),
        trace("hot set and scan", {
            let [hot_pages, scan_pages] = [0.4, 1.2].map(|share| draw.about(share, limit));
            draw.hot_and_scan(HotAndScan { hot_pages, scan_pages, hot_share: 0.5 })
        }),
        trace("returning set", {
            let [set_pages, scan_pages] = [0.25, 0.9].map(|share| draw.about(share, limit));
            returning(set_pages, scan_pages)
        }),
        trace("uniform", uniform(&mut draw, limit)),
        trace("zipf", {
            let [pages, count] = [3.0, 4.0].map(|share| draw.about(share, limit));
            draw.zipf(pages, 0.9, count as usize)
        }),
        trace("moving hot set", {
            let [pages, moved] = [0.9, 0.5].map(|share| draw.about(share, limit));
            let count = draw.about(1.8, limit) as usize;
            let before = draw.uniform(0, pages, count);
            let after = draw.uniform(moved, pages + moved, count);
            [before, after].concat()
        }),
        trace("dirty and clean", {
            let accesses = uniform(&mut draw, limit);
            draw.with_writes(accesses, 0.3)
        }),
    ]
}

/// A set that is read, pushed out by a scan, read again, and scanned over again.
fn returning(set_pages: u32, scan_pages: u32) -> Vec<Access> {
    let set = scan(set_pages);
    let scan_from = |first| (first..first + scan_pages).map(Access::read).collect();
    let [first, second]: [Vec<Access>; 2] = [set_pages, set_pages + scan_pages].map(scan_from);
    [&set[..], &first, &set, &second].concat()
}

fn uniform(draw: &mut Generator, limit: u32) -> Vec<Access> {
    let [pages, count] = [1.8, 3.5].map(|share| draw.about(share, limit));
    draw.uniform(0, pages, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_is_as_long_as_it_says_and_goes_by_its_seed() {
        let limit = 4096;
        let traces = battery(limit, 1);
        let accesses: usize = traces.iter().map(|trace| trace.accesses().len()).sum();
        assert!((22..=26).contains(&(accesses / limit as usize)), "{accesses}");
        assert!(traces.iter().all(|trace| trace.pages() * 3 <= limit * 10));
        assert!(traces.iter().all(|trace| trace.moments().len() == LOOKS));
        assert_eq!(traces, battery(limit, 1));
        assert_ne!(traces, battery(limit, 2));
    }
}
