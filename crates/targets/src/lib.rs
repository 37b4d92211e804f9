//! Targets: file systems to measure, the conditions they are measured under, and their caches.
//!
//! Start at [`TargetSpec`], which describes a target; [`availability`] says whether it can be made
//! here; a [`Workshop`] makes it; the [`Target`] lives until it is closed. [`cache`] brings its
//! files into or out of memory and verifies that, and says which pages of a file are in memory, and
//! in folios of which size.
//!
//! A target leaves no trace, however the process ends. Three things ensure that:
//!
//! - mounts are made in a private mount namespace, which ends with the process;
//! - an image has no name, and its loop device clears itself when it is last closed; a process that
//!   delays the device's requests ends when its file is no longer mounted or used;
//! - the guardian process is told about everything with a name on the host (cgroups, the mount
//!   area, work directories inside directory targets) before it is made, and removes it. If the
//!   guardian is killed too, the next [`Workshop`] removes whatever carries a dead process's name.

mod ageing;
mod availability;
mod btrfs;
pub mod cache;
mod conditions;
mod device_failure;
mod device_numbers;
mod error;
mod facts;
mod filling;
mod filtered;
mod guardian;
mod live;
mod memory;
mod open_device;
mod read_ahead;
mod removal;
mod scratch;
mod selection;
mod smaller_volumes;
mod space;
mod spec;
mod surroundings;
mod temporary_directory;
mod workshop;
mod workshop_inner;

pub use availability::{Unavailable, availability};
pub use conditions::{ConditionCaveat, ConditionsInForce, Entered};
pub use device_failure::DeviceFailure;
pub use device_numbers::DeviceNumbers;
pub use error::TargetError;
pub use facts::TargetFacts;
pub use live::Target;
pub use open_device::{OpenDevice, OpenDeviceError};
pub use scratch::{DeviceContent, DeviceError};
pub use selection::{Selection, SelectionError};
pub use smaller_volumes::{SmallerVolumes, WhySmaller};
pub use space::Space;
pub use spec::{
    Ageing, ArenaDoor, Conditions, Location, ScratchSpec, SpecError, TargetSpec, parse_size,
    refuse_duplicate_labels, tell_apart,
};
pub use surroundings::{Step, Surroundings};
pub use temporary_directory::TemporaryDirectory;
pub use workshop::Workshop;
