//! Makes a job's target and executes its operations.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use file_system::Storage;
use targets::{Location, Surroundings, TargetError, TargetFacts, TargetSpec, Workshop};
use thiserror::Error;

use crate::door::Door;
use crate::marked::MarkedCall;
use crate::prepared::PreparedCall;
use crate::{Failed, Job, JobOutcome, KernelCacheState, TracedCall};

/// The block device on which a guest makes its target. It is in memory, so that every request
/// completes within the call that issues it.
pub const DEVICE: &str = "/dev/ram0";

/// Files in the directory besides those of the operations.
const ENTRIES: u32 = 64;

/// DenseFS in the guest's kernel, as the file system of a target.
const IN_KERNEL: &str = "densefs (in the kernel)";

/// Region number in all marks: a boot has one target.
const REGION: u8 = 0;

/// Why a job failed before its operations.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PerformError {
    /// The target could not be made or removed.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Its directory could not be filled.
    #[error("cannot make the directory for the operations: {0}")]
    Directory(#[source] io::Error),
}

/// Makes the job's target and executes the operations on it. The process must have one thread.
#[must_use]
pub fn perform(job: &Job) -> JobOutcome {
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut outcome = JobOutcome { kernel, ..JobOutcome::default() };
    if let Err(why) = on_target(job, &mut outcome) {
        outcome.failed.push(Failed { operation: None, why });
    }
    outcome
}

fn on_target(job: &Job, outcome: &mut JobOutcome) -> Result<(), String> {
    let spec: TargetSpec = job.target.parse().map_err(|error| format!("{error}"))?;
    if let Some(facts) = dense_facts(&spec) {
        outcome.target = Some(facts);
        let done = in_directory(job, Door::DenseFs, Path::new("/"));
        outcome.failed = done.map_err(|error| error.to_string())?;
        return Ok(());
    }
    let mut on_target = || -> Result<(), PerformError> {
        let destroy = vec![PathBuf::from(DEVICE)];
        let workshop = Workshop::open(Surroundings { destroy, ..Surroundings::default() })?;
        let mut target = workshop.make(&spec)?;
        outcome.target = Some(target.facts().clone());
        outcome.failed = in_directory(job, Door::Ordinary, target.root())?;
        target.close()?;
        drop(target);
        Ok(workshop.close()?)
    };
    on_target().map_err(|error| error.to_string())
}

/// What is known about the target, if it is DenseFS, which is not mounted: the module has made it when
/// it was loaded.
fn dense_facts(spec: &TargetSpec) -> Option<TargetFacts> {
    let Location::Scratch(scratch) = &spec.location else { return None };
    let is_dense = scratch.file_system.storage == Storage::Arena;
    is_dense.then(|| TargetFacts {
        label: spec.label.clone(),
        spec: spec.to_string(),
        file_system: IN_KERNEL.to_owned(),
        size_bytes: scratch.size_bytes.unwrap_or(0),
        ..TargetFacts::default()
    })
}

/// Executes the job's operations in an empty directory: each as often as requested without marks,
/// then with marks. A failure is reported and ends only that operation.
fn in_directory(job: &Job, door: Door, directory: &Path) -> Result<Vec<Failed>, PerformError> {
    for entry in 0..ENTRIES {
        let path = directory.join(format!("entry-{entry:02}"));
        door.create_new(&path).map_err(PerformError::Directory)?;
    }
    let mut failed = Vec::new();
    let mut number = 0;
    for &operation in &job.operations {
        if let Err(error) = repeat(job, operation, door, directory, &mut number) {
            let why = format!("{operation} failed: {error}");
            failed.push(Failed { operation: Some(operation), why });
        }
    }
    Ok(failed)
}

fn repeat(
    job: &Job,
    operation: TracedCall,
    door: Door,
    directory: &Path,
    number: &mut u32,
) -> io::Result<()> {
    let unmarked = MarkedCall::unmarked()?;
    let marked = MarkedCall::new(REGION, operation.number())?;
    let codes = std::iter::repeat_n(&unmarked, job.warm_up as usize)
        .chain(std::iter::repeat_n(&marked, job.repetitions as usize));
    for code in codes {
        let prepared = PreparedCall::new(operation, door, directory, *number)?;
        *number += 1;
        if job.state == KernelCacheState::Cold {
            drop_caches()?;
            prepared.after_drop()?;
        }
        prepared.execute(code)?;
    }
    Ok(())
}

/// Writes back dirty data and drops unused pages, dentries and inodes.
fn drop_caches() -> io::Result<()> {
    rustix::fs::sync();
    fs::write("/proc/sys/vm/drop_caches", "3")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str) -> TracedCall {
        name.parse().unwrap()
    }

    fn job(operations: &[TracedCall]) -> Job {
        let (target, operations) = ("here=tmpfs".to_owned(), operations.to_vec());
        Job { target, operations, warm_up: 1, repetitions: 2, state: KernelCacheState::Warm }
    }

    #[test]
    fn every_operation_succeeds_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let failed = in_directory(
            &job(&TracedCall::all().collect::<Vec<_>>()),
            Door::Ordinary,
            directory.path(),
        )
        .unwrap();
        assert_eq!(failed, []);
        let left = fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(left, ENTRIES as usize);
    }

    #[test]
    fn what_fails_is_told_and_the_rest_done() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file-00000"), "in the way").unwrap();
        let job = job(&[call("mkdir"), call("stat")]);
        let failed = in_directory(&job, Door::Ordinary, directory.path()).unwrap();
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].operation, Some(call("mkdir")));
        assert!(failed[0].why.starts_with("mkdir failed: File exists"), "{}", failed[0].why);
    }
}
