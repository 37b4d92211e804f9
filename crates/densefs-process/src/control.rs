//! The flags of descriptors and of open files, and writes that say where they go.

use densefs::{Errno, flags};

use crate::dense_fs::DenseFs;

impl DenseFs {
    /// Whether a descriptor is marked to be closed when the process executes another program.
    ///
    /// # Errors
    /// As fcntl(2) with `F_GETFD`.
    pub fn closes_on_exec(&self, descriptor: u32) -> Result<bool, Errno> {
        self.with_core(|member| member.closes_on_exec(descriptor))
    }

    /// Marks a descriptor to be closed when the process executes another program, or not. All are
    /// closed then, unless [`DenseFs::hand_over`] prepares for that.
    ///
    /// # Errors
    /// As fcntl(2) with `F_SETFD`.
    pub fn set_closes_on_exec(&self, descriptor: u32, closes: bool) -> Result<(), Errno> {
        self.with_core(|member| member.set_closes_on_exec(descriptor, closes))
    }

    /// Changes the flags of an open file, as far as they can be changed.
    ///
    /// # Errors
    /// As fcntl(2) with `F_SETFL`.
    pub fn set_flags(&self, descriptor: u32, how: u32) -> Result<(), Errno> {
        self.with(|member, caller| {
            let old = member.flags(descriptor)?;
            if old & flags::PATH != 0 {
                return Err(Errno::BADF);
            }
            let mode = member.retry(|| member.stat(member.node(descriptor)?))?.mode;
            let spares_atime = how & !old & flags::NO_ATIME != 0;
            if spares_atime && caller.uid != mode.uid && !caller.may_all() {
                return Err(Errno::PERM);
            }
            if how & flags::DIRECT != 0 && mode.is_directory() {
                return Err(Errno::INVAL);
            }
            member.set_flags(descriptor, how)
        })
    }

    /// Writes at the end of the file or not, however it was opened: at an offset, or at the
    /// descriptor's own.
    ///
    /// # Errors
    /// As pwritev2(2).
    pub fn write_placed(
        &self,
        descriptor: u32,
        offset: Option<u64>,
        appends: bool,
        from: &[u8],
    ) -> Result<usize, Errno> {
        self.with_core(|member| member.write_placed(descriptor, offset, appends, from))
    }
}
