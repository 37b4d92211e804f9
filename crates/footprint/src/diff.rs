//! Two footprints side by side: what was gained and lost, by category and by function.
//!
//! Addresses in two kernels are unrelated, so functions are compared by name and object, and only
//! numbers of lines are compared. A line counts for each function and category that executes or
//! accesses bytes of it, so sums over rows can exceed the footprint's lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use crate::categories::OTHER;
use crate::cgstacks::Walked;
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
pub struct Row {
    /// The category.
    pub category: String,
    /// The function; none in a category's row.
    pub function: Option<String>,
    /// What it does in the first footprint.
    pub before: Share,
    /// What it does in the second footprint.
    pub after: Share,
}

impl Row {
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
    pub categories: Vec<Row>,
    /// By function, what changed most first. Those that are the same in both are left out.
    pub functions: Vec<Row>,
}

/// What is found of one footprint: instructions, and the lines of instructions and of data.
#[derive(Clone, Debug, Default)]
struct Found {
    instructions: u64,
    instruction_lines: BTreeSet<u64>,
    data_lines: BTreeSet<u64>,
}

impl Found {
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

/// Compares two footprints, each of a trace of its own.
#[must_use]
pub fn difference(
    before: (&Walked<'_>, &Footprint),
    after: (&Walked<'_>, &Footprint),
) -> Difference {
    let mut shares = BTreeMap::<Key, [Share; 2]>::new();
    for (side, found) in [find(before.0, before.1), find(after.0, after.1)].iter().enumerate() {
        for (key, found) in found {
            shares.entry(key.clone()).or_default()[side] = found.share();
        }
    }
    let rows = shares.into_iter().map(|((category, function), [before, after])| Row {
        category,
        function,
        before,
        after,
    });
    let (mut functions, mut categories): (Vec<_>, Vec<_>) =
        rows.partition(|row| row.function.is_some());
    functions.retain(|row| row.before != row.after);
    for rows in [&mut functions, &mut categories] {
        let change = |row: &Row| (row.lines_gained().abs(), row.instructions_gained().abs());
        rows.sort_by_key(|row| std::cmp::Reverse(change(row)));
    }
    Difference { categories, functions }
}

/// What is found of each category and function of a footprint.
struct Finder<'a> {
    walked: Walked<'a>,
    places: HashMap<StackId, [usize; 2], BuildMix>,
    numbers: HashMap<Key, usize>,
    found: Vec<(Key, Found)>,
}

impl Finder<'_> {
    /// Where what runs on top of a stack is counted: its category, and its function.
    fn places(&mut self, stack: StackId) -> [usize; 2] {
        if let Some(&places) = self.places.get(&stack) {
            return places;
        }
        let category = category_of(&self.walked, stack).to_owned();
        let function = qualified(&self.walked, self.walked.stacks.function(stack));
        let places = [(category.clone(), None), (category, Some(function))].map(|key| {
            let found = &mut self.found;
            *self.numbers.entry(key.clone()).or_insert_with(|| {
                found.push((key, Found::default()));
                found.len() - 1
            })
        });
        self.places.insert(stack, places);
        places
    }

    fn add(&mut self, stack: StackId, mut add: impl FnMut(&mut Found)) {
        if self.walked.counts(stack) {
            for place in self.places(stack) {
                add(&mut self.found[place].1);
            }
        }
    }
}

fn find(walked: &Walked<'_>, footprint: &Footprint) -> Vec<(Key, Found)> {
    let (places, numbers) = (HashMap::default(), HashMap::new());
    let mut finder = Finder { walked: *walked, places, numbers, found: Vec::new() };
    for execution in &footprint.executions {
        let Some(block) = walked.code.get(execution.block) else { continue };
        finder.add(execution.stack, |found| {
            found.instructions += execution.count * u64::from(block.instructions);
            let lines = lines_of(block.address, block.next).map(|(line, _)| line);
            found.instruction_lines.extend(lines);
        });
    }
    for touch in &footprint.touches {
        finder.add(touch.stack, |found| {
            found.data_lines.insert(touch.line);
        });
    }
    finder.found
}

/// The category of the function on top, or of the first below that has one.
fn category_of<'a>(walked: &Walked<'a>, stack: StackId) -> &'a str {
    let mut frames = walked.stacks.frames(stack);
    frames.find_map(|frame| walked.category(walked.stacks.function(frame))).unwrap_or(OTHER)
}

/// A function's name; with the module, library or program that it is in, unless it is the kernel.
fn qualified(walked: &Walked<'_>, function: FunctionId) -> String {
    let name = walked.name(function);
    match walked.names.object(function) {
        None | Some("" | "vmlinux") => name,
        Some(object) => format!("{name} [{object}]"),
    }
}
