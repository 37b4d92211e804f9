//! A rig whose guests are running.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::description::{Description, LinkEnd};
use super::disk::Disk;
use super::error::RigError;
use super::guest::{GuestStart, RunningGuest};
use super::shape::Shape;
use super::wire::{CONFIG, GuestConfig, Hello, Interface, Order};
use crate::image::Image;
use crate::kernel::Kernel;
use crate::qemu;

/// What a rig boots, and what stops it.
#[derive(Clone, Debug)]
pub struct RigConditions {
    /// The kernel of all guests.
    pub kernel: Kernel,
    /// The image of all guests.
    pub image: Image,
    /// How long a guest may take to boot.
    pub boot_limit: Duration,
    /// Directory in which to keep each boot's console output, as `ROLE-N.log`; discarded if `None`.
    pub consoles: Option<PathBuf>,
    /// Set by a signal handler to stop the rig early.
    pub stop: Option<Arc<AtomicBool>>,
}

/// A rig. Its guests are killed when it is dropped, or when the thread that booted them ends.
#[derive(Debug)]
pub struct Rig {
    conditions: RigConditions,
    description: Description,
    /// Both ends of each link. They stay open here, so that what one guest sends while the other is
    /// being rebooted is queued.
    links: Vec<[File; 2]>,
    /// The disks of each role.
    disks: BTreeMap<String, Vec<File>>,
    guests: BTreeMap<String, RunningGuest>,
    /// How often each role has been booted.
    boots: BTreeMap<String, u32>,
}

impl Rig {
    /// A rig with no guests running yet.
    ///
    /// # Errors
    /// If QEMU is missing, the description refers to roles that it does not have, or there is no
    /// space for its disks.
    pub fn new(conditions: RigConditions, description: Description) -> Result<Self, RigError> {
        qemu::check(false)?;
        description.check()?;
        let link = || -> io::Result<[File; 2]> {
            let (one, other) = UnixDatagram::pair()?;
            Ok([File::from(OwnedFd::from(one)), File::from(OwnedFd::from(other))])
        };
        let links = description.links.iter().map(|_| link()).collect::<io::Result<Vec<_>>>()?;
        let disk = |disk: &Disk| -> io::Result<File> {
            let file = tempfile::tempfile()?;
            file.set_len(disk.bytes)?;
            Ok(file)
        };
        let mut disks = BTreeMap::new();
        for role in &description.roles {
            let of_role: io::Result<Vec<File>> = role.disks.iter().map(disk).collect();
            disks.insert(role.name.clone(), of_role?);
        }
        let (guests, boots) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { conditions, description, links, disks, guests, boots })
    }

    /// Starts a role's guest, after killing one that is running, and does not wait until it is up.
    ///
    /// # Errors
    /// If there is no such role, or QEMU cannot be started.
    pub fn start(&mut self, role: &str) -> Result<(), RigError> {
        self.end(role);
        let boot = self.boots.entry(role.to_owned()).or_default();
        *boot += 1;
        let console = self.conditions.consoles.as_ref();
        let console = console.map(|directory| directory.join(format!("{role}-{boot}.log")));
        let ends = self.description.ends_of(role);
        let of_role = self.description.role(role)?;
        let part = GuestConfig {
            role: role.to_owned(),
            interfaces: ends.iter().map(|end| self.interface(end)).collect(),
            load: of_role.load.clone(),
        };
        let text = serde_json::to_vec(&part).map_err(io::Error::from)?;
        let start = GuestStart {
            conditions: &self.conditions,
            role: of_role,
            job: vec![(CONFIG.to_owned(), text)],
            links: ends.iter().map(|LinkEnd { link, end }| &self.links[*link][*end]).collect(),
            interfaces: &part.interfaces,
            disks: &self.disks[role],
            console: console.as_deref(),
        };
        let guest = RunningGuest::start(&start)?;
        self.guests.insert(role.to_owned(), guest);
        Ok(())
    }

    /// Waits until a role's guest that was started is up, and returns its kernel's release.
    ///
    /// # Errors
    /// If it does not come up, or cannot set up its links or modules.
    pub fn wait(&mut self, role: &str) -> Result<String, RigError> {
        let limit = self.conditions.boot_limit;
        let Hello { kernel } = self.hear(role, limit)?;
        Ok(kernel)
    }

    /// Starts a role's guest and waits until it is up.
    ///
    /// # Errors
    /// As for [`Self::start`] and [`Self::wait`].
    pub fn boot(&mut self, role: &str) -> Result<String, RigError> {
        self.start(role)?;
        self.wait(role)
    }

    /// Asks a role's guest to do something, and waits for the answer.
    ///
    /// # Errors
    /// If it is not running, does not answer in time, or reports a failure.
    pub fn ask<A: DeserializeOwned>(
        &mut self,
        role: &str,
        question: &impl Serialize,
        limit: Duration,
    ) -> Result<A, RigError> {
        self.tell(role, question)?;
        self.hear(role, limit)
    }

    /// Asks a role's guest to do something, without waiting for the answer.
    ///
    /// # Errors
    /// If it is not running.
    pub fn tell(&mut self, role: &str, question: &impl Serialize) -> Result<(), RigError> {
        let guest = self.guests.get_mut(role);
        let guest = guest.ok_or_else(|| RigError::NotRunning(role.to_owned()))?;
        let said = guest.say(&Order::Do(question));
        self.lost_if_gone(role, said)
    }

    /// Waits for the answer to what a role's guest was asked.
    ///
    /// # Errors
    /// As for [`Self::ask`].
    pub fn hear<A: DeserializeOwned>(
        &mut self,
        role: &str,
        limit: Duration,
    ) -> Result<A, RigError> {
        let stop = self.conditions.stop.clone();
        let guest = self.guests.remove(role);
        let mut guest = guest.ok_or_else(|| RigError::NotRunning(role.to_owned()))?;
        let others = &mut self.guests;
        let mut are_others_up = || !others.values_mut().any(RunningGuest::has_ended);
        let heard = guest.hear(limit, stop.as_deref(), &mut are_others_up);
        // Another guest may have stopped, for which this one would have waited in vain.
        let lost = self
            .guests
            .iter_mut()
            .find_map(|(role, guest)| guest.has_ended().then(|| (role.clone(), guest.gone())));
        self.guests.insert(role.to_owned(), guest);
        match (heard, lost) {
            (Err(RigError::Gone { .. }), Some((other, error))) => {
                self.end(&other);
                Err(error)
            }
            (heard, _) => self.lost_if_gone(role, heard),
        }
    }

    /// Changes the shape of a link: now for ends whose guests are running, and for others when they
    /// are booted. There must be no traffic on the link: whatever is queued is lost.
    ///
    /// # Errors
    /// If there is no such link, or a guest cannot set the shape or does not answer in time.
    pub fn reshape(&mut self, link: usize, shape: Shape, limit: Duration) -> Result<(), RigError> {
        let of = self.description.links.get_mut(link).ok_or(RigError::NoLink(link))?;
        of.shape = shape;
        for (end, role) in of.ends.clone().iter().enumerate() {
            let order = Order::<()>::Shape(self.interface(&LinkEnd { link, end }));
            let Some(guest) = self.guests.get_mut(role) else { continue };
            let said = guest.say(&order);
            self.lost_if_gone(role, said)?;
            self.hear::<()>(role, limit)?;
        }
        Ok(())
    }

    /// Has a role's guest power off, and waits until it has.
    ///
    /// # Errors
    /// If it is not running, or does not power off in time.
    pub fn power_off(&mut self, role: &str, limit: Duration) -> Result<(), RigError> {
        let stop = self.conditions.stop.clone();
        let guest = self.guests.remove(role);
        let guest = guest.ok_or_else(|| RigError::NotRunning(role.to_owned()))?;
        guest.power_off(limit, stop.as_deref())
    }

    /// Kills a role's guest, as if its power had failed.
    pub fn end(&mut self, role: &str) {
        drop(self.guests.remove(role));
    }

    /// The process ID of the QEMU that runs a role's guest, if it is running.
    #[must_use]
    pub fn process(&self, role: &str) -> Option<u32> {
        self.guests.get(role).map(RunningGuest::process)
    }

    /// What a guest needs to know about its end of a link.
    fn interface(&self, &LinkEnd { link, end }: &LinkEnd) -> Interface {
        Interface {
            ethernet: format!("52:54:00:77:{link:02x}:{end:02x}"),
            address: Description::address(link, end),
            shape: self.description.links[link].shape,
        }
    }

    /// Kills the guest if the result says that it no longer answers.
    fn lost_if_gone<T>(&mut self, role: &str, result: Result<T, RigError>) -> Result<T, RigError> {
        if result.as_ref().is_err_and(|error| error.gone().is_some()) {
            self.end(role);
        }
        result
    }
}
