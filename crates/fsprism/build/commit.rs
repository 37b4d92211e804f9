//! The commit that a source tree is at: as `git archive` wrote it into the tree, or else as git
//! says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file that has the commit in an archive, and a placeholder for it everywhere else: its full
/// id, the date, and the time in seconds since 1970. Its path in the crate.
pub(crate) const ARCHIVED: &str = "build/commit.txt";

/// Digits of a commit's id that are shown. Always the same number: git's own abbreviation is longer
/// where a repository has more objects.
const ID_DIGITS: usize = 12;

/// A commit, as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// The beginning of its id.
    pub(crate) id: String,
    /// When it was made, as in 2026-12-01.
    pub(crate) date: String,
}

/// The commit of the tree at `root`; `None` if it is neither an archive nor a git repository.
pub(crate) fn of(root: &Path) -> Option<Commit> {
    let archived = fs::read_to_string(root.join("crates/fsprism").join(ARCHIVED));
    archived.ok().and_then(|text| parse(&text)).or_else(|| {
        is_top(root).then_some(())?;
        parse(&git(root, &["show", "--no-patch", "--format=%H %cs", "HEAD"])?)
    })
}

/// The files of git that a new commit changes, or the choice of another one.
pub(crate) fn changed_by_commits(root: &Path) -> Vec<PathBuf> {
    if !is_top(root) {
        return Vec::new();
    }
    let path = |name| Some(root.join(git(root, &["rev-parse", "--git-path", name])?.trim_end()));
    // Cargo would run the build script every time because of a file that does not exist.
    ["HEAD", "logs/HEAD"].into_iter().filter_map(path).filter(|path| path.exists()).collect()
}

/// An id and a date; `None` for the placeholder.
fn parse(line: &str) -> Option<Commit> {
    let mut words = line.split_whitespace();
    let (id, date) = (words.next()?, words.next()?);
    let is_id = id.len() >= ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| Commit { id: id[..ID_DIGITS].to_owned(), date: date.to_owned() })
}

/// Whether a repository has its top here, rather than further up, where it is somebody else's.
fn is_top(root: &Path) -> bool {
    let top = git(root, &["rev-parse", "--show-toplevel"]).map(|top| top.trim_end().to_owned());
    top.and_then(|top| fs::canonicalize(top).ok())
        .is_some_and(|top| fs::canonicalize(root).is_ok_and(|root| root == top))
}

/// What git prints; `None` without git, or if it fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}
