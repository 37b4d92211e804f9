//! What lies below a target: a device that is ours for the time, formatted and mounted, or
//! somebody's directory; or an arena in shared memory.

pub(crate) mod arena;
pub(crate) mod device;
pub(crate) mod loop_device;
pub(crate) mod mkfs;
pub(crate) mod source;

pub use device::{DeviceContent, DeviceError};
