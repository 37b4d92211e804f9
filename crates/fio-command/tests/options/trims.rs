//! Blocks that are trimmed before they are verified.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{directory, done};

const JOB: &str = "--rw=randwrite --verify=crc32c --verify_state_save=0";

/// A loop device, detached when it is dropped.
struct Device(String);

impl Device {
    /// `None` without permission to make one.
    fn on(image: &Path) -> Option<Self> {
        File::create(image).and_then(|file| file.set_len(4 << 20)).expect("an image");
        let made = Command::new("losetup").args(["-f", "--show"]).arg(image).output().ok()?;
        let name = String::from_utf8(made.stdout).expect("a name").trim().to_owned();
        made.status.success().then_some(Self(name))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // A test that has failed must not hide why.
        let _detached = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

fn counts(job: &Value) -> [u64; 3] {
    ["read", "write", "trim"].map(|way| job[way]["total_ios"].as_u64().expect("a number"))
}

#[test]
fn trimmed_blocks_are_zeros_or_not_verified() {
    let place = directory();
    let Some(device) = Device::on(&place.path().join("image")) else {
        eprintln!("skipped: no loop device can be made");
        return;
    };
    // The counts are those of fio 3.33 without assertions.
    for (options, expected) in [
        ("--trim_percentage=30 --trim_backlog=8", [64, 64, 18]),
        ("--trim_percentage=50 --trim_backlog=16 --trim_verify_zero=0", [34, 64, 30]),
        ("--trim_percentage=100 --trim_backlog=1", [64, 64, 64]),
        ("--trim_percentage=50 --trim_backlog=4 --verify_backlog=16", [64, 64, 28]),
        ("--trim_percentage=30 --trim_backlog=8 --loops=2", [128, 128, 36]),
        ("--trim_percentage=30 --trim_backlog=8 --verify_only", [64, 0, 0]),
        ("--trim_percentage=30", [64, 64, 0]),
    ] {
        for engine in ["psync", "libaio --iodepth=4"] {
            let name = device.0.trim_start_matches('/');
            let options =
                format!("{JOB} --ioengine={engine} --size=256k --filename={name} {options}");
            let job = done(Path::new("/"), &format!("{options} --destroy-data")).job();
            // With more in flight, when a batch is due depends on what has ended.
            if engine == "psync" || !options.contains("verify_") {
                assert_eq!(counts(&job), expected, "{options}");
            }
        }
    }
}

#[test]
fn files_cannot_be_trimmed() {
    let place = directory();
    let options = format!("{JOB} --size=64k --trim_percentage=50 --trim_backlog=4");
    let trimmed = done(place.path(), &options);
    assert_eq!((trimmed.status, trimmed.shown()["error"].as_i64()), (1, Some(25)));
}
