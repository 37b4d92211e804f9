//! `fsprism compare`: targets of a run, or runs, with one another.

use std::path::Path;

use ::report::compare::{CompareOptions as How, Factor, compare as compare_runs, name_runs};
use record::Run;

use crate::arguments::CompareOptions;
use crate::exit::{Blame, Done};
use crate::{output, stats};

/// Reads the runs and prints how they compare.
pub(crate) fn compare(options: &CompareOptions) -> anyhow::Result<Done> {
    let factors =
        options.factors.iter().map(|name| Factor::named(name.trim())).collect::<Result<_, _>>();
    let factors = factors.blame_input()?;
    let paths: Vec<&Path> = options.runs.iter().map(AsRef::as_ref).collect();
    let runs = paths.iter().map(|path| Run::read(path)).collect::<Result<Vec<Run>, _>>();
    let runs = name_runs(&paths, runs.blame_input()?);
    let (margin, level) = (options.margin / 100.0, options.confidence);
    let how = How { factors, margin, level, unlike: options.unlike };
    let document = compare_runs(&runs, &how).blame_input()?;
    let width = output::terminal_options().width;
    stats::print(options.output.format, &document, || document.text(width))
}
