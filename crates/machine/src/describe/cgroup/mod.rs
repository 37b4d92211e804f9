//! The control groups of this process, and the limits that apply to it.
//!
//! A limit applies to all groups below the one that sets it, so the effective limit is the minimum
//! along the path from the process's own group up to the root that this process can see.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use record::machine::{Cgroup, CgroupVersion, DeviceNumber, IoLimit};

use super::block::parse_number;
use super::mounts::{MOUNTINFO, MountEntry, entries};
use super::parse::number_list;
use super::sources::Reader;

/// The key of the version 2 hierarchy in [`Cgroup::paths`].
pub const UNIFIED: &str = "unified";

/// Version 1 writes "no limit" as the greatest multiple of the page size below 2^63. The margin is
/// larger than any page.
const V1_UNLIMITED_BYTES: u64 = i64::MAX as u64 - (1 << 20);

/// Where the groups of this process are.
pub(crate) struct Hierarchies {
    paths: BTreeMap<String, String>,
    mounts: Vec<MountEntry>,
}

/// The directories of one controller's groups, from the process's own up to the root.
pub(crate) struct Controller {
    pub(crate) version: CgroupVersion,
    pub(crate) directories: Vec<PathBuf>,
}

/// The control groups of this process; `None` if no hierarchy is mounted.
pub(crate) fn cgroup(reader: &Reader<'_>) -> Option<Cgroup> {
    let hierarchies = Hierarchies::read(reader);
    let memory = hierarchies.controller(reader, "memory");
    Some(Cgroup {
        version: hierarchies.version()?,
        memory_limit_bytes: memory.as_ref().and_then(|memory| memory_limit(reader, memory)),
        memory_high_bytes: memory
            .filter(|memory| memory.version == CgroupVersion::V2)
            .and_then(|memory| least(reader, &memory, "memory.high", unless_max)),
        cpu_quota_cores: hierarchies
            .controller(reader, "cpu")
            .and_then(|controller| cpu_quota_cores(reader, &controller)),
        cpuset: hierarchies
            .controller(reader, "cpuset")
            .and_then(|controller| cpuset(reader, &controller)),
        io_limits: io_limits(reader, &hierarchies),
        paths: hierarchies.paths,
    })
}

impl Hierarchies {
    pub(crate) fn read(reader: &Reader<'_>) -> Self {
        let groups = reader.text("/proc/self/cgroup").unwrap_or_default();
        let mut mounts = entries(&reader.text(MOUNTINFO).unwrap_or_default());
        mounts.retain(|mount| matches!(mount.file_system.as_str(), "cgroup" | "cgroup2"));
        Self { paths: group_paths(&groups), mounts }
    }

    fn version(&self) -> Option<CgroupVersion> {
        let mounted = |kind: &str| self.mounts.iter().any(|mount| mount.file_system == kind);
        match (mounted("cgroup"), mounted("cgroup2")) {
            (true, true) => Some(CgroupVersion::Hybrid),
            (true, false) => Some(CgroupVersion::V1),
            (false, true) => Some(CgroupVersion::V2),
            (false, false) => None,
        }
    }

    /// The groups of a controller, in whichever hierarchy has it. The controller for block devices
    /// is called `blkio` in version 1 and `io` in version 2.
    pub(crate) fn controller(&self, reader: &Reader<'_>, name: &str) -> Option<Controller> {
        if let Some(path) = self.paths.get(name) {
            let has_controller = |mount: &&MountEntry| {
                mount.file_system == "cgroup" && mount.super_options.iter().any(|o| o == name)
            };
            let mount = self.mounts.iter().rfind(has_controller)?;
            let directories = directories(mount, path);
            return Some(Controller { version: CgroupVersion::V1, directories });
        }
        let mount = self.mounts.iter().rfind(|mount| mount.file_system == "cgroup2")?;
        let directories = directories(mount, self.paths.get(UNIFIED)?);
        let root = directories.last()?;
        let available = reader.text(root.join("cgroup.controllers")).unwrap_or_default();
        available
            .split_whitespace()
            .any(|controller| controller == name)
            .then_some(Controller { version: CgroupVersion::V2, directories })
    }
}

/// Parses `/proc/self/cgroup`, whose lines are `4:cpu,cpuacct:/path`, or `0::/path` for version 2.
#[must_use]
pub fn group_paths(text: &str) -> BTreeMap<String, String> {
    let mut paths = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(id), Some(names), Some(path)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let names = if id == "0" && names.is_empty() { UNIFIED } else { names };
        for name in names.split(',').filter(|name| !name.is_empty()) {
            paths.insert(name.strip_prefix("name=").unwrap_or(name).to_owned(), path.to_owned());
        }
    }
    paths
}

/// The group's directory and its ancestors, up to the mount point.
#[must_use]
pub fn directories(mount: &MountEntry, group: &str) -> Vec<PathBuf> {
    // A container may have only part of the hierarchy mounted, and then the group's path starts
    // with that part. Or the group is outside of what is mounted, and all we can see is the mount
    // point.
    let below = Path::new(group).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
    let below = if plain { below } else { Path::new("") };
    let joined = |part: &Path| mount.mount_point.components().chain(part.components()).collect();
    below.ancestors().map(joined).collect()
}

/// The minimum of a file's values along the path; `parse` returns `None` for "no limit".
fn least(
    reader: &Reader<'_>,
    controller: &Controller,
    file: &str,
    parse: fn(&str) -> Option<u64>,
) -> Option<u64> {
    let limit = |directory: &PathBuf| parse(&reader.text(directory.join(file))?);
    controller.directories.iter().filter_map(limit).min()
}

/// A number; `None` for `max`, which means "no limit" in version 2.
fn unless_max(text: &str) -> Option<u64> {
    text.parse().ok()
}

fn memory_limit(reader: &Reader<'_>, controller: &Controller) -> Option<u64> {
    if let CgroupVersion::V1 = controller.version {
        least(reader, controller, "memory.limit_in_bytes", unless_max)
            .filter(|&bytes| bytes < V1_UNLIMITED_BYTES)
    } else {
        least(reader, controller, "memory.max", unless_max)
    }
}

/// How much more memory the groups of this process let it use, at whichever level is tightest;
/// `None` without a limit. Page cache that can be evicted counts as available.
pub(crate) fn memory_left_bytes(reader: &Reader<'_>) -> Option<u64> {
    let controller = Hierarchies::read(reader).controller(reader, "memory")?;
    let (limit, usage, prefix) = match controller.version {
        CgroupVersion::V1 => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
        CgroupVersion::V2 | CgroupVersion::Hybrid => ("memory.max", "memory.current", ""),
    };
    let left = |directory: &PathBuf| {
        let number = |file: &str| unless_max(&reader.text(directory.join(file))?);
        let limit_bytes = number(limit).filter(|&bytes| bytes < V1_UNLIMITED_BYTES)?;
        let counted = reader.text(directory.join("memory.stat")).unwrap_or_default();
        let of = |name: &str| {
            let mut lines = counted.lines().filter_map(|line| line.split_once(' '));
            let found = lines.find(|(key, _)| key.strip_prefix(prefix) == Some(name));
            found.and_then(|(_, value)| value.parse::<u64>().ok()).unwrap_or(0)
        };
        // tmpfs pages are on neither list: they have no other copy to be re-read from.
        let kept_bytes = number(usage)?.saturating_sub(of("inactive_file") + of("active_file"));
        Some(limit_bytes.saturating_sub(kept_bytes))
    };
    controller.directories.iter().filter_map(left).min()
}

fn cpu_quota_cores(reader: &Reader<'_>, controller: &Controller) -> Option<f64> {
    let quota = |directory: &PathBuf| {
        if let CgroupVersion::V1 = controller.version {
            let quota_us = reader.text(directory.join("cpu.cfs_quota_us"))?;
            let period_us = reader.text(directory.join("cpu.cfs_period_us"))?;
            cores(&quota_us, &period_us)
        } else {
            let text = reader.text(directory.join("cpu.max"))?;
            let (quota_us, period_us) = text.split_once(' ')?;
            cores(quota_us, period_us)
        }
    };
    controller.directories.iter().filter_map(quota).min_by(f64::total_cmp)
}

/// Quota over period. Without a limit the quota is `max` or -1, neither of which parses as
/// unsigned.
fn cores(quota_us: &str, period_us: &str) -> Option<f64> {
    let (quota_us, period_us): (u32, u32) = (quota_us.parse().ok()?, period_us.parse().ok()?);
    (period_us > 0).then(|| f64::from(quota_us) / f64::from(period_us))
}

/// The effective CPUs, from the nearest group that has the file.
fn cpuset(reader: &Reader<'_>, controller: &Controller) -> Option<Vec<u32>> {
    let files: &[&str] = if let CgroupVersion::V1 = controller.version {
        &["cpuset.effective_cpus", "cpuset.cpus"]
    } else {
        &["cpuset.cpus.effective"]
    };
    let list = |directory: &PathBuf| {
        files.iter().find_map(|file| reader.parsed(directory.join(file), number_list))
    };
    controller.directories.iter().find_map(list)
}

fn io_limits(reader: &Reader<'_>, hierarchies: &Hierarchies) -> Vec<IoLimit> {
    let mut limits: BTreeMap<DeviceNumber, IoLimit> = BTreeMap::new();
    // Version 1 does not apply block device limits hierarchically.
    let own =
        hierarchies.controller(reader, "blkio").and_then(|c| c.directories.into_iter().next());
    if let Some(directory) = own {
        for key in ["read_bps", "write_bps", "read_iops", "write_iops"] {
            let file = directory.join(format!("blkio.throttle.{key}_device"));
            for line in reader.text(file).unwrap_or_default().lines() {
                let Some((device, value)) = line.split_once(' ') else { continue };
                tighten(&mut limits, device, key, value);
            }
        }
    }
    let unified = hierarchies.controller(reader, "io").map(|c| c.directories).unwrap_or_default();
    for directory in unified {
        for line in reader.text(directory.join("io.max")).unwrap_or_default().lines() {
            let mut words = line.split_whitespace();
            let Some(device) = words.next() else { continue };
            for (key, value) in words.filter_map(|word| word.split_once('=')) {
                tighten(&mut limits, device, key, value);
            }
        }
    }
    limits.into_values().collect()
}

/// Applies a limit if it is lower than the present one.
fn tighten(limits: &mut BTreeMap<DeviceNumber, IoLimit>, device: &str, key: &str, value: &str) {
    let field: fn(&mut IoLimit) -> &mut Option<u64> = match key {
        "rbps" | "read_bps" => |limit| &mut limit.read_bytes_per_s,
        "wbps" | "write_bps" => |limit| &mut limit.write_bytes_per_s,
        "riops" | "read_iops" => |limit| &mut limit.reads_per_s,
        "wiops" | "write_iops" => |limit| &mut limit.writes_per_s,
        _ => return,
    };
    // Version 2's `max` does not parse, and is not a limit.
    let (Some(device), Ok(value)) = (parse_number(device), value.trim().parse::<u64>()) else {
        return;
    };
    let limit = field(limits.entry(device).or_insert(IoLimit { device, ..IoLimit::default() }));
    *limit = Some(limit.map_or(value, |present| present.min(value)));
}

#[cfg(test)]
mod tests;
