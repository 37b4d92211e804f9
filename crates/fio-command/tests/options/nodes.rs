//! Nodes of processors and memory.

use std::path::Path;

use super::{directory, done};

const JOB: &str = "--ioengine=psync --rw=write --size=16k";

#[test]
fn jobs_run_on_nodes() {
    if !Path::new("/sys/devices/system/node/node0").is_dir() {
        eprintln!("skipped: this kernel knows of no nodes");
        return;
    }
    let place = directory();
    for options in ["--numa_cpu_nodes=0", "--numa_cpu_nodes=all", "--numa_mem_policy=default"] {
        done(place.path(), &format!("{JOB} {options}")).job();
    }
    for policy in ["local", "bind:0", "prefer:0", "interleave:0", "interleave"] {
        let policed = done(place.path(), &format!("{JOB} --numa_mem_policy={policy}"));
        // Containers may forbid it.
        if policed.shown()["error"] != 1 {
            policed.job();
        }
    }
}

#[test]
fn nodes_that_are_not_there_are_refused() {
    let place = directory();
    for (options, why) in [
        ("--numa_cpu_nodes=1000", "`numa_cpu_nodes`: "),
        ("--numa_mem_policy=bind:1000", "`numa_mem_policy`: "),
        ("--numa_mem_policy=near", "`near` is none of default, prefer, bind, "),
        ("--numa_cpu_nodes=0 --cpus_allowed=0", "only one of the two can count"),
    ] {
        let refused = done(place.path(), &format!("{JOB} {options}"));
        assert_eq!(refused.status, 1, "{options}");
        assert!(refused.err.contains(why), "{options}: {}", refused.err);
    }
}
