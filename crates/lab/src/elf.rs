<<<<<<< HEAD
//! The parts of ELF that the lab needs: the loadable part of a program, and sections of a kernel
//! module. 64-bit, little-endian; offsets and sizes as in the System V ABI, chapters 4 and 5.

/// Offsets within the file header.
const PROGRAM_HEADERS: usize = 32;
const SECTION_HEADERS: usize = 40;
const PROGRAM_HEADER_COUNT: usize = 56;
const SECTION_HEADER_COUNT: usize = 60;
const SECTION_OF_NAMES: usize = 62;
const PROGRAM_HEADER_BYTES: usize = 56;
const SECTION_HEADER_BYTES: usize = 64;
const FILE_HEADER_BYTES: usize = 64;
const LOAD: u32 = 1;
const INTERPRETER: u32 = 3;

/// A file with an ELF header.
=======
//! The parts of ELF that the lab needs: what is loaded of a program, and sections of a kernel
//! module. 64-bit, little-endian files only.

use object::elf::{FileHeader64, PT_INTERP, PT_LOAD, ProgramHeader64, ProgramType};
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, from_bytes_mut};

/// A 64-bit little-endian ELF file, of which only the start of the header has been checked.
>>>>>>> h-trace
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
    header: &'a FileHeader64<LittleEndian>,
}

impl<'a> Elf<'a> {
<<<<<<< HEAD
    /// The file, if it is 64-bit little-endian ELF.
=======
    /// The file, or `None` if it is not ELF of this kind.
>>>>>>> h-trace
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let header = FileHeader64::parse(bytes).ok()?;
        header.is_little_endian().then_some(Self { bytes, header })
    }

<<<<<<< HEAD
    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(&self, at: usize) -> Option<usize> {
        Some(usize::from(u16::from_le_bytes(self.array(at)?)))
    }

    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.array(at)?))
    }

    fn u64(&self, at: usize) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(self.array(at)?)).ok()
    }

    /// Type, file offset and file size of each segment.
    fn segments(self) -> impl Iterator<Item = (u32, usize, usize)> {
        let start = self.u64(PROGRAM_HEADERS).unwrap_or(0);
        let count = self.u16(PROGRAM_HEADER_COUNT).unwrap_or(0);
        (0..count).map_while(move |index| {
            let at = start.checked_add(index * PROGRAM_HEADER_BYTES)?;
            Some((self.u32(at)?, self.u64(at.checked_add(8)?)?, self.u64(at.checked_add(32)?)?))
        })
=======
    /// The segments of one type; none if the table is damaged.
    fn segments(
        self,
        wanted: ProgramType,
    ) -> impl Iterator<Item = &'a ProgramHeader64<LittleEndian>> {
        let segments = self.header.program_headers(LittleEndian, self.bytes).unwrap_or_default();
        segments.iter().filter(move |segment| segment.p_type.get(LittleEndian) == wanted)
>>>>>>> h-trace
    }

    /// Whether the program needs a dynamic loader, that is, is not static.
    pub(crate) fn has_interpreter(self) -> bool {
        self.segments(PT_INTERP).next().is_some()
    }

<<<<<<< HEAD
    /// The file up to the end of its loadable segments; debug information and symbols come after
    /// them.
    pub(crate) fn loaded(self) -> Option<Vec<u8>> {
        let ends = self.segments().filter(|&(kind, ..)| kind == LOAD);
        let end = ends.filter_map(|(_, offset, size)| offset.checked_add(size)).max()?;
        let mut bytes = self.bytes.get(..end)?.to_vec();
        // The section headers are cut off too, so the file header must not refer to any.
        bytes.get_mut(SECTION_HEADERS..SECTION_HEADERS + 8)?.fill(0);
        bytes.get_mut(SECTION_HEADER_COUNT..SECTION_OF_NAMES + 2)?.fill(0);
        Some(bytes)
    }

    fn section_at(self, index: usize) -> Option<(u32, &'a [u8])> {
        let start = self.u64(SECTION_HEADERS)?;
        let at = start.checked_add(index.checked_mul(SECTION_HEADER_BYTES)?)?;
        let (offset, size) = (self.u64(at.checked_add(24)?)?, self.u64(at.checked_add(32)?)?);
        let content = self.bytes.get(offset..offset.checked_add(size)?);
        Some((self.u32(at)?, content.unwrap_or_default()))
    }

    /// The content of the section with this name.
=======
    /// The file up to the end of its last loaded segment, without the debug information and
    /// symbols that follow.
    pub(crate) fn loaded(self) -> Option<Vec<u8>> {
        let ends = self.segments(PT_LOAD).filter_map(|segment| {
            segment.p_offset.get(LittleEndian).checked_add(segment.p_filesz.get(LittleEndian))
        });
        let mut bytes = self.bytes.get(..usize::try_from(ends.max()?).ok()?)?.to_vec();
        // The section headers have been cut off, so the header must not point to any.
        let (header, _) = from_bytes_mut::<FileHeader64<LittleEndian>>(&mut bytes).ok()?;
        header.e_shoff = Default::default();
        header.e_shnum = Default::default();
        header.e_shstrndx = Default::default();
        Some(bytes)
    }

    /// The content of the section with a name.
>>>>>>> h-trace
    pub(crate) fn section(self, name: &str) -> Option<&'a [u8]> {
        let sections = self.header.sections(LittleEndian, self.bytes).ok()?;
        let (_, section) = sections.section_by_name(LittleEndian, name.as_bytes())?;
        section.data(LittleEndian, self.bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Elf;

    #[test]
    fn this_program_is_cut_behind_its_segments() {
        let bytes = fs::read("/proc/self/exe").unwrap();
        let elf = Elf::new(&bytes).unwrap();
        assert!(elf.section(".text").is_some_and(|text| text.len() > 1000));
        assert!(elf.section(".tex").is_none());
        let loaded = elf.loaded().unwrap();
        assert!(loaded.len() < bytes.len());
        assert!(Elf::new(&loaded).unwrap().section(".text").is_none());
    }

    #[test]
    fn no_bytes_cause_a_panic() {
        let mut bytes = fs::read("/proc/self/exe").unwrap();
        bytes.truncate(4096);
        for at in 0..64 {
            let mut damaged = bytes.clone();
            damaged[at] = 0xff;
            let Some(elf) = Elf::new(&damaged) else { continue };
            let _any = (elf.section(".text"), elf.loaded(), elf.has_interpreter());
        }
        assert!(Elf::new(b"#!/bin/sh").is_none());
    }
}
