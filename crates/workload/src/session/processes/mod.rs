//! Workers that are processes: forked together, synchronized by a gate in shared memory. Each
//! returns what it measured in its own memory file.
//!
//! Unlike threads, processes share neither their address space nor their descriptor table, so they
//! do not contend for the locks of either.

mod edge;
mod wire;

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use measure::Clock;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, set_parent_process_death_signal, waitpid,
};

use super::AnyStep;
use super::outcome::ThreadResult;
use super::run::{Rendezvous, SharedRun, WorkerError};
use crate::error::EngineError;

pub(super) use edge::SharedMapping;
use edge::{Forked, exit_now, fork_alone};

/// Runs each step in its own process. Fails if one cannot be started, in which case none has run.
pub(super) fn run_all<C: Clock>(
    start: &SharedRun<'_, C>,
    steps: Vec<AnyStep>,
) -> io::Result<Vec<Result<ThreadResult, WorkerError>>> {
    let mut workers = Vec::with_capacity(steps.len());
    for (number, step) in steps.into_iter().enumerate() {
        let body = || wire::encode(start.run_one(number, step));
        match WorkerProcess::start(body) {
            Ok(worker) => workers.push(worker),
            Err(error) => {
                start.rendezvous.call_off();
                wait_for_all(&mut workers, start.rendezvous)?;
                return Err(error);
            }
        }
    }
    wait_for_all(&mut workers, start.rendezvous)?;
    workers.into_iter().map(WorkerProcess::into_part).collect()
}

/// A process that runs one step.
struct WorkerProcess {
    pid: Pid,
    /// A pidfd, readable once the process has ended.
    ending: OwnedFd,
    results: File,
    has_ended: bool,
    /// Whether it exited with status 0.
    is_well: bool,
}

impl WorkerProcess {
    fn start(body: impl FnOnce() -> Vec<u8>) -> io::Result<Self> {
        let mut results = File::from(memfd_create("fsprism-worker", MemfdFlags::CLOEXEC)?);
        match fork_alone()? {
            Forked::Child => {
                let done = catch_unwind(AssertUnwindSafe(|| {
                    // If the parent is killed, the children must go too.
                    set_parent_process_death_signal(Some(Signal::KILL))?;
                    results.write_all(&body())
                }));
                exit_now(i32::from(!matches!(done, Ok(Ok(())))))
            }
            Forked::Parent(pid) => {
                let ending = pidfd_open(pid, PidfdFlags::empty())?;
                Ok(Self { pid, ending, results, has_ended: false, is_well: false })
            }
        }
    }

    fn into_part(mut self) -> io::Result<Result<ThreadResult, WorkerError>> {
        if !self.is_well {
            let message = "it exited before it had finished its operations".to_owned();
            return Ok(Err(WorkerError::Engine(EngineError::Worker { message })));
        }
        let mut bytes = Vec::new();
        self.results.rewind()?;
        self.results.read_to_end(&mut bytes)?;
        Ok(wire::decode(&bytes))
    }
}

/// Waits until all have ended. If one fails, releases those that wait for it.
fn wait_for_all(workers: &mut [WorkerProcess], rendezvous: &Rendezvous) -> io::Result<()> {
    while workers.iter().any(|worker| !worker.has_ended) {
        let running = workers.iter().filter(|worker| !worker.has_ended);
        let mut endings: Vec<PollFd<'_>> =
            running.map(|worker| PollFd::new(&worker.ending, PollFlags::IN)).collect();
        match poll(&mut endings, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        drop(endings);
        for worker in workers.iter_mut().filter(|worker| !worker.has_ended) {
            if let Some((_, status)) = waitpid(Some(worker.pid), WaitOptions::NOHANG)? {
                worker.has_ended = true;
                worker.is_well = status.exit_status() == Some(0);
                if !worker.is_well {
                    rendezvous.call_off();
                }
            }
        }
    }
    Ok(())
}
