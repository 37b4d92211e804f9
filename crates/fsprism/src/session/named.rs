//! Which runs a command is about: those named, or the latest.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::anyhow;

use super::runs::{self, MANIFEST};
use crate::arguments::measuring::LATEST;
use crate::exit::OrInputError;
use crate::output;

/// The runs with these names. Without names, the latest run, which is reported.
pub(crate) fn runs_or_latest(names: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    match names {
        [] => {
            let latest = latest(Path::new(runner::RUNS)).or_input_error()?;
            output::say(&format!("the latest run: {}", latest.display()));
            Ok(vec![latest])
        }
        names => Ok(names.iter().map(|name| run_of_file(name)).collect()),
    }
}

/// Like [`runs_or_latest`], for commands that do not take a directory of several runs.
pub(crate) fn single_runs_or_latest(names: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let single = |path: PathBuf| {
        let inside = if path.join(MANIFEST).exists() { Vec::new() } else { runs_in(&path) };
        match inside.last() {
            None => Ok(path),
            Some((_, last)) if names.is_empty() => Ok(last.clone()),
            Some((_, last)) => {
                let (path, last) = (path.display(), last.display());
                let many = textual::plural(inside.len(), "run");
                Err(anyhow!("{path} holds {many}: name one, such as the latest, {last}"))
            }
        }
    };
    let named = runs_or_latest(names)?;
    named.into_iter().map(single).collect::<anyhow::Result<_>>().or_input_error()
}

/// The run that `--resume` names. Without a name, the latest run, which is reported.
pub(crate) fn run_to_resume(path: &Path) -> anyhow::Result<PathBuf> {
    if path != Path::new(LATEST) || path.exists() {
        return Ok(run_of_file(path));
    }
    let latest = latest(Path::new(runner::RUNS)).or_input_error()?;
    output::say(&format!("the latest run: {}", latest.display()));
    Ok(latest)
}

/// Replaces a file in a run directory, such as its page, by the directory.
fn run_of_file(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|_| path.is_file());
    // A bare file name is in the working directory.
    let directory = parent.map(|parent| match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    });
    match directory.filter(|directory| directory.join(MANIFEST).is_file()) {
        Some(directory) => directory.to_owned(),
        None => path.to_owned(),
    }
}

/// The run, or directory of runs, in `directory` that was started last.
fn latest(directory: &Path) -> anyhow::Result<PathBuf> {
    let none = || {
        let at = directory.display();
        anyhow!("no run is named, and there is none in ./{at}: name one, or make one with `survey`")
    };
    runs_in(directory).pop().map(|(_, path)| path).ok_or_else(none)
}

/// The runs and directories of runs in a directory, with the latest last.
fn runs_in(directory: &Path) -> Vec<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut runs: Vec<_> = paths.filter_map(|path| Some((begun(&path)?, path))).collect();
    runs.sort();
    runs
}

/// When a run was started, or the last of several.
fn begun(path: &Path) -> Option<SystemTime> {
    let of_run = |run: &Path| fs::metadata(run.join(MANIFEST)).ok()?.modified().ok();
    match runs::in_group(path) {
        Some(inside) => inside.iter().filter_map(|run| of_run(run)).max(),
        None => of_run(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_run_is_found_and_a_file_of_a_run_stands_for_it() {
        let place = tempfile::tempdir().expect("/tmp can be written");
        let path = |name: &str| place.path().join(name);
        assert!(latest(place.path()).is_err());
        for (age_s, run) in [(30, "old"), (10, "new"), (20, "group/run-1"), (40, "group/run-2")] {
            fs::create_dir_all(path(run)).expect("ours");
            let manifest = fs::File::create(path(run).join(MANIFEST)).expect("ours");
            let begun = SystemTime::now() - std::time::Duration::from_secs(age_s);
            manifest.set_modified(begun).expect("ours");
        }
        fs::create_dir(path("other")).expect("ours");
        assert_eq!(latest(place.path()).expect("there are runs"), path("new"));
        fs::remove_dir_all(path("new")).expect("ours");
        assert_eq!(latest(place.path()).expect("there are runs"), path("group"));
        fs::write(path("old/report.html"), "").expect("ours");
        assert_eq!(run_of_file(&path("old/report.html")), path("old"));
        assert_eq!(run_of_file(&path("other")), path("other"));
        let inside = single_runs_or_latest(&[path("group")]).unwrap_err();
        let said = format!("{inside:#}");
        assert!(said.contains("holds 2 runs") && said.contains("group/run-1"), "{said}");
    }
}
