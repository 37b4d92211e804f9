//! What pjdfstest is told, and what it tells.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The configuration of pjdfstest: everything that can be tested on Linux, and two users that exist
/// on every Debian. `naptime` is in seconds; the clocks of both file systems tick at least that
/// often.
fn configuration(may_remount: bool) -> String {
    format!(
        r#"
[features]
posix_fallocate = {{}}
rename_ctime = {{}}
stat_st_birthtime = {{}}
utime_now = {{}}
utimensat = {{}}

[settings]
naptime = 0.02
allow_remount = {may_remount}

[dummy_auth]
entries = [["nobody", "nogroup"], ["daemon", "daemon"]]
"#
    )
}

/// The least number of tests that a tmpfs passes. If it passes fewer, pjdfstest is not set up
/// correctly.
pub(crate) const PASSED_MIN: usize = 350;

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Skipped,
    Failed,
}

/// The outcome of each test, and other output, which shows why some failed.
#[derive(Default)]
pub(crate) struct Results {
    pub(crate) outcomes: BTreeMap<String, Outcome>,
    pub(crate) complaints: String,
}

impl Results {
    /// The names of the tests with this outcome.
    pub(crate) fn that(&self, ended: Outcome) -> BTreeSet<&str> {
        let those = self.outcomes.iter().filter(|(_, outcome)| **outcome == ended);
        those.map(|(name, _)| name.as_str()).collect()
    }

    pub(crate) fn summary(&self) -> String {
        let [passed, skipped, failed] =
            [Outcome::Passed, Outcome::Skipped, Outcome::Failed].map(|end| self.that(end).len());
        format!("{passed} passed, {skipped} skipped, {failed} failed")
    }
}

/// Parses a line of pjdfstest's output: the name of a test, and its outcome.
pub(crate) fn outcome(line: &str) -> Option<(String, Outcome)> {
    let (name, end) = line.split_once(' ')?;
    let outcome = match end.trim_start() {
        "ok" => Outcome::Passed,
        "skipped" => Outcome::Skipped,
        "FAILED" => Outcome::Failed,
        _ => return None,
    };
    Some((name.to_owned(), outcome))
}

/// Where the tests of a run take place.
pub(crate) struct Places<'a> {
    /// A directory of the file system under test.
    pub(crate) within: &'a Path,
    /// A directory of another one.
    pub(crate) other: &'a Path,
}

/// Adds arguments for the tests whose names contain a pattern to a command that ends with
/// pjdfstest.
pub(crate) fn choose(command: &mut Command, places: &Places<'_>, pattern: &str, may_remount: bool) {
    let path = places.other.join("pjdfstest.toml");
    fs::write(&path, configuration(may_remount)).expect("there is room");
    command.arg("--configuration-file").arg(path);
    command.arg("--path").arg(places.within).arg("--secondary-fs").arg(places.other);
    command.arg("--").arg(pattern);
    command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
}

impl Results {
    /// Adds what a run has printed.
    pub(crate) fn add(&mut self, printed: &str) {
        for line in printed.lines() {
            let ended = outcome(line);
            if !matches!(ended, Some((_, Outcome::Passed | Outcome::Skipped))) {
                self.complaints.push_str(&format!("{line}\n"));
            }
            self.outcomes.extend(ended);
        }
    }
}
