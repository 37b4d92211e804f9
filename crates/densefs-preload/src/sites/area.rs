//! Memory for stubs, near a text.

#![expect(unsafe_code, reason = "code that is made")]

use std::{ops::Range, slice};

use rustix::{
    io::Errno,
    mm::{self, MapFlags, MprotectFlags, ProtFlags},
};

/// The size of an area. Only what is written takes memory.
pub(super) const SIZE: usize = 128 << 10;

/// How far a jump goes, less what instructions take.
const REACH: usize = (1 << 31) - (64 << 10);

/// How far apart the places are where an area is tried.
const STEP: usize = 8 << 20;

/// How often an area is tried.
const TRIES: usize = 200;

/// An area that is mapped, at first writable, later executable.
pub(super) struct Area {
    address: usize,
}

impl Area {
    /// Maps an area that can be reached from everywhere in `text`.
    ///
    /// # Errors
    /// As the kernel says; `ENOMEM` also if there is no room near.
    pub(super) fn near(text: &Range<usize>) -> Result<Self, Errno> {
        // Where the kernel puts a mapping by itself is next to the libraries, as a rule.
        let mut hint = 0;
        let mut flags = MapFlags::PRIVATE;
        for attempt in 0..TRIES {
            match Self::map(hint, flags) {
                Ok(area) if area.reaches(text) => return Ok(area),
                Ok(area) => area.unmap(),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            // In turn below and above.
            let distance = (attempt / 2 + 1) * STEP;
            let page = 4095;
            hint = match attempt % 2 {
                0 => text.start.saturating_sub(distance),
                _ => text.end + distance,
            } & !page;
            flags |= MapFlags::FIXED_NOREPLACE;
        }
        Err(Errno::NOMEM)
    }

    fn map(hint: usize, flags: MapFlags) -> Result<Self, Errno> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let hint = std::ptr::with_exposed_provenance_mut(hint);
        // SAFETY: nothing that is mapped already is replaced. Kernels that do not know the flag for
        // that take the address as a hint.
        let address = unsafe { mm::mmap_anonymous(hint, SIZE, protection, flags)? };
        Ok(Self { address: address.expose_provenance() })
    }

    /// Whether jumps go from everywhere in the area to everywhere in `text`, and back.
    pub(super) fn reaches(&self, text: &Range<usize>) -> bool {
        let (start, end) = (self.address.min(text.start), (self.address + SIZE).max(text.end));
        end - start < REACH
    }

    /// Where it is.
    pub(super) fn address(&self) -> usize {
        self.address
    }

    /// Its memory, before it is executable.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        let bytes = std::ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: this is the area's memory, which is borrowed with the area.
        unsafe { slice::from_raw_parts_mut(bytes, SIZE) }
    }

    /// Makes it executable, and no longer writable.
    ///
    /// # Errors
    /// As the kernel says. Where code may not be made, `EACCES` or `EPERM`.
    pub(super) fn seal(&self) -> Result<(), Errno> {
        let protection = MprotectFlags::READ | MprotectFlags::EXEC;
        protect(&(self.address..self.address + SIZE), protection)
    }

    /// Gives it back.
    pub(super) fn unmap(self) {
        let address = std::ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: nothing refers to the memory, as no borrow outlives the area.
        // A failure leaves some address space reserved, which does no harm.
        let _ = unsafe { mm::munmap(address, SIZE) };
    }
}

/// Sets how the pages with `range` may be accessed.
///
/// # Errors
/// As the kernel says.
pub(super) fn protect(range: &Range<usize>, protection: MprotectFlags) -> Result<(), Errno> {
    let start = range.start & !4095;
    let address = std::ptr::with_exposed_provenance_mut(start);
    // SAFETY: callers only ever add permissions to code, or take away what nobody uses any more.
    unsafe { mm::mprotect(address, range.end - start, protection) }
}
