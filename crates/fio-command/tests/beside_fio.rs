//! Jobs beside fio 3.33: the same operations, in the same order, on the same files.
//!
//! Both write a log of every operation (`write_iolog`), and both logs must be the same but for the
//! times in them. Skipped where there is no fio of that version.

use std::fs;
use std::path::Path;
use std::process::Command;

use fio_command::{Streams, run};

/// Options of jobs, each of which fio does in one way.
const JOBS: &[&str] = &[
    "--rw=read",
    "--rw=write",
    "--rw=randread",
    "--rw=randwrite --norandommap",
    "--rw=randrw --rwmixread=70",
    "--rw=rw --bs=4k,8k",
    "--rw=randread --bsrange=512-4k",
    "--rw=randwrite --bssplit=4k/50:8k/30:16k/20",
    "--rw=read:4k",
    "--rw=write:-8k --offset=128k --size=64k",
    "--rw=randread:8",
    "--rw=randrw:4 --rw_sequencer=identical",
    "--rw=randread --random_generator=lfsr",
    "--rw=randread --random_generator=tausworthe64",
    "--rw=randread --random_distribution=zipf:1.2 --number_ios=100",
    "--rw=randread --random_distribution=pareto:0.2 --number_ios=100",
    "--rw=randread --random_distribution=normal:20 --number_ios=100",
    "--rw=randread --random_distribution=zoned:60/10:30/20:10/70 --number_ios=100",
    "--rw=randread --percentage_random=40",
    "--rw=randread --randseed=1234",
    "--rw=randread --nrfiles=4",
    "--rw=write --nrfiles=4 --file_service_type=sequential",
    "--rw=randwrite --nrfiles=4 --file_service_type=random:3",
    "--rw=read --nrfiles=8 --openfiles=2",
    "--rw=read --nrfiles=8 --openfiles=2 --ioengine=libaio --iodepth=4",
    "--rw=read --nrfiles=4 --filesize=16k-128k",
    "--rw=write --fsync=4",
    "--rw=randwrite --fdatasync=8",
    "--rw=randread --loops=3",
    "--rw=randwrite --overwrite=1 --loops=2",
    "--rw=randread --io_size=700k",
    "--rw=write --io_size=64k",
    "--rw=write --ioengine=sync",
    "--rw=randrw --ioengine=vsync --iodepth=4",
    "--rw=randread --ioengine=pvsync2",
    "--rw=randread --ioengine=libaio --iodepth=8 --direct=1",
    "--rw=randwrite --ioengine=libaio --iodepth=8 --iodepth_batch=4",
    "--rw=randwrite --ioengine=libaio --iodepth=1 --fsync=5",
    "--rw=randread --ioengine=io_uring --iodepth=8",
    "--rw=randread --ioengine=posixaio --iodepth=4",
    "--rw=read --ioengine=mmap",
    "--rw=write --ioengine=splice --bs=64k",
    "--rw=randwrite --verify=crc32c --verify_state_save=0",
    "--rw=randwrite --verify=md5 --verify_backlog=8 --verify_state_save=0",
    "--rw=randwrite --verify=crc32c --experimental_verify=1 --verify_state_save=0",
];

/// The lines of a log without their times.
fn operations(log: &Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let without_time = |line: &str| match line.split_once(' ') {
        Some((time, rest)) if time.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
        Some(_) | None => line.to_owned(),
    };
    text.lines().map(without_time).collect()
}

fn arguments(options: &str, directory: &Path, log: &Path) -> Vec<String> {
    let fixed = [
        "--name=job".to_owned(),
        "--size=256k".to_owned(),
        format!("--directory={}", directory.display()),
        format!("--write_iolog={}", log.display()),
        "--output-format=json".to_owned(),
        "--eta=never".to_owned(),
    ];
    fixed.into_iter().chain(options.split(' ').map(str::to_owned)).collect()
}

fn has_fio() -> bool {
    let version = Command::new("fio").arg("--version").output();
    version.is_ok_and(|said| said.stdout.starts_with(b"fio-3.33"))
}

#[test]
fn operations_are_those_of_fio() {
    if !has_fio() {
        eprintln!("skipped: fio 3.33 is not installed");
        return;
    }
    let mut wrong = Vec::new();
    for options in JOBS {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let (theirs, ours) = (place.path().join("theirs.log"), place.path().join("ours.log"));
        let directory = place.path().join("files");
        fs::create_dir(&directory).expect("a directory");
        let done = Command::new("fio").args(arguments(options, &directory, &theirs)).output();
        let done = done.expect("fio was there a moment ago");
        fs::remove_dir_all(&directory).expect("nobody uses it");
        fs::create_dir(&directory).expect("a directory");
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut streams = Streams { out: &mut out, err: &mut err, is_terminal: false };
        let status = run(&arguments(options, &directory, &ours), &mut streams);
        let (mut said, mut told) = (operations(&theirs), operations(&ours));
        if options.contains("verify") {
            // fio closes files between writing and verifying, and logs it after the next opening.
            let moves_bytes = |line: &String| line.split(' ').count() == 4;
            said.retain(moves_bytes);
            told.retain(moves_bytes);
        }
        if done.status.code() != Some(i32::from(status)) || said != told || said.len() < 3 {
            let first = said.iter().zip(&told).position(|(one, other)| one != other);
            wrong.push(format!(
                "{options}: status {:?} and {status}, {} and {} lines, first differing at \
                 {first:?}: {}",
                done.status.code(),
                said.len(),
                told.len(),
                String::from_utf8_lossy(&err)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
