//! Priorities of single operations.

use serde_json::Value;

use super::{directory, done};

/// Classes, levels and how many operations had them.
fn priorities(job: &Value, way: &str) -> Vec<[u64; 3]> {
    let all = job[way]["prios"].as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_u64().expect("a number");
    let of = |one: &Value| {
        [number(&one["prioclass"]), number(&one["prio"]), number(&one["clat_ns"]["N"])]
    };
    all.iter().map(of).collect()
}

#[test]
fn operations_have_the_priorities_that_fio_gives_them() {
    for engine in ["libaio", "io_uring"] {
        let place = directory();
        let of = |options: &str| {
            let fixed = format!("--ioengine={engine} --iodepth=4 --size=1m");
            done(place.path(), &format!("{fixed} {options}")).job()
        };
        // The counts are those of fio 3.33.
        let job = of("--rw=randread --cmdprio_percentage=50 --cmdprio_class=3 --prio=3");
        assert_eq!(priorities(&job, "read"), [[2, 3, 125], [3, 0, 131]], "{engine}");
        let job = of("--rw=randrw --bssplit=4k/50:8k/50 \
             --cmdprio_bssplit=4k/30/3/2:4k/20/2/7:8k/10 --cmdprio_class=2 --cmdprio=1");
        let reads = [[0, 0, 54], [3, 2, 22], [2, 7, 15], [2, 1, 2]];
        assert_eq!(priorities(&job, "read"), reads, "{engine}");
        let writes = [[0, 0, 73], [3, 2, 14], [2, 7, 10], [2, 1, 2]];
        assert_eq!(priorities(&job, "write"), writes, "{engine}");
        let job = of("--rw=randread --cmdprio_percentage=0 --cmdprio_class=3");
        assert_eq!(priorities(&job, "read"), Vec::<[u64; 3]>::new(), "{engine}");
    }
}

#[test]
fn priorities_that_contradict_each_other_are_refused() {
    let place = directory();
    let both = "--ioengine=libaio --size=64k --cmdprio_percentage=5 --cmdprio_bssplit=4k/5";
    let refused = done(place.path(), both);
    assert_eq!(refused.status, 1);
    assert!(refused.err.contains("only one of the two can count"), "{}", refused.err);
    let other = done(place.path(), "--ioengine=psync --size=64k --cmdprio_percentage=5");
    assert_eq!(other.status, 1);
    assert!(other.err.contains("libaio"), "{}", other.err);
}
