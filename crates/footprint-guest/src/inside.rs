//! The first process of a guest in which a job is traced.

use std::fs;
use std::path::{Path, PathBuf};

use file_system::Storage;
use lab::inside;
use serde::de::DeserializeOwned;
use targets::{Location, TargetSpec};

use crate::application::{self, ApplicationJob};
use crate::{Job, perform};

/// Where a guest finds its job, as JSON.
pub const JOB: &str = "/job/footprint.json";
/// Where a guest finds its job if that is a whole program, as JSON.
pub const APPLICATION_JOB: &str = "/job/application.json";
/// File that a guest hands back: [what it did](crate::JobOutcome), as JSON.
pub const OUTCOME: &str = "outcome.json";
/// File that a guest hands back: its `/proc/kallsyms`, read when all modules were loaded.
pub const SYMBOLS: &str = "kallsyms";
/// Folder that a guest hands back: the types of its kernel and of each module, as in
/// `/sys/kernel/btf`.
pub const TYPES: &str = "btf";
/// File that a guest hands back: what its memory was used for (see [`footprint_symbols::memory`]).
pub const MEMORY: &str = "memory";
/// File that a guest hands back: its `/proc/vmallocinfo`.
pub const MAPPINGS: &str = "vmallocinfo";

/// Where files are made before they are handed back.
const MADE: &str = "/tmp";
/// Where the kernel exposes its types.
const KERNEL_TYPES: &str = "/sys/kernel/btf";

/// Whether the guest that this process runs in has a job to be traced.
#[must_use]
pub fn has_job() -> bool {
    Path::new(JOB).exists() || Path::new(APPLICATION_JOB).exists()
}

/// Does the job, hands back the results, and powers off. Only for the first process of a guest.
pub fn init() -> ! {
    if let Err(sentence) = run() {
        // If handing back fails too, the host shows the console.
        let _console = fs::write("/dev/console", format!("fsprism: {sentence}\n"));
        let _no_port = inside::hand_back(&[], Err(&sentence));
    }
    inside::power_off()
}

fn run() -> Result<(), String> {
    inside::start().map_err(|error| error.to_string())?;
    if Path::new(APPLICATION_JOB).exists() {
        return run_application();
    }
    let job: Job = job_in(JOB)?;
    load(&job.target)?;
    let outcome = perform(&job);
    let outcome = serde_json::to_vec(&outcome).map_err(|error| error.to_string())?;
    let mut files = vec![write_file(OUTCOME, &outcome)?];
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    files.push(write_file(SYMBOLS, symbols.as_bytes())?);
    let types = types();
    if let Some((_, vmlinux)) = types.iter().find(|(name, _)| name.ends_with("/vmlinux")) {
        let kernel = fs::read(vmlinux).unwrap_or_default();
        // Without the table, fewer data addresses have names, which is no reason to lose the trace.
        if let Ok(memory) = footprint_symbols::inside::memory_table(&symbols, &kernel) {
            files.push(write_file(MEMORY, memory.as_bytes())?);
        }
    }
    if let Ok(mappings) = fs::read("/proc/vmallocinfo") {
        files.push(write_file(MAPPINGS, &mappings)?);
    }
    files.extend(types);
    inside::hand_back(&files, Ok(())).map_err(|error| error.to_string())
}

/// Executes a whole program, and hands back what is needed to tell apart whose code is executed.
fn run_application() -> Result<(), String> {
    let job: ApplicationJob = job_in(APPLICATION_JOB)?;
    if !is_in_arena(&job.target)? {
        load(&job.target)?;
    }
    let outcome = application::perform(&job);
    let outcome = serde_json::to_vec(&outcome).map_err(|error| error.to_string())?;
    let symbols = fs::read("/proc/kallsyms").unwrap_or_default();
    let files = [write_file(OUTCOME, &outcome)?, write_file(SYMBOLS, &symbols)?];
    inside::hand_back(&files, Ok(())).map_err(|error| error.to_string())
}

/// Whether programs reach a target by a library, which needs no module.
fn is_in_arena(target: &str) -> Result<bool, String> {
    let spec: TargetSpec = target.parse().map_err(|error| format!("{error}"))?;
    let Location::Scratch(scratch) = spec.location else { return Ok(false) };
    Ok(scratch.file_system.storage == Storage::Arena)
}

fn job_in<T: DeserializeOwned>(path: &str) -> Result<T, String> {
    let text = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}"))
}

/// Loads the modules that the target needs. The kernel's command line sets the size of the device.
fn load(target: &str) -> Result<(), String> {
    let spec: TargetSpec = target.parse().map_err(|error| format!("{error}"))?;
    let Location::Scratch(scratch) = spec.location else { return Ok(()) };
    if scratch.device.is_some() {
        inside::load_modules_for("brd").map_err(|error| error.to_string())?;
    }
    inside::load_modules_for(scratch.file_system.name).map_err(|error| error.to_string())
}

fn write_file(name: &str, content: &[u8]) -> Result<(String, PathBuf), String> {
    let path = Path::new(MADE).join(name);
    fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((name.to_owned(), path))
}

/// The files with the kernel's types, if it has any.
fn types() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(KERNEL_TYPES).into_iter().flatten().flatten();
    let mut types: Vec<(String, PathBuf)> = entries
        .map(|entry| (format!("{TYPES}/{}", entry.file_name().to_string_lossy()), entry.path()))
        .collect();
    types.sort();
    types
}
