//! The kernel's tracing, in an instance of its own that only guests have: what it counts there, no
//! other program sees or stops.

use std::ffi::CStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount};

use super::text::Unreadable;
use super::{checks, spent};

const TRACING: &str = "/sys/kernel/tracing";
const INSTANCE: &str = "/sys/kernel/tracing/instances/fsprism";
/// The file of each event that only kernels with histograms have, and the event to look at.
const HISTOGRAM: &str = "events/cachefiles/cachefiles_coherency/hist";

/// Begins to count, in a guest whose kernel has loaded cachefiles: the checks of cached files and,
/// if asked for, the time that the cache's file system takes. A kernel without histograms of
/// tracepoints counts nothing.
///
/// # Errors
/// If the kernel has them, but refuses.
pub(crate) fn begin(is_timed: bool) -> Result<(), String> {
    if !Path::new(TRACING).is_dir() || Path::new(INSTANCE).is_dir() {
        return Ok(());
    }
    let begin = || -> io::Result<()> {
        mount("tracefs", TRACING, "tracefs", MountFlags::empty(), None::<&CStr>)?;
        fs::create_dir(INSTANCE)?;
        if !Path::new(INSTANCE).join(HISTOGRAM).exists() {
            return fs::remove_dir(INSTANCE);
        }
        checks::begin()?;
        if is_timed { spent::begin() } else { Ok(()) }
    };
    begin().map_err(|error| format!("the kernel's tracing cannot be used: {error}"))
}

/// Adds an event for a function, described as in the kernel's `kprobetrace.rst`.
pub(super) fn add_probe(description: &str) -> io::Result<()> {
    append("kprobe_events", description)
}

/// Adds an event for a histogram's results, described as in the kernel's `histogram.rst`.
pub(super) fn add_event(description: &str) -> io::Result<()> {
    append("synthetic_events", description)
}

fn append(file: &str, line: &str) -> io::Result<()> {
    let file = fs::File::options().append(true).open(Path::new(TRACING).join(file));
    file?.write_all(line.as_bytes())
}

/// Has something done at each event.
pub(super) fn trigger(event: &str, what: &str) -> io::Result<()> {
    fs::write(file_of(event, "trigger"), what)
}

/// Reads a file of an event; `None` if there is none.
pub(super) fn read(event: &str, file: &str) -> Result<Option<String>, Unreadable> {
    match fs::read_to_string(file_of(event, file)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreadable::io(INSTANCE, error)),
    }
}

fn file_of(event: &str, file: &str) -> PathBuf {
    Path::new(INSTANCE).join("events").join(event).join(file)
}
