//! Rigs: several guests at a time, with private links between them.
//!
//! A [`Description`] says which roles there are, what each has, and which links join them. A
//! [`Rig`] boots the guests of a role, one at a time, and asks them to do something; the guest's
//! side is [`crate::inside::rig`]. A guest that is booted anew finds its disks as it left them, and
//! the guests at the other ends of its links still running.
//!
//! A link is a pair of sockets without names, of which each guest's QEMU inherits one: no interface
//! and no port of this machine is opened, nothing needs root, and nothing stays behind, whoever
//! dies. How fast a link is, how long it delays and what it loses, the guests set themselves, each
//! for what it sends.
//!
//! Guests that wait for each other need one clock, so that of a rig's guests is this machine's and
//! not, as in [`crate::boot`], the count of instructions: two boots differ. What guests count means
//! as much as ever. Time in them is emulated.

mod description;
mod error;
mod guest;
mod running;
mod shape;
pub(crate) mod wire;

use crate::image::GuestProgram;

pub use description::{Description, GuestRole, Link};
pub use error::RigError;
pub use running::{Rig, RigConditions};
pub use shape::{Shape, WrongShape};

/// Programs that guests of rigs need in their image.
pub const PROGRAMS: [GuestProgram; 1] = [GuestProgram { name: "tc", package: "iproute2" }];
/// What the image's list of modules must name for a rig.
pub const NEEDS: [&str; 3] = ["virtio-net", "virtio-blk", "tbf"];
