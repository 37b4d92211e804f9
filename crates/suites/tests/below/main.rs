//! Writes on the device below file systems made for the purpose must leave every byte of the device
//! unchanged.
//!
//! A workshop needs a single-threaded process, so this is a program of its own.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::SystemClock;
use record::{Cell, Skipped};
use runner::{Executor, Request};
use suites::{Laboratory, LiveTarget, Scope, Settings, Suite, suite};
use targets::{OpenDevice, Surroundings, TargetSpec, Workshop, availability};
use workload::Verification;

const DATA_FILE_BYTES: u64 = 4 << 20;
const BLOCK_BYTES: usize = 4096;

/// Whole pages, as needed for direct reads.
#[repr(align(4096))]
struct Chunk([u8; 1 << 20]);

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        println!("nothing_on_the_device_changes: test");
        return ExitCode::SUCCESS;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: below: it makes file systems and mounts them, which needs root");
        return ExitCode::SUCCESS;
    }
    // Measurements that run at the same time would evict what is examined here.
    let _lock = machine::measuring_lock::MeasuringLock::wait().expect("the lock can be opened");
    let scratch = PathBuf::from(format!("/var/tmp/below-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("/var/tmp can be written");
    let surroundings = Surroundings { scratch: scratch.clone(), ..Surroundings::default() };
    let workshop = Workshop::open(surroundings).expect("root, one thread");
    // Reads must not update inodes.
    for text in ["ext2:size=128m,mount=noatime", "ext4:size=128m,mount=noatime"] {
        nothing_on_the_device_changes(&workshop, &scratch, text);
    }
    nothing_is_written_below_a_directory(&workshop, &scratch);
    workshop.close().expect("nothing is left");
    fs::remove_dir_all(&scratch).expect("it is ours");
    println!("test nothing_on_the_device_changes ... ok");
    ExitCode::SUCCESS
}

/// The I/O suite's writes on the device: every third benchmark.
fn writes() -> Suite {
    let all = suite("nano/io").expect("it is one of the suites");
    let is_one = |name: &str| name.contains("write-device");
    let benchmarks = all.benchmarks.iter().filter(|one| is_one(&one.name)).step_by(3);
    Suite { benchmarks: benchmarks.cloned().collect(), ..all }
}

fn cells(live: &[LiveTarget], suite: &Suite) -> (Vec<Cell>, Vec<Skipped>) {
    let scope = Scope { targets: 1, data_file_bytes: DATA_FILE_BYTES, budget: None };
    suites::cells(suite, live, &scope)
}

fn nothing_on_the_device_changes(workshop: &Workshop, scratch: &Path, text: &str) {
    let spec: TargetSpec = text.parse().expect(text);
    let surroundings = Surroundings { scratch: scratch.to_owned(), ..Surroundings::default() };
    if let Err(unavailable) = availability(&spec, &surroundings) {
        eprintln!("skipped: {text}: {unavailable}");
        return;
    }
    let live = [LiveTarget::new(workshop.make(&spec).expect(text))];
    let device = live[0].target().open_device().expect("it lies on one");
    let suite = writes();
    let (cells, skipped) = cells(&live, &suite);
    assert!(cells.len() > 10, "{skipped:?}");
    let settings = Settings {
        data_file_bytes: DATA_FILE_BYTES,
        seed: 1,
        verification: Verification::Off,
        stop: Arc::new(AtomicBool::new(false)),
    };
    let (clock, report) = SystemClock::calibrate();
    let mut laboratory =
        Laboratory::new(live.into(), suite.benchmarks.clone(), &cells, settings, clock, &report);
    let all: Vec<u32> = (0..).take(cells.len()).collect();
    assert_eq!(laboratory.begin_block(0, &all), []);
    for (cell, of) in (0..).zip(&cells) {
        let pilot = laboratory.pilot(cell, 1).expect("a pilot is short");
        let before = digests(&device);
        let operations = pilot.operations_max.min(256);
        let start_operations = 0;
        let request = Request { cell, block: 0, operations, start_operations, batch: 1, seed: 2 };
        let measured = laboratory.execute(&request).expect("the device is sound");
        let written = measured.evidence.device_written_bytes.expect("it is counted");
        assert!(measured.bytes > 0 && written >= measured.bytes, "{written}: {of:?}");
        assert_eq!(changed(&before, &digests(&device)), [0; 0], "{text}: {of:?}");
    }
    drop(device);
    for live in laboratory.into_targets() {
        live.close().expect("nothing is open");
    }
}

/// A digest of each block of the device.
fn digests(device: &OpenDevice) -> Vec<u64> {
    let mut chunk = Box::new(Chunk([0; 1 << 20]));
    let mut digests = Vec::new();
    for at in (0..device.size_bytes()).step_by(chunk.0.len()) {
        device.file().read_exact_at(&mut chunk.0, at).expect("it is whole MiB");
        digests.extend(chunk.0.chunks(BLOCK_BYTES).map(|block| {
            let mut hasher = DefaultHasher::new();
            block.hash(&mut hasher);
            hasher.finish()
        }));
    }
    digests
}

/// The numbers of blocks that differ.
fn changed(before: &[u64], after: &[u64]) -> Vec<usize> {
    assert_eq!(before.len(), after.len());
    (0..before.len()).filter(|&block| before[block] != after[block]).collect()
}

fn nothing_is_written_below_a_directory(workshop: &Workshop, scratch: &Path) {
    let path = scratch.join("somebodys");
    fs::create_dir(&path).expect("it is ours");
    let spec: TargetSpec = path.to_str().expect("ASCII").parse().expect("a path");
    let live = [LiveTarget::new(workshop.make(&spec).expect("it can be written"))];
    let (cells, skipped) = cells(&live, &writes());
    assert_eq!(cells, [], "no cell is made");
    let is_why = |one: &Skipped| one.target.contains("writes on the device");
    let why = skipped.iter().find(|one| is_why(one)).expect("it is said").why.clone();
    assert!(why.contains("fsprism did not make the file system"), "{why}");
    for live in live {
        live.close().expect("nothing is open");
    }
}
