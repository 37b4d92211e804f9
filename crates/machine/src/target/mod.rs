//! Targets: file systems to measure, the conditions they are measured under, and their caches.
//!
//! Start at [`TargetSpec`], what a target is to be; [`availability`] says whether it can be made
//! here; a [`Workshop`] makes it; the [`Target`] lives until it is closed. [`cache_state`] brings
//! files of it into or out of memory and verifies that; [`residency`] says which pages of a file
//! are in memory, and [`folio_orders`] in pieces of which size.
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
pub mod cache_state;
mod cgroup;
mod cgroup_tree;
mod device;
mod device_words;
mod error;
mod facts;
mod file_system;
mod folios;
mod guardian;
mod home;
mod live;
mod loop_device;
mod mkfs;
mod open_device;
pub(crate) mod owner;
mod page_map;
mod read_ahead;
mod removal;
pub mod residency;
mod spec;
mod spec_options;
mod surroundings;
mod trees;
mod work_directory;
mod workshop;

pub use availability::{Unavailable, availability};
pub use cgroup::{ConditionCaveat, ConditionsInForce, Entered};
pub use device::{DeviceContent, DeviceError};
pub use error::TargetError;
pub use facts::{DeviceNumbers, TargetFacts};
pub use file_system::FileSystem;
pub use folios::{FolioError, FolioOrders, folio_orders};
pub use live::{Space, Target};
pub use open_device::{OpenDevice, OpenDeviceError};
pub use spec::{
    Ageing, Conditions, Place, ScratchSpec, SpecError, TargetSpec, parse_size,
    refuse_duplicate_labels,
};
pub use surroundings::{Step, Surroundings};
pub use trees::read_in_trees;
pub use workshop::Workshop;
