//! What a scratch target is made on and with: images on loop devices, named devices, mkfs and
//! mount; or an arena in shared memory.

pub(crate) mod arena;
pub(crate) mod device;
pub(crate) mod loop_device;
pub(crate) mod mkfs;
pub(crate) mod source;

pub use device::{DeviceContent, DeviceError};
