//! Programs as they are in an arena (`fsprism densefs exec`), against a tmpfs and against calls of
//! DenseFS' library.
//!
//! The library that programs load is the one within fsprism. The one that `make densefs` builds
//! from the same code, guided by what programs execute, is called the *guided* one here.

mod calls;
mod lines;
mod place;
mod start;
mod tree;
mod whole;

use std::path::Path;

use anyhow::Context;

use crate::table::Table;
use place::Place;

/// How many files the tree for whole programs has, unless an argument says otherwise.
const FILES: u32 = 20_000;

/// Adds all rows.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    PARTS.iter().try_for_each(|part| part.measure(table, work, FILES))
}

/// Adds the rows of what an argument asks for: a part by its name, or whole programs on a tree with
/// so many files.
pub(crate) fn measure_some(table: &mut Table, work: &Path, what: &str) -> anyhow::Result<()> {
    if let Some(part) = PARTS.iter().find(|part| part.name == what) {
        return part.measure(table, work, FILES);
    }
    let files = what.parse().with_context(|| {
        format!("{what} is neither calls, lines, start or whole, nor a number of files")
    })?;
    whole::measure(table, &Place::new(work, files)?, files)
}

/// Rows that can be measured alone.
struct Part {
    name: &'static str,
    measure: fn(&mut Table, &Place, u32) -> anyhow::Result<()>,
}

const PARTS: [Part; 4] = [
    Part { name: "calls", measure: |table, place, _| calls::measure(table, place) },
    Part { name: "lines", measure: |table, place, _| lines::measure(table, place) },
    Part { name: "start", measure: |table, place, _| start::measure(table, place) },
    Part { name: "whole", measure: whole::measure },
];

impl Part {
    fn measure(&self, table: &mut Table, work: &Path, files: u32) -> anyhow::Result<()> {
        (self.measure)(table, &Place::new(work, files)?, files)
    }
}
