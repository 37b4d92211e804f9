//! What this process is allowed to do, as far as it can be determined without side effects.

use std::io;

use record::machine::{CgroupVersion, Kernel, Permission, Permissions};
use rustix::fs::Access;

use super::cgroup::{Controller, Hierarchies};
use super::parse::field;
use super::probes;
use super::sources::Reader;

/// The capabilities that matter for measuring, with their bit (`linux/capability.h`), sorted by
/// name.
const CAPABILITIES: [(&str, u32); 11] = [
    ("CAP_BPF", 39),
    ("CAP_CHECKPOINT_RESTORE", 40),
    ("CAP_DAC_OVERRIDE", 1),
    ("CAP_DAC_READ_SEARCH", 2),
    ("CAP_IPC_LOCK", 14),
    ("CAP_MKNOD", 27),
    ("CAP_PERFMON", 38),
    ("CAP_SYS_ADMIN", 21),
    ("CAP_SYS_NICE", 23),
    ("CAP_SYS_PTRACE", 19),
    ("CAP_SYS_RESOURCE", 24),
];

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

pub(crate) fn permissions(reader: &Reader<'_>, kernel: &Kernel) -> Permissions {
    let status = reader.text("/proc/self/status").unwrap_or_default();
    let capabilities = capabilities(&status);
    let administrator = capabilities.iter().any(|name| name == "CAP_SYS_ADMIN");
    let root = effective_user(&status) == Some(0);
    let how = if root { "start the container with --cap-add SYS_ADMIN" } else { "run as root" };
    Permissions {
        root,
        mount: mount(administrator, how),
        loop_devices: loop_devices(reader, administrator, how),
        drop_caches: writable(reader, DROP_CACHES),
        cgroup_memory: cgroup(reader, &["memory"]),
        cgroup_io: cgroup(reader, &["blkio", "io"]),
        io_uring: io_uring(reader, kernel, administrator),
        cachestat: cachestat(reader, kernel),
        mincore: tried(reader, "mincore", probes::mincore),
        fiemap: tried(reader, "FIEMAP", probes::fiemap),
        read_ahead: read_ahead(reader),
        perf_event_paranoid: reader.value("/proc/sys/kernel/perf_event_paranoid"),
        hardware_counters: hardware_counters(reader),
        capabilities,
    }
}

/// The effective user ID: the second number of `Uid:` (real, effective, saved, file system).
fn effective_user(status: &str) -> Option<u32> {
    field(status, "Uid")?.split_whitespace().nth(1)?.parse().ok()
}

fn capabilities(status: &str) -> Vec<String> {
    let effective = field(status, "CapEff").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    let effective = effective.unwrap_or_default();
    CAPABILITIES
        .iter()
        .filter(|(_, bit)| effective >> bit & 1 == 1)
        .map(|&(name, _)| name.to_owned())
        .collect()
}

/// `how` says how to get the capability.
fn mount(administrator: bool, how: &str) -> Permission {
    if administrator {
        Permission::Granted
    } else {
        denied(format!("mounting needs CAP_SYS_ADMIN; {how}"))
    }
}

fn loop_devices(reader: &Reader<'_>, administrator: bool, how: &str) -> Permission {
    if !reader.exists("/dev/loop-control") {
        denied(
            "/dev/loop-control does not exist; load the module `loop`, or give the container \
            access to it",
        )
    } else if !administrator {
        denied(format!("attaching loop devices needs CAP_SYS_ADMIN; {how}"))
    } else {
        writable(reader, "/dev/loop-control")
    }
}

/// Whether the file exists and is writable.
fn writable(reader: &Reader<'_>, path: &str) -> Permission {
    match rustix::fs::access(reader.sources().path(path), Access::WRITE_OK) {
        Ok(()) => Permission::Granted,
        Err(error) => denied(format!("{path} cannot be written: {error}")),
    }
}

/// Whether a group with one of these controllers can be created: some hierarchy has the controller,
/// and a directory on the way up from our own group is writable.
fn cgroup(reader: &Reader<'_>, names: &[&str]) -> Permission {
    let hierarchies = Hierarchies::read(reader);
    let controller = names.iter().find_map(|name| hierarchies.controller(reader, name));
    let name = names.join(" or ");
    match controller {
        None => denied(format!("no mounted control group hierarchy has the {name} controller")),
        Some(controller) if can_make_group(reader, &controller) => Permission::Granted,
        Some(_) => denied(format!(
            "none of this process's control groups with the {name} controller can be written"
        )),
    }
}

fn can_make_group(reader: &Reader<'_>, controller: &Controller) -> bool {
    controller.directories.iter().any(|directory| {
        let writable = |path| rustix::fs::access(path, Access::WRITE_OK).is_ok();
        let directory = reader.sources().path(directory);
        // In version 2 the controller must also be enabled for the new group.
        writable(directory.clone())
            && (controller.version == CgroupVersion::V1
                || writable(directory.join("cgroup.subtree_control")))
    })
}

/// Every device's setting belongs to root; a container may have /sys mounted read-only.
fn read_ahead(reader: &Reader<'_>) -> Permission {
    let settings = "/sys/class/bdi";
    match reader.names(settings).first() {
        Some(name) => writable(reader, &format!("{settings}/{name}/read_ahead_kb")),
        None => denied(format!("{settings} lists no devices")),
    }
}

fn cachestat(reader: &Reader<'_>, kernel: &Kernel) -> Permission {
    match kernel.is_at_least(6, 5) {
        Some(true) => tried(reader, "cachestat", probes::cachestat),
        _ => denied("the kernel is older than 6.5, or its release is unknown"),
    }
}

/// For what can only be found out by trying, since seccomp filters are not visible anywhere. A
/// machine made of files cannot be tried.
fn tried(reader: &Reader<'_>, name: &str, probe: fn() -> io::Result<()>) -> Permission {
    if !reader.sources().is_this_machine() {
        return Permission::Granted;
    }
    match probe() {
        Ok(()) => Permission::Granted,
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            denied(format!("the kernel has no {name}, or a system-call filter hides it"))
        }
        Err(error) => denied(format!("the kernel or a filter refuses {name} ({error})")),
    }
}

fn io_uring(reader: &Reader<'_>, kernel: &Kernel, administrator: bool) -> Permission {
    match io_uring_by_setting(reader, kernel, administrator) {
        Permission::Granted => tried(reader, "io_uring", system_calls::try_io_uring),
        denied @ Permission::Denied { .. } => denied,
    }
}

/// The sysctl exists since Linux 6.6: 0 allows everyone, 1 only `CAP_SYS_ADMIN`, 2 nobody.
fn io_uring_by_setting(reader: &Reader<'_>, kernel: &Kernel, administrator: bool) -> Permission {
    let disabled: Option<u32> = reader.value("/proc/sys/kernel/io_uring_disabled");
    match (disabled, kernel.is_at_least(5, 1)) {
        (Some(0), _) => Permission::Granted,
        (Some(1), _) if administrator => Permission::Granted,
        (Some(1), _) => denied("kernel.io_uring_disabled is 1: it needs CAP_SYS_ADMIN"),
        (Some(_), _) => denied("kernel.io_uring_disabled is 2; set it to 0 with sysctl"),
        (None, Some(true)) => Permission::Granted,
        (None, _) => denied("the kernel is older than 5.1, or its release is unknown"),
    }
}

/// Whether the processor's counters have a driver: `cpu` on x86, `cpu_core` and `cpu_atom` on
/// hybrid x86, `armv8_...` on ARM.
fn hardware_counters(reader: &Reader<'_>) -> Option<bool> {
    let names = reader.names("/sys/bus/event_source/devices");
    let counts = |name: &String| {
        matches!(name.as_str(), "cpu" | "cpu_core" | "cpu_atom") || name.starts_with("armv")
    };
    (!names.is_empty()).then(|| names.iter().any(counts))
}

fn denied(reason: impl Into<String>) -> Permission {
    Permission::Denied { reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    const ADMINISTRATOR: (&str, &str) =
        ("proc/self/status", "Uid:\t1000\t0\t0\t0\nCapEff:\t000001fffeffffff\n");
    const USER: (&str, &str) =
        ("proc/self/status", "Uid:\t0\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");

    fn permissions_of(files: &[(&str, &str)]) -> Permissions {
        let release = Some("6.1.0".to_owned());
        let kernel = Kernel { release, ..Kernel::default() };
        let machine = Fixture::new(files);
        permissions(&Reader::new(&machine.sources()), &kernel)
    }

    fn reason(permission: &Permission) -> &str {
        match permission {
            Permission::Denied { reason } => reason,
            Permission::Granted => panic!("it is granted"),
        }
    }

    #[test]
    fn an_administrator_may_do_what_files_allow() {
        let found = permissions_of(&[
            ADMINISTRATOR,
            ("dev/loop-control", ""),
            ("proc/sys/vm/drop_caches", "0"),
            ("proc/self/cgroup", "2:memory:/\n0::/a\n"),
            (
                "proc/self/mountinfo",
                "1 0 0:9 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                 2 0 0:8 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
            ),
            ("sys/fs/cgroup/memory/tasks", ""),
            ("sys/fs/cgroup/unified/cgroup.controllers", "io pids"),
            ("sys/fs/cgroup/unified/a/cgroup.subtree_control", ""),
            ("sys/bus/event_source/devices/cpu_atom/type", "10"),
            ("proc/sys/kernel/perf_event_paranoid", "-1\n"),
        ]);
        assert!(found.root);
        for permission in [
            &found.mount,
            &found.loop_devices,
            &found.drop_caches,
            &found.cgroup_memory,
            &found.cgroup_io,
            &found.io_uring,
        ] {
            assert!(permission.is_granted(), "{found:?}");
        }
        assert!(found.capabilities.contains(&"CAP_SYS_ADMIN".to_owned()));
        assert!(!found.capabilities.contains(&"CAP_SYS_RESOURCE".to_owned()), "bit 24 is not set");
        assert_eq!((found.hardware_counters, found.perf_event_paranoid), (Some(true), Some(-1)));
    }

    #[test]
    fn a_refusal_says_what_is_lacking() {
        let found = permissions_of(&[
            USER,
            ("dev/loop-control", ""),
            ("proc/sys/kernel/io_uring_disabled", "1\n"),
            ("sys/bus/event_source/devices/software/type", "1"),
        ]);
        assert!(!found.root && found.capabilities.is_empty());
        assert!(reason(&found.mount).contains("CAP_SYS_ADMIN; run as root"));
        assert!(reason(&found.loop_devices).contains("CAP_SYS_ADMIN"));
        assert!(reason(&found.drop_caches).contains(DROP_CACHES));
        assert!(reason(&found.cgroup_memory).contains("memory"));
        assert!(reason(&found.cgroup_io).contains("blkio or io"));
        assert!(reason(&found.io_uring).contains("io_uring_disabled is 1"));
        assert_eq!(found.hardware_counters, Some(false));
    }

    #[test]
    fn root_without_the_capability_is_told_of_it() {
        let status = ("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\n");
        let found = permissions_of(&[status, ("dev/loop-control", "")]);
        assert!(found.root);
        for permission in [&found.mount, &found.loop_devices] {
            assert!(reason(permission).contains("CAP_SYS_ADMIN; start the container with"));
        }
    }

    #[test]
    fn io_uring_can_be_off_for_all_and_loop_devices_absent() {
        let disabled = ("proc/sys/kernel/io_uring_disabled", "2\n");
        let found = permissions_of(&[ADMINISTRATOR, disabled]);
        assert!(reason(&found.io_uring).contains("set it to 0"));
        assert!(reason(&found.loop_devices).contains("/dev/loop-control"));
        assert_eq!(found.hardware_counters, None);
    }

    #[test]
    fn what_reads_pages_and_places_depends_on_the_kernel() {
        let found = permissions_of(&[("sys/class/bdi/8:0/read_ahead_kb", "128\n")]);
        assert!(reason(&found.cachestat).contains("older than 6.5"));
        assert!(found.mincore.is_granted() && found.fiemap.is_granted());
        assert!(found.read_ahead.is_granted());
        assert!(reason(&permissions_of(&[]).read_ahead).contains("/sys/class/bdi"));
    }

    #[test]
    fn what_is_tried_is_told_as_the_kernel_answers() {
        let sources = crate::describe::Sources::default();
        let reader = Reader::new(&sources);
        assert!(tried(&reader, "x", || Ok(())).is_granted());
        let hidden = tried(&reader, "x", || Err(io::Error::from_raw_os_error(libc::ENOSYS)));
        assert!(reason(&hidden).contains("hides it"));
        let refused = tried(&reader, "x", || Err(io::Error::from_raw_os_error(libc::EPERM)));
        assert!(reason(&refused).contains("not permitted"));
    }

    #[test]
    fn a_malformed_status_grants_nothing() {
        let found = permissions_of(&[("proc/self/status", "Uid: 0\nCapEff: root\n")]);
        assert!(!found.root && found.capabilities.is_empty());
    }
}
