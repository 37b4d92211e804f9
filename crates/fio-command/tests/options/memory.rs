//! Memory that buffers are in, that is locked, and that files are mapped to; hints about writes.

use std::fs;

use super::{directory, done};

#[test]
fn buffers_are_in_the_memory_that_is_asked_for() {
    let place = directory();
    for memory in ["malloc", "mmap", "mmapshared", "shm"] {
        let options = format!("--rw=write --size=64k --buffer_pattern=7 --mem={memory}");
        done(place.path(), &options).job();
        let content = fs::read(place.path().join("job.0.0")).expect("a file");
        assert!(content.len() == 65536 && content.iter().all(|byte| *byte == 7), "{memory}");
    }
}

#[test]
fn memory_that_cannot_be_had_is_refused() {
    let place = directory();
    for (options, why) in [
        ("--mem=mmaphuge --bs=1g --iodepth=4000 --size=1g", "`mem`: "),
        ("--mem=shmhuge --hugepage-size=12k", "huge pages"),
        ("--mem=mmap:/dev/shm/buffers", "buffers are not kept in files"),
        ("--mem=cudamalloc", "memory of graphics processors is not supported"),
        ("--lockmem=1p", "it leaves less than 128 MiB to everything else"),
    ] {
        let refused = done(place.path(), &format!("--rw=read --size=64k {options}"));
        assert_eq!(refused.status, 1, "{options}");
        assert!(refused.err.contains(why), "{options}: {}", refused.err);
    }
}

#[test]
fn memory_is_locked_while_a_job_runs() {
    let place = directory();
    let locked = done(place.path(), "--rw=write --size=64k --lockmem=64k");
    // Those who are not root may lock little, or nothing.
    if locked.shown()["error"] != 12 {
        assert_eq!(locked.job()["write"]["io_bytes"], 65536);
    }
}

#[test]
fn files_that_are_mapped_to_huge_pages_are_written_to() {
    let place = directory();
    let options = "--ioengine=mmap --size=64k --buffer_pattern=7 --thp=1 --rw";
    done(place.path(), &format!("{options}=write")).job();
    let content = fs::read(place.path().join("job.0.0")).expect("a file");
    assert!(content.iter().all(|byte| *byte == 7));
    assert_eq!(done(place.path(), &format!("{options}=read")).job()["read"]["io_bytes"], 65536);
}

#[test]
fn the_kernel_is_told_how_long_writes_live() {
    let place = directory();
    for hint in ["none", "short", "medium", "long", "extreme"] {
        done(place.path(), &format!("--rw=write --size=64k --write_hint={hint}")).job();
    }
}
