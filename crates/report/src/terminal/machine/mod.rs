//! What `fsprism machine` prints: the facts about a machine in sections, with names on the left.

use record::machine::{
    Cache, CacheKind, Cgroup, CgroupVersion, DirtyLimits, FileSystemSupport, KernelSupport,
    Machine, Permission, Processor,
};

use super::text::{Page, Style};
use crate::units;
use textual::{list, plural};

mod storage;

/// Width of the names, the same in all sections.
const NAME_WIDTH: usize = 20;

/// The sections of a machine; unknown facts are left out.
pub(super) fn render(page: &mut Page, machine: &Machine) {
    section(page, "System", &system(machine));
    section(page, "Processor", &processor(&machine.processor));
    section(page, "Processor caches", &machine.caches.iter().map(cache).collect::<Vec<_>>());
    section(page, "Memory", &memory(machine));
    section(page, "Write-back", &write_back(&machine.dirty_limits));
    for one in &machine.storage {
        section(page, &format!("Storage below {}", one.path), &storage::facts(one, machine));
    }
    if let Some(cgroup) = &machine.cgroup {
        section(page, "Control group", &control_group(cgroup));
    }
    let mitigations = machine.mitigations.iter().filter(|(_, state)| *state != "Not affected");
    let mitigations: Vec<Fact> =
        mitigations.map(|(name, state)| (name.clone(), state.clone())).collect();
    section(page, "Mitigations", &mitigations);
    let file_systems: Vec<Fact> = machine.file_systems.iter().map(file_system).collect();
    section(page, "Scratch targets", &file_systems);
    section(page, "Permitted here", &permissions(machine));
    let unread = machine.unread.iter().map(|file| (file.source.clone(), file.reason.clone()));
    if !machine.unread.is_empty() {
        page.heading("Could not be read");
    }
    for (source, reason) in unread {
        page.item(&format!("{source}: {reason}"), Style::Doubt);
    }
}

/// A name and its text.
pub(super) type Fact = (String, String);

fn section(page: &mut Page, title: &str, facts: &[Fact]) {
    if facts.is_empty() {
        return;
    }
    page.heading(title);
    for (name, text) in facts {
        page.entry(name, NAME_WIDTH, text);
    }
}

/// The fact called `name`, if it is known.
pub(super) fn fact(name: &str, text: Option<impl Into<String>>) -> Option<Fact> {
    let text: String = text?.into();
    (!text.is_empty()).then(|| (name.to_owned(), text))
}

pub(super) fn known_facts<const N: usize>(facts: [Option<Fact>; N]) -> Vec<Fact> {
    facts.into_iter().flatten().collect()
}

fn system(machine: &Machine) -> Vec<Fact> {
    let kernel = &machine.kernel;
    let clock =
        machine.clock_source.current.as_ref().map(|current| {
            format!("{current} (of {})", list(&machine.clock_source.available, "and"))
        });
    known_facts([
        fact("distribution", machine.os_release.pretty_name.clone()),
        fact("kernel", kernel.release.clone()),
        fact("build", kernel.version.clone()),
        fact("architecture", kernel.architecture.clone()),
        fact("kernel parameters", Some(kernel.command_line.join(" "))),
        fact("hypervisor", machine.hypervisor.clone()),
        fact("clock source", clock),
    ])
}

fn processor(processor: &Processor) -> Vec<Fact> {
    let counts = [
        processor.sockets.map(|count| plural(count as usize, "socket")),
        processor.cores.map(|count| plural(count as usize, "core")),
        processor.threads.map(|count| plural(count as usize, "thread")),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let giga = |hertz: u64| format!("{:.2} GHz", hertz as f64 / 1e9);
    let tsc = if processor.tsc_flags.is_empty() {
        None
    } else if processor.has_invariant_tsc() {
        Some("invariant".to_owned())
    } else {
        Some("not invariant, so times come from the kernel's clock".to_owned())
    };
    known_facts([
        fact("model", processor.model.clone()),
        fact("counts", Some(counts.join(", "))),
        fact("usable", Some(ranges(&processor.allowed))),
        fact("base frequency", processor.base_frequency_hz.map(giga)),
        fact("maximum frequency", processor.max_frequency_hz.map(giga)),
        fact("governors", Some(processor.governors.join(", "))),
        fact("time-stamp counter", tsc),
    ])
}

fn cache(cache: &Cache) -> Fact {
    let kind = match cache.kind {
        CacheKind::Data => " data",
        CacheKind::Instruction => " instruction",
        CacheKind::Unified => "",
    };
    let facts = [
        cache.size_bytes.map(units::bytes),
        cache.line_bytes.map(|size| format!("{size}-byte lines")),
        cache.ways.map(|ways| match ways {
            0 => "fully associative".to_owned(),
            ways => plural(ways as usize, "way"),
        }),
        Some(plural(cache.instances as usize, "instance")),
        (cache.shared_by.len() > 1).then(|| format!("shared by {}", ranges(&cache.shared_by))),
    ];
    (format!("L{}{kind}", cache.level), facts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn memory(machine: &Machine) -> Vec<Fact> {
    let memory = &machine.memory;
    let nodes = memory.numa_nodes.map(|nodes| plural(nodes as usize, "node"));
    known_facts([
        fact("total", memory.total_bytes.map(units::bytes)),
        fact("available", memory.available_bytes.map(units::bytes)),
        fact("page", memory.page_bytes.map(units::bytes)),
        fact("huge pages", memory.transparent_hugepage.clone()),
        fact("swap", memory.swap_total_bytes.map(units::bytes)),
        fact("NUMA", nodes),
        fact("swappiness", machine.swappiness.map(|value| value.to_string())),
        fact("vfs_cache_pressure", machine.vfs_cache_pressure.map(|value| value.to_string())),
    ])
}

/// In each pair of a share and a size, the one that is not 0 is in effect.
fn write_back(limits: &DirtyLimits) -> Vec<Fact> {
    let in_force = |percent: Option<u32>, size: Option<u64>| match (percent, size) {
        (_, Some(size)) if size > 0 => Some(units::bytes(size)),
        (Some(percent), _) => Some(format!("{percent} % of available memory")),
        _ => None,
    };
    let seconds = |centiseconds: u64| units::seconds(centiseconds as f64 / 100.0);
    known_facts([
        fact(
            "begins at",
            in_force(limits.dirty_background_ratio_percent, limits.dirty_background_bytes),
        ),
        fact("writers wait at", in_force(limits.dirty_ratio_percent, limits.dirty_bytes)),
        fact("pages expire after", limits.dirty_expire_centisecs.map(seconds)),
        fact(
            "flusher wakes",
            limits.dirty_writeback_centisecs.map(|time| match time {
                0 => "never".to_owned(),
                time => format!("every {}", seconds(time)),
            }),
        ),
    ])
}

fn control_group(cgroup: &Cgroup) -> Vec<Fact> {
    let version = match cgroup.version {
        CgroupVersion::V1 => "1",
        CgroupVersion::V2 => "2",
        CgroupVersion::Hybrid => "1 and 2",
    };
    let limit = |size: Option<u64>| size.map_or("none".to_owned(), units::bytes);
    let quota = cgroup.cpu_quota_cores.map_or("none".to_owned(), |cores| format!("{cores} cores"));
    let per_second = |what: &str, value: Option<u64>| value.map(|value| format!("{what} {value}"));
    let size_per_second = |what: &str, value: Option<u64>| {
        value.map(|value| format!("{what} {}/s", units::bytes(value)))
    };
    let devices = cgroup.io_limits.iter().map(|io| {
        let limits = [
            size_per_second("read", io.read_bytes_per_s),
            size_per_second("write", io.write_bytes_per_s),
            per_second("reads/s", io.reads_per_s),
            per_second("writes/s", io.writes_per_s),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        (format!("device {}", io.device), limits.join(", "))
    });
    let facts = known_facts([
        fact("version", Some(version)),
        fact("memory limit", Some(limit(cgroup.memory_limit_bytes))),
        fact("memory slowed at", cgroup.memory_high_bytes.map(units::bytes)),
        fact("processor quota", Some(quota)),
        fact("cpuset", cgroup.cpuset.as_ref().map(|cpus| ranges(cpus))),
    ]);
    facts.into_iter().chain(devices).collect()
}

fn file_system(support: &FileSystemSupport) -> Fact {
    let kernel = match support.kernel {
        KernelSupport::Registered => "kernel: yes",
        KernelSupport::Module => "kernel: as a module",
        KernelSupport::Missing => "kernel: no",
    };
    let mkfs = match (&support.mkfs, &support.mkfs_package) {
        (Some(tool), _) => {
            let version = tool.version.as_ref().map(|version| format!(" ({version})"));
            format!("; {}{}", tool.path, version.unwrap_or_default())
        }
        (None, Some(package)) => format!("; no mkfs: install the package {package}"),
        (None, None) => String::new(),
    };
    (support.name.clone(), format!("{kernel}{mkfs}"))
}

fn permissions(machine: &Machine) -> Vec<Fact> {
    let permissions = &machine.permissions;
    let said = |name: &str, permission: &Permission, gives: &str| {
        let text = match permission {
            Permission::Granted => "yes".to_owned(),
            Permission::Denied { reason } => format!("no: {reason} (needed for {gives})"),
        };
        fact(name, Some(text))
    };
    let counters = permissions.hardware_counters.map(|there| if there { "yes" } else { "no" });
    known_facts([
        fact("root", Some(if permissions.root { "yes" } else { "no" })),
        said("mounting", &permissions.mount, "scratch targets such as ext4"),
        said("loop devices", &permissions.loop_devices, "scratch targets on images"),
        said("dropping caches", &permissions.drop_caches, "nothing: fsprism remounts instead"),
        said("limiting memory", &permissions.cgroup_memory, "memory= of targets"),
        said("limiting devices", &permissions.cgroup_io, "read_bps=, write_iops= of targets"),
        said("setting read-ahead", &permissions.read_ahead, "read_ahead= of targets"),
        said("io_uring", &permissions.io_uring, "several requests at a time from one thread"),
        said("cachestat", &permissions.cachestat, "faster page counts, including dirty pages"),
        said("mincore", &permissions.mincore, "seeing which pages of a file are in memory"),
        said("FIEMAP", &permissions.fiemap, "seeing where files lie and how fragmented they are"),
        fact("hardware counters", counters),
        fact("perf_event_paranoid", permissions.perf_event_paranoid.map(|level| level.to_string())),
    ])
}

/// Numbers in the form `0-3, 8`.
fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use record::machine::{Memory, Permissions, Unread};

    use super::*;
    use crate::{Options, render_machine};

    fn text(machine: &Machine) -> String {
        render_machine(machine, &Options::default())
    }

    #[test]
    fn facts_are_aligned_and_unknown_ones_left_out() {
        let memory = Memory { total_bytes: Some(8 << 30), ..Memory::default() };
        let text = text(&Machine { memory, ..Machine::default() });
        assert!(text.contains("Memory\n  total                 8 GiB\n"), "{text}");
        assert!(!text.contains("swap") && !text.contains("Processor\n"), "{text}");
    }

    #[test]
    fn long_facts_are_wrapped_in_their_own_column() {
        let reason =
            "the directory /sys/fs/cgroup is mounted read-only and so no group can be made";
        let denied = Permission::Denied { reason: reason.to_owned() };
        let permissions = Permissions { cgroup_memory: denied, ..Permissions::default() };
        let text = text(&Machine { permissions, ..Machine::default() });
        let first = "  limiting memory       no: the directory /sys/fs/cgroup is mounted read-only";
        let second = "                        and so no group can be made";
        assert!(text.contains(&format!("{first}\n{second}")), "{text}");
        assert!(text.contains("memory="), "it says what for: {text}");
    }

    #[test]
    fn what_could_not_be_read_is_named() {
        let unread = Unread { source: "/proc/x".to_owned(), reason: "denied".to_owned() };
        let text = text(&Machine { unread: vec![unread], ..Machine::default() });
        assert!(text.ends_with("Could not be read\n  - /proc/x: denied\n"), "{text}");
    }

    #[test]
    fn numbers_are_joined_to_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 8, 10, 11]), "0-3, 8, 10-11");
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[u32::MAX]), "4294967295");
    }
}
