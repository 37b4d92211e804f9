//! A user's own load, from a TOML file.

use serde::Deserialize;
use textual::plain_text;
use thiserror::Error;

use super::mix::{Load, LoadOperation, MeasuredBy, Transfer};

/// Why a file does not describe a load.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It is not valid TOML, or a key is missing or unknown.
    #[error("{0}")]
    Text(String),
    /// An operation names neither a benchmark nor a transfer, or both.
    #[error("operation {0}: give either benchmark or transfer, and bytes with transfer")]
    Measured(usize),
    /// A transfer that no benchmark measures.
    #[error("operation {at}: there is no transfer {name}: choose {}", names())]
    Transfer {
        /// Which operation.
        at: usize,
        /// What it was called.
        name: String,
    },
    /// A count or a size that is out of range.
    #[error("operation {at}: {what} must be above 0 and at most {most}")]
    Range {
        /// Which operation.
        at: usize,
        /// Of what.
        what: &'static str,
        /// The largest value.
        most: u64,
    },
    /// There are no operations.
    #[error("it has no operations: add at least one [[operation]]")]
    Empty,
}

const COUNT_MAX: u64 = 1_000_000_000;
const BYTES_MAX: u64 = 1 << 40;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    #[serde(default)]
    unit: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    leaves_out: Option<String>,
    #[serde(default)]
    must_last: bool,
    #[serde(default)]
    operation: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    benchmark: Option<String>,
    #[serde(default)]
    transfer: Option<String>,
    #[serde(default)]
    bytes: Option<u64>,
    #[serde(default = "one")]
    count: f64,
    #[serde(default)]
    kind: Option<String>,
}

fn one() -> f64 {
    1.0
}

fn names() -> String {
    textual::list(&Transfer::ALL.map(|one| one.name().to_owned()), "or")
}

/// Parses the text of a load file; the load is called `name`.
///
/// # Errors
/// If the text does not describe a load.
pub fn read_load(name: &str, text: &str) -> Result<Load, LoadError> {
    let file: File =
        toml::from_str(text).map_err(|error| LoadError::Text(in_one_line(&error, text)))?;
    let operations: Vec<LoadOperation> =
        (1..).zip(file.operation).map(|(at, entry)| entry.read(at)).collect::<Result<_, _>>()?;
    if operations.is_empty() {
        return Err(LoadError::Empty);
    }
    Ok(Load {
        name: name.to_owned(),
        title: plain(&file.title),
        unit: plain(
            &file.unit.unwrap_or_else(|| "each of its operations, so many times".to_owned()),
        ),
        source: plain(&file.source.unwrap_or_else(|| "a file of the user's".to_owned())),
        leaves_out: plain(&file.leaves_out.unwrap_or_default()),
        must_last: file.must_last,
        operations,
        validation: None,
    })
}

/// On one line, without characters that a terminal would interpret.
fn plain(text: &str) -> String {
    plain_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is wrong and where, without the excerpt of the source.
fn in_one_line(error: &toml::de::Error, text: &str) -> String {
    let line =
        error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
    let message = error.message().replace('\n', " ");
    line.map_or_else(|| message.clone(), |line| format!("line {line}: {message}"))
}

impl Entry {
    fn read(self, at: usize) -> Result<LoadOperation, LoadError> {
        let measured = match (self.benchmark, self.transfer, self.bytes) {
            (Some(benchmark), None, None) => MeasuredBy::Benchmark(benchmark),
            (None, Some(name), Some(bytes)) => {
                if bytes == 0 || bytes > BYTES_MAX {
                    return Err(LoadError::Range { at, what: "bytes", most: BYTES_MAX });
                }
                let transfer = Transfer::ALL.into_iter().find(|one| one.name() == name);
                let transfer = transfer.ok_or(LoadError::Transfer { at, name })?;
                MeasuredBy::Transfer(transfer, bytes)
            }
            _ => return Err(LoadError::Measured(at)),
        };
        let is_possible = self.count > 0.0 && self.count <= COUNT_MAX as f64;
        if !is_possible {
            return Err(LoadError::Range { at, what: "count", most: COUNT_MAX });
        }
        let kind = self.kind.unwrap_or_else(|| match &measured {
            MeasuredBy::Benchmark(name) => name.clone(),
            MeasuredBy::Transfer(transfer, _) if transfer.is_read() => "reads".to_owned(),
            MeasuredBy::Transfer(..) => "writes".to_owned(),
        });
        let kind = plain(&kind);
        Ok(LoadOperation { kind, count: self.count, measured })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        read_load("mine", text).expect_err(text).to_string()
    }

    #[test]
    fn a_file_says_what_a_unit_is_made_of() {
        let text = "title = \"an importer\"\nmust_last = true\n\
                    [[operation]]\nbenchmark = \"append-fsync-4k\"\ncount = 2\nkind = \"fsync\"\n\
                    [[operation]]\ntransfer = \"random-read-cold\"\nbytes = 16384\n";
        let load = read_load("mine", text).expect("a load");
        assert_eq!((load.title.as_str(), load.must_last), ("an importer", true));
        let [fsync, reads] = load.operations.as_slice() else { panic!("two operations") };
        assert_eq!((fsync.kind.as_str(), fsync.count), ("fsync", 2.0));
        assert_eq!((reads.kind.as_str(), reads.count), ("reads", 1.0));
        let expected = MeasuredBy::Transfer(Transfer::RandomReadCold, 16384);
        assert_eq!(reads.measured, expected);
    }

    #[test]
    fn what_a_terminal_would_obey_is_taken_out() {
        let text = "title = \"a\\u001b[31m\\nb\"\n\
                    [[operation]]\nbenchmark = \"x\"\nkind = \"\\u001b[2J\"\n";
        let load = read_load("mine", text).expect("a load");
        let all = format!("{}{}", load.title, load.operations[0].kind);
        assert!(!all.contains(char::is_control), "{all:?}");
    }

    #[test]
    fn what_is_no_load_is_refused_in_one_line() {
        for (text, expected) in [
            ("title = 1", "line 1: invalid type: integer `1`, expected a string"),
            ("[[operation]]\nbenchmark = \"x\"", "missing field `title`"),
            ("title = \"x\"", "it has no operations"),
            ("title = \"x\"\n[[operation]]\ncount = 1", "operation 1: give either"),
            ("title = \"x\"\nops = 1", "unknown field `ops`"),
            (
                "title = \"x\"\n[[operation]]\ntransfer = \"read\"\nbytes = 1",
                "there is no transfer read: choose sequential-read-warm,",
            ),
            (
                "title = \"x\"\n[[operation]]\nbenchmark = \"x\"\ncount = -1",
                "count must be above 0",
            ),
            ("title = \"x\"\n[[operation]]\nbenchmark = \"x\"\ncount = nan", "count must be above"),
            (
                "title = \"x\"\n[[operation]]\ntransfer = \"random-read-cold\"\nbytes = 0",
                "operation 1: bytes must be above 0",
            ),
            ("title = \"x", "line 1: "),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(expected), "{refusal}");
            assert!(!refusal.contains('\n'), "{refusal}");
        }
    }
}
