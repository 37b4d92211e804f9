//! Whether what came before a request has been done.
//!
//! When a program closes a file for the last time, the kernel goes on before the server knows. It
//! hands out requests in their order, but to several threads. So one that finds a lock taken may
//! have overtaken the one that is about to release it.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::gettid;

/// How long others are waited for at most.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Thread {
    /// How often it has begun to wait for a request, or to answer one: odd as long as it answers.
    steps: AtomicU64,
    /// The kernel's number of it.
    number: AtomicU64,
    /// Whether it waits for others.
    settles: AtomicBool,
}

/// What each thread that answers requests is doing.
#[derive(Debug)]
pub(crate) struct Turns(Vec<Thread>);

/// One of these threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'t> {
    all: &'t Turns,
    index: usize,
}

impl Turns {
    pub(crate) fn new(threads: usize) -> Self {
        Self((0..threads).map(|_| Thread::default()).collect())
    }

    /// The turn of the calling thread, which has this index among them.
    pub(crate) fn of_thread(&self, index: usize) -> Turn<'_> {
        let number = gettid().as_raw_nonzero().get().unsigned_abs();
        self.0[index].number.store(number.into(), Ordering::Relaxed);
        Turn { all: self, index }
    }
}

impl Turn<'_> {
    fn thread(&self) -> &Thread {
        &self.all.0[self.index]
    }

    /// Notes that it has a request, which it begins to answer.
    pub(crate) fn begin(&self) {
        self.thread().steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that it has answered it.
    pub(crate) fn end(&self) {
        self.thread().steps.fetch_add(1, Ordering::Release);
    }

    /// Waits until all others have answered the requests that they have, but not for long.
    pub(crate) fn settle_others(&self) {
        let until = Instant::now() + PATIENCE;
        self.thread().settles.store(true, Ordering::Relaxed);
        for (index, other) in self.all.0.iter().enumerate() {
            let seen = other.steps.load(Ordering::Acquire);
            while index != self.index && !other.has_settled(seen) && Instant::now() < until {
                thread::yield_now();
            }
        }
        self.thread().settles.store(false, Ordering::Relaxed);
    }
}

impl Thread {
    /// Whether it has answered what it had when it had made this many steps.
    fn has_settled(&self, seen: u64) -> bool {
        let has_moved_on = self.steps.load(Ordering::Acquire) != seen;
        // Others may be waiting for this one in turn. One that is not asleep may have a request,
        // and not have noted it yet.
        let is_idle = || seen.is_multiple_of(2) && self.is_asleep();
        has_moved_on || self.settles.load(Ordering::Relaxed) || is_idle()
    }

    fn is_asleep(&self) -> bool {
        let number = self.number.load(Ordering::Relaxed);
        let stat = fs::read_to_string(format!("/proc/self/task/{number}/stat"));
        // Its name comes before, in parentheses.
        stat.is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S')))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn threads_that_answer_are_awaited_and_those_that_sleep_are_not() {
        let turns = Turns::new(2);
        let (tell, told) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        thread::scope(|scope| {
            let turns = &turns;
            scope.spawn(move || {
                let turn = turns.of_thread(0);
                turn.begin();
                begin.send(()).expect("it is awaited");
                thread::yield_now();
                turn.end();
                told.recv().expect_err("there is nothing to tell");
            });
            let turn = turns.of_thread(1);
            begun.recv().expect("it begins");
            turn.settle_others();
            let until = Instant::now() + Duration::from_secs(60);
            while !turns.0[0].has_settled(2) {
                assert!(Instant::now() < until, "it sleeps");
            }
            assert_eq!(turns.0[0].steps.load(Ordering::Relaxed), 2);
            drop(tell);
        });
    }
}
