//! Whose code misses caches while a program runs, from a trace.

use std::path::Path;

use caches::Hierarchy;
use footprint::owners::{MappedNames, OwnerFigures, OwnerSimulator};
use footprint::trace::{Names, Walk};

use crate::StudyError;
use crate::trace_file::open;

/// The figures of each region of a trace, in order.
///
/// # Errors
/// The trace cannot be read, or is damaged.
pub fn owners<N: Names>(
    path: &Path,
    names: MappedNames<N>,
    caches: &Hierarchy,
) -> Result<Vec<OwnerFigures>, StudyError> {
    let mut reader = open(path)?;
    let simulator = OwnerSimulator::new(&names, caches);
    let mut walk = Walk::new(*reader.header(), names);
    let figures = simulator.run(&mut walk, &mut reader);
    figures.map_err(|source| StudyError::Trace { path: path.to_owned(), source })
}
