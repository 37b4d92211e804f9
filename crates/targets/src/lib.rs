//! Targets: file systems to measure, the conditions they are measured under, and their caches.
//!
//! Start at [`TargetSpec`], what a target is to be; [`availability`] says whether it can be made
//! here; a [`Workshop`] makes it; the [`Target`] lives until it is closed. [`cache`] brings
//! files of it into or out of memory and verifies that, and says which pages of a file
//! are in memory, in pieces of which size.
//!
//! A target's life leaves no trace, whatever ends the process. Three things see to that:
//!
//! - mounts are made in a private mount namespace, which ends with the process;
//! - an image has no name and its loop device clears itself at its last close;
//! - what has a name on the host (cgroups, the mount area, work directories inside directory
//!   targets) is known to the guardian process before it is made, and removed by it. Should the
//!   guardian be killed too, the next [`Workshop`] removes what carries a dead process' name.

mod ageing;
mod availability;
mod btrfs;
pub mod cache;
mod conditions;
mod device_numbers;
mod error;
mod facts;
mod filling;
mod filtered;
mod guardian;
mod live;
mod memory;
mod open_device;
mod passing;
mod read_ahead;
mod removal;
mod scratch;
mod selection;
mod shop;
mod smaller_volumes;
mod space;
mod spec;
mod surroundings;
mod workshop;

pub use availability::{Unavailable, availability};
pub use conditions::{ConditionCaveat, ConditionsInForce, Entered};
pub use device_numbers::DeviceNumbers;
pub use error::TargetError;
pub use facts::TargetFacts;
pub use live::Target;
pub use open_device::{OpenDevice, OpenDeviceError};
pub use passing::PassingDirectory;
pub use scratch::{DeviceContent, DeviceError};
pub use selection::{Selection, SelectionError};
pub use smaller_volumes::{SmallerVolumes, WhySmaller};
pub use space::Space;
pub use spec::{
    Ageing, Conditions, Location, ScratchSpec, SpecError, TargetSpec, parse_size,
    refuse_duplicate_labels, tell_apart,
};
pub use surroundings::{Step, Surroundings};
pub use workshop::Workshop;
