//! A document as text for people: sentences, with numbers next to them.
//!
//! Every line fits the width that the caller asks for and never exceeds 120 columns. Without colour
//! it is plain ASCII, as far as the names of targets are.

mod answer;
mod beside;
mod cliffs;
mod closing;
mod columns;
mod curve;
mod dimensions;
mod durable;
mod fit;
mod footprint;
mod grid;
mod heading;
mod headline;
mod loads;
mod machine;
mod names;
mod observed;
mod other_metrics;
mod plane;
mod policies;
mod prose;
mod ranking;
mod section;
mod sentence;
mod speed_up;
mod story;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod volumes;
mod warnings;

use record::Document;
use record::machine::Machine;

use crate::layout::Options;
pub(crate) use answer::left_out;
pub use answer::{has_answer, render_answer};
pub(crate) use footprint::simulated_caches;
pub(crate) use headline::headline;
pub(crate) use loads::lines as load_lines;
pub(crate) use prose::prose;
use text::Page;
pub use warnings::reasons;

/// The full report of a run.
#[must_use]
pub fn render_terminal(document: &Document, options: &Options) -> String {
    let mut page = Page::new(options);
    heading::render(&mut page, document);
    if document.searches.is_empty() {
        dimensions::render(&mut page, document);
        loads::render(&mut page, document);
        section::render_all(&mut page, document);
        fit::render(&mut page, document);
        warnings::render(&mut page, document);
        closing::render(&mut page, document);
    } else {
        cliffs::render_all(&mut page, document);
        warnings::render(&mut page, document);
        cliffs::render_closing(&mut page, document);
    }
    page.finish()
}

/// What `fsprism machine` prints.
#[must_use]
pub fn render_machine(machine: &Machine, options: &Options) -> String {
    let mut page = Page::new(options);
    machine::render(&mut page, machine);
    page.finish()
}
