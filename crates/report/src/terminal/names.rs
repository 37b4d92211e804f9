//! The words for things that the document names by a value.

use record::{Dimension, Document};

use super::text::{clean, shortened};

/// A label longer than this is shortened; the list of targets has it whole.
const LABEL_WIDTH_MOST: usize = 16;

/// A dimension, as a heading.
pub(super) fn dimension(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Io => "I/O",
        Dimension::OnDiskLayout => "On-disk layout",
        Dimension::InMemory => "In memory",
        Dimension::Caching => "Caching",
        Dimension::Metadata => "Metadata",
        Dimension::Scaling => "Scaling",
        Dimension::CpuFootprint => "CPU footprint",
        Dimension::Pollution => "Pollution",
    }
}

/// A target, as it stands in sentences and tables.
pub(super) fn label(label: &str) -> String {
    shortened(&clean(label), LABEL_WIDTH_MOST)
}

/// The title of a benchmark by its name, or the name where no cell has it.
pub(super) fn title<'a>(document: &'a Document, benchmark: &'a str) -> &'a str {
    let cell = document.cells.iter().find(|cell| cell.benchmark == benchmark);
    cell.map_or(benchmark, |cell| &cell.title)
}
