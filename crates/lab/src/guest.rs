//! The `/init` of a guest whose job is a command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::inside::{self, InsideError};

/// The job's script, which busybox's shell runs.
pub(crate) const SCRIPT: &str = "/job/run";
/// Names of file systems and devices whose modules are loaded before it, one per line.
pub(crate) const LOAD: &str = "/job/load";
/// Files that are in this directory of the guest after the job are handed back.
pub const HAND_BACK: &str = "/hand-back";

/// Runs the job and powers off. Only for the init process of a guest.
pub fn init() -> ! {
    let outcome = run();
    if let Err(sentence) = &outcome {
        // If handing it back fails as well, the host shows the console.
        let _console = fs::write("/dev/console", format!("fsprism: {sentence}\n"));
    }
    inside::power_off()
}

fn run() -> Result<(), String> {
    inside::start().map_err(|error| error.to_string())?;
    let outcome = load().and_then(|()| run_script());
    let mut files = Vec::new();
    let listed = list(Path::new(HAND_BACK), &mut files);
    files.sort();
    let outcome = outcome.and(listed);
    let handed = inside::hand_back(&files, outcome.as_ref().map(|&()| ()).map_err(String::as_str));
    outcome.and(handed.map_err(|error: InsideError| error.to_string()))
}

fn load() -> Result<(), String> {
    let names = fs::read_to_string(LOAD).unwrap_or_default();
    let mut names = names.lines();
    names.try_for_each(inside::load_modules_for).map_err(|error| error.to_string())
}

fn run_script() -> Result<(), String> {
    if !Path::new(SCRIPT).exists() {
        return Ok(());
    }
    let mut shell = Command::new("/bin/sh");
    shell.arg(SCRIPT).env_clear().env("PATH", "/bin:/sbin").env("HOME", "/").current_dir("/");
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{SCRIPT} ended with {status}")),
        Err(error) => Err(format!("/bin/sh: {error}")),
    }
}

fn list(directory: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", directory.display());
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else if let Ok(name) = path.strip_prefix(HAND_BACK) {
            files.push((name.to_string_lossy().into_owned(), path.clone()));
        }
    }
    Ok(())
}
