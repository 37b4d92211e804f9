//! Histories of calls, and whether they can be explained.
//!
//! The search is that of J. M. Wing and C. Gong ("Testing and Verifying Concurrent Objects",
//! Journal of Parallel and Distributed Computing 17, 1993): of the remaining calls, the next may be
//! any that began before all others of them had ended. What has been tried is remembered, as by G.
//! Lowe ("Testing for Linearizability", Concurrency and Computation: Practice and Experience 29(4),
//! 2017): the same set of finished calls with the same state need not be tried again.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A sequential model of what the calls do.
pub(crate) trait Model: Clone + Eq + Hash {
    type Act: Clone + Debug + Send;
    type Outcome: Debug + Send;

    /// Applies a call; returns whether the model gives the same result.
    fn explains(&mut self, act: &Self::Act, outcome: &Self::Outcome) -> bool;
}

/// A call, with its start and its end by a shared counter.
#[derive(Debug)]
pub(crate) struct Call<M: Model> {
    pub(crate) began: u64,
    pub(crate) over: u64,
    pub(crate) act: M::Act,
    pub(crate) outcome: M::Outcome,
}

/// Whether up to 64 calls can be explained, starting from a state.
pub(crate) fn is_explained<M: Model>(before: &M, calls: &[Call<M>]) -> bool {
    assert!(calls.len() <= 64, "a bit each");
    let all = calls.iter().enumerate().fold(0_u64, |all, (number, _)| all | 1 << number);
    let mut tried = HashSet::new();
    let mut left = vec![(0_u64, before.clone())];
    while let Some((done, state)) = left.pop() {
        if done == all {
            return true;
        }
        let is_left = |&(number, _): &(usize, &Call<M>)| done >> number & 1 == 0;
        let open = || calls.iter().enumerate().filter(is_left);
        let first_over = open().map(|(_, call)| call.over).min().unwrap_or(u64::MAX);
        for (number, call) in open().filter(|(_, call)| call.began < first_over) {
            let mut state = state.clone();
            let done = done | 1 << number;
            if state.explains(&call.act, &call.outcome) && tried.insert((done, state.clone())) {
                left.push((done, state));
            }
        }
    }
    false
}

/// How many calls began before an earlier one had ended.
pub(crate) fn overlapping<M: Model>(calls: &[Call<M>]) -> usize {
    let is_within = |call: &&Call<M>| {
        calls.iter().any(|other| other.began < call.began && call.began < other.over)
    };
    calls.iter().filter(is_within).count()
}

/// Runs a list of calls in each of several threads at the same time, and returns all calls.
pub(crate) fn round<M: Model>(
    scripts: Vec<Vec<M::Act>>,
    act: impl Fn(usize, &M::Act) -> M::Outcome + Sync,
) -> Vec<Call<M>> {
    let (counter, calls) = (AtomicU64::new(1), Mutex::new(Vec::new()));
    let to_come = AtomicUsize::new(scripts.len());
    std::thread::scope(|scope| {
        for (thread, script) in scripts.into_iter().enumerate() {
            let (counter, calls, to_come, act) = (&counter, &calls, &to_come, &act);
            scope.spawn(move || {
                // Spins, since a round would be over before a sleeping thread wakes.
                to_come.fetch_sub(1, Ordering::SeqCst);
                while to_come.load(Ordering::SeqCst) > 0 {
                    std::thread::yield_now();
                }
                let did = script.into_iter().map(|one| {
                    let began = counter.fetch_add(1, Ordering::SeqCst);
                    let outcome = act(thread, &one);
                    let over = counter.fetch_add(1, Ordering::SeqCst);
                    Call { began, over, act: one, outcome }
                });
                let did: Vec<_> = did.collect();
                calls.lock().expect("nobody panics with it").extend(did);
            });
        }
    });
    calls.into_inner().expect("nobody panicked")
}

/// A register that is written and read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Register(u8);

#[derive(Clone, Copy, Debug)]
enum Use {
    Write(u8),
    Read,
}

impl Model for Register {
    type Act = Use;
    type Outcome = u8;

    fn explains(&mut self, act: &Use, outcome: &u8) -> bool {
        match act {
            Use::Write(value) => self.0 = *value,
            Use::Read => {}
        }
        self.0 == *outcome
    }
}

fn register(calls: &[(u64, u64, Use, u8)]) -> bool {
    let call = |&(began, over, act, outcome)| Call::<Register> { began, over, act, outcome };
    is_explained(&Register(0), &calls.iter().map(call).collect::<Vec<_>>())
}

#[test]
fn a_history_that_cannot_be_is_rejected() {
    use Use::{Read, Write};
    assert!(register(&[]));
    // A read during a write may see the old or the new value.
    assert!(register(&[(1, 4, Write(7), 7), (2, 3, Read, 0)]));
    assert!(register(&[(1, 4, Write(7), 7), (2, 3, Read, 7)]));
    assert!(!register(&[(1, 4, Write(7), 7), (2, 3, Read, 8)]));
    // After one read has seen a write, no later one sees the old value.
    assert!(!register(&[(1, 8, Write(7), 7), (2, 3, Read, 7), (4, 5, Read, 0)]));
    assert!(register(&[(1, 8, Write(7), 7), (2, 3, Read, 0), (4, 5, Read, 7)]));
    // A write that has ended is seen.
    assert!(!register(&[(1, 2, Write(7), 7), (3, 4, Read, 0)]));
    // Two readers see two writes in the same order.
    let writes = [(1, 20, Write(1), 1), (2, 20, Write(2), 2)];
    let one = [(3, 4, Read, 1), (5, 6, Read, 2)];
    let other = [(7, 8, Read, 2), (9, 10, Read, 1)];
    assert!(register(&[writes, one].concat()));
    assert!(register(&[writes, other].concat()));
    assert!(!register(&[writes, one, other].concat()));
}

#[test]
fn calls_within_others_are_counted() {
    let call = |began, over| Call::<Register> { began, over, act: Use::Read, outcome: 0 };
    assert_eq!(overlapping(&[call(1, 2), call(3, 6), call(4, 5)]), 1);
}
