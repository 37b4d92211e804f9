//! The machine code of a library, and where its functions begin.

use std::ops::Range;

/// The executable segment of a library.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    /// Where it is in memory.
    pub(super) address: usize,
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// The functions of the library.
    pub(super) functions: Functions<'a>,
}

impl Text<'_> {
    /// The function that has the byte at `offset`, as offsets, up to where the next one begins.
    pub(super) fn function(&self, offset: usize) -> Option<Range<usize>> {
        let addresses = self.functions.around(self.address + offset)?;
        let start = addresses.start.checked_sub(self.address)?;
        let end = addresses.end.saturating_sub(self.address).min(self.bytes.len());
        Some(start..end)
    }
}

/// The table that unwinders search: the section `.eh_frame_hdr`. It lists the first addresses of
/// all functions in order. Each library of glibc has it, also where debugging information is
/// stripped.
#[derive(Clone, Copy)]
pub(super) struct Functions<'a> {
    /// What the addresses are relative to: that of the section.
    address: usize,
    /// First addresses, each with where its description is.
    entries: &'a [[u8; 8]],
}

impl<'a> Functions<'a> {
    /// Reads the section. `None` if it is not in the one form that linkers write.
    pub(super) fn read(address: usize, section: &'a [u8]) -> Option<Self> {
        // The version, and how three things are encoded: the first relative to itself, the second
        // as a plain number, the third relative to the section, each in four bytes.
        let table = section.strip_prefix(&[1, 0x1b, 3, 0x3b])?.get(4..)?;
        let (count, table) = table.split_first_chunk()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        Some(Self { address, entries: table.as_chunks().0.get(..count)? })
    }

    fn around(&self, address: usize) -> Option<Range<usize>> {
        let next = self.entries.partition_point(|entry| self.start(entry) <= address);
        let start = self.start(self.entries.get(next.checked_sub(1)?)?);
        let end = self.entries.get(next).map_or(usize::MAX, |entry| self.start(entry));
        Some(start..end)
    }

    fn start(&self, entry: &[u8; 8]) -> usize {
        let [a, b, c, d, ..] = *entry;
        let distance = i32::from_le_bytes([a, b, c, d]);
        self.address.wrapping_add_signed(isize::try_from(distance).unwrap_or(0))
    }
}
