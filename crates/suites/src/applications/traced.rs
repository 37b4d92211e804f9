//! Programs as guests execute them, to be traced.

use std::path::Path;

use targets::Space;
use workload::SourceTree;

use super::answer::Answer;
use super::error::ApplicationsError;
use super::programs::{Application, Subject};
use super::{check_files, named, room_for};

/// The most files whose tree is traced: a program on so many executes some billions of
/// instructions with the kernel's, which QEMU takes minutes for.
const FILES_MAX: u32 = 20_000;

/// A program on a tree, to be traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedApplication {
    application: Application,
    tree: SourceTree,
}

/// What a program wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedAnswer {
    /// Bytes.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// How often the word that is searched for is in it.
    pub words: u64,
}

/// The programs of these names, on a tree of so many files.
///
/// # Errors
/// Which of them makes no sense.
pub fn traced(names: &[String], files: u32) -> Result<Vec<TracedApplication>, ApplicationsError> {
    check_files(files, FILES_MAX)?;
    let twice = |name: &&String| names.iter().filter(|other| other == name).count() > 1;
    if let Some(name) = names.iter().find(twice) {
        return Err(ApplicationsError::Twice { name: name.clone() });
    }
    names.iter().map(|name| traced_one(name, files)).collect()
}

fn traced_one(name: &str, files: u32) -> Result<TracedApplication, ApplicationsError> {
    let application = named(name, TracedApplication::NAMES)?;
    match application {
        Application::Grep | Application::Find | Application::Tar => {
            Ok(TracedApplication { application, tree: SourceTree { files } })
        }
        Application::GitStatus => Err(ApplicationsError::NotTraced { name: name.to_owned() }),
    }
}

impl TracedApplication {
    /// The names of those that can be traced.
    pub const NAMES: [&'static str; 3] = ["grep", "find", "tar"];

    /// What is executed, in a few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.application.row().title
    }

    /// The name of its file, and Debian's package that has it.
    #[must_use]
    pub fn executable(self) -> (&'static str, &'static str) {
        let row = self.application.row();
        (row.executable, row.package)
    }

    /// Its arguments for a directory.
    #[must_use]
    pub fn arguments(self, directory: &str) -> Vec<String> {
        let directory = Path::new(directory);
        let arguments = self.application.arguments(Subject { directory, repository: directory });
        arguments.iter().map(|one| one.to_string_lossy().into_owned()).collect()
    }

    /// Checks that a target of this size has room for the tree.
    ///
    /// # Errors
    /// If it has not.
    pub fn check_room(self, label: &str, size_bytes: u64) -> Result<(), ApplicationsError> {
        let space = Space {
            free_bytes: size_bytes,
            total_bytes: size_bytes,
            free_inodes: None,
            is_held_by_scratch: false,
        };
        room_for(self.tree.files, &space, label, ", or a larger size= for the target")
    }

    /// The tree.
    #[must_use]
    pub fn tree(self) -> SourceTree {
        self.tree
    }

    /// Whether it answers what it should.
    ///
    /// # Errors
    /// What it should have answered.
    pub fn check(self, answer: TracedAnswer) -> Result<(), String> {
        let TracedAnswer { bytes, lines, words } = answer;
        self.application.check(self.tree, &Answer { bytes, lines, words: Some(words) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, files: u32) -> Result<TracedApplication, ApplicationsError> {
        traced(&[name.to_owned()], files).map(|all| all[0])
    }

    #[test]
    fn programs_with_one_thread_are_traced() {
        for name in TracedApplication::NAMES {
            assert_eq!(one(name, 100).map(|one| one.executable().0), Ok(name));
        }
        let why = |name: &str, files| one(name, files).expect_err("it is not").to_string();
        assert!(why("git-status", 100).contains("from grep, find, tar"));
        assert!(why("grp", 100).contains("did you mean"));
        assert!(why("grep", 99).ends_with("give 100"), "{}", why("grep", 99));
        assert!(why("grep", 20_001).ends_with("give 20000"));
        let twice = ["grep", "find", "grep"].map(str::to_owned);
        let why = traced(&twice, 100).expect_err("it is twice there").to_string();
        assert_eq!(why, "--program names grep twice");
    }

    #[test]
    fn a_tree_needs_room() {
        let grep = one("grep", 20_000).expect("it is known");
        assert_eq!(grep.check_room("xfs", 1 << 30), Ok(()));
        let why = grep.check_room("xfs", 64 << 20).expect_err("it is too small").to_string();
        assert!(why.ends_with("give fewer --files, or a larger size= for the target"), "{why}");
    }

    #[test]
    fn the_directory_is_among_the_arguments() {
        let grep = one("grep", 100).expect("it is known");
        assert_eq!(grep.arguments("{}"), ["-r", SourceTree::WORD, "{}"]);
        let right = TracedAnswer { bytes: 80, lines: 2, words: 2 };
        assert_eq!(grep.check(right), Ok(()));
        assert!(grep.check(TracedAnswer { lines: 1, ..right }).is_err());
    }
}
