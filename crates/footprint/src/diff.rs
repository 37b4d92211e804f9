//! Two footprints side by side: what was gained and lost, by category and by function.
//!
//! Addresses in two kernels are unrelated, so functions are compared by name and object, and only
//! numbers of lines are compared. A line counts for each function and category that executes or
//! accesses bytes of it, so sums over rows can exceed the footprint's lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use crate::categories::OTHER;
use crate::cgstacks::CategorizedTrace;
use crate::hash::BuildMix;
use crate::touched::{Footprint, lines_of};
use crate::trace::{FunctionId, StackId};

/// What one function or category does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Share {
    /// Instructions executed.
    pub instructions: u64,
    /// 64-byte lines with bytes of executed instructions.
    pub instruction_lines: u64,
    /// 64-byte lines with bytes that were accessed.
    pub data_lines: u64,
}

/// A function or category, as it is in both footprints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
pub struct Change {
    /// The category.
    pub category: String,
    /// The function; none in a category's row.
    pub function: Option<String>,
    /// What it does in the first footprint.
    pub before: Share,
    /// What it does in the second footprint.
    pub after: Share,
}

impl Change {
    /// Lines gained, of instructions and data; negative where they are lost.
    #[must_use]
    pub fn lines_gained(&self) -> i64 {
        let lines = |share: Share| (share.instruction_lines + share.data_lines).cast_signed();
        lines(self.after) - lines(self.before)
    }

    /// Instructions gained; negative where they are lost.
    #[must_use]
    pub fn instructions_gained(&self) -> i64 {
        self.after.instructions.cast_signed() - self.before.instructions.cast_signed()
    }
}

/// Two footprints beside each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// By category, what changed most first.
    pub categories: Vec<Change>,
    /// By function, what changed most first. Those that are the same in both are left out.
    pub functions: Vec<Change>,
}

/// Instructions, and the distinct lines of instructions and of data.
#[derive(Clone, Debug, Default)]
struct Tally {
    instructions: u64,
    instruction_lines: BTreeSet<u64>,
    data_lines: BTreeSet<u64>,
}

impl Tally {
    fn share(&self) -> Share {
        Share {
            instructions: self.instructions,
            instruction_lines: self.instruction_lines.len() as u64,
            data_lines: self.data_lines.len() as u64,
        }
    }
}

/// A category, and a function of it or none.
type Key = (String, Option<String>);

/// What each category and function does in a footprint.
#[derive(Debug)]
pub struct Shares(Vec<(Key, Tally)>);

/// Compares two footprints, each of a trace of its own.
#[must_use]
pub fn difference(before: &Shares, after: &Shares) -> Difference {
    let mut shares = BTreeMap::<Key, [Share; 2]>::new();
    for (side, Shares(tallies)) in [before, after].into_iter().enumerate() {
        for (key, tally) in tallies {
            shares.entry(key.clone()).or_default()[side] = tally.share();
        }
    }
    let rows = shares.into_iter().map(|((category, function), [before, after])| Change {
        category,
        function,
        before,
        after,
    });
    let (mut functions, mut categories): (Vec<_>, Vec<_>) =
        rows.partition(|row| row.function.is_some());
    functions.retain(|row| row.before != row.after);
    for rows in [&mut functions, &mut categories] {
        let change = |row: &Change| (row.lines_gained().abs(), row.instructions_gained().abs());
        rows.sort_by_key(|row| std::cmp::Reverse(change(row)));
    }
    Difference { categories, functions }
}

/// Adds up what each category and function of a footprint does.
struct Counter<'a> {
    trace: CategorizedTrace<'a>,
    places: HashMap<StackId, [usize; 2], BuildMix>,
    numbers: HashMap<Key, usize>,
    tallies: Vec<(Key, Tally)>,
}

impl Counter<'_> {
    /// Where what runs on top of a stack is counted: its category, and its function.
    fn places(&mut self, stack: StackId) -> [usize; 2] {
        if let Some(&places) = self.places.get(&stack) {
            return places;
        }
        let category = category_of(&self.trace, stack).to_owned();
        let function = qualified(&self.trace, self.trace.stacks.function(stack));
        let places = [(category.clone(), None), (category, Some(function))].map(|key| {
            let tallies = &mut self.tallies;
            *self.numbers.entry(key.clone()).or_insert_with(|| {
                tallies.push((key, Tally::default()));
                tallies.len() - 1
            })
        });
        self.places.insert(stack, places);
        places
    }

    fn add(&mut self, stack: StackId, mut add: impl FnMut(&mut Tally)) {
        if self.trace.counts(stack) {
            for place in self.places(stack) {
                add(&mut self.tallies[place].1);
            }
        }
    }
}

impl Shares {
    /// The shares of a footprint.
    #[must_use]
    pub fn new(trace: CategorizedTrace<'_>, footprint: &Footprint) -> Self {
        let (places, numbers) = (HashMap::default(), HashMap::new());
        let mut counter = Counter { trace, places, numbers, tallies: Vec::new() };
        for execution in &footprint.executions {
            let Some(block) = trace.code.get(execution.block) else { continue };
            counter.add(execution.stack, |tally| {
                tally.instructions += execution.count * u64::from(block.instructions);
                let lines = lines_of(block.address, block.next).map(|(line, _)| line);
                tally.instruction_lines.extend(lines);
            });
        }
        for touch in &footprint.touches {
            counter.add(touch.stack, |tally| {
                tally.data_lines.insert(touch.line);
            });
        }
        Self(counter.tallies)
    }
}

/// The category of the function on top, or of the first below that has one.
fn category_of<'a>(trace: &CategorizedTrace<'a>, stack: StackId) -> &'a str {
    let mut frames = trace.stacks.frames(stack);
    frames.find_map(|frame| trace.category(trace.stacks.function(frame))).unwrap_or(OTHER)
}

/// A function's name; with the module, library or program that it is in, unless it is the kernel.
fn qualified(trace: &CategorizedTrace<'_>, function: FunctionId) -> String {
    let name = trace.name(function);
    match trace.names.object(function) {
        None | Some("" | "vmlinux") => name,
        Some(object) => format!("{name} [{object}]"),
    }
}
