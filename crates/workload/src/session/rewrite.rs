//! The steps of writes on the device.

use super::{AnyStep, Plan};
use crate::error::EngineError;
use crate::on_device::OnDevice;
use crate::rewrite::{Kept, Originals};
use crate::steps::Rewrite;

impl Plan<'_> {
    /// The step of one thread that writes back by plain calls.
    pub(super) fn rewrite_step(
        &self,
        thread: usize,
        on_device: &OnDevice,
    ) -> Result<AnyStep, EngineError> {
        let workload = self.workload;
        let mut originals = Originals::of(self, on_device, thread)?;
        let requests = workload.all_operations();
        let kept = Kept::read(&mut originals, workload.request_bytes, requests)?;
        let path = on_device.path().to_path_buf();
        let step = Rewrite::new(on_device.open()?, path, kept, workload.slots());
        Ok(AnyStep::Path(step.into()))
    }
}
