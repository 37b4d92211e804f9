//! `fsprism fio` beside fio: the same job on the same file, in turn, and how many operations per
//! second each does.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;

use crate::processes::binary;
use crate::table::{Bound, Table};

/// Pairs of each job.
const PAIRS: usize = 15;

/// Jobs, each with its name.
const JOBS: [(&str, &str); 12] = [
    ("psync, random read 4 KiB", "--rw=randread"),
    ("psync, read 4 KiB", "--rw=read"),
    ("psync, random write 4 KiB", "--rw=randwrite"),
    ("psync, mixed 70/30 4 KiB", "--rw=randrw --rwmixread=70"),
    ("psync, read 128 KiB", "--rw=read --bs=128k"),
    ("psync, write 1 MiB", "--rw=write --bs=1m"),
    ("mmap, random read 4 KiB", "--rw=randread --ioengine=mmap"),
    ("psync, random read 4 KiB, O_DIRECT", "--rw=randread --direct=1"),
    (
        "libaio, random read 4 KiB, depth 32, O_DIRECT",
        "--rw=randread --direct=1 --ioengine=libaio --iodepth=32",
    ),
    (
        "libaio, random write 4 KiB, depth 16, O_DIRECT",
        "--rw=randwrite --direct=1 --ioengine=libaio --iodepth=16",
    ),
    (
        "io_uring, random read 4 KiB, depth 32, O_DIRECT",
        "--rw=randread --direct=1 --ioengine=io_uring --iodepth=32",
    ),
    ("io_uring, random read 4 KiB, depth 32", "--rw=randread --ioengine=io_uring --iodepth=32"),
];

/// Adds a row for each job. The directory must be on a file system with `O_DIRECT`.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let ours = binary()?;
    for (name, options) in JOBS {
        let mut ratios = Vec::with_capacity(PAIRS);
        for pair in 0..PAIRS {
            let mut fsprism = Command::new(&ours);
            fsprism.arg("fio");
            let fio = Command::new("fio");
            let (ours_per_s, fio_per_s) = if pair % 2 == 0 {
                let fio = rate(fio, options, work)?;
                (rate(fsprism, options, work)?, fio)
            } else {
                (rate(fsprism, options, work)?, rate(fio, options, work)?)
            };
            ratios.push(ours_per_s / fio_per_s);
        }
        let what = format!("fsprism fio / fio, {name}");
        table.judged_ratios(&what, Bound::AtLeast(1.0), &ratios);
    }
    Ok(())
}

/// Operations per second of a job.
fn rate(mut command: Command, options: &str, work: &Path) -> anyhow::Result<f64> {
    command
        .args(["--name=job", "--filename=file", "--size=128m", "--bs=4k", "--invalidate=0"])
        .args(["--runtime=1", "--time_based", "--output-format=json", "--eta=never"])
        .args(options.split(' '))
        .current_dir(work)
        .stderr(Stdio::inherit());
    let done = command.output().context("the program cannot be executed")?;
    let said: Value = serde_json::from_slice(&done.stdout).context("it did not print JSON")?;
    let of = |direction: &str| said["jobs"][0][direction]["iops"].as_f64().unwrap_or(0.0);
    Ok(of("read") + of("write"))
}
