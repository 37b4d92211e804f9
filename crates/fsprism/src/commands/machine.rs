//! `fsprism machine`: what this computer is, and what is permitted here.

use crate::arguments::MachineOptions;
use crate::arguments::analysis::AnswerFormat;
use crate::exit::{Blame, Done};
use crate::output;

/// Prints the description of this machine.
pub(crate) fn machine(options: &MachineOptions) -> anyhow::Result<Done> {
    let mut machine = ::machine::describe::describe();
    machine.storage = ::machine::describe::storage(&options.directories);
    let text = match options.output.format.of_answers() {
        Some(AnswerFormat::Terminal) => {
            ::report::render_machine(&machine, &output::terminal_options())
        }
        Some(AnswerFormat::Json) => format!("{}\n", serde_json::to_string_pretty(&machine)?),
        None => {
            let refusal = anyhow::anyhow!("machine has no such format: use --format json");
            return Err(refusal).blame_input();
        }
    };
    output::print(&text)?;
    Ok(Done::Well)
}
