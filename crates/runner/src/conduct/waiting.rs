//! Waiting for other programs that keep the machine busy.

use std::time::Duration;

use record::{Busy, Line};

use super::Conductor;
use crate::busy;
use crate::error::RunError;
use crate::executor::Executor;

impl<E: Executor> Conductor<'_, '_, E> {
    pub(super) fn wait_for_others(
        &mut self,
        busy: Busy,
        time_max: Duration,
    ) -> Result<(), RunError> {
        let used = self.used();
        let Self { executor, context, .. } = self;
        let waited = busy::wait(busy, used, time_max, context, |time| executor.busy(time));
        self.patience.note(&waited);
        self.write(&Line::Waited(waited))
    }
}
