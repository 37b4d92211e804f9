//! How often the statements hold by chance: on a simulated machine on which they are not true, or
//! are true only just. `docs/coverage.md` has the table.

use std::fmt::Write as _;

use super::simulated::Machine;
use super::statements;
use crate::statement::{Outcome, Statement};

const TRIALS: u64 = 400;

/// What is true of a machine, and the statements that are judged there, by their claims' first
/// words.
struct Null {
    truth: &'static str,
    claims: &'static [&'static str],
    change: fn(&mut Machine),
}

fn alike(of: &mut Machine) {
    of.file_systems.iter_mut().for_each(|one| one.warm_up = 1.0);
}

const NULLS: [Null; 18] = [
    Null {
        truth: "the drop is at 112.5 % of memory",
        claims: &["throughput drops"],
        change: |of| (of.cache_percent, of.cache_noise) = (112.5, 0.02),
    },
    Null {
        truth: "there is no drop: throughput falls with the cube of the size",
        claims: &["the drop is sudden"],
        change: |of| of.power = Some(3.0),
    },
    Null {
        truth: "the drop is a step wide",
        claims: &["the region"],
        change: |of| of.device_ns = 6e4,
    },
    Null {
        truth: "the drop is 2.75 % of memory wide",
        claims: &["it is less"],
        change: |of| of.device_ns = 2.8e5,
    },
    Null {
        truth: "the device has no cache of its own",
        claims: &["with several levels"],
        change: |of| of.device_cache = 1.0,
    },
    Null {
        truth: "the device varies 1.1 times as much as memory",
        claims: &["runs vary"],
        change: |of| (of.memory_noise, of.device_noise) = (0.03, 0.033),
    },
    Null {
        truth: "the transition varies no more than the rest",
        claims: &["in the transition"],
        change: |of| (of.cache_noise, of.device_noise) = (0.0, 0.01),
    },
    Null {
        truth: "one file system is 1.1 times as fast as the others at first",
        claims: &["from a cold start"],
        change: |of| {
            alike(of);
            of.file_systems[1].at_first = 1.1;
        },
    },
    Null {
        truth: "one file system under three names",
        claims: &["while they warm up", "depending on when"],
        change: alike,
    },
    Null {
        truth: "one file system takes 1.1 times as long to become fast",
        claims: &["while they warm up"],
        change: |of| {
            alike(of);
            of.file_systems[2].warm_up = 1.1;
        },
    },
    Null {
        truth: "one file system is 1.1 times as fast as the others at last",
        claims: &["at the end"],
        change: |of| of.file_systems[1].at_last = 1.1,
    },
    Null {
        truth: "a peak of 2 % beside that of memory",
        claims: &["a file that fits"],
        change: |of| of.stray_share = 0.02,
    },
    Null {
        truth: "a peak of 2 % beside that of memory, at twice its size",
        claims: &["a file of twice"],
        change: |of| of.cache_percent = 196.0,
    },
    Null {
        truth: "three of five reads of twice the memory hit",
        claims: &["they are almost"],
        change: |of| of.cache_percent = 120.0,
    },
    Null {
        truth: "one of twenty reads of the much larger file hits",
        claims: &["for a file"],
        change: |of| of.cache_percent = 120.0,
    },
    Null {
        truth: "the device is 1,000 times as slow as memory",
        claims: &["a single read", "with the size"],
        change: |of| of.device_ns = 1e6,
    },
    Null {
        truth: "four of five reads go to the device half-way through the warm-up",
        claims: &["as the file"],
        change: |of| of.uncached_share = 0.62,
    },
    Null {
        truth: "half of the warm-up has one mode",
        claims: &["during most"],
        change: |of| of.uncached_share = 0.5,
    },
];

impl Null {
    /// Percent of runs in which each of the statements holds, with its claim.
    fn holds_percent(&self, trials: u64) -> Vec<(&'static str, f64)> {
        let mut machine = Machine::as_published();
        (self.change)(&mut machine);
        let mut held: Vec<(&'static str, u32)> = Vec::new();
        for seed in 0..trials {
            let all = statements::all(&machine.run(seed).gathered());
            for claim in self.claims {
                let is_own = |one: &&Statement| one.claim.starts_with(claim);
                let statement = all.iter().find(is_own).expect("it is a statement");
                let holds = u32::from(statement.outcome == Outcome::Holds);
                match held.iter_mut().find(|(own, _)| *own == statement.claim) {
                    Some((_, count)) => *count += holds,
                    None => held.push((statement.claim, holds)),
                }
            }
        }
        let percent = |(claim, count)| (claim, 100.0 * f64::from(count) / trials as f64);
        held.into_iter().map(percent).collect()
    }
}

fn table() -> String {
    let mut text = String::from("| what is true | statement | it holds |\n| --- | --- | --- |\n");
    for null in &NULLS {
        for (claim, percent) in null.holds_percent(TRIALS) {
            writeln!(text, "| {} | {claim} | {percent:.1} |", null.truth).expect("a String");
        }
    }
    text
}

/// At most 5 % may hold; of 24 runs, 6 or more would then be seen once in a thousand times.
#[test]
fn what_is_not_true_seldom_holds() {
    for null in &NULLS {
        for (claim, percent) in null.holds_percent(24) {
            assert!(percent <= 100.0 * 5.0 / 24.0, "{}: {claim}: {percent} %", null.truth);
        }
    }
}

/// Takes a minute or two with `--release`; if it fails, it prints the new table.
#[test]
#[ignore = "minutes of simulation: run it with --release after changing what judges"]
fn coverage_of_statements() {
    let fresh = table();
    let document = include_str!("../../../../docs/coverage.md");
    assert!(document.contains(fresh.trim()), "docs/coverage.md should hold this table:\n\n{fresh}");
}
