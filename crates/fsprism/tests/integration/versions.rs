//! Which commit a build says that it was made from.

#[path = "../../build/commit.rs"]
mod commit;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::Place;

/// Makes a source tree of nothing but the file in which archives have their commit.
fn tree(place: &Place, name: &str, archived: &str) -> PathBuf {
    let root = place.path(name);
    fs::create_dir_all(root.join("crates/fsprism/build")).expect("the place is ours");
    fs::write(root.join("crates/fsprism").join(commit::ARCHIVED), archived).expect("it is ours");
    root
}

fn git(root: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
    command.env("GIT_COMMITTER_DATE", "2026-03-01T12:00:00Z");
    assert!(command.args(arguments).status().expect("git is installed").success());
}

const PLACEHOLDER: &str = "$Format:%H %cs %ct$\n";

#[test]
fn an_archive_says_which_commit_it_is_of() {
    let place = Place::new();
    let id = "0123456789abcdef0123456789abcdef01234567";
    let of_archive = tree(&place, "archive", &format!("{id} 2026-03-01 1772323200\n"));
    let commit = commit::of(&of_archive).expect("the file says it");
    assert_eq!((&*commit.id, &*commit.date), ("0123456789ab", "2026-03-01"));
    assert!(commit::changed_by_commits(&of_archive).is_empty());
    assert_eq!(commit::of(&tree(&place, "copy", PLACEHOLDER)), None);
}

#[test]
fn a_repository_says_which_commit_it_is_at() {
    let place = Place::new();
    let root = tree(&place, "repository", PLACEHOLDER);
    git(&root, &["init", "--quiet"]);
    git(&root, &["commit", "--quiet", "--allow-empty", "--message=one"]);
    let first = commit::of(&root).expect("git says it");
    assert_eq!((first.id.len(), &*first.date), (12, "2026-03-01"));
    let watched = commit::changed_by_commits(&root);
    let contents = || watched.iter().map(|path| fs::read(path).expect("it is there"));
    let before: Vec<_> = contents().collect();
    git(&root, &["commit", "--quiet", "--allow-empty", "--message=two"]);
    assert_ne!(commit::of(&root), Some(first));
    // Otherwise, cargo would not build again.
    assert_ne!(contents().collect::<Vec<_>>(), before);
    // A tree within somebody else's repository is not at its commit.
    assert_eq!(commit::of(&tree(&place, "repository/vendored", PLACEHOLDER)), None);
}

/// What `git archive` writes is what an archive is read for.
#[test]
fn archives_are_told_their_commit() {
    let place = Place::new();
    let root = tree(&place, "repository", PLACEHOLDER);
    let attributes = include_str!("../../../../.gitattributes");
    fs::write(root.join(".gitattributes"), attributes).expect("it is ours");
    git(&root, &["init", "--quiet"]);
    git(&root, &["add", "--all"]);
    git(&root, &["commit", "--quiet", "--message=one"]);
    let here = commit::of(&root);
    let archive = place.text("archive.tar");
    git(&root, &["archive", "--output", &archive, "--prefix=unpacked/", "HEAD"]);
    let unpacked = place.make("elsewhere");
    let mut tar = Command::new("tar");
    assert!(tar.arg("-xf").arg(&archive).arg("-C").arg(&unpacked).status().expect("tar").success());
    assert!(here.is_some());
    assert_eq!(commit::of(&unpacked.join("unpacked")), here);
}
