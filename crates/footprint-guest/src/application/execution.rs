//! How a program is started in a guest, with marks or without.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use footprint_trace::marked::{self, PhasePosition};
use targets::Target;

/// This program, as the first process of a guest is started.
const SELF: &str = "/init";
/// This program under the name by which it executes a mark and becomes another program.
const MARKED: &str = "/tmp/fsprism-marked";
/// Where programs see an arena.
const SEEN: &str = "/tmp/seen";
/// What traced programs write to: it takes everything, in the fewest instructions. Programs know
/// `/dev/null`, and do less if they write there.
const SINK: &str = "/dev/zero";

/// How programs reach a target.
#[derive(Debug)]
pub(super) enum WayIn {
    /// By system calls, at its path.
    Kernel,
    /// In an arena, by `fsprism densefs exec`.
    Exec { arena: PathBuf },
}

impl WayIn {
    /// The way in to a target.
    pub(super) fn to(target: &Target) -> io::Result<Self> {
        symlink(SELF, MARKED)?;
        if target.library().is_none() {
            return Ok(Self::Kernel);
        }
        fs::create_dir(SEEN)?;
        Ok(Self::Exec { arena: target.root().to_owned() })
    }

    /// Where programs find what is at this path of the target.
    pub(super) fn seen(&self, path: &Path) -> PathBuf {
        match self {
            Self::Kernel => path.to_owned(),
            Self::Exec { arena } => Path::new(SEEN).join(path.strip_prefix(arena).unwrap_or(path)),
        }
    }

    fn command(&self, program: &OsStr) -> Command {
        let mut command = match self {
            Self::Kernel => Command::new(program),
            Self::Exec { arena } => {
                let mut place = arena.clone().into_os_string();
                place.push(":");
                place.push(SEEN);
                let mut command = Command::new(SELF);
                command.args(["densefs", "exec"]).arg(place).arg("--").arg(program);
                command
            }
        };
        command.env_clear().envs([("PATH", "/bin:/sbin"), ("HOME", "/"), ("LC_ALL", "C")]);
        command.current_dir("/").stdin(Stdio::null());
        command
    }
}

/// A program, and what it is executed on.
#[derive(Debug)]
pub(super) struct Execution<'a> {
    pub(super) way_in: &'a WayIn,
    pub(super) program: &'a str,
    pub(super) arguments: Vec<String>,
}

impl Execution<'_> {
    /// Executes it, and returns what it wrote.
    pub(super) fn answer(&self) -> Result<Vec<u8>, String> {
        let mut command = self.way_in.command(OsStr::new(self.program));
        command.args(&self.arguments);
        let output = command.output().map_err(|error| format!("{}: {error}", self.program))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next_back().unwrap_or("it said nothing");
        Err(format!("{} failed: {said}", self.program))
    }

    /// Starts it, writing to `out`.
    pub(super) fn start(&self, out: Stdio) -> Result<Child, String> {
        let mut command = self.way_in.command(OsStr::new(self.program));
        command.args(&self.arguments).stdout(out).stderr(Stdio::null());
        command.spawn().map_err(|error| format!("{}: {error}", self.program))
    }

    /// Executes it between marks.
    pub(super) fn trace(&self, position: PhasePosition) -> Result<(), String> {
        self.execute(position, name(position))
    }

    /// Executes it as [`Self::trace`] does, without marks: what is done for the first time only is
    /// not traced then.
    pub(super) fn rehearse(&self, position: PhasePosition) -> Result<(), String> {
        self.execute(position, UNMARKED)
    }

    /// In an empty directory, grep finds nothing, and says so by its status.
    fn execute(&self, position: PhasePosition, mark: &str) -> Result<(), String> {
        let said = |error: io::Error| format!("{}: {error}", self.program);
        let mut command = self.way_in.command(OsStr::new(MARKED));
        command.arg(mark).arg(self.program).args(&self.arguments);
        command.stdout(File::options().write(true).open(SINK).map_err(said)?).stderr(Stdio::null());
        let mut child = command.spawn().map_err(said)?;
        let status = child.wait();
        if mark != UNMARKED {
            marked::end(position);
        }
        let status = status.map_err(said)?;
        let is_right = match position {
            PhasePosition::First => matches!(status.code(), Some(0 | 1)),
            PhasePosition::Later => status.success(),
        };
        if is_right { Ok(()) } else { Err(format!("{} failed: {status}", self.program)) }
    }
}

/// The word that tells not to execute a mark.
const UNMARKED: &str = "none";

/// The word that tells which mark to execute.
fn name(position: PhasePosition) -> &'static str {
    match position {
        PhasePosition::First => "first",
        PhasePosition::Later => "later",
    }
}

/// Whether this process is to execute a mark and become a program.
#[must_use]
pub fn is_marked_start() -> bool {
    env::args_os().next().is_some_and(|name| name == MARKED)
}

/// Executes a mark and becomes the program of the command line. Only in a guest.
pub fn start_marked() -> ! {
    let words: Vec<_> = env::args_os().skip(1).collect();
    if let [position, program, arguments @ ..] = words.as_slice() {
        let mut command = Command::new(program);
        command.args(arguments);
        let all = [PhasePosition::First, PhasePosition::Later];
        if let Some(marked) = all.into_iter().find(|&one| position == name(one)) {
            marked::begin(marked);
        }
        let _why_not = command.exec();
    }
    std::process::exit(127)
}
