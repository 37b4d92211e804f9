//! Makes the steps of reads and writes by io_uring.

use super::{AnyStep, Plan};
use crate::error::{EngineError, WorkloadError};
use crate::io_path::UringOptions;
use crate::role::Role;
use crate::uring::{AnyTransfers, Task};

impl Plan<'_> {
    /// The step of one thread that reads or writes by io_uring.
    pub(super) fn uring_step(
        &self,
        thread: usize,
        role: Role,
        options: UringOptions,
    ) -> Result<AnyStep, EngineError> {
        let workload = self.workload;
        let size = workload.request_bytes as u64;
        let (spacing, choices) = self.spacing(role)?;
        let files = self.data_files(thread, role)?;
        let choices = self.choices(thread, files.len(), choices);
        let what = "the request size";
        let most = u64::from(u32::MAX);
        let request_bytes =
            u32::try_from(size).map_err(|_| WorkloadError::TooLarge { what, value: size, most })?;
        let content = self.unverified_content(thread);
        let verification = workload.verification;
        let writes_apart = u32::try_from(workload.writes_apart()).unwrap_or(u32::MAX);
        let task = Task {
            role,
            files,
            spacing,
            request_bytes,
            options,
            verification,
            content,
            writes_apart,
        };
        let transfers = match (self.on_device, role) {
            (Some(on_device), Role::Write) => {
                let mut originals = self.originals(thread, on_device)?;
                let requests = u32::try_from(workload.operations_per_thread).unwrap_or(u32::MAX);
                AnyTransfers::for_rewrites(task, &choices, &mut originals, requests)?
            }
            _ => AnyTransfers::new(task, workload.access, &choices)?,
        };
        Ok(AnyStep::Uring(Box::new(transfers)))
    }
}
