//! The conditions of a target, implemented by control groups of version 1 or 2.
//!
//! A hybrid machine has some controllers in version 1 hierarchies and the others in the unified
//! one, so each controller is looked up by itself. New groups are children of the process's own
//! group if that is permitted, so that limits already in force remain, otherwise of the nearest
//! ancestor. Version 2 enables controllers only for children of groups that contain no process (the
//! root excepted), so there it is nearly always an ancestor.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use serde::{Deserialize, Serialize};

use crate::conditions::hierarchy::{Controller, Hierarchy, Version};
use crate::device_numbers::DeviceNumbers;
use crate::guardian::owner::lock_as_owner;
use crate::guardian::{Guardian, ResourceKind};
use crate::removal;
use crate::spec::Conditions;

/// The conditions in force, as the kernel reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionsInForce {
    /// The limits; memory is rounded down to whole pages by the kernel.
    pub limits: Conditions,
    /// What these limits fail to do here.
    pub caveats: Vec<ConditionCaveat>,
}

/// What a limit fails to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionCaveat {
    /// Cgroup v1: write-back of buffered writes is charged to the root group, so `write_bps` and
    /// `write_iops` slow down direct and synchronously submitted writes only.
    BufferedWritesNotThrottled,
    /// Cgroup v1: a page is charged to the first group that touches it; pages read in before the
    /// group was entered do not count towards its `memory`.
    PagesChargedToFirstToucher,
    /// The `io` or `memory` controller was switched on for the children of the root group, and
    /// stays on.
    ControllerSwitchedOn,
}

impl std::fmt::Display for ConditionCaveat {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::BufferedWritesNotThrottled => {
                "cgroup v1 throttles only direct writes: write-back of buffered writes is not \
                slowed"
            }
            Self::PagesChargedToFirstToucher => {
                "cgroup v1 charges a page to whoever touches it first: pages read in earlier do \
                 not count towards memory="
            }
            Self::ControllerSwitchedOn => {
                "a controller was turned on for the root group's children and stays on"
            }
        })
    }
}

/// A target's groups: at most one per hierarchy.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    groups: Vec<Group>,
    in_force: ConditionsInForce,
}

#[derive(Debug)]
struct Group {
    path: PathBuf,
    /// The group from which this process came and to which it returns.
    home: PathBuf,
    /// Shows others that the owner is alive.
    _lock: Option<OwnedFd>,
}

/// Keeps this process in the target's groups until dropped.
#[derive(Debug)]
pub struct Entered<'target> {
    groups: &'target [Group],
}

impl Cgroups {
    /// Makes the groups that `wanted` needs; `device` is the disk to limit.
    pub(crate) fn make(
        wanted: &Conditions,
        device: Option<DeviceNumbers>,
        name: &str,
        guardian: &Guardian,
    ) -> io::Result<Self> {
        let mut made = Self::default();
        let mut controllers = Vec::new();
        if wanted.memory_bytes.is_some() {
            controllers.push(Controller::Memory);
        }
        if wanted.throttle_device() {
            controllers.push(Controller::Io);
        }
        let made_all = made.make_each(&controllers, wanted, device, name, guardian);
        match made_all {
            Ok(()) => Ok(made),
            Err(source) => {
                let _already_failing = made.remove(guardian);
                Err(source)
            }
        }
    }

    fn make_each(
        &mut self,
        controllers: &[Controller],
        wanted: &Conditions,
        device: Option<DeviceNumbers>,
        name: &str,
        guardian: &Guardian,
    ) -> io::Result<()> {
        for &controller in controllers {
            let hierarchy = Hierarchy::open(controller)?;
            let path = self.group_in(&hierarchy, controllers, name, guardian)?;
            let limits = &mut self.in_force.limits;
            match controller {
                Controller::Memory => {
                    limits.memory_bytes = hierarchy.limit_memory(&path, wanted.memory_bytes)?;
                }
                Controller::Io => {
                    let device = device.ok_or_else(|| {
                        io::Error::other("it is not on a block device; leave the limits out")
                    })?;
                    let throttle = hierarchy.throttle(&path, wanted, device)?;
                    *limits = Conditions { memory_bytes: limits.memory_bytes, ..throttle };
                }
            }
            self.add_caveats(controller, hierarchy.version, wanted);
        }
        Ok(())
    }

    /// The target's group in a hierarchy, which two controllers may share.
    fn group_in(
        &mut self,
        hierarchy: &Hierarchy,
        controllers: &[Controller],
        name: &str,
        guardian: &Guardian,
    ) -> io::Result<PathBuf> {
        if let Some(group) = self.groups.iter().find(|group| group.home == hierarchy.home) {
            return Ok(group.path.clone());
        }
        let shared: Vec<Controller> =
            controllers.iter().copied().filter(|&other| hierarchy.has(other)).collect();
        let (parents, switched_on) = hierarchy.parents(&shared)?;
        if switched_on {
            self.in_force.caveats.push(ConditionCaveat::ControllerSwitchedOn);
        }
        let mut refusal = io::Error::from(io::ErrorKind::NotFound);
        for parent in parents {
            let path = parent.join(name);
            guardian.add(ResourceKind::Cgroup, &path)?;
            match fs::create_dir(&path) {
                Ok(()) => {
                    let lock = lock_as_owner(CWD, &path).ok();
                    let home = hierarchy.home.clone();
                    self.groups.push(Group { path: path.clone(), home, _lock: lock });
                    return Ok(path);
                }
                Err(error) => {
                    guardian.remove(ResourceKind::Cgroup, &path)?;
                    refusal = error;
                }
            }
        }
        Err(refusal)
    }

    fn add_caveats(&mut self, controller: Controller, version: Version, wanted: &Conditions) {
        if version == Version::Two {
            return;
        }
        let throttles_writes = wanted.write_bps.or(wanted.write_iops).is_some();
        match controller {
            Controller::Memory => {
                self.in_force.caveats.push(ConditionCaveat::PagesChargedToFirstToucher);
            }
            Controller::Io if throttles_writes => {
                self.in_force.caveats.push(ConditionCaveat::BufferedWritesNotThrottled);
            }
            Controller::Io => {}
        }
    }

    pub(crate) fn in_force(&self) -> &ConditionsInForce {
        &self.in_force
    }

    /// Moves this process, with all its threads, into the groups.
    pub(crate) fn enter(&self) -> io::Result<Entered<'_>> {
        for (index, group) in self.groups.iter().enumerate() {
            if let Err(source) = move_here(&group.path) {
                // Leave the groups entered so far.
                drop(Entered { groups: &self.groups[..index] });
                return Err(source);
            }
        }
        Ok(Entered { groups: &self.groups })
    }

    /// Removes the groups; a second call does nothing.
    pub(crate) fn remove(&mut self, guardian: &Guardian) -> io::Result<()> {
        for group in self.groups.drain(..) {
            // On failure the guardian still knows of it and tries again at the end.
            removal::remove_cgroup(&group.path)?;
            guardian.remove(ResourceKind::Cgroup, &group.path)?;
        }
        Ok(())
    }
}

impl Entered<'_> {
    /// Moves this process back, as dropping does, and reports whether that worked.
    ///
    /// # Errors
    /// If the kernel refuses to move it back.
    pub fn leave(mut self) -> io::Result<()> {
        self.go_home()
    }

    fn go_home(&mut self) -> io::Result<()> {
        let groups = std::mem::take(&mut self.groups);
        groups.iter().map(|group| move_here(&group.home)).fold(Ok(()), io::Result::and)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let _nobody_to_tell = self.go_home();
    }
}

/// Writing 0 moves the process that writes it.
fn move_here(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}
