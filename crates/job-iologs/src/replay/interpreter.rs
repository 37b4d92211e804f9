//! From the lines of a log to the events of a replay: options applied, files checked, times added.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use super::clock::ReplayClock;
use super::event::{Extent, ReplayAction, ReplayEvent};
use super::files::{FileStates, Misuse};
use super::options::{ReplayOptions, ReplaySkip, TrimReplay};
use super::remark::{RemarkReason, Remarks};
use crate::entry::{Entry, EntryAction, IoKind};
use crate::error::IologError;
use crate::parse::{Line, Unusable, UnusableReason, text};
use crate::place::Place;

/// What some lines of a log come to.
#[derive(Default)]
pub(super) struct Batch {
    /// What is done.
    pub(super) events: Vec<ReplayEvent>,
    /// The names of files that were added, in the order of their indexes.
    pub(super) new_files: Vec<OsString>,
    /// The lines that were ignored.
    pub(super) remarks: Remarks,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.new_files.is_empty() && self.remarks.count() == 0
    }
}

/// Turns lines into events.
pub(super) struct Interpreter {
    clock: ReplayClock,
    files: FileStates,
    no_stall: bool,
    read_only: bool,
    scale: u64,
    align_bytes: u64,
    skip: ReplaySkip,
    trims: TrimReplay,
}

/// What becomes of an operation.
enum Decision {
    Replayed(fn(Extent) -> ReplayAction),
    LeftOut,
    Ignored(RemarkReason),
}

impl Interpreter {
    pub(super) fn new(options: &ReplayOptions) -> Self {
        Self {
            clock: ReplayClock::new(options.time_scale_percent),
            files: FileStates::new(options.redirect.as_deref().map(OsStr::as_bytes)),
            no_stall: options.no_stall,
            read_only: options.read_only,
            scale: u64::from(options.scale.max(1)),
            align_bytes: u64::from(options.align_bytes.max(1)),
            skip: options.skip,
            trims: options.trims,
        }
    }

    /// Adds what a line comes to to a batch.
    pub(super) fn line(
        &mut self,
        line: Line<'_>,
        place: &Place,
        batch: &mut Batch,
    ) -> Result<(), IologError> {
        match line {
            Line::Entry(entry) => self
                .entry(entry, place, batch)
                .map_err(|misuse| misused(misuse, place.clone(), text(entry.name))),
            Line::Unusable(Unusable { time_us, reason }) => {
                if let Some(time_us) = time_us {
                    self.clock.interval_us(time_us);
                }
                batch.remarks.push(place, reason.into());
                Ok(())
            }
        }
    }

    fn entry(&mut self, entry: Entry<'_>, place: &Place, batch: &mut Batch) -> Result<(), Misuse> {
        let Entry { time_us, name, action } = entry;
        let interval_us = time_us.map(|time_us| self.clock.interval_us(time_us));
        let action = match action {
            EntryAction::Add => {
                batch
                    .new_files
                    .extend(self.files.add(name).map(|name| OsString::from_vec(name.into())));
                None
            }
            EntryAction::Open => self.files.open(name)?.map(ReplayAction::Open),
            EntryAction::Close => self.files.close(name)?.map(ReplayAction::Close),
            EntryAction::Wait { .. } if self.no_stall => None,
            EntryAction::Wait { until_ms } => {
                Some(ReplayAction::WaitUntil { since_run_began: Duration::from_millis(until_ms) })
            }
            EntryAction::Io { kind, offset, length } => match self.decide(kind) {
                Decision::Replayed(action) => Some(action(self.extent(name, offset, length)?)),
                Decision::LeftOut => return Ok(()),
                Decision::Ignored(reason) => {
                    batch.remarks.push(place, reason);
                    return Ok(());
                }
            },
        };
        self.clock.wait(interval_us.unwrap_or(0));
        let at = interval_us.filter(|_| !self.no_stall).map(|_| self.clock.due());
        batch.events.extend(action.map(|action| ReplayEvent { at, action }));
        Ok(())
    }

    fn decide(&self, kind: IoKind) -> Decision {
        let [skips_reads, skips_writes, skips_trims] = self.skip.transfers;
        let (is_left_out, action): (bool, fn(Extent) -> ReplayAction) = match kind {
            IoKind::Read => (skips_reads, ReplayAction::Read),
            IoKind::Write => (self.read_only || skips_writes, ReplayAction::Write),
            IoKind::Trim if self.trims == TrimReplay::Ignored => {
                return Decision::Ignored(RemarkReason::Trim);
            }
            IoKind::Trim => (self.read_only || skips_trims, ReplayAction::Trim),
            IoKind::Sync => (self.skip.syncs, |extent| ReplayAction::Sync(extent.file)),
            IoKind::Datasync => (self.skip.syncs, |extent| ReplayAction::Datasync(extent.file)),
            IoKind::SyncFileRange => {
                return Decision::Ignored(RemarkReason::UnknownAction(kind.name().to_owned()));
            }
        };
        if is_left_out { Decision::LeftOut } else { Decision::Replayed(action) }
    }

    /// Where an operation goes.
    fn extent(&mut self, name: &[u8], offset: u64, length: u32) -> Result<Extent, Misuse> {
        let file = self.files.find_open(name)?;
        let scaled = if self.scale == 1 { offset } else { offset / self.scale };
        Ok(Extent { file, offset: scaled - scaled % self.align_bytes, length })
    }
}

impl From<UnusableReason> for RemarkReason {
    fn from(reason: UnusableReason) -> Self {
        match reason {
            UnusableReason::SecondLog => Self::SecondLog,
            UnusableReason::Malformed => Self::Malformed,
            UnusableReason::UnknownAction(action) => Self::UnknownAction(action),
            UnusableReason::WaitWithTime => Self::WaitWithTime,
        }
    }
}

fn misused(misuse: Misuse, place: Place, name: String) -> IologError {
    match misuse {
        Misuse::Unknown => IologError::UnknownFile { place, name },
        Misuse::Closed => IologError::ClosedFile { place, name },
        Misuse::Open => IologError::OpenFile { place, name },
    }
}
