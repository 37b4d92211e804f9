//! Traces a program of this machine: only its user side, under QEMU's user-mode emulation.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use footprint::description::{Description, Subject};
use footprint_symbols::SymbolsError;
use footprint_trace::attachments;
use footprint_trace::reader::Ending;

use crate::error::{EMULATOR, ProgramRefusal, TracingError};

/// `e_machine` of x86-64 in an ELF file's header.
const X86_64: [u8; 2] = [62, 0];

/// A program to trace.
#[derive(Clone, Debug)]
pub struct Program {
    file: PathBuf,
    arguments: Vec<OsString>,
}

/// A program that was traced.
#[derive(Debug)]
pub struct ProgramTraced {
    /// How it ended.
    pub status: ExitStatus,
    /// How the trace ended, if it has an end.
    pub ending: Option<Ending>,
    /// The names of the trace's addresses.
    pub description: Description,
    /// Whether they are also in the trace, which fails if the disk is full.
    pub attached: Result<(), SymbolsError>,
}

impl Program {
    /// The program of a command line: its first word, looked up in `PATH` unless it contains a
    /// slash.
    ///
    /// # Errors
    /// If it is missing or cannot be traced, or the emulator is missing or does not support
    /// plugins.
    pub fn new(command: &[OsString]) -> Result<Self, ProgramRefusal> {
        let (name, arguments) = command
            .split_first()
            .map_or((None, &[][..]), |(name, rest)| (Some(name.clone()), rest));
        let name = name.unwrap_or_default();
        let missing = || ProgramRefusal::Missing(name.to_string_lossy().into_owned());
        let file = programs::find(&name).ok_or_else(missing)?;
        let mut head = Vec::new();
        let read = File::open(&file).and_then(|file| file.take(20).read_to_end(&mut head));
        read.map_err(|_| missing())?;
        if !head.starts_with(b"\x7fELF") || head.get(18..20) != Some(&X86_64) {
            return Err(ProgramRefusal::Foreign(file));
        }
        programs::find(EMULATOR).ok_or(ProgramRefusal::NoEmulator)?;
        // The exit status of -h tells nothing, and the help names the option only if it is
        // supported.
        let help = Command::new(EMULATOR).arg("-h").output();
        let help = help.map_err(|_| ProgramRefusal::NoEmulator)?;
        if !String::from_utf8_lossy(&help.stdout).contains("-plugin") {
            return Err(ProgramRefusal::NoPlugins);
        }
        Ok(Self { file, arguments: arguments.to_vec() })
    }

    /// The name of its file.
    #[must_use]
    pub fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Runs it to its end, and writes the trace to `trace`.
    ///
    /// # Errors
    /// If the emulator cannot be started or refuses, or the trace is damaged.
    pub fn trace(&self, library: &Path, trace: &Path) -> Result<ProgramTraced, TracingError> {
        let path = |path: &Path| {
            let path = std::path::absolute(path).map_err(file_error(path))?;
            let text = path.to_str().filter(|text| !text.contains(','));
            let text = text.map(str::to_owned);
            text.ok_or(TracingError::Program(ProgramRefusal::Comma(path)))
        };
        let plugin = format!("{},out={}", path(library)?, path(trace)?);
        let mut command = Command::new(EMULATOR);
        command.arg("-plugin").arg(plugin).arg(&self.file).args(&self.arguments);
        lab::die_with_parent(&mut command);
        let status = command.status().map_err(file_error(Path::new(EMULATOR)))?;
        File::open(trace).map_err(file_error(trace))?;
        attachments::end_early(trace)?;
        let (mut description, ending) = footprint_symbols::describe::program(trace)?;
        description.subject = self.subject();
        let attached = footprint_symbols::attach_description(trace, &description);
        Ok(ProgramTraced { status, ending, description, attached })
    }

    fn subject(&self) -> Subject {
        let words = std::iter::once(self.file.as_os_str())
            .chain(self.arguments.iter().map(OsString::as_os_str));
        let command: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        Subject { title: command.join(" "), command, ..Subject::default() }
    }
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> TracingError {
    let path = path.to_owned();
    |source| TracingError::File { path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn refusal(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Program::new(&words).expect_err("no program").to_string()
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(refusal(&["/nowhere/at-all"]).starts_with("no executable program"));
        assert!(refusal(&[]).starts_with("no executable program"));
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(refusal(&[script.to_str().unwrap()]).contains("trace its interpreter"));
    }
}
