//! Rigs: several guests at the same time, with private links between them.
//!
//! A [`Description`] says which roles there are, what each one has, and which links connect them. A
//! [`Rig`] boots guests, at most one per role at a time, and sends them requests; the guest's side
//! is [`crate::inside::rig`]. A guest that is booted again finds its disks as it left them, and the
//! guests at the other ends of its links still running.
//!
//! A link is an unnamed socket pair, of which each guest's QEMU inherits one end: no interface or
//! port of this machine is opened, nothing needs root, and nothing is left behind, whichever
//! process dies. Rate, delay and loss of a link are set by the guests, each for its outgoing
//! traffic.
//!
//! Guests that wait for each other need a common clock, so a rig's guests use this machine's
//! instead of counting instructions as in [`crate::boot`], and two boots differ. What guests count
//! is as meaningful as ever; their time is emulated.

mod description;
mod disk;
mod error;
mod guest;
mod running;
mod shape;
pub(crate) mod wire;

use crate::image::GuestProgram;

pub use description::{Description, GuestRole, Link};
pub use disk::{Disk, DiskSpeed, WrongDiskSpeed};
pub use error::RigError;
pub use running::{Rig, RigConditions};
pub use shape::{Shape, WrongShape};

/// Programs that must be in the image of a rig's guests.
pub const PROGRAMS: [GuestProgram; 1] = [GuestProgram { name: "tc", package: "iproute2" }];
/// Names that must be in the image's list of modules for a rig.
pub const NEEDS: [&str; 3] = ["virtio-net", "virtio-blk", "tbf"];
