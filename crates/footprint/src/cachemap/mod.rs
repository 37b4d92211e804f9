//! Cachemaps: a row for each line that was touched, a cell for each of its bytes, and the name of
//! what is there.
//!
//! The paper on DenseFS draws the lines in address order, and colours each byte by the logarithm of
//! how often it was touched, with white for never (section 2, Figure 1). [`Cachemap`] contains the
//! data of such a picture and what a reader may ask about it: the name of what is in each line, and
//! the stacks that touched each byte. [`picture`] draws it as PNG, [`text`] for the terminal.

mod naming;
pub mod picture;
pub mod text;
mod viridis;

use std::collections::{BTreeMap, HashMap};

use footprint_trace::header::Scope;
use schemars::JsonSchema;
use serde::Serialize;

use crate::description::Description;
use crate::hash::BuildMix;
use crate::touched::{
    ByteCounts, Content, Footprint, LINE_BYTES, data_map, instruction_map, lines_of,
};
use crate::trace::{Code, Context, StackId, StackTree};
use naming::DataNames;

/// What the lines of a cachemap hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachemapOf {
    /// Executed code; a byte's count is the number of times its instruction was executed.
    Instructions,
    /// Data; a byte's count is the number of accesses that read or wrote it.
    Data,
}

impl CachemapOf {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Instructions, Self::Data];

    /// As the command line and documents name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Data => "data",
        }
    }
}

/// The lines that one footprint touched, byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cachemap {
    /// What the lines hold.
    pub of: CachemapOf,
    /// The lines, by address.
    pub lines: Vec<MappedLine>,
}

/// One line of a cachemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedLine {
    /// The address of its first byte.
    pub address: u64,
    /// How often each byte was touched.
    pub counts: Box<[u64; 64]>,
    /// What lies there: the functions, or the data with its fields; empty where nothing is known.
    pub name: String,
    /// Who touched which bytes, by the number of the stack.
    pub touches: Vec<LineTouch>,
}

/// What one stack touched of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTouch {
    /// What ran on top of what.
    pub stack: StackId,
    /// The bytes: bit 0 is the line's first.
    pub bytes: u64,
}

impl MappedLine {
    /// How many bytes were touched, from 1 to 64.
    #[must_use]
    pub fn bytes_used(&self) -> usize {
        self.counts.iter().filter(|&&count| count > 0).count()
    }

    /// The most that a byte was touched.
    #[must_use]
    pub(crate) fn count_max(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }
}

/// What a walk knew: the code and the stacks that footprints refer to, and what is called what.
#[derive(Clone, Copy, Debug)]
pub struct WalkedTrace<'a> {
    /// The blocks executed.
    pub code: &'a Code,
    /// The stacks seen.
    pub stacks: &'a StackTree,
    /// A program or a machine: says which contexts count.
    pub scope: Scope,
    /// Names of code and data.
    pub names: &'a Description,
}

impl WalkedTrace<'_> {
    fn counts(&self, context: Context) -> bool {
        context.counts(self.scope)
    }
}

impl Cachemap {
    /// The map of a footprint over the contexts that count ([`Context::counts`]).
    #[must_use]
    pub fn new(of: CachemapOf, footprint: &Footprint, trace: WalkedTrace<'_>) -> Self {
        let counts = |context| trace.counts(context);
        let (found, touches) = match of {
            CachemapOf::Instructions => (
                instruction_map(footprint, trace.code, trace.stacks, counts),
                code_touches(footprint, trace),
            ),
            CachemapOf::Data => {
                let contents = [Content::Loads, Content::Stores];
                let found = data_map(footprint, trace.stacks, &contents, counts);
                (found, data_touches(footprint, trace))
            }
        };
        let names = match of {
            CachemapOf::Instructions => code_names(footprint, trace),
            CachemapOf::Data => data_names(&found, trace.names),
        };
        Self { of, lines: joined(found, names, touches) }
    }

    /// The lines that bring the most bytes for nothing, the worst first; of equals, the first.
    #[must_use]
    pub(crate) fn by_waste(&self) -> Vec<&MappedLine> {
        let mut lines: Vec<&MappedLine> = self.lines.iter().collect();
        lines.sort_by_key(|line| (line.bytes_used(), line.count_max()));
        lines
    }
}

type Touches = HashMap<u64, BTreeMap<StackId, u64>, BuildMix>;

fn joined(
    found: Vec<ByteCounts>,
    mut names: HashMap<u64, String, BuildMix>,
    mut touches: Touches,
) -> Vec<MappedLine> {
    let lines = found.into_iter().map(|ByteCounts { line, counts }| MappedLine {
        address: line,
        counts,
        name: names.remove(&line).unwrap_or_default(),
        touches: touches.remove(&line).map_or_else(Vec::new, |stacks| {
            stacks.into_iter().map(|(stack, bytes)| LineTouch { stack, bytes }).collect()
        }),
    });
    lines.collect()
}

fn code_touches(footprint: &Footprint, trace: WalkedTrace<'_>) -> Touches {
    let mut touches = Touches::default();
    for execution in &footprint.executions {
        let Some(block) = trace.code.get(execution.block) else { continue };
        if trace.counts(trace.stacks.context(execution.stack)) {
            for (line, mask) in lines_of(block.address, block.next) {
                *touches.entry(line).or_default().entry(execution.stack).or_default() |= mask;
            }
        }
    }
    touches
}

fn data_touches(footprint: &Footprint, trace: WalkedTrace<'_>) -> Touches {
    let mut touches = Touches::default();
    for touch in &footprint.touches {
        if trace.counts(trace.stacks.context(touch.stack)) {
            let stacks = touches.entry(touch.line).or_default();
            *stacks.entry(touch.stack).or_default() |= touch.loads | touch.stores;
        }
    }
    touches
}

/// The functions whose code was executed in each line, in the order of their addresses.
fn code_names(footprint: &Footprint, trace: WalkedTrace<'_>) -> HashMap<u64, String, BuildMix> {
    let mut found: BTreeMap<(u64, u64), &str> = BTreeMap::new();
    for execution in &footprint.executions {
        let Some(block) = trace.code.get(execution.block) else { continue };
        let function = trace.names.function(block.address);
        if let Some(function) = function
            && trace.counts(trace.stacks.context(execution.stack))
        {
            for (line, _) in lines_of(block.address, block.next) {
                found.insert((line, function.address), &function.name);
            }
        }
    }
    let mut names: HashMap<u64, String, BuildMix> = HashMap::default();
    for ((line, _), function) in found {
        let name = names.entry(line).or_default();
        if !name.is_empty() {
            name.push_str(", ");
        }
        name.push_str(function);
    }
    names
}

fn data_names(found: &[ByteCounts], names: &Description) -> HashMap<u64, String, BuildMix> {
    let names = DataNames::new(names);
    let named = found.iter().map(|ByteCounts { line, counts }| {
        let touched = (0..LINE_BYTES).zip(counts.iter()).filter(|&(_, &count)| count > 0);
        (*line, names.name_of(touched.map(|(offset, _)| line + offset)))
    });
    named.collect()
}
