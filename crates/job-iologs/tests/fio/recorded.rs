//! Logs that fio wrote.

use std::fs;
use std::path::{Path, PathBuf};

use job_iologs::{Access, Replay, ReplayOptions, Source, TrimReplay};

use super::jobs::JOBS;
use super::rewriting::rewrite;

/// Where a job's log is.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fio/recorded/{name}.log"))
}

#[test]
fn logs_are_written_as_fio_wrote_them() {
    for (name, _) in JOBS {
        let log = fs::read(path(name)).expect(name);
        let rewritten = rewrite(&log);
        assert_eq!(String::from_utf8_lossy(&rewritten), String::from_utf8_lossy(&log), "{name}");
    }
}

fn replay(name: &str, trims: TrimReplay) -> Replay {
    let options = ReplayOptions { trims, ..ReplayOptions::default() };
    Replay::new(Source::open(&path(name)).expect(name), &options).expect(name)
}

#[test]
fn logs_of_fio_can_be_replayed() {
    let read = replay("read", TrimReplay::Ignored);
    assert_eq!(read.access(), Access::Read);
    assert_eq!((read.totals().reads.operations, read.totals().reads.bytes), (16, 65_536));
    assert_eq!(read.files().iter().map(|file| file.end).collect::<Vec<_>>(), [65_536]);
    let fsync = replay("fsync", TrimReplay::Ignored);
    assert_eq!((fsync.access(), fsync.totals().syncs), (Access::Write, 6));
    let several = replay("several", TrimReplay::Ignored);
    assert_eq!(several.files().len(), 5);
    assert!(several.files().iter().all(|file| file.end == 16_384));
    let trim = replay("trimwrite", TrimReplay::Ignored);
    assert_eq!((trim.totals().trims.operations, trim.remarks().count()), (0, 16));
    let trim = replay("trim", TrimReplay::Replayed);
    assert_eq!((trim.totals().trims.bytes, trim.access()), (65_536, Access::Write));
    let clones = replay("numjobs", TrimReplay::Ignored);
    assert_eq!((clones.files().len(), clones.remarks().count()), (3, 2));
    let sizes = replay("sizes", TrimReplay::Ignored);
    assert_eq!(sizes.access(), Access::ReadWrite);
    assert!(sizes.totals().bytes_max() > 32_768);
}
