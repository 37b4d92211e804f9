//! The programs, how each is called, and what it should answer.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use record::Dimension;
use workload::SourceTree;

use super::answer::Answer;

/// A program that is executed on a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Application {
    /// Reads all files, and prints the lines with a word.
    Grep,
    /// Lists all directories, and prints the names that match.
    Find,
    /// Reads all files and their attributes, and writes them to a pipe.
    Tar,
    /// Looks at the attributes of all files.
    GitStatus,
}

/// The names that `--program` takes.
pub(super) fn names() -> Vec<&'static str> {
    Application::ALL.iter().map(|one| one.row().name).collect()
}

/// What is known about a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct ApplicationRow {
    /// The name that `--program` takes.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) executable: &'static str,
    /// Debian's package that has it.
    pub(super) package: &'static str,
    /// What mostly takes its time where everything is in memory, and what does besides.
    pub(super) dimension: Dimension,
    pub(super) exercises: &'static [Dimension],
    /// Whether it reads the contents of all files.
    pub(super) reads_contents: bool,
}

/// What a program is called with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    /// The directory that it works on.
    pub(super) directory: &'a Path,
    /// The git repository of which that is the working tree.
    pub(super) repository: &'a Path,
}

impl Application {
    pub(super) const ALL: [Self; 4] = [Self::Grep, Self::Find, Self::Tar, Self::GitStatus];

    pub(super) fn row(self) -> ApplicationRow {
        let (metadata, in_memory) = (&[Dimension::Metadata], &[Dimension::InMemory]);
        match self {
            Self::Grep => ApplicationRow {
                name: "grep",
                title: "grep -r",
                executable: "grep",
                package: "grep",
                dimension: Dimension::InMemory,
                exercises: metadata,
                reads_contents: true,
            },
            Self::Find => ApplicationRow {
                name: "find",
                title: "find -name",
                executable: "find",
                package: "findutils",
                dimension: Dimension::Metadata,
                exercises: &[],
                reads_contents: false,
            },
            Self::Tar => ApplicationRow {
                name: "tar",
                title: "tar c",
                executable: "tar",
                package: "tar",
                dimension: Dimension::InMemory,
                exercises: metadata,
                reads_contents: true,
            },
            Self::GitStatus => ApplicationRow {
                name: "git-status",
                title: "git status",
                executable: "git",
                package: "git",
                dimension: Dimension::Metadata,
                exercises: in_memory,
                reads_contents: false,
            },
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.row().name == name)
    }

    /// Whether it can be executed here.
    pub(super) fn is_installed(self) -> bool {
        programs::find(self.row().executable).is_some()
    }

    /// The first line of what it says about itself. Asked for once.
    pub(super) fn version(self) -> &'static str {
        static VERSIONS: LazyLock<[String; Application::ALL.len()]> = LazyLock::new(|| {
            Application::ALL.map(|one| {
                let asked = Command::new(one.row().executable).arg("--version").output();
                let said = asked.map(|output| output.stdout).unwrap_or_default();
                let said = String::from_utf8_lossy(&said);
                said.lines().next().unwrap_or("unknown").to_owned()
            })
        });
        let place = Self::ALL.iter().position(|&one| one == self);
        place.map_or("unknown", |place| VERSIONS[place].as_str())
    }

    /// Its arguments.
    pub(super) fn arguments(self, subject: Subject<'_>) -> Vec<OsString> {
        let directory = subject.directory;
        let texts = |all: &[&str]| all.iter().map(OsString::from).collect::<Vec<_>>();
        match self {
            Self::Grep => {
                let mut all = texts(&["-r", SourceTree::WORD]);
                all.push(directory.into());
                all
            }
            Self::Find => {
                let mut all = vec![directory.into()];
                all.extend(texts(&["-name", &format!("*{}", SourceTree::ENDING)]));
                all
            }
            Self::Tar => {
                let mut all = texts(&["cf", "-", "-C"]);
                all.push(directory.into());
                all.extend(texts(&["."]));
                all
            }
            Self::GitStatus => with_repository(subject, &["status", "--short"]),
        }
    }

    /// Whether it answers for a tree what it should; if not, what it should.
    pub(super) fn check(self, tree: SourceTree, answer: &Answer) -> Result<(), String> {
        let expect = |found: u64, expected: u64, what: &str| match found == expected {
            true => Ok(()),
            false => Err(format!(
                "{} printed {found} {what}, but {expected} are right",
                self.row().title
            )),
        };
        match self {
            Self::Grep => expect(answer.lines, tree.lines_with_word().into(), "lines"),
            Self::Find => expect(answer.lines, tree.names_with_ending().into(), "names"),
            Self::Tar => {
                if answer.bytes < tree.bytes() {
                    let (bytes, least) = (answer.bytes, tree.bytes());
                    return Err(format!("tar wrote {bytes} bytes of a tree of {least}"));
                }
                let words = answer.words.unwrap_or_else(|| tree.lines_with_word().into());
                expect(words, tree.lines_with_word().into(), "of the words searched for")
            }
            Self::GitStatus => expect(answer.bytes, 0, "bytes about a tree without changes"),
        }
    }
}

/// The calls of git that make a repository of a tree; of an empty one if `is_empty`. Contents go
/// into one pack, as in a repository that was cloned.
pub(super) fn making_repository(subject: Subject<'_>, is_empty: bool) -> Vec<Vec<OsString>> {
    const SETTINGS: [&str; 12] = [
        "-c",
        "gc.auto=0",
        "-c",
        "maintenance.auto=false",
        "-c",
        "core.bigFileThreshold=1",
        "-c",
        "core.compression=1",
        "-c",
        "user.name=nobody",
        "-c",
        "user.email=nobody@localhost",
    ];
    let with = |last: &[&str]| with_repository(subject, &[&SETTINGS[..], last].concat());
    let init = with(&["init", "-q"]);
    if is_empty {
        return vec![init];
    }
    vec![init, with(&["add", "-A"]), with(&["commit", "-q", "-m", "all"])]
}

fn with_repository(subject: Subject<'_>, last: &[&str]) -> Vec<OsString> {
    let option = |name: &str, path: &Path| {
        let mut text = OsString::from(name);
        text.push(path);
        text
    };
    let mut all =
        vec![option("--git-dir=", subject.repository), option("--work-tree=", subject.directory)];
    all.extend(last.iter().map(OsString::from));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_answer_is_no_answer() {
        let tree = SourceTree { files: 200 };
        let lines = |lines: u64| Answer { lines, ..Answer::default() };
        assert_eq!(Application::Grep.check(tree, &lines(4)), Ok(()));
        let why = Application::Grep.check(tree, &lines(3)).expect_err("one is missing");
        assert_eq!(why, "grep -r printed 3 lines, but 4 are right");
        assert_eq!(Application::Find.check(tree, &lines(50)), Ok(()));
        assert!(Application::Find.check(tree, &lines(0)).is_err());
        let bytes = |bytes: u64| Answer { bytes, ..Answer::default() };
        assert_eq!(Application::Tar.check(tree, &bytes(tree.bytes())), Ok(()));
        assert!(Application::Tar.check(tree, &bytes(tree.bytes() - 1)).is_err());
        let zeros = Answer { words: Some(0), ..bytes(1 << 30) };
        assert!(Application::Tar.check(tree, &zeros).is_err(), "contents are looked at");
        assert_eq!(Application::GitStatus.check(tree, &bytes(0)), Ok(()));
        assert!(Application::GitStatus.check(tree, &bytes(9)).is_err());
    }

    #[test]
    fn programs_have_names_of_their_own() {
        for one in Application::ALL {
            assert_eq!(Application::named(one.row().name), Some(one));
        }
        assert_eq!(Application::named("git"), None);
    }
}
