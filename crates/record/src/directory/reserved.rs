//! A run directory before its run begins.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, unlinkat};

use super::{JOURNAL, RunDirectory, TRACES, check_new, locked_journal};
use crate::error::RecordError;
use crate::manifest::Manifest;
use crate::open_directory::OpenDirectory;

/// An empty directory reserved for a run whose manifest is not known yet, since part of it may have
/// to be traced first. Other processes that want it are refused.
#[derive(Debug)]
pub struct ReservedDirectory {
    held: OpenDirectory,
    journal: File,
    /// The directory for traces, once there is one.
    traces: Option<OpenDirectory>,
}

impl ReservedDirectory {
    /// Makes the directory `path`, which must be absent or empty.
    ///
    /// # Errors
    /// If the directory is not empty, another process is about to begin a run in it, or it cannot
    /// be written.
    pub fn make(path: &Path) -> Result<Self, RecordError> {
        fs::create_dir_all(path).map_err(RecordError::io("make", path))?;
        Self::hold(OpenDirectory::open(path).map_err(RecordError::io("open", path))?)
    }

    /// Makes `name` in the directory `parent`, which is made if it does not exist; none if `name`
    /// already exists. If another user with write access to `parent` replaces the new directory by
    /// a link, the link is not followed.
    ///
    /// # Errors
    /// If it cannot be made or written.
    pub fn make_in(parent: &Path, name: &str) -> Result<Option<Self>, RecordError> {
        OpenDirectory::make_new_in(parent, name)?.map(Self::hold).transpose()
    }

    /// Reserves the empty directory at the end of `route`, which another process holds open; `path`
    /// is its usual path.
    ///
    /// # Errors
    /// As for [`Self::make`].
    pub fn make_at(route: &Path, path: &Path) -> Result<Self, RecordError> {
        Self::hold(OpenDirectory::at(route, path).map_err(RecordError::io("open", path))?)
    }

    /// Locks a directory, which must be empty.
    pub(super) fn hold(held: OpenDirectory) -> Result<Self, RecordError> {
        check_new(&held)?;
        Self::lock(held)
    }

    /// Locks a directory that was found empty.
    pub(super) fn lock(held: OpenDirectory) -> Result<Self, RecordError> {
        let journal = locked_journal(&held)?;
        // If two processes found it empty, the other may have held the lock and begun its run by
        // now.
        check_new(&held)?;
        Ok(Self { held, journal, traces: None })
    }

    /// Begins the run.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn begin(self, manifest: &Manifest) -> Result<RunDirectory, RecordError> {
        RunDirectory::begin(self.held, self.journal, manifest)
    }

    /// The path of the future run.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// Makes an empty directory for traces, removing whatever a killed process left there. The
    /// returned path goes through this process's descriptors, so it leads to the same directory
    /// even if something else takes the place of the run's directory or of this one;
    /// [`Self::shown`] replaces it in messages by the run's path.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn empty_traces(&mut self) -> Result<PathBuf, RecordError> {
        self.remove_traces()?;
        let path = self.held.path_of(TRACES);
        let cannot = |error| RecordError::io("make", path.as_path())(error);
        let traces = self.held.make_own_below(TRACES).map_err(cannot)?;
        let route = traces.route().map_err(cannot)?;
        self.traces = Some(traces);
        Ok(route)
    }

    /// Replaces the route to the directory for traces in a message by its usual path.
    #[must_use]
    pub fn shown(&self, message: &str) -> String {
        self.traces.as_ref().map_or_else(|| message.to_owned(), |traces| traces.shown(message))
    }

    /// Removes what was made for a run that will not begin, and the directory if nothing else is in
    /// it.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn give_up(mut self) -> Result<(), RecordError> {
        self.remove_traces()?;
        unlinkat(&self.held, JOURNAL, AtFlags::empty())
            .map_err(|error| RecordError::io("remove", self.held.path_of(JOURNAL))(error.into()))?;
        let _holds_something = fs::remove_dir(self.path());
        Ok(())
    }

    /// Removes the directory for traces.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn remove_traces(&mut self) -> Result<(), RecordError> {
        self.traces = None;
        self.held.remove_below(TRACES).map_err(RecordError::io("remove", self.held.path_of(TRACES)))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::directory::tests::manifest;

    #[test]
    fn traces_lie_where_they_were_begun_whatever_comes_to_stand_at_the_path() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (path, moved, theirs) =
            (place.path().join("run"), place.path().join("moved"), place.path().join("theirs"));
        fs::create_dir_all(theirs.join(TRACES)).expect("ours");
        fs::write(theirs.join(TRACES).join("x.trace"), "theirs").expect("ours");
        let mut reserved = ReservedDirectory::make(&path).expect("it is new");
        fs::rename(&path, &moved).expect("ours");
        symlink(&theirs, &path).expect("ours");
        let traces = reserved.empty_traces().expect("it is held");
        fs::rename(moved.join(TRACES), moved.join("away")).expect("ours");
        symlink(theirs.join(TRACES), moved.join(TRACES)).expect("ours");
        fs::write(traces.join("x.trace"), "ours").expect("it is held");
        assert_eq!(fs::read(moved.join("away").join("x.trace")).expect("ours"), b"ours");
        fs::remove_file(moved.join(TRACES)).expect("ours");
        fs::rename(moved.join("away"), moved.join(TRACES)).expect("ours");
        fs::write(traces.join("y.trace"), "ours").expect("it is held");
        assert_eq!(fs::read(moved.join(TRACES).join("y.trace")).expect("ours"), b"ours");
        let message = reserved.shown(&format!("{}: no space", traces.display()));
        assert_eq!(message, format!("{}: no space", path.join(TRACES).display()));
        reserved.give_up().expect("it is held");
        assert_eq!(fs::read_dir(&moved).expect("ours").count(), 0);
        assert_eq!(fs::read(theirs.join(TRACES).join("x.trace")).expect("theirs"), b"theirs");
    }

    #[test]
    fn a_new_directory_is_never_one_that_was_there() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (runs, theirs) = (place.path().join("runs"), place.path().join("theirs"));
        fs::create_dir(&theirs).expect("ours");
        let first = ReservedDirectory::make_in(&runs, "run").expect("it can be made");
        assert_eq!(first.expect("it is new").path(), runs.join("run"));
        symlink(&theirs, runs.join("link")).expect("ours");
        for name in ["run", "link"] {
            let again = ReservedDirectory::make_in(&runs, name).expect("it is seen");
            assert!(again.is_none(), "{name}");
        }
        assert_eq!(fs::read_dir(&theirs).expect("ours").count(), 0);
    }

    /// The owner of the directory of runs may replace a new one by a link.
    #[test]
    fn a_link_that_comes_in_the_place_of_a_new_directory_is_not_followed() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (runs, theirs) = (place.path().join("runs"), place.path().join("theirs"));
        fs::create_dir_all(&theirs).expect("ours");
        fs::create_dir(&runs).expect("ours");
        let is_over = AtomicBool::new(false);
        let swap = || {
            while !is_over.load(Ordering::Relaxed) {
                // It exists only for a moment, empty or held.
                if fs::rename(runs.join("run"), runs.join("moved")).is_ok() {
                    let _exists = symlink(&theirs, runs.join("run"));
                }
                let _is_a_directory = fs::remove_file(runs.join("run"));
                let _is_gone = fs::remove_dir_all(runs.join("moved"));
            }
        };
        thread::scope(|scope| {
            scope.spawn(swap);
            let deadline = Instant::now() + Duration::from_secs(10);
            // Many of those that are made are swapped before they are opened.
            let (mut made, mut swapped) = (0, 0);
            while (made < 200 || swapped < 20) && Instant::now() < deadline {
                match ReservedDirectory::make_in(&runs, "run") {
                    Ok(Some(_)) => made += 1,
                    Ok(None) => {}
                    Err(_) => swapped += 1,
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_dir(&theirs).expect("ours").count(), 0);
    }

    #[test]
    fn a_directory_is_held_by_one_and_left_as_it_was_found() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("run");
        let reserved = ReservedDirectory::make(&path).expect("it is new");
        let second = ReservedDirectory::make(&path).expect_err("it is held");
        assert!(matches!(second, RecordError::Busy { .. }), "{second}");
        reserved.give_up().expect("it is held");
        assert!(!path.exists());
        let run = ReservedDirectory::make(&path).and_then(|it| it.begin(&manifest()));
        drop(run.expect("it is new"));
        let third = ReservedDirectory::make(&path).expect_err("a run lies there");
        assert!(matches!(third, RecordError::NotEmpty { .. }), "{third}");
    }
}
