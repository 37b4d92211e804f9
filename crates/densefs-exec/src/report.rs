//! What has become of the calls of a command and its descendants.

use std::time::{Duration, Instant};

use densefs_calls::{Counts, Outcome, on_files};

/// A kind of calls, and how many of them went where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedCall {
    /// Its name in the manual's section 2.
    pub name: &'static str,
    /// Those that the library served from the arena.
    pub served: u64,
    /// Those that the kernel executed, as they were about other files.
    pub passed: u64,
    /// Those on the arena that the library refused.
    pub refused: u64,
}

/// What has become of calls. Those that the library does not look at are not counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How many programs have loaded the library.
    pub programs: u64,
    /// How many requests have come by the mount: from programs and calls that the library does not
    /// serve.
    pub requests: u64,
    /// The calls on files by kind, the most frequent on the arena first.
    pub calls: Vec<ReportedCall>,
    /// What it takes to enter the kernel and leave it again: the time of an empty system call on
    /// this machine, in nanoseconds.
    pub entry_ns: f64,
}

impl Report {
    pub(crate) fn new(counts: &Counts) -> Self {
        let mut calls: Vec<_> = on_files()
            .map(|call| ReportedCall {
                name: call.name,
                served: counts.count(call.number, Outcome::Served),
                passed: counts.count(call.number, Outcome::Passed),
                refused: counts.count(call.number, Outcome::Refused),
            })
            .filter(|call| call.served + call.passed + call.refused > 0)
            .collect();
        calls.sort_by_key(|call| std::cmp::Reverse((call.served, call.refused, call.passed)));
        Self {
            programs: counts.programs(),
            requests: counts.requests(),
            calls,
            entry_ns: entry_ns(),
        }
    }

    /// How many calls the library has served.
    pub fn served(&self) -> u64 {
        self.calls.iter().map(|call| call.served).sum()
    }

    /// The time that the calls which the library has served would at least have taken by the
    /// kernel.
    pub fn saved(&self) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "no program makes so many calls")]
        Duration::from_secs_f64(self.served() as f64 * self.entry_ns / 1e9)
    }
}

/// The median time of an empty system call, in nanoseconds.
fn entry_ns() -> f64 {
    const CALLS: u32 = 1_000;
    let mut times: Vec<_> = (0..31)
        .map(|_| {
            let began = Instant::now();
            for _ in 0..CALLS {
                std::hint::black_box(rustix::process::getppid());
            }
            began.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_reported_that_were_made() {
        let (_file, counts) = densefs_calls::create().expect("there is memory");
        let number = |name| on_files().find(|call| call.name == name).expect("it is there").number;
        counts.note_program();
        for (name, outcome, times) in [
            ("read", Outcome::Passed, 3),
            ("openat", Outcome::Served, 2),
            ("openat", Outcome::Passed, 1),
            ("io_uring_setup", Outcome::Refused, 1),
        ] {
            (0..times).for_each(|_| counts.note(number(name), outcome));
        }
        let report = Report::new(counts);
        let call = |name, served, passed, refused| ReportedCall { name, served, passed, refused };
        let expected =
            [call("openat", 2, 1, 0), call("io_uring_setup", 0, 0, 1), call("read", 0, 3, 0)];
        assert_eq!((report.programs, report.calls.as_slice()), (1, &expected[..]));
        assert_eq!(report.served(), 2);
        let saved_ns = report.saved().as_secs_f64() * 1e9;
        assert!((saved_ns - 2.0 * report.entry_ns).abs() < 1.0, "{report:?}");
        assert!(report.entry_ns > 1.0, "{report:?}");
    }
}
