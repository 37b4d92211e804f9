//! What a choice costs. Prints, and asserts nothing about, time.
//!
//! ```sh
//! cargo test --release -p fsprism-job-offsets --test fio -- --ignored cost --nocapture
//! ```

use std::hint::black_box;

use job_offsets::{Choice, ZipfSampler};
use rustix::time::{ClockId, clock_gettime};

use super::job::{Job, Own};

/// How many choices are timed together: as many as fill a map of 4 GiB.
const CHOICES: u32 = 1 << 20;

/// How often. The lowest and the median cost are printed.
const CHUNKS: usize = 15;

fn cost_ns(own: &mut Own) -> f64 {
    let (start, mut transfers) = (cpu_ns(), 0);
    while transfers < CHOICES {
        match own.chooser.next(&mut own.table) {
            Choice::Transfer(next) => transfers += u32::from(black_box(next.length_bytes) > 0),
            Choice::PassEnd => assert!(own.chooser.begin_pass(&mut own.table)),
            Choice::Sync { .. } | Choice::Wait => {}
        }
    }
    (cpu_ns() - start) / f64::from(transfers)
}

/// How long this thread has been executed.
fn cpu_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

#[test]
#[ignore = "takes a while, and belongs in a release build"]
fn cost_of_a_choice() {
    let jobs = [
        "rw=read bs=4k size=4g",
        "rw=rw bs=4k size=4g",
        "rw=read:4k bs=4k size=4g",
        "rw=randread bs=4k size=4g norandommap=1",
        "rw=randread bs=4k size=4g",
        "rw=randrw bs=4k size=4g",
        "rw=randread bs=4k size=64g",
        "rw=randread bs=4k size=4g random_generator=lfsr",
        "rw=randread bs=4k size=4g random_generator=tausworthe64",
        "rw=randread bsrange=4k-64k size=4g norandommap=1",
        "rw=randread bssplit=4k/10:64k/50:32k/40 size=4g norandommap=1",
        "rw=randread bs=4k size=4g random_distribution=zipf:1.2",
        "rw=randread bs=4k size=4g random_distribution=pareto:0.2",
        "rw=randread bs=4k size=4g random_distribution=normal:20",
        "rw=randread bs=4k size=4g random_distribution=zoned:60/10:40/90",
        "rw=randread bs=4k size=4g nrfiles=4",
    ];
    for sampler in [ZipfSampler::Approximate, ZipfSampler::Exact] {
        for options in jobs {
            if sampler == ZipfSampler::Exact && !options.contains("zipf") {
                continue;
            }
            let job = Job(format!("{options} time_based=1"));
            let mut own = Own::with_sampler(&job, 0, sampler).unwrap();
            assert!(own.chooser.begin_pass(&mut own.table));
            let mut costs: Vec<f64> = (0..CHUNKS).map(|_| cost_ns(&mut own)).collect();
            costs.sort_by(f64::total_cmp);
            let (least, median) = (costs[0], costs[costs.len() / 2]);
            println!("{least:6.1} to {median:6.1} ns  {options} {sampler:?}");
        }
    }
}
