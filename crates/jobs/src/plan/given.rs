//! The values that a job's options were given, by name.
//!
//! Each function asks for one kind of value. The table of options says which kind an option has,
//! so asking for another is a mistake of this crate, not of a user.

use std::cell::RefCell;
use std::collections::BTreeSet;

use job_files::quantity::{KbBase, Size};
use job_files::{Job, Value};

/// The values of one job, and which options have been asked for.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    job: &'a Job,
    asked: &'a RefCell<BTreeSet<&'static str>>,
}

const KIND: &str = "the table of options says of which kind each option is";

impl<'a> Values<'a> {
    pub(super) fn new(job: &'a Job, asked: &'a RefCell<BTreeSet<&'static str>>) -> Self {
        Self { job, asked }
    }

    pub(super) fn value(self, name: &'static str) -> Option<&'a Value> {
        debug_assert!(job_files::options::find(name).is_some(), "{name} is an option");
        self.asked.borrow_mut().insert(name);
        self.job.given(name).map(|given| &given.value)
    }

    /// What `k` is worth.
    pub(super) fn base(self) -> KbBase {
        match self.choice("kb_base") {
            Some(("1000", _)) => KbBase::Decimal,
            _ => KbBase::Binary,
        }
    }

    pub(super) fn is_given(self, name: &'static str) -> bool {
        self.value(name).is_some()
    }

    pub(super) fn switch(self, name: &'static str, default: bool) -> bool {
        match self.value(name) {
            None => default,
            Some(Value::Switch(on)) => *on,
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    /// For reads, writes and trims; those that nothing is said of have the default.
    pub(super) fn numbers(self, name: &'static str, default: i64) -> [i64; 3] {
        match self.value(name) {
            None => [default; 3],
            Some(Value::Numbers(numbers)) => numbers.map(|number| number.unwrap_or(default)),
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    pub(super) fn number(self, name: &'static str, default: i64) -> i64 {
        self.numbers(name, default)[0]
    }

    /// A number that is not negative.
    pub(super) fn count(self, name: &'static str, default: u64) -> u64 {
        let default = i64::try_from(default).unwrap_or(i64::MAX);
        self.number(name, default).unsigned_abs()
    }

    pub(super) fn counts(self, name: &'static str, default: u64) -> [u64; 3] {
        let default = i64::try_from(default).unwrap_or(i64::MAX);
        self.numbers(name, default).map(i64::unsigned_abs)
    }

    pub(super) fn small(self, name: &'static str, default: u32) -> u32 {
        u32::try_from(self.count(name, u64::from(default))).unwrap_or(u32::MAX)
    }

    pub(super) fn sizes(self, name: &'static str) -> [Option<u64>; 3] {
        match self.value(name) {
            None => [None; 3],
            Some(Value::Sizes(sizes)) => *sizes,
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    pub(super) fn ranges(self, name: &'static str) -> [Option<(u64, u64)>; 3] {
        match self.value(name) {
            None => [None; 3],
            Some(Value::Ranges(ranges)) => *ranges,
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    pub(super) fn bytes(self, name: &'static str) -> Option<u64> {
        match self.value(name) {
            None => None,
            Some(Value::Bytes(bytes)) => Some(*bytes),
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    pub(super) fn size(self, name: &'static str) -> Option<Size> {
        match self.value(name) {
            None => None,
            Some(Value::Size(size)) => Some(*size),
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    pub(super) fn microseconds(self, name: &'static str) -> u64 {
        match self.value(name) {
            None => 0,
            Some(Value::Microseconds(time)) => *time,
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    /// Times from and to, in microseconds.
    pub(super) fn time_range(self, name: &'static str) -> (u64, u64) {
        match self.value(name) {
            None => (0, 0),
            Some(Value::MicrosecondsRange(from, to)) => (*from, *to),
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    pub(super) fn floats(self, name: &'static str) -> Option<&'a [f64]> {
        match self.value(name) {
            None => None,
            Some(Value::Floats(floats)) => Some(floats),
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    /// A word, and what follows it after a colon.
    pub(super) fn choice(self, name: &'static str) -> Option<(&'static str, Option<&'a str>)> {
        match self.value(name) {
            None => None,
            Some(Value::Choice(word, rest)) => Some((*word, rest.as_deref())),
            Some(_) => panic!("{name}: {KIND}"),
        }
    }

    pub(super) fn text(self, name: &'static str) -> Option<&'a str> {
        match self.value(name) {
            None => None,
            Some(Value::Text(text)) => Some(text),
            Some(_) => panic!("{name}: {KIND}"),
        }
    }
}
