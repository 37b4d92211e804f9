//! Rounds of code with operations between them in a process of its own, which reaches an arena as
//! programs do: by functions of the C library, which `DenseFS`' library serves that it has loaded.
//!
//! The process is fsprism itself, started by `fsprism densefs exec`. It makes the same code from
//! the same seed, executes it with the operations, and prints the figures. The run's own process
//! has made the files before, and puts them back afterwards, by calls of the library.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use measure::{Clock, SystemClock};
use runner::Failure;
use rustix::fs::{OFlags, fcntl_getfl};
use serde::{Deserialize, Serialize};
use user_code::{CodeShape, UserCode};
use workload::{FileSet, interleave_by_functions};

use super::operations::{OPERATIONS, PollutingOperation};
use super::{Figures, OPERATIONS_OF_REPLICATE, Rounds, plan};
use crate::door::{Door, used_by};
use crate::experiment::Site;
use crate::failure::failed;

/// The words after `fsprism` that start the process; what it is to do follows.
const COMMAND: [&str; 2] = ["densefs", "rounds"];

/// What the process is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Job {
    operation: String,
    shape: CodeShape,
    code_seed: u64,
    /// Where it sees the file set.
    root: PathBuf,
    file_set_seed: u64,
    data_file_bytes: u64,
    seed: u64,
}

/// What it answers.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Answer {
    metrics: Vec<f64>,
    elapsed_ns: u64,
}

/// Executes the rounds of a replicate in a process of their own. A session has made ready what the
/// operations need.
pub(super) fn execute(
    operation: PollutingOperation,
    shape: CodeShape,
    file_set: &FileSet,
    site: &Site<'_>,
) -> Result<Rounds, Failure> {
    let door = Door::to(&site.live.target).map_err(|error| failed(&error))?;
    let job = Job {
        operation: operation.name.to_owned(),
        shape,
        code_seed: site.block_seed,
        root: door.seen(file_set.root()),
        file_set_seed: file_set.seed(),
        data_file_bytes: site.data_file_bytes,
        seed: site.seed,
    };
    let job = serde_json::to_string(&job).map_err(|error| failed(&error))?;
    let arguments = [COMMAND[0].into(), COMMAND[1].into(), job.into()];
    let fsprism = std::env::current_exe().map_err(|error| failed(&error))?;
    let done = door.execute(fsprism, &arguments, &[0], io::read_to_string, site.clock);
    // A signal that stops the run stops the process first.
    let (took, text) =
        done.map_err(|error| site.go_on().err().unwrap_or_else(|| failed(&error)))?;
    let answer: Answer = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    let Answer { metrics, elapsed_ns } = answer;
    Ok(Rounds { metrics, elapsed_ns, children: used_by([took].iter()) })
}

/// Does what such a process is to do, and returns what it prints.
///
/// # Errors
/// Why it cannot, in words.
pub fn rounds(job: &str) -> Result<String, Box<dyn std::error::Error>> {
    let job: Job = serde_json::from_str(job)?;
    check_served(&job.root)?;
    Ok(serde_json::to_string(&of(&job)?)?)
}

/// Checks that the library serves this process' calls. If it does not, the mount does, and that is
/// not what is measured. For its files, the kernel has placeholders, opened with `O_PATH`.
fn check_served(root: &Path) -> io::Result<()> {
    // rustix asks the kernel itself.
    let is_served = fcntl_getfl(File::open(root)?)?.contains(OFlags::PATH);
    let unserved = || {
        let why = "this process' calls are not served by the library that fsprism densefs exec \
                   has programs load";
        io::Error::other(why)
    };
    is_served.then_some(()).ok_or_else(unserved)
}

fn of(job: &Job) -> Result<Answer, Box<dyn std::error::Error>> {
    let operation = OPERATIONS.iter().find(|one| one.name == job.operation);
    let operation = operation.ok_or("there is no such operation")?;
    let kind = operation.file_set(OPERATIONS_OF_REPLICATE);
    let spec = kind.specification(job.data_file_bytes);
    let file_set = FileSet::seen_at(&job.root, &spec, job.file_set_seed);
    let (code, no_code) = (UserCode::new(&job.shape, job.code_seed)?, UserCode::nothing()?);
    let clock = SystemClock::calibrate().0;
    let (workload, never) = (operation.replicate(), AtomicBool::new(false));
    let plan = plan(&code, &no_code, false);
    let done = interleave_by_functions(&workload, &file_set, job.seed, &plan, &clock, &never)?;
    let measured = done.ok_or("it was stopped")?;
    let elapsed_ns = clock.nanos(measured.elapsed_ticks);
    Ok(Answer { metrics: Figures::new(&measured, &clock).values(), elapsed_ns })
}

#[cfg(test)]
mod tests {
    use user_code::{Loads, Order};
    use workload::prepare;

    use super::*;

    fn job(root: &Path, operation: &str) -> Job {
        let (order, loads) = (Order::Random, Loads::Dependent);
        Job {
            operation: operation.to_owned(),
            shape: CodeShape { code_lines: 2, data_lines: 3, order, loads },
            code_seed: 1,
            root: root.to_owned(),
            file_set_seed: 2,
            data_file_bytes: 1 << 20,
            seed: 3,
        }
    }

    #[test]
    fn the_process_leaves_what_each_operation_should() {
        let place = tempfile::tempdir().expect("there is room");
        for operation in OPERATIONS {
            let root = place.path().join(operation.name);
            std::fs::create_dir(&root).expect("it is ours");
            let job = job(&root, operation.name);
            let spec = operation.file_set(OPERATIONS_OF_REPLICATE).specification(1 << 20);
            let made = FileSet::create(&root, &spec, job.file_set_seed, &AtomicBool::new(false));
            let file_set = made.expect("there is room");
            let session = prepare(&operation.replicate(), &file_set, job.seed).expect("it can");
            let answer = of(&job).unwrap_or_else(|why| panic!("{}: {why}", operation.name));
            assert_eq!(answer.metrics.len(), Figures::metrics().len());
            if let Some(entries) = operation.entries_after(OPERATIONS_OF_REPLICATE) {
                let left = std::fs::read_dir(file_set.directory(0)).expect("it is there").count();
                assert_eq!(left as u64, entries, "{}", operation.name);
            }
            session.restore().unwrap_or_else(|why| panic!("{}: {why}", operation.name));
        }
    }

    #[test]
    fn a_process_that_has_not_loaded_the_library_says_so() {
        let place = tempfile::tempdir().expect("there is room");
        let job = serde_json::to_string(&job(place.path(), "stat")).expect("it is text");
        let why = rounds(&job).expect_err("nobody serves it").to_string();
        assert!(why.contains("not served by the library"), "{why}");
        assert!(rounds("{}").is_err());
    }
}
