//! The files of the repository: those that git tracks, and those that it would track if added.

use std::io;
use std::path::Path;
use std::process::Command;

/// One text file of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path relative to the root, with `/` between components.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl SourceFile {
    /// A file made up for a test.
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Whether the name ends in one of `extensions`, given without the dot.
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }

    /// Whether the file is a script for the shell.
    pub fn is_shell_script(&self) -> bool {
        self.has_extension(&["sh"]) || self.text.starts_with("#!/bin/sh")
    }
}

/// Reads every text file below `root` that git tracks or would track. Without git, reads all that
/// are not in a build, run or hidden directory. Files that are not UTF-8 are left out.
///
/// # Errors
/// If a file or directory cannot be read.
pub fn read_repository(root: &Path) -> io::Result<Vec<SourceFile>> {
    let mut paths = match listed_by_git(root) {
        Some(paths) => paths,
        None => found_by_walking(root, "")?,
    };
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        match std::fs::read(root.join(&path)) {
            Ok(bytes) => {
                if let Ok(text) = String::from_utf8(bytes) {
                    files.push(SourceFile { path, text });
                }
            }
            // Deleted but still tracked: gone with the next commit.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

/// The files that git tracks and those that it does not ignore; `None` without git or without a
/// repository.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let listing = String::from_utf8(output.stdout).ok()?;
    let paths = listing.split_terminator('\0').map(str::to_owned).collect();
    output.status.success().then_some(paths)
}

fn found_by_walking(root: &Path, below: &str) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type()?;
        let is_made = name == "target" || name == "fsprism-runs" || name.starts_with('.');
        if kind.is_dir() && !is_made {
            paths.extend(found_by_walking(root, &path)?);
        } else if kind.is_file() {
            paths.push(path);
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    #[test]
    fn walking_finds_sources_and_no_build_output() {
        let paths = found_by_walking(root(), "").unwrap();
        assert!(paths.iter().any(|path| path == "crates/tidy/src/repository.rs"));
        assert!(!paths.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
    }

    #[test]
    fn this_file_is_among_those_read() {
        let files = read_repository(root()).unwrap();
        assert!(files.iter().any(|file| file.path == "crates/tidy/src/repository.rs"));
    }

    #[test]
    fn a_directory_without_git_is_walked_instead() {
        let empty = std::env::temp_dir();
        assert!(listed_by_git(&empty.join("no such directory")).is_none());
    }

    #[test]
    fn kinds_of_file() {
        assert!(SourceFile::new("a/b.rs", "").has_extension(&["ts", "rs"]));
        assert!(!SourceFile::new("a.rs/b", "").has_extension(&["rs"]));
        assert!(SourceFile::new("scripts/x", "#!/bin/sh\n").is_shell_script());
        assert!(!SourceFile::new("Makefile", "x:\n").is_shell_script());
    }
}
