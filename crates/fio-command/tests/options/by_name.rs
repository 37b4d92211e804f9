//! The engines whose operations are on whole files and directories.

use std::fs;
use std::path::Path;

use super::{directory, done};

/// Names in a directory, those of directories with a slash.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut all: Vec<String> = entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("names are ASCII");
            let is_directory = entry.file_type().expect("a kind").is_dir();
            if is_directory { format!("{name}/") } else { name }
        })
        .collect();
    all.sort();
    all
}

#[test]
fn each_leaves_what_it_says() {
    let directories = ["job.0.0/", "job.0.1/", "job.0.2/"];
    for (engine, after) in [
        ("filecreate", vec!["job.0.0", "job.0.1", "job.0.2"]),
        ("filestat", vec!["job.0.0", "job.0.1", "job.0.2"]),
        ("filedelete", vec![]),
        ("filerename", vec!["job.0.0.renamed", "job.0.1.renamed", "job.0.2.renamed"]),
        ("dircreate", directories.to_vec()),
        ("dirstat", directories.to_vec()),
        ("dirdelete", vec![]),
    ] {
        for (rw, way) in [("read", "read"), ("write", "write"), ("randrw", "read")] {
            let place = directory();
            let options = format!("--ioengine={engine} --rw={rw} --nrfiles=3 --filesize=8k");
            let job = done(place.path(), &options).job();
            assert_eq!(names(place.path()), after, "{engine} {rw}");
            // Two blocks each are counted, but only what was done to a file is timed.
            let issued = ["read", "write"].map(|way| job[way]["total_ios"].as_u64());
            assert_eq!(issued.into_iter().flatten().sum::<u64>(), 6, "{engine} {rw}");
            assert_eq!(job[way]["clat_ns"]["N"], 3, "{engine} {rw}");
            assert_eq!(job[way]["lat_ns"]["N"], 0, "{engine} {rw}");
        }
    }
}

#[test]
fn directories_are_made_and_removed_as_files_are() {
    let common = "--nrfiles=2 --filesize=4k";
    let place = directory();
    done(place.path(), &format!("--ioengine=dircreate --unlink=1 {common}")).job();
    assert_eq!(names(place.path()), Vec::<String>::new());
    done(place.path(), &format!("--ioengine=dirstat --create_only=1 {common}")).job();
    assert_eq!(names(place.path()), ["job.0.0/", "job.0.1/"]);
    // Those that are there are taken.
    done(place.path(), &format!("--ioengine=dirstat --stat_type=statx --loops=3 {common}")).job();
    done(place.path(), &format!("--ioengine=dirdelete {common}")).job();
    assert_eq!(names(place.path()), Vec::<String>::new());
}

#[test]
fn what_cannot_be_done_to_a_directory_fails() {
    let place = directory();
    fs::create_dir(place.path().join("job.0.0")).expect("a directory");
    let made = done(place.path(), "--ioengine=dircreate --filesize=4k");
    assert_eq!((made.status, made.shown()["error"].as_i64()), (1, Some(17)));
    fs::write(place.path().join("job.0.0").join("inside"), "").expect("a file");
    let removed = done(place.path(), "--ioengine=dirdelete --filesize=4k");
    assert_eq!((removed.status, removed.shown()["error"].as_i64()), (1, Some(39)));
}

#[test]
fn files_that_are_renamed_twice_have_their_names_back() {
    let place = directory();
    let job = done(place.path(), "--ioengine=filerename --nrfiles=2 --filesize=4k --loops=2").job();
    assert_eq!(names(place.path()), ["job.0.0", "job.0.1"]);
    assert_eq!(job["read"]["clat_ns"]["N"], 4);
    done(place.path(), "--ioengine=filerename --nrfiles=2 --filesize=4k --unlink=1").job();
    assert_eq!(names(place.path()), Vec::<String>::new());
}

#[test]
fn files_are_removed_between_loops_and_stay_after_the_last() {
    let place = directory();
    let options = "--ioengine=dircreate --filesize=4k --loops=2 --unlink_each_loop=1";
    assert_eq!(done(place.path(), options).job()["read"]["clat_ns"]["N"], 2);
    assert_eq!(names(place.path()), ["job.0.0/"]);
}
