//! The names of a job's files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::plan::JobPlan;

/// The paths of the files of the job of this number, of several by the same plan.
#[must_use]
pub fn paths(plan: &JobPlan, number: u32) -> Vec<PathBuf> {
    let files = &plan.files;
    if let Some(directory) = &files.open_directory {
        let mut found = Vec::new();
        walk(directory, &mut found);
        return found;
    }
    let within = |name: &str, number: u32| in_directory(plan, OsStr::new(name), number);
    if !files.names.is_empty() {
        return files.names.iter().map(|name| within(name, 0)).collect();
    }
    // A job may be called what it accesses, such as a device.
    if files.count == 1 && is_special(Path::new(&plan.section)) {
        return vec![within(&plan.section, number)];
    }
    let name = |file| formatted(&files.format, &plan.section, number, file);
    (0..files.count).map(|file| within(&name(file), number)).collect()
}

/// Adds the regular files below a directory. What cannot be read is left out.
fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            Ok(kind) if kind.is_dir() => walk(&entry.path(), found),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Where a file of this name is. fio puts the directory before every name, absolute ones as well.
pub(crate) fn in_directory(plan: &JobPlan, name: &OsStr, number: u32) -> PathBuf {
    let directories = &plan.files.directories;
    match directories.len() {
        0 => PathBuf::from(name),
        count => {
            let bytes = name.as_bytes();
            let from = bytes.iter().position(|byte| *byte != b'/').unwrap_or(bytes.len());
            let relative = OsStr::from_bytes(&bytes[from..]);
            Path::new(&directories[number as usize % count]).join(relative)
        }
    }
}

fn is_special(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file())
}

fn formatted(format: &str, job: &str, number: u32, file: u32) -> String {
    let format = if format.is_empty() { crate::plan::DEFAULT_FORMAT } else { format };
    let words: [(&str, String); 4] = [
        ("$jobname", job.to_owned()),
        ("$jobnum", number.to_string()),
        ("$filenum", file.to_string()),
        ("$clientuid", String::new()),
    ];
    words.iter().fold(format.to_owned(), |name, (word, value)| replaced(&name, word, value))
}

/// Replaces a word wherever it stands, in whichever case.
fn replaced(text: &str, word: &str, value: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut result, mut from) = (String::new(), 0);
    while let Some(at) = lower[from..].find(word) {
        result.push_str(&text[from..from + at]);
        result.push_str(value);
        from += at + word.len();
    }
    result + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_formatted() {
        let name = |format| formatted(format, "read", 3, 7);
        assert_eq!(name("$jobname.$jobnum.$filenum"), "read.3.7");
        assert_eq!(name(""), "read.3.7");
        assert_eq!(name("x-$FileNum-$jobName"), "x-7-read");
        assert_eq!(name("shared"), "shared");
    }
}
