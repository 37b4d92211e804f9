//! Makes a job's target and tree, and executes the program.

use std::ffi::CStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use footprint_trace::marked::PhasePosition;
use rustix::mount::{MountFlags, mount};
use targets::{Surroundings, Target, TargetSpec, Workshop};
use workload::{FileSet, FileSetSpec, ReachedBy, SourceTree};

use super::execution::{Execution, WayIn};
use super::job::{ApplicationJob, ApplicationOutcome, DIRECTORY};
use super::mapped;
use crate::DEVICE;

/// The seed of the tree, always the same: two traces only differ in what the kernel does.
const SEED: u64 = 1;
/// What says who root is. Without them, tar asks for the names of each file's owners anew, which
/// takes more than the file.
const USERS: [(&str, &str); 2] =
    [("/etc/passwd", "root:x:0:0:root:/:/bin/sh\n"), ("/etc/group", "root:x:0:\n")];
/// Where arenas are made.
const ARENAS: &str = "/dev/shm";

/// Makes the job's target and tree, and executes the program. The process must have one thread.
#[must_use]
pub(crate) fn perform(job: &ApplicationJob) -> ApplicationOutcome {
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut outcome = ApplicationOutcome { kernel, ..ApplicationOutcome::default() };
    outcome.failed = on_target(job, &mut outcome).err();
    outcome
}

fn on_target(job: &ApplicationJob, outcome: &mut ApplicationOutcome) -> Result<(), String> {
    let said = |error: &dyn std::error::Error| error.to_string();
    let spec: TargetSpec = job.target.parse().map_err(|error| format!("{error}"))?;
    fs::create_dir_all(ARENAS).map_err(|error| format!("{ARENAS}: {error}"))?;
    mount("tmpfs", ARENAS, "tmpfs", MountFlags::empty(), None::<&CStr>)
        .map_err(|error| format!("{ARENAS}: {error}"))?;
    fs::create_dir_all("/etc").map_err(|error| format!("/etc: {error}"))?;
    for (path, text) in USERS {
        fs::write(path, text).map_err(|error| format!("{path}: {error}"))?;
    }
    let destroy = vec![PathBuf::from(DEVICE)];
    let surroundings = Surroundings { destroy, ..Surroundings::default() };
    let workshop = Workshop::open(surroundings).map_err(|error| said(&error))?;
    let mut target = workshop.make(&spec).map_err(|error| said(&error))?;
    outcome.target = Some(target.facts().clone());
    execute(job, &target, outcome)?;
    target.close().map_err(|error| said(&error))?;
    drop(target);
    workshop.close().map_err(|error| said(&error))
}

fn execute(
    job: &ApplicationJob,
    target: &Target,
    outcome: &mut ApplicationOutcome,
) -> Result<(), String> {
    let library = target.library().cloned();
    let reached = library.map_or(ReachedBy::BySystemCalls, ReachedBy::ByLibrary);
    let root = target.root().join("files");
    reached.make_directory(&root).map_err(|error| error.to_string())?;
    let sources = SourceTree { files: job.files };
    let spec = FileSetSpec { sources, ..FileSetSpec::default() };
    let stop = AtomicBool::new(false);
    let made = FileSet::create_by(&reached, &root, &spec, SEED, &stop);
    let tree = made.map_err(|error| format!("the tree could not be made: {error}"))?;
    target.sync().map_err(|error| error.to_string())?;
    let way_in = WayIn::to(target).map_err(|error| error.to_string())?;
    let on = |directory: &Path| Execution {
        way_in: &way_in,
        program: &job.program,
        arguments: arguments(job, &way_in.seen(directory)),
    };
    let whole = on(&tree.sources());
    let answer = whole.answer()?;
    outcome.answer_bytes = answer.len() as u64;
    outcome.answer_lines = answer.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let word = SourceTree::WORD.as_bytes();
    outcome.answer_words = answer.windows(word.len()).filter(|&found| found == word).count() as u64;
    outcome.maps = mapped::maps(&whole)?;
    // Empty, as nothing has been appended to.
    let nothing = on(&tree.root().join("growing"));
    nothing.rehearse(PhasePosition::First)?;
    whole.rehearse(PhasePosition::Later)?;
    nothing.trace(PhasePosition::First)?;
    whole.trace(PhasePosition::Later)
}

/// The arguments of a program on a directory.
fn arguments(job: &ApplicationJob, directory: &Path) -> Vec<String> {
    let directory = directory.to_string_lossy();
    job.arguments.iter().map(|one| one.replace(DIRECTORY, &directory)).collect()
}
