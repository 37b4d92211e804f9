//! Calls through a table of addresses, made direct.
//!
//! The compiler's own library is compiled for programs whose linker fills in such a table, and has
//! the compiler do the same for calls of `memcpy` and the like wherever it is linked in. The loader
//! of modules knows no such table. What is called is in the same object, so the instructions are
//! replaced as linkers do it (x86-64 psABI, section B.2, "Optimize GOTPCRELX Relocations").

use object::elf::{
    FileHeader64, R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_PC32, R_X86_64_PLT32,
    R_X86_64_REX_GOTPCRELX, RelocationType, SHT_RELA,
};
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, U64};

/// Bytes of a relocation: place, symbol and type, addend.
const BYTES: usize = 24;

/// A relocation that goes through the table.
struct Indirect {
    /// Where it is in the file.
    at: usize,
    /// Which byte of the file it changes.
    changes: usize,
}

/// Makes all calls in an object file direct.
///
/// # Errors
/// What cannot be made so.
pub(super) fn make_direct(bytes: &mut [u8]) -> Result<(), String> {
    for Indirect { at, changes } in indirect(bytes).ok_or("it is no object file")? {
        let before = changes.checked_sub(2).ok_or("a section is cut")?;
        let code = bytes.get(before..changes).ok_or("a section is cut")?;
        let (kind, back) = match code {
            [0xff, 0x15] => {
                bytes[before..changes].copy_from_slice(&[0x67, 0xe8]);
                (R_X86_64_PLT32, 0)
            }
            [0xff, 0x25] => {
                bytes[before] = 0xe9;
                *bytes.get_mut(before + 5).ok_or("a section is cut")? = 0x90;
                (R_X86_64_PLT32, 1)
            }
            [0x8b, _] => {
                bytes[before] = 0x8d;
                (R_X86_64_PC32, 0)
            }
            code => return Err(format!("{code:02x?} at {changes:#x}")),
        };
        let place = number(bytes, at).ok_or("a section is cut")?;
        let info = number(bytes, at + 8).ok_or("a section is cut")?;
        let info = info & !u64::from(u32::MAX) | u64::from(kind.0);
        bytes[at..at + 8].copy_from_slice(&(place - back).to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&info.to_le_bytes());
    }
    Ok(())
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

/// The relocations that go through the table.
fn indirect(bytes: &[u8]) -> Option<Vec<Indirect>> {
    let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    let sections = header.sections(LittleEndian, bytes).ok()?;
    let offset = |field: U64<LittleEndian>| usize::try_from(field.get(LittleEndian)).ok();
    let mut found = Vec::new();
    for section in sections.iter().filter(|one| one.sh_type(LittleEndian) == SHT_RELA) {
        let target = sections.iter().nth(usize::try_from(section.sh_info(LittleEndian)).ok()?)?;
        let (first, length) = (offset(section.sh_offset)?, offset(section.sh_size)?);
        for at in (first..first + length).step_by(BYTES) {
            let kind = u32::try_from(number(bytes, at + 8)? & u64::from(u32::MAX)).ok()?;
            if [R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_REX_GOTPCRELX]
                .contains(&RelocationType(kind))
            {
                let place = usize::try_from(number(bytes, at)?).ok()?;
                found.push(Indirect { at, changes: offset(target.sh_offset)? + place });
            }
        }
    }
    Some(found)
}
