//! The page: `report.html` in a run directory, or elsewhere for several runs together.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ::report::{AnalysedRun, page::HEAD, render_html};
use record::RunDirectory;

use crate::exit::OrInputError;
use crate::output::{self, destination::Destination};

/// The page's name in a run directory.
pub(crate) const FILE: &str = "report.html";

/// Whether a run's page could not be written, which does not make a command fail on the spot.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether a page that belongs to a run could not be written.
pub(crate) fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Relaxed)
}

/// Writes the page of a run that has just been measured into its directory. If that fails, say for
/// lack of space, the run is still whole, so only a message and the exit status tell.
pub(crate) fn write_into(directory: &RunDirectory, source: &AnalysedRun<'_>) {
    let path = directory.path();
    let there = directory.beginning(FILE, HEAD.len());
    if there.is_some_and(|head| !is_ours(&head)) {
        return say_failure(Err(not_ours(&path.join(FILE))));
    }
    let text = render_html(std::slice::from_ref(source));
    say_failure(directory.put(FILE, text.as_bytes()).map_err(anyhow::Error::from));
}

fn say_failure(written: anyhow::Result<()>) {
    if let Err(error) = written {
        HAS_FAILED.store(true, Ordering::Relaxed);
        output::say(&format!(
            "{error}; the run itself is whole: `fsprism report` writes its page once it can"
        ));
    }
}

/// Where to write a page. An existing file is only replaced if it is one of our pages.
pub(crate) fn destination(path: &Path) -> anyhow::Result<Destination> {
    let destination = Destination::new(path)?;
    match destination.beginning(HEAD.len()) {
        Ok(None) => Ok(destination),
        Ok(Some(head)) if is_ours(&head) => Ok(destination),
        _ => Err(not_ours(path)).or_input_error(),
    }
}

fn is_ours(head: &[u8]) -> bool {
    head == HEAD.as_bytes()
}

fn not_ours(page: &Path) -> anyhow::Error {
    anyhow::anyhow!("{} is not an fsprism page: name another file with --out", page.display())
}
