//! Directories of several runs of one command, in which each run is a directory.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that every run directory contains.
pub(crate) const MANIFEST: &str = "manifest.json";
/// Prefix of the name of each run; its number follows.
pub(crate) const NAME: &str = "run-";

/// The runs in `path`, by number; `None` if it is a run itself or contains none.
pub(crate) fn in_group(path: &Path) -> Option<Vec<PathBuf>> {
    if path.join(MANIFEST).exists() {
        return None;
    }
    let entries = fs::read_dir(path).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_run = |path: &PathBuf| number_of(path).is_some() && path.join(MANIFEST).is_file();
    let mut runs: Vec<PathBuf> = paths.filter(is_run).collect();
    runs.sort_by_key(|path| number_of(path));
    (!runs.is_empty()).then_some(runs)
}

/// The number in the name of a run's directory; runs with other names do not form a group.
fn number_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.strip_prefix(NAME)?.parse().ok()
}

/// The arguments without these options, each of which takes a value.
pub(crate) fn without(
    arguments: impl Iterator<Item = OsString>,
    options: &[&str],
) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if text == "--" {
            kept.push(argument);
            kept.extend(arguments);
            break;
        }
        if options.contains(&text.as_ref()) {
            let _value = arguments.next();
        } else if !options.iter().any(|name| text.starts_with(&format!("{name}="))) {
            kept.push(argument);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_group_stand_in_their_order_and_a_run_is_no_group() {
        let place = tempfile::tempdir().expect("a temporary directory");
        for name in ["run-10", "run-2", "run-1", "other", "20260301T101500Z-survey"] {
            fs::create_dir(place.path().join(name)).expect("ours");
        }
        for name in ["run-10", "run-2", "run-1", "20260301T101500Z-survey"] {
            fs::write(place.path().join(name).join(MANIFEST), "{}").expect("ours");
        }
        let found = in_group(place.path()).expect("it holds runs");
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
        assert_eq!(names, ["run-1", "run-2", "run-10"]);
        assert_eq!(in_group(&found[0]), None);
        assert_eq!(in_group(&place.path().join("other")), None);
    }
}
