//! The read-ahead that `read_ahead=` asks for, set while a target is mounted.
//!
//! A disk's setting stays after the file system is gone. Kernels that clear a loop device set its
//! limits anew and with them the read-ahead (seen on Linux 6.18); that is not relied on: what was
//! there is restored before the file system is unmounted; by the guardian should we die; and by the
//! next run should it have died too, which finds a note of it beside our mount area.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::guardian::{Guardian, Kind};
use crate::read_ahead::{ReadAhead, SETTINGS};

/// A setting that is ours until it is restored.
#[derive(Debug)]
pub(crate) struct ReadAheadInForce {
    setting: ReadAhead,
    bytes: u64,
    before_bytes: u64,
    /// Leads to the setting and its value before, for whoever finds that we have died.
    note: PathBuf,
}

impl ReadAheadInForce {
    /// Sets the read-ahead of the file system at `root` and reads it back. What it was is noted in
    /// `note` first, a path where nothing is.
    pub(crate) fn set(
        root: &Path,
        bytes: u64,
        guardian: &Guardian,
        note: PathBuf,
    ) -> io::Result<Self> {
        let setting = ReadAhead::of(root)?.ok_or_else(|| {
            io::Error::other(format!(
                "no setting in {SETTINGS} governs this file system; leave read_ahead= out"
            ))
        })?;
        let before_bytes = setting.bytes()?;
        guardian.add(Kind::ReadAhead, &note)?;
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

    /// What is in force, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts back what was there.
    pub(crate) fn restore(self, guardian: &Guardian) -> io::Result<()> {
        self.setting.set(self.before_bytes)?;
        fs::remove_file(&self.note)?;
        guardian.remove(Kind::ReadAhead, &self.note)
    }
}
