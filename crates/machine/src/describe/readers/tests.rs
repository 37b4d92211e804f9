//! Tests of the readers: parsing on machines made of files, and counters that advance on this
//! machine.

use std::fs;
use std::io::Write;

use super::*;
use crate::describe::device_below;
use crate::describe::fixture::Fixture;

#[test]
fn a_reader_sees_the_file_anew() {
    let machine = Fixture::new(&[("proc/stat", "cpu  1 2 3 4 5 6 7 8 1 1\ncpu0 9\n")]);
    let reader = CpuTimesReader::open_in(&machine.sources()).unwrap();
    let earlier = reader.read().unwrap();
    assert_eq!(earlier.steal_ns, 8 * reader.tick_ns);
    assert_eq!(earlier.total_ns, 36 * reader.tick_ns);
    machine.add(&[("proc/stat", "cpu  1 2 3 14 5 6 7 18 1 1\n")]);
    let passed = reader.read().unwrap() - earlier;
    assert_eq!((passed.steal_ns, passed.total_ns), (10 * reader.tick_ns, 20 * reader.tick_ns));
}

#[test]
fn malformed_counters_are_errors_that_name_the_file() {
    for content in ["", "cpu", "cpu  1 2 3", "cpu  1 2 x 4 5 6 7 8", "cpu  99999999999999999999"] {
        let machine = Fixture::new(&[("proc/stat", content)]);
        let error = CpuTimesReader::open_in(&machine.sources()).unwrap().read().unwrap_err();
        assert!(error.to_string().contains("/proc/stat"), "{content:?}: {error}");
    }
    let huge = format!("cpu  {0} {0} 0 0 0 0 0 0\n", u64::MAX);
    let machine = Fixture::new(&[("proc/stat", &huge), ("proc/self/io", "read_bytes: -1\n")]);
    assert!(CpuTimesReader::open_in(&machine.sources()).unwrap().read().is_err());
    assert!(ProcessCounterReader::open_in(&machine.sources()).unwrap().read().is_err());
}

#[test]
fn device_counters_of_three_generations_of_kernels() {
    let eleven = "    10 1 20 3 40 4 80 7 6 90 11";
    let found = device_counters(eleven).unwrap();
    assert_eq!(in_flight(eleven), Some(6));
    assert_eq!((found.reads, found.read_bytes), (10, 20 * 512));
    assert_eq!((found.writes, found.written_bytes), (40, 80 * 512));
    assert_eq!((found.io_ms, found.discards, found.flushes), (90, None, None));
    let fifteen = device_counters(&format!("{eleven} 5 6 7 8")).unwrap();
    assert_eq!((fifteen.discards, fifteen.flushes), (Some(5), None));
    let seventeen = device_counters(&format!("{eleven} 5 6 7 8 9 10\n")).unwrap();
    assert_eq!((seventeen.discards, seventeen.flushes), (Some(5), Some(9)));
    assert_eq!(device_counters("1 2 3 4 5 6 7 8 9 10"), None);
    assert_eq!(device_counters(&eleven.replace("80", "18446744073709551615")), None);
}

#[test]
fn throttling_is_summed_along_the_path() {
    let machine = Fixture::new(&[
        ("proc/self/cgroup", "0::/a/b\n"),
        ("proc/self/mountinfo", "1 0 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpu\n"),
        ("sys/fs/cgroup/cpu.stat", "usage_usec 9\n"),
        ("sys/fs/cgroup/a/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 500\n"),
        ("sys/fs/cgroup/a/b/cpu.stat", "nr_periods 4\nnr_throttled 1\nthrottled_usec 20\n"),
    ]);
    let found = ThrottleReader::open_in(&machine.sources()).read().unwrap();
    assert_eq!(found, ThrottleCounters { throttled: 4, throttled_ns: 520_000 });
}

#[test]
fn version_1_tells_throttled_time_in_nanoseconds() {
    let machine = Fixture::new(&[
        ("proc/self/cgroup", "1:cpu,cpuacct:/\n0::/\n"),
        ("proc/self/mountinfo", "1 0 0:9 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"),
        ("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 1\nnr_throttled 2\nthrottled_time 777\n"),
    ]);
    let found = ThrottleReader::open_in(&machine.sources()).read().unwrap();
    assert_eq!(found, ThrottleCounters { throttled: 2, throttled_ns: 777 });
    let nothing = ThrottleReader::open_in(&Fixture::new(&[]).sources()).read().unwrap();
    assert_eq!(nothing, ThrottleCounters::default());
}

#[test]
fn pressure_is_in_nanoseconds() {
    let line = |key: &str, total: u64| format!("{key} avg10=0.00 avg60=0.13 total={total}\n");
    let machine = Fixture::new(&[
        ("proc/pressure/cpu", &line("some", 1)),
        ("proc/pressure/memory", &(line("some", 2) + &line("full", 3))),
        ("proc/pressure/io", &(line("some", 4) + &line("full", 5))),
    ]);
    let found = PressureReader::open_in(&machine.sources()).unwrap().read().unwrap();
    let expected = PressureCounters {
        cpu_some_ns: 1_000,
        memory_some_ns: 2_000,
        memory_full_ns: 3_000,
        io_some_ns: 4_000,
        io_full_ns: 5_000,
    };
    assert_eq!(found, expected);
    assert!(PressureReader::open_in(&Fixture::new(&[]).sources()).is_err());
}

#[test]
fn a_missing_device_is_named() {
    let error = DeviceCounterReader::open(4095, 77).unwrap_err();
    assert!(matches!(error, DescribeError::NoSuchDevice { .. }));
    assert!(error.to_string().contains("4095:77"), "{error}");
}

#[test]
fn this_machines_time_passes() {
    let reader = CpuTimesReader::open().unwrap();
    let earlier = reader.read().unwrap();
    let mut later = earlier;
    while later == earlier {
        later = reader.read().unwrap();
    }
    assert!((later - earlier).total_ns > 0);
    ThrottleReader::open().read().unwrap();
}

/// Writes a file through to its device, and finds the write in the device's and our own counters.
#[test]
fn a_synced_write_is_counted() {
    let name = format!("fsprism-counters-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut file = fs::File::create(&path).unwrap();
    let device = device_below(&path).unwrap();
    let Some(device) = device else {
        fs::remove_file(&path).unwrap();
        eprintln!("skipped: a_synced_write_is_counted: a temporary directory on a block device");
        return;
    };
    let number = device.major_minor;
    let on_device = DeviceCounterReader::open(number.major, number.minor).unwrap();
    let of_process = ProcessCounterReader::open().unwrap();
    let earlier = (on_device.read().unwrap(), of_process.read().unwrap());
    file.write_all(&vec![7; 1 << 20]).unwrap();
    file.sync_all().unwrap();
    let (device, process) =
        (on_device.read().unwrap() - earlier.0, of_process.read().unwrap() - earlier.1);
    fs::remove_file(&path).unwrap();
    assert!(device.writes > 0 && device.written_bytes >= 1 << 20, "{device:?}");
    assert!(process.write_bytes >= 1 << 20, "{process:?}");
}
