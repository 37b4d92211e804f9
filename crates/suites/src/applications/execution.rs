//! One execution of a program: how it is started, what it took, what it answered.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use measure::{Clock, SystemClock};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use system_calls::{ProcessUsage, wait_with_usage};
use targets::{Target, TemporaryDirectory};
use workload::SourceTree;

use crate::nanoseconds::nanos;

/// Bytes that are read from a program at once: what a pipe holds.
const PIPE_BYTES: usize = 64 << 10;
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
pub(super) enum Door {
    /// By system calls, at its path.
    Kernel,
    /// In an arena, by `fsprism densefs exec`.
    Exec { fsprism: PathBuf, arena: PathBuf, prefix: Prefix },
}

/// Where programs see an arena: a directory that is there, so that nobody has to make it and to
/// remove it for each of them.
#[derive(Debug)]
pub(super) struct Prefix {
    path: PathBuf,
    _kept: Option<TemporaryDirectory>,
}

/// What an execution took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Took {
    pub(super) wall_ns: u64,
    /// Time of the processor in the program.
    pub(super) user_ns: u64,
    /// Time of the processor in the kernel.
    pub(super) system_ns: u64,
    /// How long it could have run and waited for a processor, if the kernel says.
    pub(super) waited_ns: Option<u64>,
}

impl Took {
    /// Time of the processor.
    pub(super) fn processor_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// What a program wrote to its standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// How often the word that is searched for is in it, if somebody looked.
    pub(super) words: Option<u64>,
}

/// How closely an answer is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Bytes and lines are counted.
    Count,
    /// Words are counted too, which takes time.
    Words,
}

impl Door {
    /// The door to a target.
    pub(super) fn to(target: &Target) -> io::Result<Self> {
        if target.library().is_none() {
            return Ok(Self::Kernel);
        }
        let arena = target.root().to_owned();
        let directory = TemporaryDirectory::make()?;
        let prefix = Prefix { path: directory.path().to_owned(), _kept: Some(directory) };
        Ok(Self::Exec { fsprism: std::env::current_exe()?, arena, prefix })
    }

    /// Where programs find what is at this path of the target.
    pub(super) fn seen(&self, path: &Path) -> PathBuf {
        match self {
            Self::Kernel => path.to_owned(),
            Self::Exec { arena, prefix, .. } => {
                prefix.path.join(path.strip_prefix(arena).unwrap_or(path))
            }
        }
    }

    fn command(&self, program: &str, arguments: &[OsString]) -> Command {
        let mut command = match self {
            Self::Kernel => Command::new(program),
            Self::Exec { fsprism, arena, prefix } => {
                let mut place = arena.clone().into_os_string();
                place.push(":");
                place.push(&prefix.path);
                let mut command = Command::new(fsprism);
                command.args(["densefs", "exec"]).arg(place).args(["--", program]);
                command
            }
        };
        command.args(arguments).envs(SET);
        for name in UNSET {
            command.env_remove(name);
        }
        command
    }

    /// Executes a program. The time is from before it is started until it has ended and all of its
    /// output has been read.
    ///
    /// # Errors
    /// If it does not end with one of these statuses: what it said.
    pub(super) fn execute(
        &self,
        program: &str,
        arguments: &[OsString],
        statuses: &[i32],
        look: Look,
        clock: &SystemClock,
    ) -> io::Result<(Took, Answer)> {
        // Not a pipe, which somebody would have to empty meanwhile.
        let mut complaints = File::from(memfd_create("complaints", MemfdFlags::CLOEXEC)?);
        let mut command = self.command(program, arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(complaints.try_clone()?);
        let began_ticks = clock.start();
        let mut child = command.spawn()?;
        let answer = child.stdout.take().map_or(Ok(Answer::default()), |from| read(from, look));
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

/// Reads an answer to its end.
fn read(mut from: impl Read, look: Look) -> io::Result<Answer> {
    let word = SourceTree::WORD.as_bytes();
    let mut buffer = vec![0; word.len() + PIPE_BYTES];
    let mut answer = Answer::default();
    let mut words = 0;
    // A word may begin in one piece and end in the next.
    let mut kept = 0;
    loop {
        let length = match from.read(&mut buffer[kept..]) {
            Ok(0) => break,
            Ok(length) => length,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) => return Err(why),
        };
        let piece = &buffer[kept..kept + length];
        answer.bytes += length as u64;
        answer.lines += piece.iter().filter(|&&byte| byte == b'\n').count() as u64;
        if look == Look::Words {
            let whole = &buffer[..kept + length];
            words += whole.windows(word.len()).filter(|&found| found == word).count() as u64;
            let rest = whole.len().min(word.len() - 1);
            let from = whole.len() - rest;
            buffer.copy_within(from..from + rest, 0);
            kept = rest;
        }
    }
    answer.words = (look == Look::Words).then_some(words);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out three bytes at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(3);
            into[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn words_are_counted_wherever_pieces_end() {
        let text = format!("a\n{0}\nb{0}\n", SourceTree::WORD);
        let answer = |look| read(Slow(text.as_bytes()), look).expect("it is in memory");
        let counted = Answer { bytes: text.len() as u64, lines: 3, words: None };
        assert_eq!(answer(Look::Count), counted);
        assert_eq!(answer(Look::Words), Answer { words: Some(2), ..counted });
    }

    #[test]
    fn a_program_leaves_its_answer_and_what_it_took_or_says_why_it_failed() {
        let clock = SystemClock::calibrate().0;
        let run = |script: &str, statuses: &[i32]| {
            let arguments = ["-c".into(), script.into()];
            Door::Kernel.execute("sh", &arguments, statuses, Look::Count, &clock)
        };
        let (took, answer) = run("echo one; echo two", &[0]).expect("it can");
        assert_eq!(answer, Answer { bytes: 8, lines: 2, words: None });
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
