//! `fsprism machine`: what this computer is, and what is permitted here.

use crate::arguments::{Format, MachineOptions};
use crate::exit::{Blame, Done};
use crate::output;

/// Prints the description of this machine.
pub(crate) fn machine(options: &MachineOptions) -> anyhow::Result<Done> {
    let mut machine = ::machine::describe::describe();
    machine.storage = ::machine::describe::storage(&options.directories);
    let text = match options.output.format {
        Format::Terminal => ::report::render_machine(&machine, &output::terminal_options()),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&machine)?),
        _ => {
            let refusal = anyhow::anyhow!("a machine has no such form: use --format json");
            return Err(refusal).blame_input();
        }
    };
    output::print(&text)?;
    Ok(Done::Well)
}
