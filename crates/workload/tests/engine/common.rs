//! Scratch directories, and the shortest way from a workload to its outcome.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use measure::{Clock, ManualClock, MonotonicClock};
use workload::{
    DataFiles, DirectorySet, EngineError, FileSet, FileSetSpec, Mismatch, Outcome, Role,
    SourceTree, Workload, prepare,
};

/// The clock of tests that do not use the time: the only one of its kind, because the loops of all
/// operations are compiled for each.
#[derive(Clone)]
pub(crate) struct FakeClock {
    time: ManualClock,
    /// How many readings are left before it panics.
    readings_left: Arc<AtomicU64>,
}

impl FakeClock {
    pub(crate) fn with_step(step_ns: u64) -> Self {
        Self { time: ManualClock::with_step(step_ns), readings_left: Arc::new(u64::MAX.into()) }
    }

    pub(crate) fn that_panics_after(readings: u64) -> Self {
        Self { readings_left: Arc::new(readings.into()), ..Self::with_step(1) }
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.time.now_ns()
    }
}

impl Clock for FakeClock {
    fn start(&self) -> u64 {
        let left = self.readings_left.fetch_sub(1, Ordering::Relaxed);
        assert!(left > 0, "the clock breaks");
        self.time.start()
    }

    fn end(&self) -> u64 {
        self.start()
    }

    fn nanos(&self, ticks: u64) -> u64 {
        self.time.nanos(ticks)
    }

    fn ticks_of(&self, nanos: u64) -> u64 {
        self.time.ticks_of(nanos)
    }
}

/// A temporary directory, removed with everything in it.
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub(crate) fn within(parent: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("fsprism-engine-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("the test's parent directory is writable");
        Self { path }
    }

    /// One in the current directory, and one on tmpfs.
    pub(crate) fn everywhere() -> Vec<Self> {
        let here = Self::within(Path::new("."));
        if !Path::new("/dev/shm").is_dir() {
            eprintln!("skipped: on tmpfs: needs /dev/shm");
            return vec![here];
        }
        vec![here, Self::within(Path::new("/dev/shm"))]
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}

pub(crate) const SEED: u64 = 99;
pub(crate) const ENTRIES: u64 = 20;
/// The size of each data file, as a length and as a quantity.
pub(crate) const FILE_LENGTH: usize = 1 << 20;
pub(crate) const FILE_BYTES: u64 = FILE_LENGTH as u64;

/// Three files of each role and three directories: enough for each of three threads to have its
/// own.
pub(crate) const SPEC: FileSetSpec = FileSetSpec {
    read_files: DataFiles { count: 3, size_bytes: FILE_BYTES },
    write_files: DataFiles { count: 3, size_bytes: FILE_BYTES },
    directories: DirectorySet {
        count: 3,
        entries: ENTRIES,
        entry_bytes: 4096,
        depth: 1,
        name_bytes: 12,
    },
    sources: SourceTree { files: 0 },
};

pub(crate) fn never() -> AtomicBool {
    AtomicBool::new(false)
}

pub(crate) fn file_set(scratch: &Scratch) -> FileSet {
    FileSet::create(scratch.path(), &SPEC, SEED, &never()).expect("there is room for it")
}

/// Prepares, runs and restores.
pub(crate) fn outcome(workload: &Workload, file_set: &FileSet) -> Result<Outcome, EngineError> {
    let mut session = prepare(workload, file_set, SEED)?;
    let outcome = session.run_with(&MonotonicClock, &never())?;
    session.restore()?;
    Ok(outcome)
}

/// Checks the whole content of a data file. Returns its length.
pub(crate) fn verify_file(file_set: &FileSet, role: Role, number: usize) -> Result<u64, Mismatch> {
    let bytes = std::fs::read(file_set.data_file(role, number)).expect("it can be read");
    file_set.content(role, number).check(&bytes, 0).map(|()| bytes.len() as u64)
}

/// Asserts that several threads ended together: one has done all its operations, and none has done
/// more.
pub(crate) fn assert_ended_together(outcome: &Outcome, workload: &Workload) {
    let done: Vec<u64> = outcome.threads.iter().map(|thread| thread.operations).collect();
    assert_eq!(done.len(), workload.threads);
    assert_eq!(done.iter().max(), Some(&workload.operations_per_thread), "{workload:?}");
    assert!(done.iter().all(|&operations| operations > 0), "{workload:?}");
    assert_eq!(outcome.recorder.operations(), done.iter().sum::<u64>());
    assert!((0.0..=1.0).contains(&outcome.overlap), "{}", outcome.overlap);
    assert!(!outcome.interrupted);
}

/// The names in all directories of the directory set and in `growing/`, sorted.
pub(crate) fn names(file_set: &FileSet) -> Vec<Vec<String>> {
    let directories = (0..file_set.spec().directories.count).map(|n| file_set.directory(n));
    directories.chain([file_set.root().join("growing")]).map(|path| listing(&path)).collect()
}

pub(crate) fn listing(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("the directory is there");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Set in the process that is allowed to mount.
pub(crate) const INSIDE: &str = "FSPRISM_ENGINE_TEST_INSIDE";

/// Reruns the test `name` in a private mount namespace, and returns whether this is that process.
pub(crate) fn inside_private_mounts(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: {name}: root, to mount file systems");
        return false;
    }
    let itself = std::env::current_exe().expect("a running program has a path");
    let status = Command::new("unshare")
        .args(["--mount", "--propagation", "private"])
        .arg(itself)
        .args(["--exact", name, "--nocapture", "--test-threads", "1"])
        .env(INSIDE, "yes")
        .status();
    match status {
        Ok(status) => assert!(status.success(), "{name} failed inside"),
        Err(error) => eprintln!("skipped: {name}: the program unshare ({error})"),
    }
    false
}

/// The lines of `/proc/self/smaps` for the mappings of a file.
pub(crate) fn smaps(path: &Path) -> Vec<String> {
    let path = path.canonicalize().expect("it is there").display().to_string();
    let smaps = std::fs::read_to_string("/proc/self/smaps").expect("every process has one");
    let mut lines = Vec::new();
    let mut is_its = false;
    for line in smaps.lines() {
        let is_head = line.split(' ').next().is_some_and(|word| word.contains('-'));
        is_its = if is_head { line.ends_with(&path) } else { is_its };
        if is_its {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// A field of the only mapping of a file, in KiB.
pub(crate) fn smaps_kib(path: &Path, field: &str) -> u64 {
    let lines = smaps(path);
    let line = lines.iter().find_map(|line| line.strip_prefix(field)).expect("a known field");
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number")
}
