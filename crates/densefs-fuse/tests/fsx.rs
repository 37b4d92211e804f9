//! Runs fsx on a mounted DenseFS: it reads, writes, maps, truncates, allocates, punches holes and
//! copies at random positions of a file, and compares everything it reads with what it expects.
//!
//! `FSPRISM_FSX_OPERATIONS` sets the number of operations.

mod exerciser;
mod peer;
mod place;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use exerciser::configuration;
use peer::installed;
use place::mounted;

/// Operations of a run; each run has its own seed. fsx never unmaps what it has mapped for reading,
/// and a process may have some 65,000 mappings.
const OPERATIONS_OF_RUN: u64 = 5_000;
/// How many runs are made at a time, each with its own file.
const TOGETHER: usize = 2;

/// Makes one run.
fn run(program: &Path, file: &Path, artifacts: &Path, number: u64, operations: u64) {
    let path = artifacts.join(format!("{number}.toml"));
    fs::write(&path, configuration(number.is_multiple_of(2))).expect("there is room");
    let mut command = Command::new(program);
    command.arg("-N").arg(operations.to_string()).arg("-S").arg(number.to_string());
    command.arg("-P").arg(artifacts).arg("-f").arg(path).arg(file);
    let output = command.output().expect("it is installed");
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "seed {number}: {printed}{said}");
    assert!(printed.contains("All operations completed"), "seed {number}: {printed}{said}");
}

#[test]
fn files_hold_what_fsx_has_written() {
    let what = "files_hold_what_fsx_has_written";
    let operations = std::env::var("FSPRISM_FSX_OPERATIONS").ok();
    let operations: u64 = operations.map_or(20_000, |text| text.parse().expect("it is a number"));
    let Some(program) = installed(what, "fsx") else { return };
    let artifacts = tempfile::tempdir().expect("there is room");
    let begun = AtomicU64::new(0);
    mounted(what, |point, _| {
        let work = |file: &Path| {
            loop {
                let number = begun.fetch_add(1, Ordering::Relaxed);
                let left = operations.saturating_sub(number * OPERATIONS_OF_RUN);
                if left == 0 {
                    return;
                }
                let of_run = left.min(OPERATIONS_OF_RUN);
                run(&program, file, artifacts.path(), number, of_run);
            }
        };
        std::thread::scope(|scope| {
            for file in 0..TOGETHER {
                let (file, work) = (point.join(file.to_string()), &work);
                scope.spawn(move || work(&file));
            }
        });
    });
}
