//! Tests of control group limits, on machines made of files.

use super::*;
use crate::describe::fixture::Fixture;

fn cgroup_of(machine: &Fixture) -> Option<Cgroup> {
    cgroup(&Reader::new(&machine.sources()))
}

fn device(major: u32, minor: u32) -> DeviceNumber {
    DeviceNumber { major, minor }
}

/// A service within a slice, both limited.
fn nested_v2() -> Fixture {
    Fixture::new(&[
        ("proc/self/cgroup", "0::/a.slice/b.service\n"),
        ("proc/self/mountinfo", "1 0 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n"),
        ("sys/fs/cgroup/a.slice/memory.max", "1073741824\n"),
        ("sys/fs/cgroup/a.slice/memory.high", "max\n"),
        ("sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/a.slice/cpuset.cpus.effective", "0-3\n"),
        ("sys/fs/cgroup/a.slice/io.max", "254:0 rbps=1000 wbps=max riops=20 wiops=max\n"),
        ("sys/fs/cgroup/a.slice/b.service/memory.max", "2147483648\n"),
        ("sys/fs/cgroup/a.slice/b.service/memory.high", "536870912\n"),
        ("sys/fs/cgroup/a.slice/b.service/cpu.max", "200000 100000\n"),
        (
            "sys/fs/cgroup/a.slice/b.service/io.max",
            "8:0 rbps=max wbps=max riops=max wiops=max\n\
             254:0 rbps=5000 wbps=70 riops=5 wiops=max\n",
        ),
    ])
}

#[test]
fn the_least_limit_along_the_path_is_the_effective_one() {
    let found = cgroup_of(&nested_v2()).unwrap();
    assert_eq!(found.version, CgroupVersion::V2);
    assert_eq!(found.paths["unified"], "/a.slice/b.service");
    assert_eq!(found.memory_limit_bytes, Some(1 << 30));
    assert_eq!(found.memory_high_bytes, Some(512 << 20));
    assert_eq!(found.cpu_quota_cores, Some(1.5));
    assert_eq!(found.cpuset, Some(vec![0, 1, 2, 3]));
    let limit = IoLimit {
        device: device(254, 0),
        read_bytes_per_s: Some(1000),
        write_bytes_per_s: Some(70),
        reads_per_s: Some(5),
        writes_per_s: None,
    };
    assert_eq!(found.io_limits, [limit]);
}

/// Version 1 controllers, and version 2 mounted without any: systemd's hybrid layout.
fn hybrid() -> Fixture {
    Fixture::new(&[
        (
            "proc/self/cgroup",
            "9:name=systemd:/user\n4:memory:/job/42\n3:blkio:/job\n2:cpuset:/\n\
             1:cpu,cpuacct:/job\n0::/user\n",
        ),
        (
            "proc/self/mountinfo",
            "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
             32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
             34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
             35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
             38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
        ),
        ("sys/fs/cgroup/unified/cgroup.controllers", "\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "67108864\n"),
        ("sys/fs/cgroup/memory/job/42/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-1\n"),
        ("sys/fs/cgroup/blkio/job/blkio.throttle.read_bps_device", "7:1 4096\n254:0 10\n"),
        ("sys/fs/cgroup/blkio/blkio.throttle.read_bps_device", "7:1 1\n"),
    ])
}

#[test]
fn a_hybrid_machine_has_its_limits_in_version_1() {
    let found = cgroup_of(&hybrid()).unwrap();
    assert_eq!(found.version, CgroupVersion::Hybrid);
    assert_eq!(
        (found.paths["cpuacct"].as_str(), found.paths["unified"].as_str()),
        ("/job", "/user")
    );
    assert_eq!(found.paths["systemd"], "/user");
    assert_eq!(found.memory_limit_bytes, Some(64 << 20));
    assert_eq!(found.memory_high_bytes, None);
    assert_eq!(found.cpu_quota_cores, Some(0.5));
    assert_eq!(found.cpuset, Some(vec![0, 1]));
    let read_limits: Vec<_> =
        found.io_limits.iter().map(|limit| (limit.device, limit.read_bytes_per_s)).collect();
    // The root's limit on 7:1 does not apply to the group below it.
    assert_eq!(read_limits, [(device(7, 1), Some(4096)), (device(254, 0), Some(10))]);
}

#[test]
fn what_is_left_is_the_least_of_all_levels_without_what_can_be_thrown_out() {
    let left = |machine: &Fixture| memory_left_bytes(&Reader::new(&machine.sources()));
    let two = nested_v2();
    two.add(&[
        ("sys/fs/cgroup/a.slice/memory.current", "1000000000\n"),
        ("sys/fs/cgroup/a.slice/memory.stat", "anon 5\ninactive_file 7000\nactive_file 3000\n"),
        ("sys/fs/cgroup/a.slice/b.service/memory.current", "2000000000\n"),
    ]);
    assert_eq!(left(&two), Some((1 << 30) - 1_000_000_000 + 10_000));
    let one = hybrid();
    assert_eq!(left(&one), None, "nobody says how much is used");
    one.add(&[
        ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "67000000\n"),
        (
            "sys/fs/cgroup/memory/job/memory.stat",
            "inactive_file 9\ntotal_inactive_file 60000\ntotal_active_file 40000\n",
        ),
        ("sys/fs/cgroup/memory/job/42/memory.usage_in_bytes", "1\n"),
    ]);
    assert_eq!(left(&one), Some((64 << 20) - 66_900_000));
}

#[test]
fn without_limits_there_are_none() {
    let machine = hybrid();
    machine.add(&[
        ("proc/self/cgroup", "4:memory:/\n1:cpu,cpuacct:/\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
    ]);
    let found = cgroup_of(&machine).unwrap();
    assert_eq!((found.memory_limit_bytes, found.cpu_quota_cores), (None, None));
    assert_eq!((found.cpuset, found.io_limits), (None, vec![]));
}

#[test]
fn a_container_sees_part_of_the_hierarchy() {
    let machine = nested_v2();
    machine.add(&[
        ("proc/self/mountinfo", "1 0 0:9 /a.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/b.service/memory.max", "4096\n"),
        ("sys/fs/cgroup/b.service/cpu.max", "max 100000\n"),
    ]);
    let found = cgroup_of(&machine).unwrap();
    assert_eq!((found.memory_limit_bytes, found.cpu_quota_cores), (Some(4096), None));
    // For a group outside of what is mounted, or one that tries to climb out, the mount point is
    // used.
    machine.add(&[("etc/memory.max", "1\n")]);
    for path in ["0::/elsewhere\n", "0::/a.slice/../../../etc\n"] {
        machine.add(&[("proc/self/cgroup", path), ("sys/fs/cgroup/memory.max", "8192\n")]);
        assert_eq!(cgroup_of(&machine).unwrap().memory_limit_bytes, Some(8192), "{path}");
    }
}

#[test]
fn malformed_files_give_no_limits() {
    let machine = nested_v2();
    let at = |file: &str| format!("sys/fs/cgroup/a.slice/{file}");
    machine.add(&[
        ("proc/self/cgroup", "x\n0::/a.slice\n::\n"),
        (&at("memory.max"), "-5\n"),
        (&at("cpu.max"), "5 0\n"),
        (&at("cpuset.cpus.effective"), "9-1\n"),
        (&at("io.max"), "254 rbps=1\n254:0 rbps\n254:0 wat=1\n\n"),
    ]);
    let found = cgroup_of(&machine).unwrap();
    assert_eq!((found.memory_limit_bytes, found.cpu_quota_cores), (None, None));
    assert_eq!((found.cpuset, found.io_limits), (None, vec![]));
}

#[test]
fn without_a_mounted_hierarchy_there_is_nothing() {
    assert_eq!(cgroup_of(&Fixture::new(&[("proc/self/cgroup", "0::/\n")])), None);
}
