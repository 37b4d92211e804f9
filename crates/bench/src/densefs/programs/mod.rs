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

use crate::table::Table;
use place::Place;

/// How many files the tree for whole programs has, unless an argument says otherwise.
const FILES: u32 = 20_000;

/// Adds the rows. `files` is the number of files in the tree for whole programs.
pub(crate) fn measure(table: &mut Table, work: &Path, files: Option<u32>) -> anyhow::Result<()> {
    let files = files.unwrap_or(FILES);
    let place = Place::new(work, files)?;
    calls::measure(table, &place)?;
    lines::measure(table, &place)?;
    start::measure(table, &place)?;
    whole::measure(table, &place, files)
}
