//! `fsprism machine`: what this computer is, and what is permitted here.

use std::fs;
use std::path::PathBuf;

use textual::plain_json;

use crate::arguments::MachineOptions;
use crate::arguments::analysis::AnswerFormat;
use crate::exit::{Blame, Done};
use crate::output;

/// Whose storage is described where no directory is named; one that is not there is no error.
const BY_DEFAULT: [&str; 2] = ["/var/tmp", "."];

/// Prints the description of this machine.
pub(crate) fn machine(options: &MachineOptions) -> anyhow::Result<Done> {
    let directories = directories(options)?;
    let mut machine = ::machine::describe::describe();
    machine.storage = ::machine::describe::storage(&directories);
    let text = match options.output.format.of_answers() {
        Some(AnswerFormat::Terminal) => {
            ::report::render_machine(&machine, &output::terminal_options())
        }
        Some(AnswerFormat::Json) => {
            format!("{}\n", plain_json(serde_json::to_string_pretty(&machine)?))
        }
        None => {
            let refusal = anyhow::anyhow!("machine has no such format: use --format json");
            return Err(refusal).blame_input();
        }
    };
    output::print(&text)?;
    Ok(Done::Well)
}

fn directories(options: &MachineOptions) -> anyhow::Result<Vec<PathBuf>> {
    for path in &options.directories {
        if let Err(error) = fs::metadata(path) {
            let path = path.display();
            let refusal = anyhow::anyhow!(
                "cannot describe the storage of {path}: {error}; name a directory that is there"
            );
            return Err(refusal).blame_input();
        }
    }
    Ok(match &options.directories[..] {
        [] => BY_DEFAULT.map(PathBuf::from).to_vec(),
        given => given.to_vec(),
    })
}
