//! `fsprism report`: writes the report of runs again.

use ::report::AnalysedRun;
use record::Run;

use crate::arguments::format::Format;
use crate::arguments::reports::ReportOptions;
use crate::exit::{OrInputError, Outcome};
use crate::output::{self, ReportForm, page};
use crate::session::{loads, named};

/// Writes a page for run directories, or prints them in another format.
pub(crate) fn report(options: &ReportOptions) -> anyhow::Result<Outcome> {
    let paths = named::single_runs_or_latest(&options.runs)?;
    let runs = paths.iter().map(|path| Run::read(path)).collect::<Result<Vec<Run>, _>>();
    let runs = runs.or_input_error()?;
    let format = options.format.or(options.terminal.then_some(Format::Terminal));
    if runs.len() > 1 && format.is_some_and(|format| format != Format::Html) {
        let refusal = anyhow::anyhow!(
            "only the page can show several runs: name one run, or leave out --format"
        );
        return Err(refusal).or_input_error();
    }
    if options.full && format != Some(Format::Terminal) {
        return Err(anyhow::anyhow!("--full is for --terminal: add that, or leave --full out"))
            .or_input_error();
    }
    let loads = loads::named(&options.loads)?;
    loads::check_known(&loads, &runs)?;
    let form = ReportForm { format: Format::Html, is_full: options.full, loads };
    let sources: Vec<AnalysedRun<'_>> =
        paths.iter().zip(&runs).map(|(path, run)| form.source(run, path)).collect();
    match (format, sources.as_slice()) {
        (Some(Format::Html), _) => output::print(&::report::render_html(&sources))?,
        (Some(format), sources) => {
            let form = ReportForm { format, ..form };
            sources.iter().try_for_each(|source| output::print_report(source, &form))?;
        }
        (None, sources) => {
            let page = match (&options.out, paths.as_slice()) {
                (Some(out), _) => out.clone(),
                (None, [only]) => only.join(page::FILE),
                (None, _) => page::FILE.into(),
            };
            page::destination(&page)?.write(::report::render_html(sources).as_bytes())?;
            output::print_written(&page)?;
        }
    }
    Ok(Outcome::Success)
}
