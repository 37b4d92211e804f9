//! `fsprism report`: the report of runs, written again.

use std::path::Path;

use ::report::Source;
use record::Run;

use crate::arguments::{Format, ReportOptions};
use crate::exit::{Blame, Done};
use crate::{output, page};

/// Writes the page of run directories, or prints them in another form.
pub(crate) fn report(options: &ReportOptions) -> anyhow::Result<Done> {
    let runs = options.runs.iter().map(|path| Run::read(path)).collect::<Result<Vec<Run>, _>>();
    let runs = runs.blame_input()?;
    let paths = options.runs.iter().map(AsRef::<Path>::as_ref);
    let sources: Vec<Source<'_>> =
        paths.zip(&runs).map(|(path, run)| Source { path, run }).collect();
    let format = options.format.or(options.terminal.then_some(Format::Terminal));
    let Some(format) = format else {
        let page = match (&options.out, options.runs.as_slice()) {
            (Some(out), _) => out.clone(),
            (None, [only]) => only.join(page::FILE),
            (None, _) => page::FILE.into(),
        };
        page::write(&page, &sources)?;
        output::print(&format!("{}\n", page.display()))?;
        return Ok(Done::Well);
    };
    match (format, sources.as_slice()) {
        (Format::Html, _) => output::print(&::report::render_html(&sources))?,
        (_, [only]) => drop(output::print_document(only.run, only.path, format)?),
        _ => {
            let refusal = anyhow::anyhow!(
                "only the page can show several runs: name one run, or leave out --format"
            );
            return Err(refusal).blame_input();
        }
    }
    Ok(Done::Well)
}
