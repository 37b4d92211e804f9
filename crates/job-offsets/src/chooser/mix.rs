//! The direction of the next transfer, or that it is a sync.

use super::draws::Draws;
use super::file_state::FileState;
use super::rules::Rules;
use crate::direction::{Direction, PerDirection};
use crate::spec::{Accesses, Syncs};

/// What a file is synchronised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// `sync_file_range`.
    SyncFileRange,
}

/// What is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Transfer(Direction),
    Sync(SyncKind),
    /// The job ends.
    Stop,
}

/// How directions have been mixed so far.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    current: Direction,
    /// Up to how many transfers in the current direction no other is drawn.
    keep_until: u64,
    /// Transfers so far.
    pub(super) issued: PerDirection<u64>,
    pub(super) last_was_sync: bool,
}

impl Mix {
    pub(super) fn new() -> Self {
        Self {
            current: Direction::Read,
            keep_until: 0,
            issued: PerDirection::default(),
            last_was_sync: false,
        }
    }

    /// As at the start of a pass.
    pub(super) const fn begin_pass(&mut self) {
        self.keep_until = 0;
        self.last_was_sync = false;
    }

    /// Counts start again.
    pub(super) fn end_ramp(&mut self) {
        self.begin_pass();
        self.issued = PerDirection::default();
    }

    /// What is next for a file. The pace may change the direction, or end the job.
    #[inline]
    pub(super) fn next(
        &mut self,
        rules: &Rules,
        draws: &mut Draws,
        file: &FileState,
        pace: &mut impl FnMut(Direction) -> Option<Direction>,
    ) -> Kind {
        let accesses = rules.spec.accesses;
        let trims_first = accesses == Accesses::TrimWrite;
        let sync = self.due_sync(accesses, rules.spec.syncs);
        if sync.is_none() {
            let direction = if accesses.is_mixed() {
                self.mixed(rules.spec.read_percent, draws)
            } else {
                accesses.first()
            };
            match pace(direction) {
                Some(paced) => self.current = paced,
                None => return Kind::Stop,
            }
        }
        if trims_first {
            let [trim, write] = [Direction::Trim, Direction::Write];
            let is_pair = file.positions[write].start == file.positions[trim].start;
            return Kind::Transfer(if is_pair { trim } else { write });
        }
        sync.map_or(Kind::Transfer(self.current), Kind::Sync)
    }

    fn mixed(&mut self, read_percent: u32, draws: &mut Draws) -> Direction {
        let issued = self.issued[self.current];
        if issued < self.keep_until {
            return self.current;
        }
        let is_read = u32::from(draws.mix.percent()) <= read_percent;
        let drawn = if is_read { Direction::Read } else { Direction::Write };
        if drawn != self.current {
            // As often as the direction that ends is not chosen.
            let others = match self.current {
                Direction::Read => 100 - u64::from(read_percent.min(100)),
                Direction::Write | Direction::Trim => u64::from(read_percent),
            };
            self.keep_until = issued * others / 100;
        }
        drawn
    }

    fn due_sync(&self, accesses: Accesses, syncs: Syncs) -> Option<SyncKind> {
        let writes = self.issued[Direction::Write];
        if self.last_was_sync || writes == 0 || !(accesses.has_writes() || syncs.of_reads) {
            return None;
        }
        let kinds = [
            (syncs.fsync, SyncKind::Fsync),
            (syncs.fdatasync, SyncKind::Fdatasync),
            (syncs.sync_file_range, SyncKind::SyncFileRange),
        ];
        let is_due = |every: u32| every > 0 && writes.is_multiple_of(u64::from(every));
        kinds.into_iter().find_map(|(every, kind)| is_due(every).then_some(kind))
    }
}
