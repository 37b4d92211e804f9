//! Directories of several runs, as `--runs` makes them: each run is a directory in it.

use std::fs;
use std::path::{Path, PathBuf};

/// What every run directory holds.
const MANIFEST: &str = "manifest.json";

/// The runs in `path`, in the order of their names; none where it is a run itself, or holds none.
pub(crate) fn of_group(path: &Path) -> Option<Vec<PathBuf>> {
    if path.join(MANIFEST).exists() {
        return None;
    }
    let entries = fs::read_dir(path).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut runs: Vec<PathBuf> = paths.filter(|path| path.join(MANIFEST).is_file()).collect();
    // run-2 stands before run-10.
    let key = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name.len(), name)
    };
    runs.sort_by_key(key);
    (!runs.is_empty()).then_some(runs)
}
