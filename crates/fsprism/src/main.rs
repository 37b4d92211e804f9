//! fsprism: a file-system performance laboratory. This binary is arguments, glue and progress.

mod arguments;
mod exit;
mod list;
mod machine;
mod manual;
mod output;
mod progress;
mod report;
mod resume;
mod survey;
mod targets;
mod values;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Survey(options) => survey::survey(options),
        Command::Run(options) => survey::run(options),
        Command::Report(options) => report::report(options),
        Command::Machine(options) => machine::machine(options),
        Command::Completions(options) => manual::completions(options.shell),
        Command::Man => manual::man_page(),
    };
    exit::code(done)
}
