//! What options do, seen from outside: command lines, and what is there and printed afterwards.

mod by_name;
mod errors;
mod memory;
mod nodes;
mod offload;
mod priorities;
mod steadiness;
mod trims;
mod verification;

use std::path::Path;

use fio_command::{Streams, run};
use serde_json::Value;

/// What a command line came to.
struct Done {
    status: u8,
    out: Vec<u8>,
    err: String,
}

impl Done {
    /// The first job of its JSON.
    #[track_caller]
    fn job(&self) -> Value {
        assert_eq!(self.status, 0, "{}", self.err);
        self.shown()
    }

    /// The same of a job that may have failed.
    #[track_caller]
    fn shown(&self) -> Value {
        let all: Value = serde_json::from_slice(&self.out).expect("JSON");
        all["jobs"][0].clone()
    }
}

/// Does a job named `job` with its files in a directory, by options with spaces between them.
fn done(directory: &Path, options: &str) -> Done {
    let place = format!("--directory={}", directory.display());
    let fixed = ["--eta=never", "--output-format=json", "--name=job", &place];
    let own = options.split_whitespace();
    let arguments: Vec<String> = fixed.into_iter().chain(own).map(str::to_owned).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, is_terminal: false };
    let status = run(&arguments, &mut streams);
    Done { status, out, err: String::from_utf8_lossy(&err).into_owned() }
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}
