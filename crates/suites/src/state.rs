//! Makes the cache state that a cell asks for, and proves that it was there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use file_system::{Devices, FileSystem};
use record::{CacheEvidence, CacheState};
use rustix::fs::{AtFlags, Dir, statat};
use targets::Target;
use targets::cache::cache_state::{self, Residency};
use targets::cache::trees::read_in_trees;
use workload::{FileSet, near};

use crate::counters::CounterDeltas;

/// How long to wait for pages that an earlier phase's read-ahead has requested.
const EVICTION_PATIENCE: Duration = Duration::from_secs(2);

/// What is known about files that should be warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warming {
    /// Their pages are the only copy and never leave memory.
    OnlyCopy,
    /// They were read in as described at [`make`], and have only been read since.
    ReadIn,
    /// They may be resident in any way.
    Unknown,
}

/// Brings the touched files into `state` and counts what is resident then.
///
/// Warm is a single state: each file is read from its first byte to its last, in requests of 1 MiB,
/// with the target's read-ahead. How pages come in determines how large their folios are, and that
/// determines the cost of the first write to each (docs/warm-state.md).
///
/// If each of several threads has files of its own, they are read into memory near that thread. The
/// caller has synced the target, so that nothing of an earlier phase is still to be written. Cold
/// refers to the data: attributes and the file system's own structures stay in memory.
pub(crate) fn make(
    state: CacheState,
    how: Warming,
    root: &Path,
    files: &[PathBuf],
    threads: usize,
) -> io::Result<Option<Residency>> {
    if files.is_empty() {
        return Ok(None);
    }
    match state {
        CacheState::Cold => cache_state::evict_all(root, files, EVICTION_PATIENCE).map(Some),
        CacheState::Warm => {
            let found = cache_state::residency_of(files)?;
            let is_so_already = match how {
                Warming::OnlyCopy | Warming::ReadIn => found.is_full(),
                Warming::Unknown => false,
            };
            if is_so_already {
                return Ok(Some(found));
            }
            cache_state::evict_all(root, files, EVICTION_PATIENCE)?;
            // Each file is read on the processor of the thread that will use it.
            let read_in =
                |(number, file)| near(number % threads, || cache_state::read_in_all([file]))?;
            files.iter().enumerate().map(read_in).sum::<io::Result<Residency>>().map(Some)
        }
        CacheState::Steady | CacheState::Any => Ok(None),
    }
}

/// Reads in all directories of the file set and the contents of their entries, whichever will be
/// used. What is reached through a library is always in memory.
pub(crate) fn warm_file_set(target: &Target, file_set: &FileSet) -> io::Result<()> {
    if target.library().is_some() {
        return Ok(());
    }
    let count = file_set.spec().directories.count;
    let all: Vec<PathBuf> = (0..count).map(|number| file_set.directory(number)).collect();
    warm_directories(target, &all)?;
    if file_set.spec().directories.entry_bytes == 0 {
        return Ok(());
    }
    for directory in &all {
        let entries = fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path()));
        cache_state::read_in_all(entries.collect::<io::Result<Vec<PathBuf>>>()?)?;
    }
    Ok(())
}

/// Brings directories into memory: their lists and the attributes of every entry. They have no
/// pages that could be counted; the caller proves that they were there, by reading nothing from the
/// device while they are measured.
///
/// On btrfs, whatever else a change of names needs is read in too. On other file systems,
/// rehearsing the change does that.
pub(crate) fn warm_directories(target: &Target, directories: &[PathBuf]) -> io::Result<()> {
    for (number, path) in directories.iter().enumerate() {
        // Each directory is read on the processor of the thread that will work in it.
        near(number, || read_in_names(path))??;
    }
    if keeps_names_in_trees(target) {
        match read_in_trees(target.root()) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            other => other?,
        }
    }
    Ok(())
}

fn read_in_names(directory: &Path) -> io::Result<()> {
    let directory = File::open(directory)?;
    let mut entries = Dir::read_from(&directory)?;
    while let Some(entry) = entries.read() {
        statat(&directory, entry?.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}

/// Whether names and attributes are in trees that can be read in without changing names.
fn keeps_names_in_trees(target: &Target) -> bool {
    FileSystem::named(&target.facts().file_system)
        .is_some_and(|known| known.devices == Devices::Pool)
}

/// The evidence of one replicate.
pub(crate) fn evidence(
    before: Option<Residency>,
    after: Option<Residency>,
    deltas: &CounterDeltas,
) -> CacheEvidence {
    CacheEvidence {
        pages: before.map(|before| before.total_pages),
        resident_before: before.map(|before| before.resident_pages),
        resident_after: after.map(|after| after.resident_pages),
        dirty_before: before.and_then(|before| before.dirty_pages),
        folio_pages: None,
        start_read_bytes: None,
        device_read_bytes: deltas.device_read_bytes,
        device_reads: deltas.device_reads,
        caller_read_bytes: deltas.caller_read_bytes,
        device_written_bytes: deltas.device_written_bytes,
    }
}

/// What a replicate should have done, to be checked against its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) state: CacheState,
    /// Bytes that its operations read, each once.
    pub(crate) read_bytes: u64,
    /// Device requests that this takes without read-ahead: one for each random read.
    pub(crate) reads: u64,
    /// Bytes that its operations wrote past the page cache.
    pub(crate) written_bytes: u64,
    /// Whether they look up names and attributes, which have no pages to count.
    pub(crate) is_of_names: bool,
}

impl Claim {
    /// Cold reads of `read_bytes` bytes of data, each once.
    pub(crate) fn cold_reads(read_bytes: u64) -> Self {
        Self { state: CacheState::Cold, read_bytes, reads: 0, written_bytes: 0, is_of_names: false }
    }
}

/// What a replicate moved between two readings of the device's counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    /// Bytes of the measured operations.
    pub(crate) bytes: u64,
    /// Number of operations before them, of one request each.
    pub(crate) start: u64,
    pub(crate) request_bytes: u64,
}

impl Moved {
    /// Bytes including those of the start.
    pub(crate) fn whole_bytes(self) -> u64 {
        self.bytes + self.start * self.request_bytes
    }

    /// Number of requests including those of the start.
    pub(crate) fn requests(self) -> u64 {
        self.whole_bytes() / self.request_bytes.max(1)
    }
}

/// Whether the evidence proves the claim; otherwise, what was found instead.
pub(crate) fn verify(claim: Claim, evidence: &CacheEvidence) -> Result<(), String> {
    match claim.state {
        CacheState::Cold if claim.is_of_names => verify_cold_names(evidence),
        CacheState::Cold => verify_cold(claim, evidence),
        CacheState::Warm => verify_warm(evidence),
        CacheState::Steady | CacheState::Any => Ok(()),
    }
}

fn verify_cold(claim: Claim, evidence: &CacheEvidence) -> Result<(), String> {
    let Claim { read_bytes, written_bytes, .. } = claim;
    let pages = evidence.pages.unwrap_or(0);
    if let Some(resident) = evidence.resident_before.filter(|&resident| resident > 0) {
        return Err(format!("{resident} of {pages} pages were resident before a cold replicate"));
    }
    if let Some(bytes) = evidence.device_written_bytes.filter(|&bytes| bytes < written_bytes) {
        return Err(format!(
            "{written_bytes} bytes were written directly, but only {bytes} went to the device: \
             something above it keeps or compresses them"
        ));
    }
    if let Some(reads) = evidence.device_reads.filter(|&reads| reads < claim.reads) {
        return Err(format!(
            "the device served only {reads} requests for {} random reads: the others were read \
             ahead",
            claim.reads
        ));
    }
    match evidence.device_read_bytes {
        Some(bytes) if bytes < read_bytes => Err(format!(
            "{read_bytes} bytes were read cold, but only {bytes} came from the device: something \
             below keeps them (a cache of another layer, compression, another machine)"
        )),
        _ => Ok(()),
    }
}

/// How much must come from the device depends on how many names and attributes fit in one of its
/// blocks, but something must.
fn verify_cold_names(evidence: &CacheEvidence) -> Result<(), String> {
    match evidence.device_read_bytes {
        Some(bytes) if bytes > 0 => Ok(()),
        _ => Err("nothing came from the device while names were looked up cold: they were in \
                  memory after remounting"
            .to_owned()),
    }
}

fn verify_warm(evidence: &CacheEvidence) -> Result<(), String> {
    let pages = evidence.pages.unwrap_or(0);
    let least = [evidence.resident_before, evidence.resident_after].into_iter().flatten().min();
    match least.filter(|&resident| resident < pages) {
        Some(0) => {
            return Err("no page of its file was resident in a warm replicate: the file system \
                        passes the page cache by, as FUSE servers may"
                .to_owned());
        }
        Some(resident) => {
            return Err(format!(
                "only {resident} of {pages} pages were resident in a warm replicate: the file does \
                 not stay in memory (try a smaller --size)"
            ));
        }
        None => {}
    }
    // What is needed for the first time after a state was made belongs to the start, not to what is
    // measured: ext4, for one, takes other inodes than those just freed.
    let of_start = evidence.start_read_bytes.unwrap_or(0);
    let after_start = |bytes: u64| bytes.saturating_sub(of_start);
    // If it is unknown whose reads they are, they may be the caller's.
    match evidence.caller_read_bytes.or(evidence.device_read_bytes).map(after_start) {
        Some(bytes) if bytes > 0 => {
            Err(format!("{bytes} bytes were read from the device in a warm replicate"))
        }
        _ => Ok(()),
    }
}

/// Bytes that others read from the device during a warm replicate: they do not refute it, but took
/// their share of the device.
pub(crate) fn read_by_others_bytes(state: CacheState, evidence: &CacheEvidence) -> Option<u64> {
    match state {
        CacheState::Warm => {
            let (all, own) = evidence.device_read_bytes.zip(evidence.caller_read_bytes)?;
            all.checked_sub(own).filter(|&bytes| bytes > 0)
        }
        // Others' reads cannot be told from read-ahead on behalf of the caller.
        CacheState::Cold | CacheState::Steady | CacheState::Any => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warm(before: u64, after: u64, device_read_bytes: u64) -> CacheEvidence {
        CacheEvidence {
            pages: Some(100),
            resident_before: Some(before),
            resident_after: Some(after),
            device_read_bytes: Some(device_read_bytes),
            ..CacheEvidence::default()
        }
    }

    fn claim(state: CacheState) -> Claim {
        Claim { state, read_bytes: 4096, ..Claim::cold_reads(0) }
    }

    #[test]
    fn what_the_start_reads_refutes_nothing() {
        let read = |caller: u64, start: u64| CacheEvidence {
            caller_read_bytes: Some(caller),
            start_read_bytes: Some(start),
            ..warm(100, 100, caller)
        };
        assert_eq!(verify(claim(CacheState::Warm), &read(8192, 8192)), Ok(()));
        let refuted = verify(claim(CacheState::Warm), &read(8192, 4096)).expect_err("one is later");
        assert!(refuted.starts_with("4096 bytes"), "{refuted}");
    }

    #[test]
    fn random_reads_are_cold_where_each_took_a_request() {
        // The first read comes before the measured ones and is counted with them.
        let moved = Moved { bytes: 2 * 4096, start: 1, request_bytes: 4096 };
        let claim = Claim { reads: moved.requests(), ..Claim::cold_reads(moved.whole_bytes()) };
        let read = |device_reads| CacheEvidence { device_reads, ..warm(0, 100, 64 << 10) };
        assert_eq!(verify(claim, &read(Some(3))), Ok(()));
        assert_eq!(verify(claim, &read(None)), Ok(()), "a device that others use is not counted");
        let refuted = verify(claim, &read(Some(2))).expect_err("one was read ahead");
        assert!(refuted.contains("only 2 requests for 3 random reads"), "{refuted}");
    }

    #[test]
    fn names_are_cold_where_something_came_from_the_device() {
        let names = Claim { is_of_names: true, ..claim(CacheState::Cold) };
        assert_eq!(verify(names, &warm(0, 0, 512)), Ok(()));
        let refuted = verify(names, &warm(0, 0, 0)).expect_err("nothing was read");
        assert!(refuted.contains("nothing came from the device"), "{refuted}");
        let uncounted = CacheEvidence { device_read_bytes: None, ..warm(0, 0, 0) };
        assert!(verify(names, &uncounted).is_err());
    }

    #[test]
    fn warm_means_all_pages_before_and_after_and_no_device_read() {
        let verify = |evidence| verify(claim(CacheState::Warm), &evidence);
        assert_eq!(verify(warm(100, 100, 0)), Ok(()));
        assert!(verify(warm(99, 100, 0)).is_err());
        assert!(verify(warm(100, 99, 0)).is_err());
        assert!(verify(warm(100, 100, 512)).is_err());
    }

    #[test]
    fn a_warm_replicate_is_refuted_by_what_the_caller_reads() {
        let read = |caller_read_bytes| CacheEvidence { caller_read_bytes, ..warm(100, 100, 8192) };
        let verify = |evidence| verify(claim(CacheState::Warm), &evidence);
        assert_eq!(verify(read(Some(0))), Ok(()));
        let why = verify(read(Some(4096))).expect_err("the caller read");
        assert!(why.starts_with("4096 bytes were read from the device"), "{why}");
        assert!(verify(read(None)).is_err(), "it may have been the caller");
        let by_others = |caller| read_by_others_bytes(CacheState::Warm, &read(caller));
        assert_eq!([Some(0), Some(8192), None].map(by_others), [Some(8192), None, None]);
        assert_eq!(read_by_others_bytes(CacheState::Cold, &read(Some(0))), None);
    }

    #[test]
    fn cold_means_no_page_before_and_every_byte_from_the_device() {
        let verify = |evidence| verify(claim(CacheState::Cold), &evidence);
        assert_eq!(verify(warm(0, 50, 4096)), Ok(()));
        assert!(verify(warm(1, 50, 4096)).is_err());
        assert!(verify(warm(0, 50, 4095)).is_err());
        let unknown = CacheEvidence { device_read_bytes: None, ..warm(0, 50, 0) };
        assert_eq!(verify(unknown), Ok(()));
    }

    #[test]
    fn direct_writes_go_to_the_device() {
        let written = |device_written_bytes| {
            let evidence = CacheEvidence { device_written_bytes, ..warm(0, 0, 0) };
            let claim = Claim { written_bytes: 4096, ..Claim::cold_reads(0) };
            verify(claim, &evidence).is_ok()
        };
        assert_eq!([Some(4096), Some(4095), None].map(written), [true, false, true]);
    }

    #[test]
    fn metadata_is_warm_when_the_device_is_not_read() {
        let evidence = |device_read_bytes| CacheEvidence {
            device_read_bytes: Some(device_read_bytes),
            ..CacheEvidence::default()
        };
        assert_eq!(verify(claim(CacheState::Warm), &evidence(0)), Ok(()));
        assert!(verify(claim(CacheState::Warm), &evidence(4096)).is_err());
        assert_eq!(verify(claim(CacheState::Any), &evidence(4096)), Ok(()));
    }
}
