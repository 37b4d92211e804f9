//! The description of a trace, stored inside it.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use footprint::description::Description;
use footprint_trace::attachments::{self, DESCRIPTION};

use crate::SymbolsError;

/// Maximum size of a description's JSON that is read.
const JSON_BYTES_MAX: u64 = 1 << 28;

/// Stores a description in a trace, replacing any that it has.
///
/// # Errors
/// The trace cannot be read to its end, or cannot be written.
pub fn attach_description(trace: &Path, description: &Description) -> Result<(), SymbolsError> {
    let wrong = |error: &dyn ToString| SymbolsError::Description(error.to_string());
    let json = serde_json::to_vec(description).map_err(|error| wrong(&error))?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json).map_err(|error| wrong(&error))?;
    let bytes = encoder.finish().map_err(|error| wrong(&error))?;
    Ok(attachments::append(trace, &[(DESCRIPTION, &bytes)])?)
}

/// The description inside a trace; `None` if it has none.
///
/// # Errors
/// The trace cannot be read to its end, or its description is invalid.
pub fn read_description(trace: &Path) -> Result<Option<Description>, SymbolsError> {
    let Some(bytes) = attachments::read(trace, DESCRIPTION)? else { return Ok(None) };
    let mut json = Vec::new();
    let inflated = ZlibDecoder::new(&*bytes).take(JSON_BYTES_MAX).read_to_end(&mut json);
    inflated.map_err(|error| SymbolsError::Description(error.to_string()))?;
    let mut description: Description = serde_json::from_slice(&json)
        .map_err(|error| SymbolsError::Description(error.to_string()))?;
    // Lookup is by binary search, and another writer may not have sorted it.
    description.sort();
    description.make_plain();
    Ok(Some(description))
}
