//! `fsprism fio`: fio's command line, executed by jobs of our own.
//!
//! What fio prints is printed, where it prints it; what people read never gets among what programs
//! read. Exit status 0 if all jobs did what they were to do, 1 or more if not.

#![forbid(unsafe_code)]

mod arguments;
mod bandwidth_log;
mod eta;
mod execute;
mod help;

use std::io::Write;

/// The version that readers of outputs look for.
pub(crate) const VERSION: &str = "fio-3.33";

/// Where a command writes.
pub struct Streams<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// What people read meanwhile, and errors.
    pub err: &'a mut dyn Write,
    /// Whether results go to a terminal.
    pub is_terminal: bool,
}

/// Executes a command line, without the name of the program. Answers the exit status.
pub fn run(arguments: &[String], streams: &mut Streams<'_>) -> u8 {
    match arguments::parse(arguments).and_then(|request| execute::execute(&request, streams)) {
        Ok(status) => status,
        Err(error) => {
            // Where even that cannot be written, the status says it.
            let _written = writeln!(streams.err, "fsprism fio: {error}");
            error.status()
        }
    }
}
