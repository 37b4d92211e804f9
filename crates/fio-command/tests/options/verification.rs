//! Blocks that are verified by threads of their own.

use std::fs;

use super::{directory, done};

const JOB: &str = "--size=256k --verify=crc32c --verify_state_save=0";

#[test]
fn threads_find_what_the_job_would_find() {
    let place = directory();
    for options in ["--rw=randwrite", "--rw=randwrite --verify_backlog=8", "--rw=read"] {
        let options = format!("{JOB} {options} --verify_async=2 --verify_async_cpus=0");
        assert_eq!(done(place.path(), &options).job()["read"]["total_ios"], 64, "{options}");
    }
    let file = place.path().join("job.0.0");
    let mut content = fs::read(&file).expect("a file");
    for block in [3, 20, 21] {
        content[block * 4096 + 1000] ^= 1;
    }
    fs::write(&file, content).expect("a file");
    for threads in ["", "--verify_async=1", "--verify_async=3"] {
        let options = format!("{JOB} --rw=read {threads}");
        let failed = done(place.path(), &options);
        assert_eq!((failed.status, failed.shown()["error"].as_i64()), (1, Some(84)), "{threads}");
        let went_on = done(place.path(), &format!("{options} --continue_on_error=verify"));
        assert_eq!(went_on.job()["total_err"], 3, "{threads}");
        assert_eq!(went_on.err.matches("verify: ").count(), 3, "{}", went_on.err);
    }
}

#[test]
fn what_was_written_to_files_that_are_closed_is_verified() {
    for options in ["", " --verify_backlog=16", " --ioengine=libaio --iodepth=8"] {
        for order in ["write", "randwrite"] {
            let place = directory();
            let jobs = format!(
                "--rw={order} --size=1m --nrfiles=5 --openfiles=2 --verify=crc32c{options}"
            );
            let job = done(place.path(), &jobs).job();
            let counts = ["write", "read"].map(|way| job[way]["total_ios"].as_u64());
            assert_eq!(counts, [Some(255), Some(255)], "{jobs}");
        }
    }
}

#[test]
fn what_an_engine_does_not_move_is_not_looked_at() {
    let place = directory();
    let options = "--ioengine=null --iodepth=16 --rw=randwrite --size=1m --verify=crc32c \
                   --verify_backlog=32";
    let job = done(place.path(), options).job();
    assert_eq!((&job["error"], &job["write"]["total_ios"]), (&0.into(), &256.into()));
}

#[test]
fn blocks_that_are_written_twice_are_verified_without_a_history() {
    for order in ["randwrite --norandommap=1", "write:4096", "randrw --norandommap=1"] {
        let place = directory();
        let options = format!("--rw={order} --size=256k --verify=md5 --experimental_verify=1");
        let job = done(place.path(), &options).job();
        assert_eq!(job["error"], 0, "{order}");
        assert!(job["read"]["total_ios"].as_u64().expect("a number") > 0, "{order}");
    }
}

#[test]
fn mixed_jobs_are_verified_in_any_order() {
    for order in ["rw --nrfiles=3", "rw:4096 --nrfiles=3", "randrw --norandommap=1", "randrw"] {
        let place = directory();
        let options = format!("--rw={order} --size=1m --verify=md5 --iodepth=16 --ioengine=libaio");
        assert_eq!(done(place.path(), &options).job()["error"], 0, "{order}");
    }
}
