//! The parts of ELF that the lab needs: what is loaded of a program, and sections of a kernel
//! module. 64-bit, little-endian files only.

use object::elf::{FileHeader64, PT_INTERP, PT_LOAD, ProgramHeader64, ProgramType};
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, from_bytes_mut};

/// A 64-bit little-endian ELF file, of which only the start of the header has been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
    header: &'a FileHeader64<LittleEndian>,
}

impl<'a> Elf<'a> {
    /// The file, or `None` if it is not ELF of this kind.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let header = FileHeader64::parse(bytes).ok()?;
        header.is_little_endian().then_some(Self { bytes, header })
    }

    /// The segments of one type; none if the table is damaged.
    fn segments(
        self,
        wanted: ProgramType,
    ) -> impl Iterator<Item = &'a ProgramHeader64<LittleEndian>> {
        let segments = self.header.program_headers(LittleEndian, self.bytes).unwrap_or_default();
        segments.iter().filter(move |segment| segment.p_type.get(LittleEndian) == wanted)
    }

    /// Whether the program needs a loader, that is, is not static.
    pub(crate) fn has_interpreter(self) -> bool {
        self.segments(PT_INTERP).next().is_some()
    }

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
