//! What logs are of, and what their files are called.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;

/// What a log is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Latencies from making an operation to its completion.
    Total,
    /// Latencies from making an operation to having submitted it.
    Submission,
    /// Latencies from submission to completion.
    Completion,
    /// Bandwidth.
    Bandwidth,
    /// Operations per second.
    Iops,
    /// Histograms of completion latencies.
    Histogram,
}

impl LogKind {
    /// Its name in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "lat",
            Self::Submission => "slat",
            Self::Completion => "clat",
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
            Self::Histogram => "clat_hist",
        }
    }

    /// Whether its samples are latencies.
    pub(super) fn is_latency(self) -> bool {
        match self {
            Self::Total | Self::Submission | Self::Completion => true,
            Self::Bandwidth | Self::Iops | Self::Histogram => false,
        }
    }
}

/// What a log's file is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogName {
    /// What the user calls it; the job's name if that is empty.
    pub prefix: String,
    /// What the log is of.
    pub kind: LogKind,
    /// The number of the thread, counted from 1 over all jobs; `None` if all write to one file:
    /// `per_job_logs=0`.
    pub thread: Option<u32>,
}

impl LogName {
    /// The path of the file.
    pub fn path(&self) -> PathBuf {
        let (prefix, kind) = (&self.prefix, self.kind.name());
        match self.thread {
            Some(thread) => format!("{prefix}_{kind}.{thread}.log").into(),
            None => format!("{prefix}_{kind}.log").into(),
        }
    }

    /// Opens the file for writing: anew, or at its end if others write to it.
    ///
    /// # Errors
    ///
    /// Those of opening.
    pub fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true);
        match self.thread {
            Some(_) => options.write(true).truncate(true),
            None => options.append(true),
        };
        options.open(self.path())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn files_are_shared_or_of_one_thread() {
        let directory = tempfile::tempdir().unwrap();
        let prefix = directory.path().join("job").display().to_string();
        let mut name = LogName { prefix, kind: LogKind::Histogram, thread: Some(2) };
        let write = |name: &LogName, text: &str| {
            name.open().unwrap().write_all(text.as_bytes()).unwrap();
            std::fs::read_to_string(name.path()).unwrap()
        };
        assert!(name.path().ends_with("job_clat_hist.2.log"));
        assert_eq!([write(&name, "ab"), write(&name, "c")], ["ab", "c"]);
        name.thread = None;
        assert!(name.path().ends_with("job_clat_hist.log"));
        assert_eq!([write(&name, "ab"), write(&name, "c")], ["ab", "abc"]);
    }
}
