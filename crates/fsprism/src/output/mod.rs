//! What goes to standard output, in the format that was asked for. Nothing else is printed there.

pub(crate) mod destination;
pub(crate) mod gauge;
pub(crate) mod page;
pub(crate) mod progress;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use ::report::export::{self, BonnieForm, Direction, Export, Latencies};
use ::report::{AnalysedRun, Load, Options};
use network_suite::break_even;
use record::{Document, Run, RunDirectory, Warning, WarningReport};
use serde::Serialize;
use textual::{plain_json, plain_path, plain_text, program, shell_path};

use crate::arguments::analysis::AnswerFormat;
use crate::arguments::format::Format;
use crate::exit::{self, INTERRUPTED, OrInputError, Outcome, UNDECIDED};

/// A report is as wide as the terminal, in columns, but within these bounds.
const WIDTH_MIN: usize = 60;
const WIDTH_MAX: usize = 120;
/// Width without a terminal, if `COLUMNS` does not give one either.
const WIDTH_UNKNOWN: usize = WIDTH_MAX;

/// Whether the terminal understands escape sequences: `TERM` must be set, and not to `dumb`.
pub(crate) fn takes_escapes() -> bool {
    let terminal = std::env::var_os("TERM").filter(|value| !value.is_empty());
    terminal.is_some_and(|terminal| terminal != "dumb")
}

/// Options of the terminal report, from the terminal and `NO_COLOR`.
pub(crate) fn terminal_options() -> Options {
    let is_terminal = io::stdout().is_terminal();
    let columns = terminal_columns().unwrap_or(WIDTH_UNKNOWN);
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Options {
        width: columns.clamp(WIDTH_MIN, WIDTH_MAX),
        colour: is_terminal && !no_colour && takes_escapes(),
    }
}

/// What a run's report contains, and in which format.
#[derive(Clone, Debug)]
pub(crate) struct ReportForm {
    pub(crate) format: Format,
    /// Whether the terminal gets the full report instead of only the closing screen.
    pub(crate) is_full: bool,
    /// The loads that were asked for; if empty, the report covers all that can be estimated.
    pub(crate) loads: Vec<Load>,
}

impl ReportForm {
    /// A form that includes the full report on the terminal.
    pub(crate) fn full(format: Format) -> Self {
        Self { format, is_full: true, loads: Vec::new() }
    }

    /// Analyses a run for a report in this form.
    pub(crate) fn source<'a>(&self, run: &'a Run, path: &'a Path) -> AnalysedRun<'a> {
        match self.loads.as_slice() {
            [] => AnalysedRun::new(run, path),
            loads => AnalysedRun::under(run, path, loads),
        }
    }
}

/// Prints a run that was just measured in the requested form, and writes its page. Returns the
/// analysis.
pub(crate) fn print_measured(
    directory: &RunDirectory,
    form: &ReportForm,
) -> anyhow::Result<Document> {
    let run = directory.read()?;
    let source = form.source(&run, directory.path());
    print_report(&source, form)?;
    page::write_into(directory, &source);
    Ok(source.document)
}

/// Prints the run at a path, without writing a page.
pub(crate) fn print_run(path: &Path, form: &ReportForm) -> anyhow::Result<Document> {
    let run = Run::read(path).or_input_error()?;
    let source = form.source(&run, path);
    print_report(&source, form)?;
    Ok(source.document)
}

/// Reports what of a run's journal is left out, if anything.
pub(crate) fn say_left_out(run: &Run) {
    if let Some(left_out) = run.left_out() {
        say(&WarningReport::from(left_out).message);
    }
}

/// Reports that a run was measured on a busy machine, for formats that have no place for it.
fn say_busy(document: &Document) {
    let is_busy = |one: &&WarningReport| matches!(one.warning, Warning::BusyMachine { .. });
    if let Some(report) = document.warnings.iter().find(is_busy) {
        say(&report.message);
    }
}

/// Prints the report of a run in the requested form.
pub(crate) fn print_report(source: &AnalysedRun<'_>, form: &ReportForm) -> anyhow::Result<()> {
    let AnalysedRun { run, path, document, .. } = source;
    // These three formats have both among their warnings.
    if !matches!(form.format, Format::Terminal | Format::Json | Format::Html) {
        say_left_out(run);
        say_busy(document);
    }
    let text = match form.format {
        Format::Terminal
            if let Some(searched) = break_even::text(run, terminal_options().width) =>
        {
            searched
        }
        Format::Terminal if let Some(network) = ::report::network(run) => {
            ::report::render_network(&network, &terminal_options())
        }
        Format::Terminal
            if let Some(counted) = ::report::traffic_alone(run, terminal_options().width) =>
        {
            counted
        }
        Format::Terminal if form.is_full || !::report::has_answer(document) => {
            ::report::render_terminal(document, &terminal_options()) + &counts(source)
        }
        Format::Terminal => {
            let mistakes = ::report::check::of_classic(source).map(|document| document.found);
            ::report::render_answer(document, path, mistakes, &terminal_options()) + &counts(source)
        }
        Format::Json => export::render_json(document),
        Format::Csv => export::render_csv(run),
        Format::CsvSummary => export::render_csv_summary(document),
        Format::Html => ::report::render_html(std::slice::from_ref(source)),
        Format::Bmf => text_of(export::render_bmf(document, run)),
        Format::GithubSmaller => text_of(export::render_github(document, run, Direction::Smaller)),
        Format::GithubBigger => text_of(export::render_github(document, run, Direction::Bigger)),
        Format::Openmetrics => {
            text_of(export::render_openmetrics(document, &Latencies::read(run, path)))
        }
        Format::Fio => text_of(export::render_fio(document, run, &Latencies::read(run, path))),
        Format::Markdown => text_of(export::render_markdown(document, run)),
        Format::Bonnie => bonnie_text(BonnieForm::Table, document, run)?,
        Format::BonniePlusPlus => bonnie_text(BonnieForm::Csv, document, run)?,
    };
    print(&text)
}

/// The text of what was counted in a run, and in the one beside it.
fn counts(AnalysedRun { run, path, document, .. }: &AnalysedRun<'_>) -> String {
    let width = terminal_options().width;
    ::report::counted_by_processor(document, width) + &::report::traffic_beside(run, path, width)
}

/// The text of an export, after reporting what it had to leave out.
fn text_of(export: Export) -> String {
    export.left_out.iter().for_each(|left_out| say(&left_out.to_string()));
    export.text
}

/// Like [`text_of`], for Bonnie's formats, which have no place for phases that were too short.
fn bonnie_text(form: BonnieForm, document: &Document, run: &Run) -> anyhow::Result<String> {
    let export = form.render(document, run).or_input_error()?;
    export.notes.iter().for_each(|note| say(note));
    Ok(export.text)
}

/// Says where a run and its page are, after its report has been printed.
pub(crate) fn print_path(path: &Path, form: &ReportForm) -> anyhow::Result<()> {
    if form.format == Format::Terminal {
        let page = path.join(page::FILE);
        let shown = |path: &Path| format!("{}\n", plain_path(path));
        let page = if page.is_file() { shown(&page) } else { String::new() };
        let full = match form.is_full {
            true => String::new(),
            false => format!("All: {} report --terminal --full {}\n", program(), shell_path(path)),
        };
        let gap = if form.is_full { "\n" } else { "" };
        return print(&format!("{gap}{full}{page}{}", shown(path)));
    }
    say(&path.display().to_string());
    Ok(())
}

/// Prints the path of something that was written on request.
pub(crate) fn print_written(path: &Path) -> anyhow::Result<()> {
    print(&format!("{}\n", plain_path(path)))
}

/// Prints an answer to standard output; `text` makes its lines for a terminal of this width.
pub(crate) fn print_answer(
    format: AnswerFormat,
    answer: &impl Serialize,
    text: impl FnOnce(usize) -> String,
) -> anyhow::Result<Outcome> {
    match format {
        AnswerFormat::Terminal => print(&text(terminal_options().width))?,
        AnswerFormat::Json => {
            print(&(plain_json(serde_json::to_string_pretty(answer)?) + "\n"))?;
        }
    }
    Ok(Outcome::Success)
}

/// Prints `text`. It is not an error if the reader has gone away, as `head` does.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => {
            result.map_err(|error| anyhow::anyhow!("cannot write to standard output: {error}"))
        }
    }
}

/// Prints a line to standard error. A terminal that has gone away must not end the run.
///
/// Escape sequences in paths and in what kernels and programs say are made harmless.
pub(crate) fn say(line: &str) {
    let _nobody_listens = writeln!(io::stderr(), "{}", plain_text(line));
}

/// The exit status of a command. Prints its error, if it has one.
pub(crate) fn end(done: anyhow::Result<Outcome>) -> ExitCode {
    ExitCode::from(match done {
        Ok(Outcome::Success) if page::has_failed() => 1,
        Ok(Outcome::Success) => 0,
        Ok(Outcome::WithFailures) => 1,
        Ok(Outcome::Undecided) => UNDECIDED,
        Ok(Outcome::ExitStatus(status)) => status,
        Ok(Outcome::Interrupted) => INTERRUPTED,
        Err(error) => {
            say(&format!("fsprism: {}", exit::sentence_of(&error)));
            exit::status_of(&error)
        }
    })
}

fn terminal_columns() -> Option<usize> {
    let from_environment = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).or(from_environment)
}
