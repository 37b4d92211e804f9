//! How much room a target has.

use std::io;

use rustix::fs::{StatVfs, statvfs};

use super::Target;
use super::backing::Backing;
use crate::error::TargetError;
use crate::filling::missing_bytes;
use crate::memory::memory_available_bytes;
use crate::scratch::source::MountSource;
use crate::space::Space;

impl Target {
    /// How much room there is. If it is still to be filled and aged, how much that will leave.
    ///
    /// # Errors
    /// [`TargetError::Io`] if the file system does not say.
    pub fn space(&self) -> Result<Space, TargetError> {
        let mut space = self.room()?;
        if let Some(ageing) = self.spec.ageing().filter(|_| !self.history.is_aged) {
            space.free_bytes -= space.free_bytes / 100 * u64::from(ageing.left_percent);
        }
        if !self.supports_cold() {
            let available = memory_available_bytes();
            let unlimited = space.total_bytes == 0;
            space.free_bytes = if unlimited { available } else { space.free_bytes.min(available) };
            space.total_bytes = space.total_bytes.max(space.free_bytes);
        }
        Ok(space)
    }

    /// What the file system itself reports, less what is still to be filled.
    pub(super) fn room(&self) -> Result<Space, TargetError> {
        if let Backing::Arena(arena) = &self.backing {
            let usage = arena.usage().map_err(self.io_error())?;
            let (free_bytes, total_bytes) = (usage.free_bytes, usage.bytes);
            return Ok(Space {
                free_bytes,
                total_bytes,
                free_inodes: None,
                is_held_by_scratch: false,
            });
        }
        let room = self.statvfs()?;
        let percent = self.spec.filled_percent().filter(|_| !self.history.is_filled);
        let to_fill = percent.map_or(0, |percent| missing_bytes(&room, percent));
        let left_bytes = match self.reserves() {
            true => self.left_bytes(&room),
            false => self.left_bytes(&room).saturating_sub(to_fill),
        };
        let free_bytes = room.f_bavail.saturating_mul(room.f_frsize).saturating_sub(to_fill);
        Ok(Space {
            free_bytes: free_bytes.min(left_bytes),
            total_bytes: room.f_blocks.saturating_mul(room.f_frsize),
            free_inodes: (room.f_files > 0).then_some(room.f_favail),
            is_held_by_scratch: left_bytes < free_bytes,
        })
    }

    /// How much can be written to it before its image uses up its share of the scratch directory.
    pub(super) fn left_to_write(&self) -> Result<u64, TargetError> {
        Ok(self.left_bytes(&self.statvfs()?))
    }

    fn statvfs(&self) -> Result<StatVfs, TargetError> {
        statvfs(self.root()).map_err(io::Error::from).map_err(self.io_error())
    }

    fn left_bytes(&self, room: &StatVfs) -> u64 {
        let used_bytes = room.f_blocks.saturating_sub(room.f_bfree).saturating_mul(room.f_frsize);
        let written_bytes = used_bytes.saturating_sub(self.history.reserved_bytes);
        match &self.backing {
            Backing::Scratch { source: MountSource::Image(image), scratch, .. } => {
                self.workshop.surroundings.left_bytes(scratch, image.size_bytes(), written_bytes)
            }
            Backing::Scratch { .. }
            | Backing::Directory(_)
            | Backing::Arena(_)
            | Backing::Removed => u64::MAX,
        }
    }
}
