//! Each policy worked out by hand on a few pages, and properties of all policies on any trace.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::trace::AccessKind;

/// The pages that are resident after reading `pages` in order.
fn after(policy: Policy, capacity: u32, pages: &[u32]) -> Vec<u32> {
    let accesses: Vec<Access> = pages.iter().copied().map(Access::read).collect();
    after_accesses(policy, capacity, &accesses)
}

fn after_accesses(policy: Policy, capacity: u32, accesses: &[Access]) -> Vec<u32> {
    let mut cache = policy.cache(Size { capacity, pages: 100 }, 1);
    accesses.iter().for_each(|&access| cache.access(access));
    (0..100).filter(|&page| cache.is_resident(page)).collect()
}

#[test]
fn a_hit_saves_a_page_from_lru_and_clock_but_not_from_fifo() {
    let pages = [1, 2, 3, 1, 4];
    assert_eq!(after(Policy::Fifo, 3, &pages), [2, 3, 4]);
    assert_eq!(after(Policy::Lru, 3, &pages), [1, 3, 4]);
    assert_eq!(after(Policy::Clock, 3, &pages), [1, 3, 4]);
}

#[test]
fn the_hand_of_clock_clears_bits_where_lru_reorders() {
    // The hand skips 1 and 2, whose bits are set, and evicts 3; it then evicts 1, though 1 was used
    // after 2.
    let pages = [1, 2, 3, 2, 1, 4, 5];
    assert_eq!(after(Policy::Clock, 3, &pages), [2, 4, 5]);
    assert_eq!(after(Policy::Lru, 3, &pages), [1, 4, 5]);
}

#[test]
fn mru_keeps_the_beginning_of_a_loop() {
    assert_eq!(after(Policy::Mru, 3, &[1, 2, 3, 4, 5]), [1, 2, 5]);
}

#[test]
fn lfu_keeps_what_is_used_often_and_forgets_counts() {
    assert_eq!(after(Policy::Lfu, 3, &[1, 1, 2, 2, 3, 4]), [1, 2, 4]);
    // 1 comes back with a count of 1, which 4 has too; 4 was used less recently.
    assert_eq!(after(Policy::Lfu, 2, &[1, 2, 2, 4, 1, 5]), [2, 5]);
}

#[test]
fn lru_2_goes_by_the_last_access_but_one() {
    // 1 and 2 were used twice, 3 once: 3 is evicted, though it was used last.
    assert_eq!(after(Policy::Lru2, 3, &[2, 1, 1, 2, 3, 4]), [1, 2, 4]);
    // After the second access to 4, the second to last access of 2 is the oldest.
    assert_eq!(after(Policy::Lru2, 3, &[2, 1, 1, 2, 3, 4, 4, 5]), [1, 4, 5]);
}

#[test]
fn two_queue_promotes_on_a_hit_in_its_memory_alone() {
    // Kin 1, Kout 2. The hit on 1 in A1in changes nothing, and 1 leaves; when it comes back while
    // on A1out, it goes to Am and survives the scan.
    assert_eq!(after(Policy::TwoQueue, 4, &[1, 1, 2, 3, 4, 5]), [2, 3, 4, 5]);
    let scan = [1, 2, 3, 4, 5, 1, 6, 7, 8, 9, 10, 11, 12];
    assert_eq!(after(Policy::TwoQueue, 4, &scan), [1, 10, 11, 12]);
}

#[test]
fn two_queue_forgets_beyond_kout() {
    let back_too_late = [1, 2, 3, 4, 5, 6, 7, 1, 8, 9, 10, 11];
    assert_eq!(after(Policy::TwoQueue, 4, &back_too_late), [8, 9, 10, 11]);
}

#[test]
fn arc_keeps_pages_seen_twice_through_a_scan() {
    assert_eq!(after(Policy::Arc, 4, &[1, 2, 1, 2, 10, 11, 12, 13, 14, 15]), [1, 2, 14, 15]);
}

#[test]
fn arc_learns_from_its_memory_that_recency_pays() {
    // 10 comes back from B1, so T1 should be one page longer, and 10 goes to T2.
    let pages = [1, 2, 1, 2, 10, 11, 12, 10, 13, 14, 15];
    assert_eq!(after(Policy::Arc, 4, &pages), [2, 10, 14, 15]);
}

#[test]
fn cflru_evicts_the_oldest_clean_page_of_its_window() {
    let write = [Access::write(1), Access::read(2), Access::read(3), Access::read(4)];
    let accesses = [&write[..], &[Access::read(5)]].concat();
    assert_eq!(after_accesses(Policy::CleanFirst, 4, &accesses), [1, 3, 4, 5]);
    assert_eq!(after(Policy::CleanFirst, 4, &[1, 2, 3, 4, 5]), [2, 3, 4, 5]);
    // If the window has only dirty pages, the oldest of them is evicted.
    let dirty: Vec<Access> = (1..=5).map(Access::write).collect();
    assert_eq!(after_accesses(Policy::CleanFirst, 4, &dirty), [2, 3, 4, 5]);
}

#[test]
fn linux_activates_on_the_second_read_but_on_no_write() {
    let scan = 10..30;
    let read_twice: Vec<u32> = [1, 1, 2].into_iter().chain(scan.clone()).collect();
    let resident = after(Policy::Linux, 8, &read_twice);
    assert!(resident.contains(&1) && !resident.contains(&2), "{resident:?}");
    let written = [Access::write(1), Access::write(1)].into_iter();
    let accesses: Vec<Access> = written.chain(scan.map(Access::read)).collect();
    assert!(!after_accesses(Policy::Linux, 8, &accesses).contains(&1));
}

#[test]
fn linux_activates_what_comes_back_soon() {
    // 1 to 4 are active and 5 to 9 pass; 5 was evicted one eviction ago, which is less than the
    // length of the active list, so it comes back as an active page and survives 10 to 16. While
    // the statistics are stale, it does not.
    let pages = [1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 5, 10, 11, 12, 13, 14, 15, 16];
    assert!(after(Policy::Linux, 8, &pages).contains(&5));
    assert_eq!(after(Policy::LinuxStale, 8, &pages), [1, 2, 3, 4, 13, 14, 15, 16]);
}

#[test]
fn linux_writes_a_dirty_page_before_it_goes() {
    let dirty = [Access::write(1)].into_iter().chain((2..=9).map(Access::read));
    let resident = after_accesses(Policy::Linux, 8, &dirty.collect::<Vec<_>>());
    assert!(resident.contains(&1) && !resident.contains(&2), "{resident:?}");
    let later = [Access::write(1)].into_iter().chain((2..=10).map(Access::read));
    assert!(!after_accesses(Policy::Linux, 8, &later.collect::<Vec<_>>()).contains(&1));
}

#[test]
fn random_goes_by_its_seed() {
    let resident = |seed| {
        let mut cache = Policy::Random.cache(Size { capacity: 50, pages: 100 }, seed);
        (0..100).for_each(|page| cache.access(Access::read(page)));
        (0..100).filter(|&page| cache.is_resident(page)).collect::<Vec<_>>()
    };
    assert_eq!(resident(1), resident(1));
    assert_ne!(resident(1), resident(2));
}

fn accesses() -> impl Strategy<Value = Vec<Access>> {
    let access = (0u32..100, any::<bool>()).prop_map(|(page, writes)| {
        let kind = if writes { AccessKind::Write } else { AccessKind::Read };
        Access { page, kind }
    });
    proptest::collection::vec(access, 1..600)
}

proptest! {
    #[test]
    fn what_is_accessed_is_resident_and_no_cache_overflows(
        accesses in accesses(), capacity in 1u32..40, seed in any::<u64>(),
    ) {
        for policy in Policy::ALL {
            let mut cache = policy.cache(Size { capacity, pages: 100 }, seed);
            for &access in &accesses {
                cache.access(access);
                prop_assert!(cache.is_resident(access.page), "{policy}");
            }
            let mut counts = [0u8; 100];
            cache.count_resident(&mut counts);
            let resident: u32 = counts.iter().copied().map(u32::from).sum();
            let touched: BTreeSet<u32> = accesses.iter().map(|access| access.page).collect();
            let full = capacity.min(u32::try_from(touched.len()).unwrap());
            prop_assert!(resident <= capacity, "{policy}");
            // All policies but Linux, which evicts in batches, evict only to make room.
            let in_batches = matches!(policy, Policy::Linux | Policy::LinuxStale);
            prop_assert!(in_batches || resident == full, "{policy}");
        }
    }

    #[test]
    fn with_nothing_dirty_cflru_is_lru(
        pages in proptest::collection::vec(0u32..100, 1..600), capacity in 2u32..40,
    ) {
        let [clean_first, lru] =
            [Policy::CleanFirst, Policy::Lru].map(|policy| after(policy, capacity, &pages));
        prop_assert_eq!(clean_first, lru);
    }
}
