//! Doing a job on a directory.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use thiserror::Error;

use crate::marked::MarkedCall;
use crate::prepared::Prepared;
use crate::{Failed, Job, Operation, State};

/// Files that the directory holds besides those of the operations.
const ENTRIES: u32 = 64;

/// Number of the region in all marks: a boot has one target.
const REGION: u8 = 0;

/// Why a job was not done at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PerformError {
    /// The directory could not be filled.
    #[error("the directory of the operations could not be made: {0}")]
    Directory(#[source] io::Error),
}

/// Executes the job's operations in a directory, which is there and empty: each as often as is
/// asked for without marks, then with marks. What fails is told; it ends that operation alone.
///
/// # Errors
/// The directory cannot be prepared.
pub fn perform(job: &Job, directory: &Path) -> Result<Vec<Failed>, PerformError> {
    for entry in 0..ENTRIES {
        let path = directory.join(format!("entry-{entry:02}"));
        File::create(path).map_err(PerformError::Directory)?;
    }
    let mut failed = Vec::new();
    let mut number = 0;
    for &operation in &job.operations {
        if let Err(error) = repeat(job, operation, directory, &mut number) {
            let why = format!("{operation} failed: {error}");
            failed.push(Failed { operation: Some(operation), why });
        }
    }
    Ok(failed)
}

fn repeat(job: &Job, operation: Operation, directory: &Path, number: &mut u32) -> io::Result<()> {
    let unmarked = MarkedCall::unmarked()?;
    let marked = MarkedCall::new(REGION, operation.number())?;
    let codes = std::iter::repeat_n(&unmarked, job.warm_up as usize)
        .chain(std::iter::repeat_n(&marked, job.repetitions as usize));
    for code in codes {
        let prepared = Prepared::new(operation, directory, *number)?;
        *number += 1;
        if job.state == State::Cold {
            drop_caches()?;
        }
        prepared.execute(code)?;
    }
    Ok(())
}

/// Writes back what is dirty and drops pages, dentries and inodes that nobody uses.
fn drop_caches() -> io::Result<()> {
    rustix::fs::sync();
    fs::write("/proc/sys/vm/drop_caches", "3")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    fn job(operations: &[Operation]) -> Job {
        let target = Target {
            label: "here".to_owned(),
            file_system: "tmpfs".to_owned(),
            size_bytes: 1 << 20,
            mkfs: None,
            mount: String::new(),
        };
        let operations = operations.to_vec();
        Job { target, operations, warm_up: 1, repetitions: 2, state: State::Warm }
    }

    #[test]
    fn every_operation_succeeds_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let failed = perform(&job(&Operation::ALL), directory.path()).unwrap();
        assert_eq!(failed, []);
        let left = fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(left, ENTRIES as usize);
    }

    #[test]
    fn what_fails_is_told_and_the_rest_done() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file-00000"), "in the way").unwrap();
        let job = job(&[Operation::Mkdir, Operation::Stat]);
        let failed = perform(&job, directory.path()).unwrap();
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].operation, Some(Operation::Mkdir));
        assert!(failed[0].why.starts_with("mkdir failed: File exists"), "{}", failed[0].why);
    }
}
