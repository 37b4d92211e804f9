//! fsprism: a file-system performance laboratory. This crate is only arguments, glue and progress.

mod arguments;
mod command_line;
mod commands;
mod exit;
mod output;
mod session;

use std::process::ExitCode;
use std::sync::Arc;

use clap::CommandFactory;
use command_line::{Arguments, Command, RunArgument, parse};
use commands::{
    check, cliff, compare, completions, densefs, fio, footprint, lab, machine, manual, papers,
    report, runs, stats, suites,
};
use signal_hook::consts::SIGXFSZ;

fn main() -> ExitCode {
    if slow_device::is_server() {
        return slow_device::serve();
    }
    if ::lab::inside::is_first_process() {
        if footprint_guest::inside::has_job() {
            footprint_guest::inside::init();
        }
        if network_guest::inside::has_part() {
            network_guest::inside::init();
        }
        ::lab::guest::init();
    }
    if footprint_guest::application::is_marked_start() {
        footprint_guest::application::start_marked();
    }
    textual::set_program(session::start::invocation());
    let parsed = parse().and_then(|arguments| {
        session::start::check_calls()?;
        Ok(arguments)
    });
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(refusal) => return output::end(Err(refusal)),
    };
    // Without a handler, exceeding the file size limit would kill the process silently.
    let ignored = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let done = match arguments.command {
        Command::Survey(mut given) => suites::survey(&mut given.0),
        Command::Run(given) => match *given {
            RunArgument::Suite(name, mut given) => suites::run(&name, &mut given),
            RunArgument::NoSuite(options) => suites::run_without(*options),
        },
        Command::Cliff(options) => cliff::cliff(&options),
        Command::Report(options) => report::report(&options),
        Command::Runs(options) => runs::runs(&options),
        Command::Compare(options) => compare::compare(&options),
        Command::Check(options) => check::check(&options),
        Command::Footprint(command) => footprint::footprint(&command),
        Command::Lab(command) => lab::lab(&command),
        Command::Stats(analysis) => stats::stats(&analysis),
        Command::Reproduce(options) => papers::reproduce(&options),
        Command::Densefs(command) => densefs::densefs(&command),
        Command::Fio(options) => fio::fio(&options),
        Command::Machine(options) => machine::machine(&options),
        Command::Completions(options) => {
            completions::completions(options.shell, Arguments::command())
        }
        Command::Man(options) => manual::man_page(&options, Arguments::command()),
    };
    output::end(ignored.map_err(Into::into).and(done))
}
