//! `io_submit_mode=offload`: threads execute operations, so that an engine whose calls take long
//! does not keep the job from issuing the next when it is due.

use std::collections::VecDeque;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::{Answer, Call, Completion, Engine, OpenFile, Request};
use crate::edge::calls::Moved;
use crate::edge::memory::Span;
use crate::edge::thread::{Usage, usage};
use crate::plan::JobPlan;

/// An operation for a thread.
struct Task {
    unit: u32,
    call: Call,
    file: usize,
    file_bytes: u64,
    descriptor: Option<Arc<OwnedFd>>,
    offset: u64,
    span: Span,
    priority: Option<u16>,
}

/// What the job and its threads share.
#[derive(Default)]
struct Desk {
    state: Mutex<State>,
    /// There is a task, or there will be none.
    todo: Condvar,
    /// There is a completion.
    done: Condvar,
}

#[derive(Default)]
struct State {
    todo: VecDeque<Task>,
    done: Vec<Completion>,
    is_closed: bool,
    used: Usage,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task, for which it waits; `None` if there will be none.
    fn next(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.todo.pop_front() {
                return Some(task);
            }
            if state.is_closed {
                return None;
            }
            state = self.todo.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn complete(&self, completion: Completion) {
        self.lock().done.push(completion);
        self.done.notify_one();
    }

    fn add(&self, used: Usage) {
        self.lock().used.add(used);
    }
}

/// An engine of its own for each of so many threads as operations may be in flight.
pub(super) struct Offloaded {
    desk: Arc<Desk>,
    threads: Vec<JoinHandle<()>>,
    in_flight: usize,
    begun: usize,
    /// Descriptors for the threads, by file.
    descriptors: Vec<Option<Arc<OwnedFd>>>,
}

impl Offloaded {
    /// # Errors
    /// As [`engine`](super::engine).
    pub(super) fn new(plan: &JobPlan, files: usize) -> Result<Self, (&'static str, Errno)> {
        let mut own = plan.clone();
        own.depth.depth = 1;
        let desk = Arc::new(Desk::default());
        let mut it = Self {
            desk,
            threads: Vec::new(),
            in_flight: 0,
            begun: 0,
            descriptors: vec![None; files],
        };
        let (tell, told) = channel();
        for _ in 0..plan.depth.depth {
            let (own, desk, tell) = (own.clone(), Arc::clone(&it.desk), tell.clone());
            let work = move || {
                // A ring belongs to the thread that made it.
                let engine = super::inline(&own, &[], files);
                let mut engine = match engine {
                    Ok(engine) => {
                        let _they_wait_for_it = tell.send(Ok(()));
                        engine
                    }
                    Err(why) => {
                        let _they_wait_for_it = tell.send(Err(why));
                        return;
                    }
                };
                drop(tell);
                while let Some(task) = desk.next() {
                    let (unit, moved) = (task.unit, execute(&mut *engine, &task));
                    drop(task);
                    desk.complete(Completion { unit, moved });
                }
                desk.add(usage());
            };
            let thread = Builder::new().name("fio-submit".to_owned()).spawn(work);
            let wrong =
                |why| ("pthread_create", Errno::from_io_error(&why).unwrap_or(Errno::AGAIN));
            it.threads.push(thread.map_err(wrong)?);
        }
        drop(tell);
        told.iter().collect::<Result<(), _>>()?;
        Ok(it)
    }

    /// A descriptor that stays open as long as threads use it.
    fn descriptor(&mut self, file: OpenFile<'_>) -> Result<Option<Arc<OwnedFd>>, Errno> {
        let Some(open) = file.descriptor else { return Ok(None) };
        let kept = &mut self.descriptors[file.index];
        if kept.is_none() {
            *kept = Some(Arc::new(fcntl_dupfd_cloexec(open, 0)?));
        }
        Ok(kept.clone())
    }

    /// Waits for all that is in flight, and for the threads to end.
    fn close_desk(&mut self) {
        self.desk.lock().is_closed = true;
        self.desk.todo.notify_all();
        for thread in self.threads.drain(..) {
            let _panicked_and_said_so = thread.join();
        }
    }
}

/// Executes an operation from beginning to end.
fn execute(engine: &mut dyn Engine, task: &Task) -> Moved {
    let request = Request {
        unit: 0,
        call: task.call,
        file: OpenFile {
            index: task.file,
            descriptor: task.descriptor.as_ref().map(|open| open.as_fd()),
            bytes: task.file_bytes,
        },
        offset: task.offset,
        span: task.span,
        priority: task.priority,
    };
    let mut done = Vec::with_capacity(1);
    match engine.queue(&request) {
        Answer::Complete(moved) => return moved,
        // It has nothing to do.
        Answer::Busy => return Err(Errno::AGAIN),
        Answer::Queued => {}
    }
    engine.commit()?;
    engine.reap(1, 1, &mut done)?;
    done.first().map_or(Err(Errno::IO), |completion| completion.moved)
}

impl Engine for Offloaded {
    fn is_synchronous(&self) -> bool {
        false
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let descriptor = match self.descriptor(request.file) {
            Ok(descriptor) => descriptor,
            Err(why) => return Answer::Complete(Err(why)),
        };
        self.desk.lock().todo.push_back(Task {
            unit: request.unit,
            call: request.call,
            file: request.file.index,
            file_bytes: request.file.bytes,
            descriptor,
            offset: request.offset,
            span: request.span,
            priority: request.priority,
        });
        self.desk.todo.notify_one();
        self.in_flight += 1;
        self.begun += 1;
        Answer::Queued
    }

    fn commit(&mut self) -> Result<usize, Errno> {
        Ok(std::mem::take(&mut self.begun))
    }

    fn reap(&mut self, least: usize, most: usize, into: &mut Vec<Completion>) -> Result<(), Errno> {
        let least = least.min(self.in_flight);
        let mut state = self.desk.lock();
        while state.done.len() < least {
            state = self.desk.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = state.done.len().min(most);
        into.extend(state.done.drain(..count));
        self.in_flight -= count;
        Ok(())
    }

    fn add_file(&mut self) {
        self.descriptors.push(None);
    }

    fn close(&mut self, file: usize) {
        self.descriptors[file] = None;
    }

    fn end(&mut self) -> Usage {
        self.close_desk();
        self.desk.lock().used
    }
}

impl Drop for Offloaded {
    fn drop(&mut self) {
        self.close_desk();
    }
}
