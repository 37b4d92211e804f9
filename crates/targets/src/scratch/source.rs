//! What a scratch file system is made on: memory, an image on a loop device, or a named device.

use std::path::PathBuf;
use std::sync::Arc;

use crate::scratch::device::NamedDevice;
use crate::scratch::loop_device::LoopDevice;

/// What a scratch file system is made on.
#[derive(Clone, Debug)]
pub(crate) enum MountSource {
    Memory,
    Image(Arc<LoopDevice>),
    Device(Arc<NamedDevice>),
}

impl MountSource {
    /// The source as mount(8) would take it.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Memory => PathBuf::from("fsprism"),
            Self::Image(image) => image.path(),
            Self::Device(device) => device.node().to_owned(),
        }
    }
}
