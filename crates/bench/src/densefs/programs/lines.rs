//! The cache lines of calls: by a program as it is, and by one that calls DenseFS' library. Both
//! are traced from the call in the program to its return.

use std::collections::BTreeMap;
use std::path::Path;

use footprint::touched::Figures;

use super::place::{PREFIX, Place, guided_library, library};
use crate::densefs::instructions::{CALLS, SOURCE, traced};
use crate::densefs::{Calls, built, compile};
use crate::footprints::has;
use crate::table::{Bound, Table};

/// How many more lines a create may touch than the library's.
const MORE_INSTRUCTION_LINES: f64 = 12.0;
const MORE_DATA_LINES: f64 = 8.0;

type Counted = BTreeMap<u16, Vec<Figures>>;

/// Adds the rows.
pub(super) fn measure(table: &mut Table, place: &Place) -> anyhow::Result<()> {
    if !has("qemu-x86_64") {
        let why = "there is no qemu-x86_64 here (scripts/setup bench)".to_owned();
        table.row("DenseFS, programs as they are: cache lines", why, "stated");
        return Ok(());
    }
    let as_it_is = compile(&place.work, "lines-as-it-is", SOURCE, Calls::System)?;
    let by_library = compile(&place.work, "lines-by-library", SOURCE, Calls::Library)?;
    let in_arena = |library: &Path| -> anyhow::Result<Counted> {
        place.empty()?;
        traced(&place.work, &place.variables(library), &[&as_it_is, Path::new(PREFIX)])
    };
    place.empty()?;
    let shared = format!("LD_LIBRARY_PATH={}", built()?.join("lib").display());
    let library_calls = traced(&place.work, &[shared], &[&by_library, &place.arena])?;
    for (of, counted) in [("", in_arena(&library()?)?), (", guided", in_arena(&guided_library()?)?)]
    {
        for ((name, ours), theirs) in CALLS.iter().zip(counted.values()).zip(library_calls.values())
        {
            add(table, &format!("{name}{of}"), ours, theirs);
        }
    }
    Ok(())
}

/// Adds the rows of a call.
fn add(table: &mut Table, name: &str, ours: &[Figures], library: &[Figures]) {
    let what = format!("DenseFS, programs as they are, {name}");
    let mut row = |of: &str, count: fn(&Figures) -> u64, most: f64| {
        let counts = |all: &[Figures]| all.iter().map(|one| count(one) as f64).collect::<Vec<_>>();
        let (ours, library) = (counts(ours), counts(library));
        table.counts(&format!("{what}: {of}"), "stated", &ours);
        let more: Vec<f64> = ours.iter().zip(&library).map(|(one, other)| one - other).collect();
        let bound = name.starts_with("create").then_some(Bound::AtMost(most));
        table.more("  more than the library's call", bound, &more);
    };
    row("instruction lines", |figures| figures.instruction_lines, MORE_INSTRUCTION_LINES);
    row("data lines", |figures| figures.data_lines, MORE_DATA_LINES);
    let what = format!("{what}: instructions");
    let instructions: Vec<f64> = ours.iter().map(|one| one.instructions as f64).collect();
    table.counts(&what, "stated", &instructions);
}
