//! `fsprism machine`: what this computer is, and what fsprism may do on it.

use std::fs;
use std::path::PathBuf;

use crate::arguments::MachineOptions;
use crate::exit::{OrInputError, Outcome};
use crate::output;

/// Directories whose storage is described if none is named. They need not exist.
const BY_DEFAULT: [&str; 2] = ["/var/tmp", "."];

/// Prints the description of this machine.
pub(crate) fn machine(options: &MachineOptions) -> anyhow::Result<Outcome> {
    let directories = directories(options)?;
    let mut machine = ::machine::describe::describe();
    machine.storage = ::machine::describe::storage(&directories);
    output::print_answer(options.output.format, &machine, |_| {
        ::report::render_machine(&machine, &output::terminal_options())
    })
}

fn directories(options: &MachineOptions) -> anyhow::Result<Vec<PathBuf>> {
    for path in &options.directories {
        if let Err(error) = fs::metadata(path) {
            let path = path.display();
            let refusal = anyhow::anyhow!(
                "cannot describe the storage of {path}: {error}; name a directory that is there"
            );
            return Err(refusal).or_input_error();
        }
    }
    Ok(match &options.directories[..] {
        [] => BY_DEFAULT.map(PathBuf::from).to_vec(),
        given => given.to_vec(),
    })
}
