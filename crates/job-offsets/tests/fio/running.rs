//! Choices held to those of a fio that is installed, for jobs with options at random.
//!
//! ```sh
//! export JOBS=500 SEED=1
//! cargo test -p fsprism-job-offsets --test fio -- --ignored random_jobs --nocapture
//! ```

use std::env;

use job_offsets::Tausworthe88;

use super::job::{Event, Job};

/// How many events of each clone are compared.
const MOST: usize = 1200;

/// Alternatives for each option; an empty one leaves it out. Early ones come up as often as late
/// ones.
const OPTIONS: &[&[&str]] = &[
    &[
        "rw=read",
        "rw=write",
        "rw=rw",
        "rw=trim",
        "rw=randread",
        "rw=randwrite",
        "rw=randrw",
        "rw=randrw",
        "rw=randread",
        "rw=randwrite",
        "rw=trimwrite",
        "rw=randtrimwrite",
        "rw=randread:3",
        "rw=randwrite:7",
        "rw=randrw:2",
        "rw=read:4k",
        "rw=write:-4k",
        "rw=rw:12k",
        "rw=read:-16k",
        "rw=randtrim",
    ],
    &[
        "bs=4k",
        "bs=4k",
        "bs=4k",
        "bs=512",
        "bs=16k",
        "bs=4k,8k",
        "bs=8k,4k,2k",
        "bs=3000",
        "bsrange=1k-8k",
        "bsrange=4k-16k,2k-32k",
        "bsrange=1000-9000",
        "bsrange=512-64k",
        "bssplit=4k/10:64k/50:32k/40",
        "bssplit=1k:2k/30:8k,4k/50:12k/50",
        "bssplit=4k/60:8k/60",
        "bssplit=512/1:1k/98:8k/1",
    ],
    &[
        "size=100k",
        "size=1m",
        "size=3m",
        "size=777k",
        "size=1000000",
        "size=64k",
        "size=4m",
        "size=1234567",
    ],
    &["", "", "", "io_size=50k", "io_size=900k", "io_size=5m"],
    &["", "", "", "offset=64k", "offset=1m", "offset=10000", "offset=4k"],
    &["", "", "", "nrfiles=2", "nrfiles=4", "nrfiles=7"],
    &["", "", "", "openfiles=1", "openfiles=2"],
    &[
        "",
        "",
        "",
        "file_service_type=random",
        "file_service_type=random:3",
        "file_service_type=roundrobin:5",
        "file_service_type=sequential",
        "file_service_type=zipf:1.3",
        "file_service_type=pareto:0.4:0.3",
        "file_service_type=normal:30",
    ],
    &[
        "",
        "",
        "",
        "",
        "random_distribution=zipf:1.2",
        "random_distribution=zipf:0.5:0.9",
        "random_distribution=pareto:0.2",
        "random_distribution=pareto:0.6:0.1",
        "random_distribution=normal:30",
        "random_distribution=normal:1:0.1",
        "random_distribution=zoned:60/10:30/20:8/30:2/40",
        "random_distribution=zoned:50/50:50",
        "random_distribution=zoned_abs:60/10k:40/30k",
    ],
    &[
        "",
        "",
        "",
        "",
        "random_generator=lfsr",
        "random_generator=lfsr",
        "random_generator=tausworthe64",
        "random_generator=tausworthe",
    ],
    &["", "", "", "norandommap=1"],
    &["", "", "", "percentage_random=50", "percentage_random=20,80", "percentage_random=0"],
    &["", "", "rwmixread=10", "rwmixread=77", "rwmixread=100", "rwmixread=0"],
    &["", "", "rw_sequencer=identical"],
    &["", "", "", "loops=2", "loops=3"],
    &["", "", "", "", "time_based=1"],
    &["", "", "", "", "number_ios=17", "number_ios=100"],
    &["", "", "", "", "numjobs=2", "numjobs=3"],
    &["", "", "randseed=1", "randseed=99999999999"],
    &["", "", "", "allrandrepeat=1"],
    &["", "", "", "", "ba=2k", "ba=8k", "ba=512"],
    &["", "", "", "", "bs_unaligned=1"],
    &["", "", "", "", "bs_is_seq_rand=1"],
    &["", "", "", "", "fsync=3", "fdatasync=10", "fsync=4"],
    &["", "", "", "", "iodepth=4", "iodepth=16"],
];

fn random_job(random: &mut Tausworthe88) -> Job {
    let mut options = vec!["runtime=3".to_owned()];
    for alternatives in OPTIONS {
        let at = random.draw() as usize % alternatives.len();
        options.push(alternatives[at].to_owned());
    }
    let clones = options.iter().any(|option| option.starts_with("numjobs"));
    if clones && random.draw().is_multiple_of(2) {
        options.push("offset_increment=36k".to_owned());
    }
    if options.iter().any(|option| option.starts_with("randseed"))
        && random.draw().is_multiple_of(2)
    {
        options.push("randrepeat=0".to_owned());
    }
    options.retain(|option| !option.is_empty());
    // Syncs in flight count as transfers when fio looks, which what it prints does not show.
    let has = |name: &str| options.iter().any(|option| option.contains(name));
    if has("sync=") && has("iodepth=") {
        options.retain(|option| !option.starts_with("number_ios"));
    }
    let is_trim = options.iter().any(|option| option.contains("trim"));
    if !is_trim && random.draw().is_multiple_of(3) {
        with_files(&mut options, random);
    }
    Job(options.join(" "))
}

/// The same on files: one that exists, or some that fio makes.
fn with_files(options: &mut Vec<String>, random: &mut Tausworthe88) {
    const OF_ONE: &[&[&str]] = &[
        &["@file=8m"],
        &["", "size=50%", "size=1m", "size=33%", "size=3m"],
        &["", "offset=10%", "offset=1m", "offset=33%", "offset=4k"],
        &["", "", "offset_align=64k"],
    ];
    const OF_SOME: &[&[&str]] = &[
        &["@folder=1"],
        &["size=1m", "size=2m", "filesize=256k", "filesize=64k-1m", "filesize=100k-200k"],
    ];
    let is_one = random.draw().is_multiple_of(2);
    let (added, replaced): (_, &[&str]) = if is_one {
        (OF_ONE, &["nrfiles=", "openfiles=", "size=", "offset="])
    } else {
        (OF_SOME, &["size=", "numjobs=", "offset_increment="])
    };
    options.retain(|option| !replaced.iter().any(|name| option.starts_with(name)));
    for alternatives in added {
        options.push(alternatives[random.draw() as usize % alternatives.len()].to_owned());
    }
    options.retain(|option| !option.is_empty());
}

#[test]
#[ignore = "needs fio 3.33"]
fn random_jobs() {
    let number =
        |name, default: u32| env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let mut random = Tausworthe88::new(number("SEED", 1));
    let (mut compared, mut choices, mut refused, mut failures) = (0, 0, 0, Vec::new());
    for _ in 0..number("JOBS", 100) {
        let job = random_job(&mut random);
        let clones = job.events_of_fio(MOST);
        if clones.len() < job.clones() as usize {
            // Those that have no choices are not seen.
            let own = (0..job.clones()).filter(|clone| !job.choices(*clone, 1).is_empty());
            let (own, of_fio) = (own.count(), clones.len());
            if own != of_fio {
                failures.push(format!("{}: {own} clones, fio {of_fio}", job.0));
            }
            refused += 1;
            continue;
        }
        compared += 1;
        for (clone, events) in (0..).zip(&clones) {
            choices += events.iter().filter(|event| matches!(event, Event::Chosen(_))).count();
            if let Err(difference) = job.follow(clone, events) {
                failures.push(format!("{} clone {clone}, {difference}", job.0));
            }
            if events.len() < MOST && !job.is_time_based() {
                let chosen = events.iter().filter(|event| matches!(event, Event::Chosen(_)));
                let own = job.choices(clone, 2 * MOST).len();
                let of_fio = chosen.count();
                if own != of_fio && !job.is_queued() {
                    failures.push(format!("{} clone {clone}: {own}, fio {of_fio}", job.0));
                }
            }
        }
    }
    println!("{compared} jobs, {choices} choices compared; fio chose nothing in {refused}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
