//! Device reads by others do not refute that something was in memory.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use machine::describe::{DeviceCounterReader, ProcessCounterReader};
use record::Warning;
use rustix::process::{Pid, Signal, kill_process_group};
use targets::cache::cache_state;

use crate::place::Place;

const FILE_BYTES: u64 = 1 << 20;

/// Another process reads the device throughout.
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
pub(crate) fn their_reads_are_a_warning(place: &Place, file_system: &str) {
    let name = "stat-by-directory-size-1000";
    let target = format!("{file_system}:size=512m");
    let Some(measured) = place.measure_beside("nano/metadata", name, &target, Another::reading_on)
    else {
        return;
    };
    let evidence = &measured.evidence;
    assert_eq!(evidence.caller_read_bytes, Some(0), "{evidence:?}");
    assert!(evidence.device_read_bytes.is_some_and(|bytes| bytes > 0), "{evidence:?}");
    let said = measured.warnings.iter().find_map(|warning| match warning {
        Warning::BackgroundWork { what } => Some(what),
        _ => None,
    });
    assert!(said.is_some_and(|what| what.contains("read by others")), "{:?}", measured.warnings);
}

/// What the caller's proof is based on: the kernel charges a read to the process that requests it,
/// and the reads of a process that has ended to the one that waited for it.
pub(crate) fn reads_are_charged_to_who_asks(place: &Place) {
    place.with_target("btrfs:size=256m", |target| {
        let path = target.root().join("file");
        fs::write(&path, vec![7; 1 << 20]).expect("there is room");
        let numbers = target.device_numbers().expect("it has a device");
        let counters = ReadCounters {
            device: DeviceCounterReader::open(numbers.major, numbers.minor).expect("it is there"),
            process: ProcessCounterReader::open().expect("the kernel counts"),
        };
        let evict = || {
            let left = cache_state::evict_all(target.root(), [&path], std::time::Duration::ZERO);
            assert!(left.expect("it is ours").is_none());
        };
        evict();
        let before = counters.read();
        let mut read = Vec::new();
        File::open(&path).and_then(|mut file| file.read_to_end(&mut read)).expect("it is ours");
        let own = counters.since(before);
        assert!(own.device >= FILE_BYTES && own.process >= FILE_BYTES, "{own:?}");

        evict();
        let before = counters.read();
        let another = Another::that_has_read(&path);
        let theirs = counters.since(before);
        assert!(theirs.device >= FILE_BYTES, "{theirs:?}");
        assert_eq!(theirs.process, 0, "{theirs:?}");
        // It ends here, and is waited for.
        drop(another);
        let ended = counters.since(before);
        assert!(ended.process >= FILE_BYTES, "{ended:?}");
    });
}

struct ReadCounters {
    device: DeviceCounterReader,
    process: ProcessCounterReader,
}

/// Bytes that were read from a device, and by this process.
#[derive(Clone, Copy, Debug)]
struct ReadBytes {
    device: u64,
    process: u64,
}

impl ReadCounters {
    fn read(&self) -> ReadBytes {
        ReadBytes {
            device: self.device.read().expect("it is there").read_bytes,
            process: self.process.read().expect("it is ours").read_bytes,
        }
    }

    fn since(&self, then: ReadBytes) -> ReadBytes {
        let now = self.read();
        ReadBytes { device: now.device - then.device, process: now.process - then.process }
    }
}

/// Another process, which ends when this is dropped.
pub(crate) struct Another(Child);

impl Another {
    /// Reads the device repeatedly; returns once it has started.
    fn reading_on(device: &Path) -> Self {
        let script =
            "echo; while dd if=\"$0\" of=/dev/null bs=64k iflag=direct 2>/dev/null; do :; done";
        Self::start(script, device)
    }

    /// Has read the file once.
    fn that_has_read(path: &Path) -> Self {
        Self::start("cat \"$0\" >/dev/null; echo; read line", path)
    }

    /// Starts the script and waits until it has printed a line.
    fn start(script: &str, path: &Path) -> Self {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        // So that its children end with it.
        shell.process_group(0);
        let mut child = shell.spawn().expect("there is a shell");
        let mut said = String::new();
        let output = child.stdout.as_mut().expect("it is piped");
        BufReader::new(output).read_line(&mut said).expect("it speaks");
        Self(child)
    }
}

impl Drop for Another {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.0);
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.0.wait();
        // Its output ends when the last process of the group has closed its descriptors.
        let output = self.0.stdout.take().expect("it is piped");
        let _ = std::io::copy(&mut { output }, &mut std::io::sink());
    }
}
