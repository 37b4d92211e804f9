//! What is done to a fresh target before anything is measured on it: filling, then ageing.

use std::sync::atomic::AtomicBool;

use file_system::Feature;

use super::Target;
use crate::ageing;
use crate::error::TargetError;
use crate::filling::{self, Fill, FillOutcome};
use crate::spec::Location;
use crate::surroundings::Step;

/// What has been done to a target since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    /// Whether it has been filled.
    pub(super) is_filled: bool,
    /// Whether it has been aged.
    pub(super) is_aged: bool,
    /// Space that its files have reserved but not written, and that its image therefore does not
    /// take.
    pub(super) reserved_bytes: u64,
}

impl Target {
    /// Fills and ages the target as its specification asks, unless that was already done since it
    /// was made; the same seed gives the same operations. A scratch target is then remounted, so
    /// that none of this is in memory. Do not call this under the target's conditions, which would
    /// slow it down.
    ///
    /// # Errors
    /// [`TargetError::Filling`] or [`TargetError::Ageing`] if there is no room or the file system
    /// fails; [`TargetError::FillingStopped`] or [`TargetError::AgeingStopped`] if `stop` was
    /// raised, which leaves the target in a state that should not be measured.
    pub fn fill_and_age(&mut self, seed: u64, stop: &AtomicBool) -> Result<(), TargetError> {
        let before = self.history;
        self.fill(stop)?;
        self.age(seed, stop)?;
        if self.history == before { Ok(()) } else { self.remount() }
    }

    fn fill(&mut self, stop: &AtomicBool) -> Result<(), TargetError> {
        let Some(percent) = self.spec.filled_percent().filter(|_| !self.history.is_filled) else {
            return Ok(());
        };
        let fill =
            Fill { percent, reserves: self.reserves(), written_bytes_max: self.left_to_write()? };
        let ended = filling::fill(self.root(), fill, stop);
        let label = || self.spec.label.clone();
        match ended.map_err(|source| TargetError::Filling { label: label(), source })? {
            FillOutcome::Stopped => return Err(TargetError::FillingStopped { label: label() }),
            FillOutcome::Done { reserved_bytes } => {
                self.history.is_filled = true;
                self.history.reserved_bytes = reserved_bytes;
            }
        }
        self.tell(Step::FillOutcome);
        Ok(())
    }

    fn age(&mut self, seed: u64, stop: &AtomicBool) -> Result<(), TargetError> {
        let Some(ageing) = self.spec.ageing().filter(|_| !self.history.is_aged) else {
            return Ok(());
        };
        let room_bytes = self.room()?.free_bytes;
        let ended = ageing::age(self.root(), ageing, room_bytes, seed, stop);
        let label = || self.spec.label.clone();
        match ended.map_err(|source| TargetError::Ageing { label: label(), source })? {
            ageing::AgeingOutcome::Stopped => {
                return Err(TargetError::AgeingStopped { label: label() });
            }
            ageing::AgeingOutcome::Done => self.history.is_aged = true,
        }
        self.tell(Step::Aged);
        Ok(())
    }

    /// Whether files can reserve space on it without writing.
    pub(super) fn reserves(&self) -> bool {
        match &self.spec.location {
            Location::Scratch(scratch) => scratch.file_system.lacks(Feature::Reservation).is_none(),
            Location::Directory(_) => false,
        }
    }
}
