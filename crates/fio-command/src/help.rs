//! What is printed about options, engines and versions, and command lines made from job files.

use std::fmt::Write as _;
use std::io::{self, Write};

use job_files::options::{FioOption, Kind, OPTIONS, find};
use job_files::{JobText, Setting};
use jobs::plan::EngineChoice;

use crate::VERSION;
use crate::arguments::Print;

const HELP: &str = "\
Do fio's jobs: its job files, options, semantics and outputs (fio 3.33)

Usage: fsprism fio [OPTIONS] [JOB-OPTIONS] [JOB-FILE]...

Options of jobs are written as in job files: --rw=randread --bs=4k. Each --name=NAME
begins a job; --name=global sets options for all that follow.

Options:
  --output=FILE             Write results to a file
  --output-format=FORMATS   normal, json, json+, terse, or several with commas between them
  --terse-version=N         2, 3, 4 or 5 [default: 3]
  --minimal                 As --output-format=terse
  --eta=WHEN                Show progress: always, never or auto [default: auto]
  --eta-newline=TIME        Keep a line of progress every so often
  --eta-interval=TIME       How often to show progress [default: 1s]
  --parse-only              Check the jobs and do none
  --showcmd                 Print the jobs as command lines
  --section=NAME            Do this job of the file only; may be given several times
  --destroy-data            Let jobs write to devices; what is on them is lost
  --bandwidth-log           Write the bandwidth of all jobs to agg-read_bw.log and the like
  --readonly                Refuse jobs that write or trim
  --max-jobs=N              Refuse more jobs than this [default: 4096]
  --cmdhelp=OPTION          Print what values an option has, or all options
  --enghelp[=ENGINE]        Print the engines, or the options of one
  --version                 Print the version whose outputs these are
";

/// Prints what was asked for.
pub(crate) fn print(print: &Print, out: &mut dyn Write) -> io::Result<u8> {
    match print {
        Print::Version => writeln!(out, "{VERSION}")?,
        Print::Help => out.write_all(HELP.as_bytes())?,
        Print::OptionHelp(name) if name == "all" => {
            for option in OPTIONS.iter().filter(|option| option.engines.is_empty()) {
                writeln!(out, "{}", line(option))?;
            }
        }
        Print::OptionHelp(name) => match find(name) {
            Some(option) => writeln!(out, "{}", line(option))?,
            None => {
                writeln!(out, "fio has no option `{name}`")?;
                return Ok(1);
            }
        },
        Print::EngineHelp(None) => {
            writeln!(out, "Available IO engines:")?;
            for (name, _) in EngineChoice::ALL {
                writeln!(out, "\t{name}")?;
            }
        }
        Print::EngineHelp(Some(text)) => {
            let name = text.split(',').next().unwrap_or_default();
            for option in OPTIONS.iter().filter(|option| option.engines.contains(&name)) {
                writeln!(out, "{}", line(option))?;
            }
        }
    }
    Ok(0)
}

fn line(option: &FioOption) -> String {
    let mut name = option.name.to_owned();
    if !option.alias.is_empty() {
        let _written = write!(name, ", {}", option.alias);
    }
    format!("{name:<40}: {}", kind(option.kind))
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Flag => "nothing, or 0 or 1".to_owned(),
        Kind::Bool => "0 or 1".to_owned(),
        Kind::Numbers(least, most) => format!("numbers from {least} to {most}"),
        Kind::Sizes => "sizes, for reads, writes and trims".to_owned(),
        Kind::Size => "a size".to_owned(),
        Kind::SizeOrShare => "a size, or a percentage".to_owned(),
        Kind::Ranges => "ranges of sizes".to_owned(),
        Kind::Seconds => "a time, in seconds".to_owned(),
        Kind::SecondsRange => "a time, or a range of times, in seconds".to_owned(),
        Kind::Microseconds => "a time, in microseconds".to_owned(),
        Kind::Floats(least, most) => format!("numbers from {least} to {most}, with colons"),
        Kind::Choice(words) => words.join(", "),
        Kind::Text => "text".to_owned(),
        Kind::OptionalText => "text, or nothing".to_owned(),
    }
}

/// Jobs as a command line, as fio writes it.
pub(crate) fn command_line(texts: &[JobText]) -> String {
    let mut line = String::from("fio ");
    let global = texts.first().map_or(&[][..], |text| &text.settings[..text.global]);
    if !global.is_empty() {
        line.push_str("--name=global ");
        global.iter().for_each(|setting| line.push_str(&argument(setting)));
    }
    for text in texts {
        let _written = write!(line, "--name={} ", text.name);
        let own = text.settings[text.global..].iter();
        own.filter(|setting| setting.name != "name")
            .for_each(|setting| line.push_str(&argument(setting)));
    }
    line.push('\n');
    line
}

fn argument(setting: &Setting) -> String {
    let name = find(&setting.name).map_or(setting.name.as_str(), |option| option.name);
    match &setting.value {
        Some(value) if name == "description" => format!("--{name}=\"{value}\" "),
        Some(value) => format!("--{name}={value} "),
        None => format!("--{name} "),
    }
}
