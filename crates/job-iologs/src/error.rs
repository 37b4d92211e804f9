//! Why a log cannot be replayed.

use std::io;
use std::path::PathBuf;

use crate::place::Place;

/// Why a log cannot be replayed. Each message says where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IologError {
    /// The log cannot be read.
    #[error("the I/O log {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The log.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A binary trace.
    #[error(
        "{path} is a binary trace of blktrace; make an I/O log of it, for the device DEVICE: \
         {BLKPARSE} < {path} | {TO_LOG} > LOG",
        path = path.display()
    )]
    Blktrace {
        /// The trace.
        path: PathBuf,
    },
    /// Nothing in it.
    #[error(
        "the I/O log {} is empty; its first line must be `fio version 3 iolog`",
        path.display()
    )]
    Empty {
        /// The log.
        path: PathBuf,
    },
    /// Another first line.
    #[error(
        "{} is not an I/O log: its first line is neither `fio version 2 iolog` nor `fio version 3 \
         iolog`",
        path.display()
    )]
    NotALog {
        /// The file.
        path: PathBuf,
    },
    /// A line that no log has.
    #[error("{place}: the line has more than {limit} bytes")]
    LongLine {
        /// Where.
        place: Place,
        /// How many it may have.
        limit: usize,
    },
    /// A number with something behind it, or with a sign.
    #[error("{place}: `{text}` begins with a number but is not one; write digits alone")]
    UnclearNumber {
        /// Where.
        place: Place,
        /// What is there.
        text: String,
    },
    /// A number that is too large.
    #[error("{place}: `{text}` is too large; the largest is {largest}")]
    LargeNumber {
        /// Where.
        place: Place,
        /// What is there.
        text: String,
        /// The largest number possible there.
        largest: u64,
    },
    /// An action on an unknown file.
    #[error("{place}: {name} was not added; put a line with `{name} add` above")]
    UnknownFile {
        /// Where.
        place: Place,
        /// The file.
        name: String,
    },
    /// An operation on a file that is not open, or its second end.
    #[error("{place}: {name} is not open here; put a line with `{name} open` above")]
    ClosedFile {
        /// Where.
        place: Place,
        /// The file.
        name: String,
    },
    /// A file opened again.
    #[error("{place}: {name} is open already; put a line with `{name} close` above")]
    OpenFile {
        /// Where.
        place: Place,
        /// The file.
        name: String,
    },
    /// No operations.
    #[error("the I/O log {} has nothing to replay: no read, no write and no wait", path.display())]
    NothingToReplay {
        /// The log.
        path: PathBuf,
    },
}

/// Prints what a binary trace says was queued.
const BLKPARSE: &str = r"blkparse -q -i - -a queue -f '%T %t %d %S %N\n'";

/// Makes a log of that. Times begin at one second, since a replay does not wait after a line with
/// time 0.
const TO_LOG: &str = concat!(
    r#"awk -v f=DEVICE 'BEGIN { print "fio version 3 iolog"; print 0, f, "add"; "#,
    r#"print 0, f, "open" } { a = $3 ~ /^F/ ? "sync" : $3 ~ /D/ ? "trim" : $3 ~ /W/ ? "write" "#,
    r#": "read"; printf "%d%06d %s %s %.0f %d\n", $1 + 1, $2 / 1000, f, a, $4 * 512, $5 }'"#
);
