//! Where the kernel keeps its control groups, and the files that set their limits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::device_numbers::DeviceNumbers;
use crate::spec::Conditions;
use machine::describe::cgroup::{UNIFIED, directories, group_paths};
use machine::describe::mounts::{MOUNTINFO, MountEntry, entries};

/// A controller that conditions use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Io,
}

/// The version of a hierarchy's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// The tree of groups that a controller is in.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    pub(crate) version: Version,
    /// Where its root, or the part of it visible to us, is mounted.
    top: PathBuf,
    /// The directory of this process's own group.
    pub(crate) home: PathBuf,
}

impl Controller {
    fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Memory, _) => "memory",
            (Self::Io, Version::One) => "blkio",
            (Self::Io, Version::Two) => "io",
        }
    }
}

impl Hierarchy {
    /// The hierarchy that `controller` is in.
    pub(crate) fn open(controller: Controller) -> io::Result<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup")?;
        let mounts = entries(&fs::read_to_string(MOUNTINFO)?);
        let found = Self::find(controller, &groups, &mounts);
        // Something else may be mounted over it, as in some containers.
        found.filter(|found| found.home.is_dir()).ok_or_else(|| {
            io::Error::other(format!(
                "no {} controller is visible under /sys/fs/cgroup",
                controller.name(Version::Two)
            ))
        })
    }

    fn find(controller: Controller, groups: &str, mounts: &[MountEntry]) -> Option<Self> {
        let groups = group_paths(groups);
        let name = controller.name(Version::One);
        if let Some(group) = groups.get(name) {
            let holds = |mount: &&MountEntry| {
                mount.file_system == "cgroup" && mount.super_options.iter().any(|o| o == name)
            };
            return Self::at_mount(Version::One, mounts.iter().find(holds)?, group);
        }
        let mount = mounts.iter().find(|mount| mount.file_system == "cgroup2")?;
        let found = Self::at_mount(Version::Two, mount, groups.get(UNIFIED)?)?;
        found.has(controller).then_some(found)
    }

    fn at_mount(version: Version, mount: &MountEntry, group: &str) -> Option<Self> {
        let directories = directories(mount, group);
        let (home, top) = (directories.first()?.clone(), directories.last()?.clone());
        Some(Self { version, top, home })
    }

    /// Whether the controller is available in this hierarchy.
    pub(crate) fn has(&self, controller: Controller) -> bool {
        match self.version {
            Version::One => self
                .top
                .join(match controller {
                    Controller::Memory => "memory.usage_in_bytes",
                    Controller::Io => "blkio.throttle.read_bps_device",
                })
                .exists(),
            Version::Two => lists(&self.top.join("cgroup.controllers"), controller),
        }
    }

    /// This process's own group, its parent, and so on to the top.
    pub(crate) fn upward(&self) -> impl Iterator<Item = &Path> {
        self.home.ancestors().take_while(|path| path.starts_with(&self.top))
    }

    /// The groups in which a child can be made, best first, and whether a controller had to be
    /// switched on for that.
    pub(crate) fn parents(&self, controllers: &[Controller]) -> io::Result<(Vec<PathBuf>, bool)> {
        if self.version == Version::One {
            return Ok((self.upward().map(Path::to_owned).collect(), false));
        }
        let gives = |path: &&Path| {
            let list = path.join("cgroup.subtree_control");
            controllers.iter().all(|&controller| lists(&list, controller))
        };
        let able: Vec<PathBuf> = self.upward().filter(gives).map(Path::to_owned).collect();
        if !able.is_empty() {
            return Ok((able, false));
        }
        for controller in controllers {
            let order = format!("+{}", controller.name(Version::Two));
            fs::write(self.top.join("cgroup.subtree_control"), order)?;
        }
        Ok((vec![self.top.clone()], true))
    }

    /// Limits a group's memory and reads the limit back.
    pub(crate) fn limit_memory(&self, group: &Path, bytes: Option<u64>) -> io::Result<Option<u64>> {
        let Some(bytes) = bytes else { return Ok(None) };
        let (limit, no_swap) = match self.version {
            Version::One => ("memory.limit_in_bytes", "memory.swappiness"),
            Version::Two => ("memory.max", "memory.swap.max"),
        };
        fs::write(group.join(limit), bytes.to_string())?;
        // Our own memory must not be swapped out instead of the cache shrinking. The file is
        // missing where the kernel cannot swap.
        let _absent_without_swap = fs::write(group.join(no_swap), "0");
        Ok(fs::read_to_string(group.join(limit))?.trim().parse().ok())
    }

    /// Limits a group's rates on a disk and reads the limits back.
    pub(crate) fn throttle(
        &self,
        group: &Path,
        wanted: &Conditions,
        device: DeviceNumbers,
    ) -> io::Result<Conditions> {
        let limits = [wanted.read_bps, wanted.write_bps, wanted.read_iops, wanted.write_iops];
        let files = match self.version {
            Version::One => ["read_bps", "write_bps", "read_iops", "write_iops"]
                .map(|limit| (format!("blkio.throttle.{limit}_device"), "")),
            Version::Two => {
                ["rbps=", "wbps=", "riops=", "wiops="].map(|key| ("io.max".to_owned(), key))
            }
        };
        let mut in_force = [None; 4];
        for (index, (file, key)) in files.iter().enumerate() {
            let Some(limit) = limits[index] else { continue };
            let file = group.join(file);
            fs::write(&file, format!("{device} {key}{limit}"))?;
            let text = fs::read_to_string(&file)?;
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{device} ")));
            let mut words = line.unwrap_or_default().split(' ');
            in_force[index] = words.find_map(|word| word.strip_prefix(key)?.parse().ok());
        }
        let [read_bps, write_bps, read_iops, write_iops] = in_force;
        Ok(Conditions { read_bps, write_bps, read_iops, write_iops, ..Conditions::default() })
    }
}

/// Whether a version 2 list of controllers contains this one.
fn lists(file: &Path, controller: Controller) -> bool {
    let list = fs::read_to_string(file).unwrap_or_default();
    list.split_whitespace().any(|name| name == controller.name(Version::Two))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(file_system: &str, root: &str, mount_point: &str, super_options: &str) -> MountEntry {
        MountEntry {
            id: 1,
            root: root.into(),
            mount_point: mount_point.into(),
            options: Vec::new(),
            file_system: file_system.to_owned(),
            source: "cgroup".into(),
            super_options: super_options.split(',').map(str::to_owned).collect(),
        }
    }

    #[test]
    fn a_hybrid_machine_is_looked_up_by_controller() {
        let mounts = [
            mount("cgroup", "/", "/cg/memory", "rw,memory"),
            mount("cgroup", "/outer", "/cg/blkio", "rw,blkio"),
        ];
        let groups = "7:blkio:/outer/inner\n4:memory:/a/b\n0::/\n";
        let memory = Hierarchy::find(Controller::Memory, groups, &mounts).expect("mounted");
        assert_eq!((memory.version, memory.home), (Version::One, "/cg/memory/a/b".into()));
        let io = Hierarchy::find(Controller::Io, groups, &mounts).expect("mounted");
        assert_eq!((io.version, io.home.clone()), (Version::One, "/cg/blkio/inner".into()));
        let (parents, _) = io.parents(&[Controller::Io]).expect("nothing to switch on");
        assert_eq!(parents, [PathBuf::from("/cg/blkio/inner"), PathBuf::from("/cg/blkio")]);
    }

    const LOOP0: DeviceNumbers = DeviceNumbers { major: 7, minor: 0 };

    /// Uses a plain directory with the files of a version 2 tree: paths and contents are those of
    /// the kernel, only its behaviour is missing.
    #[test]
    fn version_two_goes_to_the_ancestor_that_gives_the_controllers() {
        let top = std::env::temp_dir().join(format!("cgroup2-{}", std::process::id()));
        let session = top.join("user/session");
        fs::create_dir_all(&session).expect("temporary directory");
        fs::write(top.join("cgroup.controllers"), "cpu io memory\n").expect("fresh");
        fs::write(top.join("cgroup.subtree_control"), "cpu memory\n").expect("fresh");
        fs::write(session.join("cgroup.subtree_control"), "\n").expect("fresh");
        let mounts = [mount("cgroup2", "/", top.to_str().expect("plain"), "rw")];
        let groups = "0::/user/session\n";
        let found = Hierarchy::find(Controller::Memory, groups, &mounts).expect("mounted");
        assert_eq!((found.version, &found.home), (Version::Two, &session));
        let parents = found.parents(&[Controller::Memory]).expect("the top gives memory");
        assert_eq!(parents, (vec![top.clone()], false));
        let parents = found.parents(&[Controller::Memory, Controller::Io]).expect("switched on");
        assert_eq!(parents, (vec![top.clone()], true));

        let wanted = Conditions { read_bps: Some(5), write_iops: Some(7), ..Default::default() };
        fs::write(session.join("io.max"), "").expect("fresh");
        let only_read = Conditions { read_bps: Some(5), ..Default::default() };
        let read_back = found.throttle(&session, &only_read, LOOP0).expect("written");
        assert_eq!(read_back, only_read);
        assert_eq!(fs::read_to_string(session.join("io.max")).expect("there"), "7:0 rbps=5");
        found.throttle(&session, &wanted, LOOP0).expect("written");
        assert_eq!(found.limit_memory(&session, Some(4096)).expect("written"), Some(4096));
        assert_eq!(fs::read_to_string(session.join("memory.max")).expect("there"), "4096");
        fs::remove_dir_all(&top).expect("it is ours");
    }
}
