//! The read-ahead that `read_ahead=` asks for, set while a target is mounted.
//!
//! A disk's setting outlives the file system. Kernels that clear a loop device reset its limits and
//! with them the read-ahead (seen on Linux 6.18), but we do not rely on that. The former value is
//! restored before the file system is unmounted; by the guardian if we die; and if the guardian has
//! died too, by the next run, which finds a note of it beside our mount area.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::guardian::{Guardian, ResourceKind};
use crate::read_ahead::{ReadAhead, SETTINGS};

/// A setting that we have changed and must restore.
#[derive(Debug)]
pub(crate) struct ReadAheadInForce {
    setting: ReadAhead,
    bytes: u64,
    before_bytes: u64,
    /// Names the setting and its former value, for whoever cleans up after our death.
    note: PathBuf,
}

impl ReadAheadInForce {
    /// Sets the read-ahead of the file system at `root` and reads it back. The former value is
    /// first noted at `note`, a path where nothing exists yet.
    pub(crate) fn set(
        root: &Path,
        bytes: u64,
        guardian: &Guardian,
        note: PathBuf,
    ) -> io::Result<Self> {
        let setting = ReadAhead::for_root(root)?.ok_or_else(|| {
            io::Error::other(format!(
                "no setting in {SETTINGS} governs this file system; leave read_ahead= out"
            ))
        })?;
        let before_bytes = setting.bytes()?;
        guardian.add(ResourceKind::ReadAhead, &note)?;
        symlink(setting.noted(bytes, before_bytes), &note)?;
        let in_force = Self { setting, bytes, before_bytes, note };
        let set = in_force.setting.set(bytes).and_then(|()| in_force.setting.bytes());
        let refusal = match set {
            Ok(read_back) if read_back == bytes => return Ok(in_force),
            Ok(read_back) => in_force.setting.failure(&format!(
                "the kernel set {read_back} bytes instead of read_ahead={bytes}"
            )),
            Err(error) => error,
        };
        let _already_failing = in_force.restore(guardian);
        Err(refusal)
    }

    /// The value in force, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Restores the former value.
    pub(crate) fn restore(self, guardian: &Guardian) -> io::Result<()> {
        self.setting.set(self.before_bytes)?;
        fs::remove_file(&self.note)?;
        guardian.remove(ResourceKind::ReadAhead, &self.note)
    }
}
