//! Makes the steps of writes on the device.

use super::{AnyStep, Plan};
use crate::choose::AnyChooser;
use crate::error::EngineError;
use crate::on_device::FileOnDevice;
use crate::rewrite::{Originals, RequestsToRewrite, Rewrite};
use crate::role::Role;

impl<'a> Plan<'a> {
    /// The step of one thread that writes back with plain calls.
    pub(super) fn rewrite_step(
        &self,
        thread: usize,
        on_device: &FileOnDevice,
    ) -> Result<AnyStep, EngineError> {
        let workload = self.workload;
        let mut originals = self.originals(thread, on_device)?;
        let requests = workload.all_operations();
        let kept = RequestsToRewrite::read(&mut originals, workload.request_bytes, requests)?;
        let path = on_device.path().to_path_buf();
        let step = Rewrite::new(on_device.open()?, path, kept, workload.slots());
        Ok(AnyStep::Path(step.into()))
    }

    /// Reads what one thread will write back, in the order in which it will do so.
    pub(super) fn originals(
        &self,
        thread: usize,
        on_device: &'a FileOnDevice,
    ) -> Result<Originals<'a>, EngineError> {
        let (spacing, choices) = self.spacing(Role::Write)?;
        let choices = self.choices(thread, 1, choices);
        let choose = AnyChooser::new(self.workload.access, &choices)?;
        let path = self.file_set.data_file(Role::Write, 0);
        Originals::new(on_device, path, choose, spacing, self.workload.request_bytes)
    }
}
