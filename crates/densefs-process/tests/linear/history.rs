//! Histories of calls, and whether they can be explained.
//!
//! The search is that of J. M. Wing and C. Gong ("Testing and Verifying Concurrent Objects",
//! Journal of Parallel and Distributed Computing 17, 1993): of the calls that are left, one that
//! began before any other of them was over may have been the next. What has been tried is
//! remembered, as G. Lowe does ("Testing for Linearizability", Concurrency and Computation:
//! Practice and Experience 29(4), 2017): the same calls done, and the same state, need not be tried
//! again.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What calls do one after another.
pub(crate) trait Model: Clone + Eq + Hash {
    type Act: Clone + Debug + Send;
    type Gives: Debug + Send;

    /// Does it; whether it gives what was given.
    fn explains(&mut self, act: &Self::Act, gives: &Self::Gives) -> bool;
}

/// A call: when it began and was over, by a counter that all share.
#[derive(Debug)]
pub(crate) struct Call<M: Model> {
    pub(crate) began: u64,
    pub(crate) over: u64,
    pub(crate) act: M::Act,
    pub(crate) gives: M::Gives,
}

/// Whether calls, 64 at most, can be explained from a state on.
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
            if state.explains(&call.act, &call.gives) && tried.insert((done, state.clone())) {
                left.push((done, state));
            }
        }
    }
    false
}

/// How many calls began before one of another was over that had begun before.
pub(crate) fn overlapping<M: Model>(calls: &[Call<M>]) -> usize {
    let is_within = |call: &&Call<M>| {
        calls.iter().any(|other| other.began < call.began && call.began < other.over)
    };
    calls.iter().filter(is_within).count()
}

/// Has threads do at once what each is given, and gives all their calls.
pub(crate) fn round<M: Model>(
    scripts: Vec<Vec<M::Act>>,
    act: impl Fn(usize, &M::Act) -> M::Gives + Sync,
) -> Vec<Call<M>> {
    let (counter, calls) = (AtomicU64::new(1), Mutex::new(Vec::new()));
    let to_come = AtomicUsize::new(scripts.len());
    std::thread::scope(|scope| {
        for (thread, script) in scripts.into_iter().enumerate() {
            let (counter, calls, to_come, act) = (&counter, &calls, &to_come, &act);
            scope.spawn(move || {
                // Awake, as the calls of a round are over before one that sleeps has woken.
                to_come.fetch_sub(1, Ordering::SeqCst);
                while to_come.load(Ordering::SeqCst) > 0 {
                    std::thread::yield_now();
                }
                let did = script.into_iter().map(|one| {
                    let began = counter.fetch_add(1, Ordering::SeqCst);
                    let gives = act(thread, &one);
                    let over = counter.fetch_add(1, Ordering::SeqCst);
                    Call { began, over, act: one, gives }
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
    type Gives = u8;

    fn explains(&mut self, act: &Use, gives: &u8) -> bool {
        match act {
            Use::Write(value) => self.0 = *value,
            Use::Read => {}
        }
        self.0 == *gives
    }
}

fn register(calls: &[(u64, u64, Use, u8)]) -> bool {
    let call = |&(began, over, act, gives)| Call::<Register> { began, over, act, gives };
    is_explained(&Register(0), &calls.iter().map(call).collect::<Vec<_>>())
}

#[test]
fn a_history_that_cannot_be_is_rejected() {
    use Use::{Read, Write};
    assert!(register(&[]));
    // What is read while it is written may be the old or the new.
    assert!(register(&[(1, 4, Write(7), 7), (2, 3, Read, 0)]));
    assert!(register(&[(1, 4, Write(7), 7), (2, 3, Read, 7)]));
    assert!(!register(&[(1, 4, Write(7), 7), (2, 3, Read, 8)]));
    // What was read once is not unread.
    assert!(!register(&[(1, 8, Write(7), 7), (2, 3, Read, 7), (4, 5, Read, 0)]));
    assert!(register(&[(1, 8, Write(7), 7), (2, 3, Read, 0), (4, 5, Read, 7)]));
    // A write that is over is seen.
    assert!(!register(&[(1, 2, Write(7), 7), (3, 4, Read, 0)]));
    // Two that read see two writes in one order.
    let writes = [(1, 20, Write(1), 1), (2, 20, Write(2), 2)];
    let one = [(3, 4, Read, 1), (5, 6, Read, 2)];
    let other = [(7, 8, Read, 2), (9, 10, Read, 1)];
    assert!(register(&[writes, one].concat()));
    assert!(register(&[writes, other].concat()));
    assert!(!register(&[writes, one, other].concat()));
}

#[test]
fn calls_within_others_are_counted() {
    let call = |began, over| Call::<Register> { began, over, act: Use::Read, gives: 0 };
    assert_eq!(overlapping(&[call(1, 2), call(3, 6), call(4, 5)]), 1);
}
