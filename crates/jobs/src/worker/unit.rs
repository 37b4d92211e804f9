//! The operations of a job that can be in flight: as many as its depth.

use job_offsets::Direction;

use crate::engines::Call;

/// One operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) call: Call,
    pub(super) file: usize,
    /// Where in the file it begins.
    pub(super) offset: u64,
    /// How long it is.
    pub(super) length: usize,
    /// How much of it has been moved by calls that moved a part.
    pub(super) done: usize,
    /// When it should have begun, or did if no rate is kept: in ticks.
    pub(super) intended: u64,
    /// When it began.
    pub(super) started: u64,
    /// When it was handed to the kernel.
    pub(super) issued: u64,
    /// Its priority, if it is not the job's.
    pub(super) priority: Option<u16>,
    /// Whether that has been drawn since it was last handed to the engine.
    pub(super) has_drawn: bool,
    /// Whether the log of operations has it.
    pub(super) is_logged: bool,
}

impl Unit {
    pub(super) const FREE: Self = Self {
        call: Call::Sync,
        file: 0,
        offset: 0,
        length: 0,
        done: 0,
        intended: 0,
        started: 0,
        issued: 0,
        priority: None,
        has_drawn: false,
        is_logged: false,
    };

    /// The direction of what it moves.
    pub(super) fn direction(&self) -> Option<Direction> {
        match self.call {
            Call::Transfer(direction) => Some(direction),
            Call::Sync | Call::DataSync | Call::SyncRange { .. } => None,
        }
    }
}
