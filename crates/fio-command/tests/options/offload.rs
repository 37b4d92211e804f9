//! Operations that threads execute.

use crate::{directory, done};

#[test]
fn threads_do_what_the_job_would_do() {
    for engine in ["psync", "pvsync2", "libaio", "io_uring", "posixaio"] {
        let place = directory();
        let options = "--io_submit_mode=offload --rw=randwrite --size=1m --iodepth=8 --fsync=50 \
                       --nrfiles=3 --openfiles=2 --verify=crc32c";
        let job = done(place.path(), &format!("{options} --ioengine={engine}"));
        // Containers may forbid it.
        if engine == "io_uring" && job.status != 0 && job.err.contains("io_uring_setup") {
            continue;
        }
        let job = job.job();
        assert_eq!(job["error"], 0, "{engine}");
        let counts = ["write", "read"].map(|way| job[way]["total_ios"].as_u64());
        assert_eq!(counts, [Some(255), Some(255)], "{engine}");
        let depth = job["iodepth_level"]["8"].as_f64().expect("a share");
        assert!(depth > 50.0, "{engine}: {depth} % at the full depth");
    }
}

#[test]
fn what_threads_cannot_share_is_refused() {
    let place = directory();
    for (engine, words) in [
        ("mmap", "ioengine=mmap keeps of a file; use psync"),
        ("sync", "use psync"),
        ("io_uring --fixedbufs=1", "`fixedbufs`"),
    ] {
        let options = format!("--io_submit_mode=offload --size=64k --ioengine={engine}");
        let done = done(place.path(), &options);
        assert!(done.status == 1 && done.err.contains(words), "{engine}: {}", done.err);
    }
}
