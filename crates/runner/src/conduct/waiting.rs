//! Waiting for others who keep the machine busy.

use std::time::Duration;

use record::{Busy, Line};

use super::Conductor;
use crate::busy::{self, Next, Patience};
use crate::error::RunError;
use crate::executor::{Executor, Measured};

/// What is to be done with a replicate, and who was in its way.
pub(crate) fn in_the_way(measured: &Measured, patience: &Patience, attempt: u32) -> (Next, Busy) {
    let busy = measured.neighbours.as_ref().and_then(|neighbours| neighbours.busy.clone());
    busy.map_or((Next::Keep, Busy::default()), |busy| (patience.after(attempt), busy))
}

impl<E: Executor> Conductor<'_, '_, E> {
    pub(super) fn wait_for_others(&mut self, busy: Busy, most: Duration) -> Result<(), RunError> {
        let times = (self.used(), most);
        let Self { executor, surroundings, .. } = self;
        let waited = busy::wait(busy, times, surroundings, |time| executor.busy(time));
        self.patience.note(&waited);
        self.write(&Line::Waited(waited))
    }
}
