//! Tests of machine-wide processor time: parsing on machines made of files, and that on this
//! machine it includes other processes.

use std::fs;
use std::process::{Child, Command};

use super::*;
use crate::describe::fixture::Fixture;

const STAT: (&str, &str) = ("proc/stat", "cpu  1 2 3 40 50 6 7 80 1 1\ncpu0 9\n");
const BOTH_VERSIONS: &str = "\
    30 1 0:29 / /groups rw - cgroup2 cgroup2 rw\n\
    31 1 0:30 / /cpuacct rw - cgroup cgroup rw,cpuacct\n";
const SCHEDSTAT: &str = "version 15\ntimestamp 1\n\
    cpu0 0 0 1 2 3 4 5000 6 7\ndomain0 3 0 0 0 0 0 0 9 9 9\n\
    cpu1 0 0 1 2 3 4 700 6 7\n";

fn found(machine: &Fixture) -> (ProcessorTimeSource, u64) {
    let reader = ProcessorTimeReader::open_in(&machine.sources()).expect("/proc/stat is there");
    (reader.source(), reader.read().expect("it is well formed"))
}

/// The files of a machine with every source.
fn with_all() -> Fixture {
    let machine = Fixture::new(&[
        STAT,
        ("proc/self/mountinfo", BOTH_VERSIONS),
        ("proc/schedstat", SCHEDSTAT),
        ("groups/cpu.stat", "usage_usec 21\nuser_usec 20\n"),
        ("cpuacct/cpuacct.usage", "123456789\n"),
    ]);
    machine.link("proc/self/ns/cgroup", FIRST_NAMESPACE);
    machine
}

#[test]
fn the_finest_source_is_taken() {
    let machine = with_all();
    assert_eq!(found(&machine), (ProcessorTimeSource::Cpuacct, 123_456_789));
    machine.add(&[("cpuacct/cpuacct.usage", "")]);
    assert_eq!(found(&machine), (ProcessorTimeSource::Schedstat, 5_700));
    machine.add(&[("proc/schedstat", &SCHEDSTAT.replace("version 15", "version 14"))]);
    assert_eq!(found(&machine), (ProcessorTimeSource::CpuStat, 21_000));
    machine.add(&[("groups/cpu.stat", "user_usec 20\n")]);
    let tick_ns = user_tick_ns();
    assert_eq!(found(&machine), (ProcessorTimeSource::Stat, 19 * tick_ns));
    assert!(ProcessorTimeReader::open_in(&Fixture::new(&[]).sources()).is_err());
}

#[test]
fn a_container_is_not_the_machine() {
    let inside = with_all();
    inside.add(&[("proc/schedstat", "")]);
    fs::remove_file(inside.sources().path("/proc/self/ns/cgroup")).expect("it is ours");
    inside.link("proc/self/ns/cgroup", "cgroup:[4026532201]");
    assert_eq!(found(&inside).0, ProcessorTimeSource::Stat);

    let bound = with_all();
    let part = BOTH_VERSIONS.replace(" / /", " /docker/1 /");
    bound.add(&[("proc/self/mountinfo", &part), ("proc/schedstat", "")]);
    assert_eq!(found(&bound).0, ProcessorTimeSource::Stat);
}

#[test]
fn a_long_schedstat_is_read_to_its_end() {
    let domains = "domain0 3 0 0 0 0 0 0 9 9 9\n".repeat(500);
    let machine = with_all();
    let long = SCHEDSTAT.replace("cpu1", &format!("{domains}cpu1"));
    machine.add(&[("proc/schedstat", &long), ("cpuacct/cpuacct.usage", "")]);
    assert_eq!(found(&machine), (ProcessorTimeSource::Schedstat, 5_700));
}

#[test]
fn malformed_times_are_no_times() {
    for text in ["", "version 15", "version x\ncpu0 1 2 3 4 5 6 7 8 9", "version 15\ncpu0 1 2 3"] {
        assert_eq!(running_ns(text), None, "{text:?}");
    }
    let huge = format!("cpu  {0} {0} 0 0 0 0 0 0", u64::MAX);
    for text in ["", "cpu", "cpu  1 2 3", "cpu  1 2 x 4 5 6 7 8", &huge] {
        assert_eq!(busy_ns(text, 1), None, "{text:?}");
    }
}

/// A process that only spins; killed when dropped.
struct Spinning(Child);

impl Spinning {
    fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("it runs");
        let (_, behind_name) = stat.rsplit_once(')').expect("a name in parentheses");
        behind_name
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|it| it.parse::<u64>().ok())
            .sum()
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn another_process_is_in_it() {
    let reader = ProcessorTimeReader::open().expect("every Linux has /proc/stat");
    let before_ns = reader.read().expect("it is well formed");
    let shell = Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
    let spinning = Spinning(shell.expect("there is a shell"));
    while spinning.ticks() < 20 {
        std::thread::yield_now();
    }
    let passed_ns = reader.read().expect("it is well formed") - before_ns;
    // What it ran since the last tick, or since it was scheduled in, may be missing.
    let least_ns = 10 * user_tick_ns();
    assert!(passed_ns >= least_ns, "{}: {passed_ns} ns", reader.source());
}

#[test]
fn the_asking_thread_is_in_it_up_to_now() {
    let reader = ProcessorTimeReader::open().expect("every Linux has /proc/stat");
    if reader.source().is_sampled() {
        return;
    }
    let own_ns = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).expect("it runs forwards")
    };
    for _ in 0..100 {
        let (all_before_ns, own_before_ns) = (reader.read().expect("it is there"), own_ns());
        while own_ns() - own_before_ns < 100_000 {}
        let own_passed_ns = own_ns() - own_before_ns;
        let all_passed_ns = reader.read().expect("it is there") - all_before_ns;
        assert!(all_passed_ns >= own_passed_ns, "{all_passed_ns} of {own_passed_ns} ns");
    }
}
