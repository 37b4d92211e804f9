//! How much a job has transferred, and when it and its passes end.

use super::rules::Rules;
use crate::direction::{Direction, PerDirection};
use crate::spec::Accesses;

/// How far a job is.
#[derive(Clone, Debug)]
pub(super) struct Passes {
    /// Bytes since the start.
    issued_bytes: PerDirection<u64>,
    /// Bytes since the start, or since the ramp ended.
    done_bytes: u64,
    /// Transfers since then.
    transfers: u64,
    /// Bytes in this pass.
    pass_bytes: u64,
    /// Those that were queued.
    queued_bytes: u64,
    /// After how many queued bytes this pass ends.
    pass_limit: u64,
    /// `number_ios`, which doubles with each pass that trims and writes.
    transfers_limit: u64,
    loops_left: u32,
    pub(super) has_begun: bool,
    pub(super) syncs_in_flight: u64,
}

impl Passes {
    pub(super) fn new(rules: &Rules) -> Self {
        let limits = &rules.spec.limits;
        Self {
            issued_bytes: PerDirection::default(),
            done_bytes: 0,
            transfers: 0,
            pass_bytes: 0,
            queued_bytes: 0,
            pass_limit: 0,
            transfers_limit: limits.transfers,
            loops_left: limits.loops,
            has_begun: false,
            syncs_in_flight: 0,
        }
    }

    /// Whether there is another pass. If so, it counts as begun.
    pub(super) fn begin(&mut self, rules: &Rules, all_files_are_done: bool) -> bool {
        let did_nothing = self.has_begun && self.pass_bytes == 0;
        if did_nothing || !self.continues(rules, all_files_are_done) {
            return false;
        }
        self.has_begun = true;
        self.pass_bytes = 0;
        self.queued_bytes = 0;
        self.pass_limit = self.limit_of_pass(rules);
        true
    }

    /// Whether the pass is over. Transfers that complete at once do not end it: it lasts until
    /// files have no offsets left, or the bytes of all passes have been transferred.
    #[inline]
    pub(super) fn is_over(&self, rules: &Rules) -> bool {
        let limits = &rules.spec.limits;
        if limits.is_time_based {
            return rules.spec.verification.is_on && self.queued_bytes >= self.pass_limit;
        }
        self.queued_bytes >= self.pass_limit || self.has_transferred_all(rules)
    }

    /// Counts a transfer.
    #[inline]
    pub(super) fn count(&mut self, rules: &Rules, direction: Direction, bytes: u64) {
        self.issued_bytes[direction] += bytes;
        self.pass_bytes += bytes;
        if rules.spec.limits.completion.is_queued(direction) {
            self.queued_bytes += bytes;
        }
        self.done_bytes += bytes;
        self.transfers += 1;
    }

    /// Forgets what was done in the ramp, but for transfers that are still in flight.
    pub(super) const fn end_ramp(&mut self, in_flight: u64) {
        self.done_bytes = 0;
        self.transfers = in_flight;
    }

    fn continues(&mut self, rules: &Rules, all_files_are_done: bool) -> bool {
        let limits = &rules.spec.limits;
        if limits.is_time_based {
            return true;
        }
        if self.loops_left > 0 {
            self.loops_left -= 1;
            return true;
        }
        if self.has_enough_transfers(rules) {
            return false;
        }
        let limit = limits.pass_bytes();
        if limit == u64::MAX || self.done_bytes >= limit {
            return false;
        }
        let has_room = limit - self.done_bytes >= rules.max_bytes;
        has_room && (limits.io_size_bytes.is_some() || !all_files_are_done)
    }

    fn limit_of_pass(&mut self, rules: &Rules) -> u64 {
        let limits = &rules.spec.limits;
        let accesses = rules.spec.accesses;
        let mut limit = limits.size_bytes;
        if accesses.has_writes() && rules.is_random && !rules.has_map {
            limit = limit.max(limits.io_size_bytes.unwrap_or(0));
        }
        let verification = rules.spec.verification;
        if verification.is_on && verification.has_backlog && accesses.has_writes() {
            limit = limit.wrapping_add(limits.size_bytes);
        }
        if accesses == Accesses::TrimWrite {
            let all = limits.pass_bytes().wrapping_mul(u64::from(limits.loops));
            limit = limit.wrapping_add(all);
            self.transfers_limit = self.transfers_limit.wrapping_mul(2);
        }
        limit
    }

    /// Whether a job's bytes, of all its loops, have been transferred.
    fn has_transferred_all(&self, rules: &Rules) -> bool {
        let bytes = &self.issued_bytes;
        let [read, write, trim] = Direction::ALL.map(|direction| bytes[direction]);
        let bytes = match rules.spec.accesses {
            Accesses::Read => read,
            Accesses::Write | Accesses::TrimWrite => write,
            Accesses::Trim => trim,
            Accesses::ReadWrite => read + write,
        };
        let limits = &rules.spec.limits;
        let all = limits.pass_bytes().wrapping_mul(loops(rules));
        bytes >= all || self.has_enough_transfers(rules)
    }

    fn has_enough_transfers(&self, rules: &Rules) -> bool {
        let limit = self.transfers_limit;
        limit > 0 && self.transfers + self.syncs_in_flight >= limit.wrapping_mul(loops(rules))
    }
}

fn loops(rules: &Rules) -> u64 {
    u64::from(rules.spec.limits.loops.max(1))
}
