//! Linux without multi-generational LRU, simplified to one file under one memory control group that
//! contains nothing else (mm/workingset.c, mm/vmscan.c and mm/swap.c of Linux 6.x).
//!
//! A page starts on the inactive list. A read marks it referenced and a second read activates it
//! (`folio_mark_accessed`); writes do neither (commit bbddabe2e436). Reclaim takes batches of
//! `SWAP_CLUSTER_MAX` from the tail of the inactive list, and does not spare a referenced page that
//! is not mapped by any process (`folio_check_references`). The active list is shrunk too if it is
//! the longer one (`inactive_is_low`, whose ratio is 1 below 1 GiB), or if pages have been
//! activated by refaults since the previous batch (`prepare_scan_control`).
//!
//! When a page is evicted, the time is recorded, counted in evictions and activations. If the page
//! is read again before that count has advanced by more than the length of the active list, it is
//! activated at once (`workingset_refault`, `filemap_add_folio`).
//!
//! The lengths on which these decisions are based are statistics of the control group, which are
//! summed up every two seconds, or four at the latest (`mem_cgroup_flush_stats_ratelimited`, in
//! reclaim since Linux 6.8). Until then they are what they were when the group was empty: both
//! lists look empty, so nothing is deactivated until the inactive list is used up, and nothing is
//! activated by refaults.
//!
//! A dirty page at the tail is not evicted but written back, and is the first to go once that is
//! done (`folio_set_reclaim`, `folio_rotate_reclaimable`): here, at the start of the next batch.
//!
//! Not modelled: read-ahead, mapped pages, the duration of writeback, writeback by age or by share
//! of memory, other control groups, and the larger ratio from 1 GiB on.

use super::lists::PageLists;
use super::{Cache, Size};
use crate::trace::{Access, AccessKind};

const INACTIVE: u8 = 0;
const ACTIVE: u8 = 1;
const WRITEBACK: u8 = 2;

/// `SWAP_CLUSTER_MAX` (include/linux/swap.h): how many pages are reclaimed at a time.
const BATCH: u32 = 32;

/// What the statistics of the control group reflect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistics {
    /// The present state.
    Current,
    /// The state when the group was empty.
    Stale,
}

/// A page's state, apart from which list it is on.
#[derive(Clone, Copy, Default)]
struct Flags {
    referenced: bool,
    dirty: bool,
    /// When it was evicted, in terms of `age`; the shadow entry.
    evicted_at: Option<u32>,
}

pub(super) struct Linux {
    capacity: u32,
    batch: u32,
    statistics: Statistics,
    lists: PageLists<3>,
    flags: Vec<Flags>,
    /// Evictions and activations so far: `nonresident_age`.
    age: u32,
    refaulted: bool,
}

impl Linux {
    pub(super) fn new(statistics: Statistics, size: Size) -> Self {
        let Size { capacity, pages } = size;
        Self {
            capacity,
            // Whole batches would empty a cache of only a few pages.
            batch: BATCH.min(capacity.div_ceil(8)),
            statistics,
            lists: PageLists::new(pages),
            flags: vec![Flags::default(); pages as usize],
            age: 0,
            refaulted: false,
        }
    }

    /// `folio_mark_accessed`.
    fn mark_accessed(&mut self, page: u32) {
        let flags = &mut self.flags[page as usize];
        if flags.referenced && self.lists.is_on(INACTIVE, page) {
            flags.referenced = false;
            self.activate(page);
        } else {
            flags.referenced = true;
        }
    }

    fn activate(&mut self, page: u32) {
        self.lists.put_newest(ACTIVE, page);
        self.age += 1;
    }

    fn add(&mut self, access: Access) {
        let page = access.page;
        if self.resident() >= self.capacity {
            self.reclaim();
        }
        let shadow = std::mem::take(&mut self.flags[page as usize]).evicted_at;
        let is_recent = |evicted_at| self.age - evicted_at <= self.lists.length(ACTIVE);
        let is_counted = access.kind == AccessKind::Read && self.statistics == Statistics::Current;
        if is_counted && shadow.is_some_and(is_recent) {
            self.activate(page);
            self.refaulted = true;
        } else {
            self.lists.put_newest(INACTIVE, page);
        }
    }

    fn reclaim(&mut self) {
        while let Some(page) = self.lists.take_newest(WRITEBACK) {
            self.lists.put_oldest(INACTIVE, page);
        }
        let [inactive, active] = [INACTIVE, ACTIVE].map(|list| self.lists.length(list));
        let is_low = self.statistics == Statistics::Current && inactive < active;
        if std::mem::take(&mut self.refaulted) || is_low {
            // Both lists are scanned in proportion to their lengths (`get_scan_count`).
            let share = (self.batch * active).checked_div(inactive).unwrap_or(self.batch);
            self.deactivate(share.min(self.batch));
        }
        let goal = self.resident().saturating_sub(self.batch);
        while self.resident() > goal && self.evict_one() {}
        if self.resident() >= self.capacity {
            // All pages were dirty, and have now been written back.
            self.reclaim();
        }
    }

    /// `shrink_active_list`: ignores whether a page was referenced, and keeps the flag.
    fn deactivate(&mut self, pages: u32) {
        for _ in 0..pages {
            let Some(page) = self.lists.oldest(ACTIVE) else { return };
            self.lists.put_newest(INACTIVE, page);
        }
    }

    /// `shrink_inactive_list` for one page, which is evicted or, if dirty, written back. Returns
    /// whether there was a page.
    fn evict_one(&mut self) -> bool {
        if self.lists.length(INACTIVE) == 0 {
            self.deactivate(self.batch);
        }
        let Some(page) = self.lists.oldest(INACTIVE) else { return false };
        let flags = &mut self.flags[page as usize];
        if std::mem::take(&mut flags.dirty) {
            self.lists.put_newest(WRITEBACK, page);
            return true;
        }
        flags.evicted_at = Some(self.age);
        self.age += 1;
        self.lists.take(page);
        true
    }

    fn resident(&self) -> u32 {
        [INACTIVE, ACTIVE, WRITEBACK].iter().map(|&list| self.lists.length(list)).sum()
    }
}

impl Cache for Linux {
    fn access(&mut self, access: Access) {
        if !self.is_resident(access.page) {
            self.add(access);
        }
        match access.kind {
            AccessKind::Read => self.mark_accessed(access.page),
            AccessKind::Write => self.flags[access.page as usize].dirty = true,
        }
    }

    fn is_resident(&self, page: u32) -> bool {
        self.lists.list_of(page).is_some()
    }
}
