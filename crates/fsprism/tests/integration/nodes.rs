//! Threads that each read their own file, in a guest whose memory has two nodes: which node each
//! file is placed in.

use std::fs;
use std::path::Path;
use std::time::Duration;

use lab::command::Command;
use lab::{Boot, ImageParts, Lab, image, kernel};
use machine::measuring_lock::{MeasuringLock, Purpose};

use crate::guests::lab;
use crate::place::{Place, say_skipped};

/// Long enough even on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(900);
/// Measures, and meanwhile records how much shared memory each node has, which is where the files
/// are. Everything else is on a ramfs, which does not count as shared memory.
const SCRIPT: &str = "mkdir /all && mount -t ramfs all /all && mkdir /all/scratch\n\
    (while :; do cat /sys/devices/system/node/node*/meminfo >>/all/nodes; sleep 0.1; done) &\n\
    /init run nano/scaling tmpfs:size=256m --benchmark read-own-files-by-threads-2 --size 32m \
    --blocks 1 --scratch /all/scratch --out /all/run\n\
    status=$?; kill $!; grep Shmem: /all/nodes >/hand-back/nodes; exit $status\n";
/// Size of each thread's file.
const FILE_KIB: u64 = 1024;

/// How far a node's shared memory rose above its first value, in KiB.
fn grown_kib(notes: &str, node: usize) -> u64 {
    let head = format!("Node {node} Shmem:");
    let kib = notes.lines().filter_map(|line| {
        let value = line.strip_prefix(&head)?.trim().strip_suffix("kB")?;
        value.trim().parse::<u64>().ok()
    });
    let kib: Vec<u64> = kib.collect();
    let first = *kib.first().unwrap_or_else(|| panic!("nothing of node {node}: {notes}"));
    kib.into_iter().max().unwrap_or(0).saturating_sub(first)
}

#[test]
fn a_file_lies_in_the_memory_near_the_thread_that_reads_it() {
    let test = "a_file_lies_in_the_memory_near_the_thread_that_reads_it";
    let place = Place::new();
    let lab = match lab() {
        Ok(lab) => Lab::at(lab),
        Err(why) => return say_skipped(test, why.trim()),
    };
    let kernel = kernel::find(&lab, None).expect("the lab has a kernel");
    let fsprism = Path::new(env!("CARGO_BIN_EXE_fsprism"));
    let parts = ImageParts { kernel: &kernel, program: fsprism, further: &[] };
    let image = image::build(&lab, parts).expect("an image");
    let (processors, nodes, memory_bytes) = (2, 2, 1 << 30);
    let time_limit = TIME_LIMIT;
    let boot = Boot { processors, nodes, memory_bytes, time_limit, ..Boot::new(kernel, image) };
    let command = Command { text: SCRIPT.to_owned(), load: Vec::new() };
    let _lock = MeasuringLock::wait_to(Purpose::Count).expect("the lock can be opened");
    let ran = command.run_into(boot, &place.path("handed")).expect("it comes to its end");
    assert_eq!(ran.status, 0, "{}", String::from_utf8_lossy(&ran.output));
    let notes = fs::read_to_string(place.path("handed/nodes")).expect("text");
    let grown = [0, 1].map(|node| grown_kib(&notes, node));
    assert!(grown.iter().all(|&kib| kib >= FILE_KIB), "KiB of each node: {grown:?}");
}
