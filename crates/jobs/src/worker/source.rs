//! Where a job's operations come from.

use job_iologs::Replay;
use job_offsets::{Choice, Chooser, Completions, Direction};

use super::logged::Logged;
use crate::files::Table;

/// What says what a job does next.
pub(super) enum Operations {
    /// Its options.
    Chosen(Box<Chooser>),
    /// A log.
    Logged(Box<Logged>),
}

impl Operations {
    pub(super) fn logged(replay: Replay, session_began: u64) -> Self {
        Self::Logged(Box::new(Logged::new(replay, session_began)))
    }

    /// Begins another pass over the files, unless there is none. A log is replayed once.
    pub(super) fn begin_pass(&mut self, files: &mut Table, now: u64) -> bool {
        match self {
            Self::Chosen(chooser) => chooser.begin_pass(files),
            Self::Logged(logged) => logged.begin(now),
        }
    }

    pub(super) fn end_ramp(&mut self, in_flight: u64) {
        if let Self::Chosen(chooser) = self {
            chooser.end_ramp(in_flight);
        }
    }

    pub(super) fn note(&mut self, completions: Completions) {
        if let Self::Chosen(chooser) = self {
            chooser.note(completions);
        }
    }

    /// Returns to the beginning of the pass, to verify it.
    pub(super) fn rewind(&mut self, files: &mut Table) {
        if let Self::Chosen(chooser) = self {
            chooser.rewind(files);
        }
    }

    /// What is chosen next; of a log, nothing: its steps are taken by `Worker::choose_logged`.
    pub(super) fn next(&mut self, files: &mut Table) -> Choice {
        match self {
            Self::Chosen(chooser) => chooser.next(files),
            Self::Logged(_) => Choice::PassEnd,
        }
    }

    pub(super) fn next_paced(
        &mut self,
        files: &mut Table,
        wait: &mut impl FnMut(Direction) -> Option<Direction>,
    ) -> Choice {
        match self {
            Self::Chosen(chooser) => chooser.next_paced(files, wait),
            Self::Logged(_) => Choice::PassEnd,
        }
    }

    pub(super) fn next_again(&mut self, files: &mut Table) -> Choice {
        match self {
            Self::Chosen(chooser) => chooser.next_again(files),
            Self::Logged(_) => Choice::PassEnd,
        }
    }
}
