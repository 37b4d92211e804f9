//! Proof that no call on the arena goes past the library.
//!
//! The command and its descendants are traced (ptrace(2)), and a filter (seccomp(2)) stops them at
//! each call on files that reaches the kernel. Those that the library has served do not, so this
//! costs them nothing. What is stopped is looked at from outside, without asking the library: does
//! a path lead to the mounted arena, does a descriptor stand for one of its files? Then it has
//! slipped past the library, unless that makes it itself.
//!
//! Two ways through the kernel are as they should be: the execution of programs in the arena, and
//! what the dynamic linker does before the library is there.

mod arena;
mod memory;

use std::collections::HashMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use densefs_calls::{call, on_files};
use rustix::process::{Pid, Signal, kill_process};
use system_calls::{PendingCall, Traced};

use crate::strict::arena::Arena;
use crate::strict::memory::{Maps, name_of};
use crate::{ExecError, Place};

/// What was seen of a command of which nothing went past the library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// The programs that were executed.
    pub programs: u64,
    /// The calls on files that reached the kernel.
    pub calls: u64,
    /// Those that the dynamic linker made in the arena before the library was there.
    pub by_linker: u64,
}

/// What is known about a process.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    /// Whether the library works in it.
    has_library: bool,
}

/// Follows a command.
pub(crate) struct Tracer {
    arena: Arena,
    processes: HashMap<Pid, Process>,
    proof: Proof,
}

impl Tracer {
    /// For an arena that is mounted in the place.
    pub(crate) fn new(place: &Place) -> io::Result<Self> {
        let arena = Arena::new(place)?;
        Ok(Self { arena, processes: HashMap::new(), proof: Proof::default() })
    }

    /// From now on, this process stops at calls on files.
    pub(crate) fn stop_here() -> io::Result<()> {
        system_calls::stop_at(on_files().filter_map(|call| u32::try_from(call.number).ok()))
    }

    /// Follows a child that is traced, until it and all its descendants have ended; returns its
    /// status.
    ///
    /// # Errors
    /// [`ExecError::Slipped`] if a call has slipped past the library. Then all are killed.
    pub(crate) fn follow(mut self, child: Pid) -> Result<(ExitStatus, Proof), ExecError> {
        let failed = |why| ExecError::Kernel { doing: "tracing the command", why };
        let mut ended = None;
        loop {
            let (pid, what) = match system_calls::wait_for_traced() {
                Ok(Some(happened)) => happened,
                Ok(None) => break,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(why) => return Err(failed(why)),
            };
            let signal = match what {
                Traced::Ended(status) => {
                    self.processes.remove(&pid);
                    if pid == child {
                        ended = Some(ExitStatus::from_raw(status));
                    }
                    continue;
                }
                Traced::Stopped => {
                    system_calls::stay_stopped(pid).map_err(failed)?;
                    continue;
                }
                Traced::Calls => {
                    let slipped = self.look(pid).map_err(failed)?;
                    if let Some(what) = slipped {
                        self.kill_all();
                        return Err(ExecError::Slipped { what });
                    }
                    0
                }
                Traced::Executed(former) => {
                    self.processes.remove(&former);
                    self.processes.insert(pid, Process::default());
                    self.proof.programs += 1;
                    0
                }
                Traced::Made(new) => {
                    let maker = self.process(pid);
                    self.processes.insert(new, maker);
                    0
                }
                Traced::Signalled(signal) => signal,
                Traced::Ready => 0,
            };
            system_calls::go_on(pid, signal).map_err(failed)?;
        }
        let status = ended.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        Ok((status, self.proof))
    }

    /// What is known about a process; of one that has not been reported yet, what is seen of it. It
    /// cannot have executed a program.
    fn process(&self, pid: Pid) -> Process {
        self.processes
            .get(&pid)
            .copied()
            .unwrap_or_else(|| Process { has_library: Maps::of(pid).has(self.arena.library()) })
    }

    /// Looks at a call; returns a sentence if it has slipped past the library.
    fn look(&mut self, pid: Pid) -> io::Result<Option<String>> {
        let Some(traced) = system_calls::pending_call(pid)? else { return Ok(None) };
        self.proof.calls += 1;
        let mut process = self.process(pid);
        if !process.has_library {
            process.has_library = Maps::of(pid).is_in(traced.address, self.arena.library());
            self.processes.insert(pid, process);
        }
        let Some(known) = usize::try_from(traced.number).ok().and_then(call) else {
            return Ok(None);
        };
        if ["execve", "execveat"].contains(&known.name) {
            return Ok(None);
        }
        let Some(concern) = self.arena.concern(pid, &traced, known) else { return Ok(None) };
        let maps = Maps::of(pid);
        if maps.is_in(traced.address, self.arena.library()) {
            return Ok(None);
        }
        if !process.has_library && maps.is_in_linker(traced.address) {
            self.proof.by_linker += 1;
            return Ok(None);
        }
        Ok(Some(sentence(pid, &traced, known.name, &concern, &maps)))
    }

    fn kill_all(&self) {
        for &pid in self.processes.keys() {
            // It may have ended.
            kill_process(pid, Signal::KILL).ok();
        }
    }
}

fn sentence(pid: Pid, traced: &PendingCall, call: &str, concern: &str, maps: &Maps) -> String {
    let program = name_of(pid).unwrap_or_else(|| "a program".to_owned());
    let place = maps.place(traced.address);
    format!("{program} (process {pid}) bypassed the library: {call} on {concern}, from {place}")
}
