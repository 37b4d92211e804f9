//! How programs reach a target, and what one took that was executed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use measure::{Clock, SystemClock};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use system_calls::{ProcessUsage, wait_with_usage};
use targets::{Target, TemporaryDirectory};

use crate::nanoseconds::nanos;
use crate::neighbours::ChildrenUse;

/// What programs would do otherwise than usual for.
const UNSET: [&str; 8] = [
    "GREP_OPTIONS",
    "GREP_COLOR",
    "GREP_COLORS",
    "TAR_OPTIONS",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "POSIXLY_CORRECT",
];
/// What all of them are told: no settings of the user's.
const SET: [(&str, &str); 4] = [
    ("LC_ALL", "C"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// How programs reach a target.
#[derive(Debug)]
pub(crate) enum Door {
    /// By system calls, at its path.
    Kernel,
    /// In an arena, by `fsprism densefs exec`.
    Exec { fsprism: PathBuf, arena: PathBuf, prefix: Prefix },
}

/// Where programs see an arena: a directory that is there, so that nobody has to make it and to
/// remove it for each of them.
#[derive(Debug)]
pub(crate) struct Prefix {
    path: PathBuf,
    _kept: Option<TemporaryDirectory>,
}

/// What an execution took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Took {
    pub(crate) wall_ns: u64,
    /// Time of the processor in the program.
    pub(crate) user_ns: u64,
    /// Time of the processor in the kernel.
    pub(crate) system_ns: u64,
    /// How long it could have run and waited for a processor, if the kernel says.
    pub(crate) waited_ns: Option<u64>,
}

impl Took {
    /// Time of the processor.
    pub(crate) fn processor_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// What programs used together.
pub(crate) fn used_by<'a>(all: impl Iterator<Item = &'a Took> + Clone) -> ChildrenUse {
    ChildrenUse {
        processor_ns: all.clone().map(Took::processor_ns).sum(),
        waited_ns: all.map(|took| took.waited_ns.unwrap_or(0)).sum(),
    }
}

impl Door {
    /// The door to a target.
    pub(crate) fn to(target: &Target) -> io::Result<Self> {
        if target.library().is_none() {
            return Ok(Self::Kernel);
        }
        let arena = target.root().to_owned();
        let directory = TemporaryDirectory::make()?;
        let prefix = Prefix { path: directory.path().to_owned(), _kept: Some(directory) };
        Ok(Self::Exec { fsprism: std::env::current_exe()?, arena, prefix })
    }

    /// Where programs find what is at this path of the target.
    pub(crate) fn seen(&self, path: &Path) -> PathBuf {
        match self {
            Self::Kernel => path.to_owned(),
            Self::Exec { arena, prefix, .. } => {
                prefix.path.join(path.strip_prefix(arena).unwrap_or(path))
            }
        }
    }

    fn command(&self, program: &OsStr, arguments: &[OsString]) -> Command {
        let mut command = match self {
            Self::Kernel => Command::new(program),
            Self::Exec { fsprism, arena, prefix } => {
                let mut place = arena.clone().into_os_string();
                place.push(":");
                place.push(&prefix.path);
                let mut command = Command::new(fsprism);
                command.args(["densefs", "exec"]).arg(place).arg("--").arg(program);
                command
            }
        };
        command.args(arguments).envs(SET);
        for name in UNSET {
            command.env_remove(name);
        }
        command
    }

    /// Executes a program, and has its output read. The time is from before it is started until it
    /// has ended and its output has been read.
    ///
    /// # Errors
    /// If it does not end with one of these statuses: what it said.
    pub(crate) fn execute<T: Default>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: &[OsString],
        statuses: &[i32],
        read: impl FnOnce(ChildStdout) -> io::Result<T>,
        clock: &SystemClock,
    ) -> io::Result<(Took, T)> {
        let program = program.as_ref();
        // Not a pipe, which somebody would have to empty meanwhile.
        let mut complaints = File::from(memfd_create("complaints", MemfdFlags::CLOEXEC)?);
        let mut command = self.command(program, arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(complaints.try_clone()?);
        let began_ticks = clock.start();
        let mut child = command.spawn()?;
        let answer = child.stdout.take().map_or_else(|| Ok(T::default()), read);
        let pid = Pid::from_raw(child.id().cast_signed()).ok_or(io::ErrorKind::NotFound)?;
        // Until it has been waited for, there is something to look at.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        retry_on_intr(|| waitid(WaitId::Pid(pid), ended))?;
        let ended_ticks = clock.end();
        let waited_ns = waited_ns(pid);
        let used = wait_with_usage(pid)?;
        let ProcessUsage { user, system, status } = used;
        let is_right = statuses.iter().any(|&right| status == right << 8);
        if !is_right {
            let mut said = String::new();
            complaints.rewind()?;
            complaints.read_to_string(&mut said)?;
            let first = said.lines().next().unwrap_or("it said nothing");
            let program = Path::new(program).display();
            return Err(io::Error::other(format!("{program} failed: {first}")));
        }
        let wall_ns = clock.nanos(ended_ticks.saturating_sub(began_ticks));
        let took = Took { wall_ns, user_ns: nanos(user), system_ns: nanos(system), waited_ns };
        Ok((took, answer?))
    }
}

/// How long the first thread of a process has waited for a processor.
fn waited_ns(pid: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_leaves_its_answer_and_what_it_took_or_says_why_it_failed() {
        let clock = SystemClock::calibrate().0;
        let lines = |from| io::read_to_string(from).map(|text| text.lines().count());
        let run = |script: &str, statuses: &[i32]| {
            let arguments = ["-c".into(), script.into()];
            Door::Kernel.execute("sh", &arguments, statuses, lines, &clock)
        };
        let (took, lines) = run("echo one; echo two", &[0]).expect("it can");
        assert_eq!(lines, 2);
        assert!(took.wall_ns > 0 && took.user_ns + took.system_ns > 0);
        assert!(run("exit 1", &[0, 1]).is_ok());
        let why = run("echo why >&2; echo more >&2; exit 2", &[0, 1]).expect_err("it fails");
        assert_eq!(why.to_string(), "sh failed: why");
    }

    #[test]
    fn in_an_arena_programs_see_a_prefix_for_its_path() {
        let arena = PathBuf::from("/dev/shm/one.arena");
        let prefix = Prefix { path: "/tmp/seen".into(), _kept: None };
        let door = Door::Exec { fsprism: "fsprism".into(), arena: arena.clone(), prefix };
        assert_eq!(door.seen(&arena.join("a/b")), Path::new("/tmp/seen/a/b"));
        assert_eq!(Door::Kernel.seen(&arena), arena);
    }
}
