//! The battery: traces that distinguish the policies together, though none of them does alone.
//!
//! FIFO, LRU and CLOCK do the same on a scan, as do all recency-based policies on a loop. Uniform
//! reads distinguish policies that respond to hits; Zipf's law, and a hot set next to a scan, those
//! that respond to frequency; a set that returns, those that remember what they evicted; a hot set
//! that moves, those that forget; and writes, those that respond to dirty pages.

use crate::generate::{Generator, HotAndScan, cycle, scan};
use crate::trace::{Access, Trace};

/// The smallest limit that a battery is designed for, in pages.
pub const LIMIT_PAGES_MIN: u32 = 64;

/// How often residency is checked during each trace.
const LOOKS: usize = 4;

/// Eight traces for a cache that may hold about `limit_pages`: in total some 24 accesses per page
/// of the limit, to files that are at most three and a third times as large as the limit. The seed
/// determines the accesses, and each size within 10 %.
///
/// Run each trace on an empty cache and without read-ahead, which none of the policies here model.
/// Under Linux, either read `memory.stat` of the control group continuously, which keeps the
/// statistics used by reclaim current, or finish within the two seconds for which they may be
/// stale.
///
/// # Panics
/// If the limit is below [`LIMIT_PAGES_MIN`] or above 2^30.
pub fn battery(limit_pages: u32, seed: u64) -> Vec<Trace> {
    assert!((LIMIT_PAGES_MIN..=1 << 30).contains(&limit_pages), "a limit that is covered");
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

/// A set that is read, pushed out by a scan, read again, and followed by another scan.
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
