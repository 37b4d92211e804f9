//! The programs and libraries of a program's trace.

use std::collections::BTreeMap;
use std::path::PathBuf;

use footprint_trace::maps::Mapping;

use crate::SymbolsError;
use crate::describe::Image;
use crate::elf::Binary;
use crate::touched::Touched;

/// The files that a traced program executed code of, from its attachment `maps`.
///
/// # Errors
/// Such a file is no longer there, or is no ELF file.
pub fn images(maps: &[u8], touched: &Touched) -> Result<Vec<Image>, SymbolsError> {
    let text = String::from_utf8_lossy(maps);
    let mut executed = BTreeMap::<String, Mapping>::new();
    for mapping in text.lines().filter_map(Mapping::parse) {
        // QEMU's own files are never executed by the program.
        if touched.is_executed(mapping.start, mapping.end - 1) {
            executed.entry(mapping.path.clone()).or_insert(mapping);
        }
    }
    let mut images = Vec::new();
    for (path, mapping) in executed {
        let path = PathBuf::from(path);
        if let Some(bias) = Binary::read(&path)?.bias(&mapping)? {
            images.push(Image { path, bias });
        }
    }
    Ok(images)
}
