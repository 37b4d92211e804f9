//! The programs and libraries of a program's trace.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use footprint::description::Description;
use footprint_trace::TraceError;
use footprint_trace::attachments::{self, MAPS};
use footprint_trace::maps::Mapping;
use footprint_trace::reader::{Ending, TraceReader};
use footprint_trace::trace_file::open_plain;

use crate::SymbolsError;
use crate::describe::{Image, Sources, describe};
use crate::elf::Binary;
use crate::touched::TouchedAddresses;

/// Size of the read buffer.
const BUFFER_BYTES: usize = 1 << 18;

/// Names what a program's trace touches, from the files that the program had mapped. Also returns
/// the trace's ending. If these files are gone, the description says so and has no names.
///
/// # Errors
/// The trace cannot be read to its end.
pub fn program(trace: &Path) -> Result<(Description, Option<Ending>), SymbolsError> {
    let file = open_plain(trace).map_err(TraceError::Io)?;
    let mut reader = TraceReader::new(BufReader::with_capacity(BUFFER_BYTES, file))?;
    let touched = TouchedAddresses::read(&mut reader)?;
    let maps = attachments::read(trace, MAPS)?.unwrap_or_default();
    let named = images(&maps, &touched)
        .and_then(|images| describe(&touched, &Sources { kernel: None, images }));
    let mut description = named.unwrap_or_else(|error| Description {
        missing: Some(format!("functions have no names because {error}")),
        ..Description::default()
    });
    description.make_plain();
    Ok((description, reader.ending().copied()))
}

/// The files from which a traced program executed code, according to its attachment `maps`.
///
/// # Errors
/// Such a file no longer exists, or is not an ELF file.
pub fn images(maps: &[u8], touched: &TouchedAddresses) -> Result<Vec<Image>, SymbolsError> {
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
