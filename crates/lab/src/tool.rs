//! Programs on this machine that the lab calls.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::error::LabError;

/// A command for a program, or an error that names its package.
pub(crate) fn command(name: &str, package: &str) -> Result<Command, LabError> {
    let found = programs::find(name)
        .ok_or_else(|| LabError::NoTool { tool: name.to_owned(), package: package.to_owned() })?;
    let mut command = Command::new(found);
    command.stdin(Stdio::null()).env("LC_ALL", "C");
    Ok(command)
}

/// Runs a command to completion: its standard output, or an error with the last line on stderr.
pub(crate) fn run(command: &mut Command) -> Result<Vec<u8>, LabError> {
    let tool = command.get_program();
    let tool = PathBuf::from(tool);
    let name = tool.file_name().unwrap_or(OsStr::new("a tool")).to_string_lossy().into_owned();
    let output = command.output().map_err(LabError::at(&tool))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    let why = last.map_or_else(|| output.status.to_string(), str::to_owned);
    Err(LabError::Tool { tool: name, why })
}
