//! Call stacks as trees: of functions, or condensed to categories as coarse-grained stacks.
//!
//! "DenseFS" (section 2) condenses a call stack from the outermost frame inwards: each frame is
//! replaced by the category of the file that defines its function, and categories that are already
//! in the stack are dropped. The result says on whose behalf an instruction runs; instructions are
//! weighted by their sizes.
//!
//! The paper does not say how often an instruction counts that is executed several times. Its
//! figure shows "code footprints", so [`Weight::CodeBytes`] counts an instruction once in each
//! stack of the tree that it was executed on top of: code that several parts of the kernel share
//! counts for each of them, and the tree's total can exceed the footprint's bytes.
//! [`Weight::ExecutedBytes`] is the other reading, in which each execution counts.

use std::collections::{HashMap, HashSet};

use footprint_trace::BlockId;
use footprint_trace::header::Scope;

use crate::categories::{Categories, Subject};
use crate::hash::BuildMix;
use crate::simulated::BlockMisses;
use crate::touched::{Footprint, LINE_BYTES};
use crate::trace::{Code, FunctionId, Names, StackId, StackTree};
use crate::tree::{FlameTree, TreeBuilder};

/// A trace that has been walked, and the names of its addresses.
#[derive(Clone, Copy)]
pub struct CategorizedTrace<'a> {
    /// A program or a machine, which decides which contexts count.
    pub scope: Scope,
    /// The blocks.
    pub code: &'a Code,
    /// The stacks.
    pub stacks: &'a StackTree,
    /// The names.
    pub names: &'a dyn Names,
    /// The categories of functions.
    pub categories: &'a Categories,
}

/// What frames of a tree stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// Functions, including inlined ones.
    Functions,
    /// Categories: coarse-grained stacks.
    Categories,
}

/// What the weight of a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Bytes of instructions, each counted once per node.
    CodeBytes,
    /// Bytes of instructions, counted each time they were executed.
    ExecutedBytes,
    /// Instructions executed.
    Instructions,
    /// Lines of 64 bytes that contain executed instructions, each counted once per node.
    InstructionLines,
    /// Lines of 64 bytes that were accessed, each counted once per node.
    DataLines,
}

/// Turns stacks into nodes of a tree.
struct Grower<'a> {
    trace: CategorizedTrace<'a>,
    frames: Frames,
    builder: TreeBuilder,
    /// The node and the categories of each stack up to the function on top, not including functions
    /// inlined into it.
    known: HashMap<StackId, StackNode<'a>, BuildMix>,
    /// Cached categories of functions, and of the files of inlined ones.
    of_function: HashMap<FunctionId, Option<&'a str>, BuildMix>,
    of_file: HashMap<&'a str, Option<&'a str>>,
}

#[derive(Clone, Debug)]
struct StackNode<'a> {
    node: u32,
    /// The categories on the path to this node, outermost first.
    seen: Vec<&'a str>,
}

impl<'a> CategorizedTrace<'a> {
    /// The tree of a footprint, over the contexts that count.
    #[must_use]
    pub fn tree(&self, footprint: &Footprint, frames: Frames, weight: Weight) -> FlameTree {
        let mut grower = Grower::new(*self, frames);
        if let Weight::DataLines = weight {
            grower.grow_data(footprint);
        } else {
            grower.grow_code(footprint, weight);
        }
        grower.builder.build()
    }

    /// The tree of simulated misses in the level with this index.
    #[must_use]
    pub fn tree_of_misses(
        &self,
        missed: &[BlockMisses],
        frames: Frames,
        level: usize,
    ) -> FlameTree {
        let mut grower = Grower::new(*self, frames);
        for BlockMisses { stack, block, misses } in missed {
            let count = misses.get(level).copied().unwrap_or(0);
            if count > 0
                && let Some(block) = self.code.get(*block)
            {
                let node = grower.node(*stack, block.last);
                grower.builder.add(node, weight_of(count));
            }
        }
        grower.builder.build()
    }

    /// The category of a function alone; `None` if it belongs to its caller.
    #[must_use]
    pub fn category(&self, function: FunctionId) -> Option<&'a str> {
        let names = self.names;
        let (name, object) = (names.name(function), names.object(function));
        self.categories.category(Subject { file: names.file(function), name, object })
    }

    /// The name of a function, or its address.
    #[must_use]
    pub fn name(&self, function: FunctionId) -> String {
        self.names.name(function).map_or_else(|| format!("{:#x}", function.0), str::to_owned)
    }

    pub(crate) fn counts(&self, stack: StackId) -> bool {
        self.stacks.context(stack).counts(self.scope)
    }
}

impl<'a> Grower<'a> {
    fn new(trace: CategorizedTrace<'a>, frames: Frames) -> Self {
        let builder = TreeBuilder::new("all");
        Self {
            trace,
            frames,
            builder,
            known: HashMap::default(),
            of_function: HashMap::default(),
            of_file: HashMap::new(),
        }
    }

    fn grow_code(&mut self, footprint: &Footprint, weight: Weight) {
        let mut seen = HashSet::<(u32, u64), BuildMix>::default();
        for execution in &footprint.executions {
            let Some(block) = self.trace.code.get(execution.block) else { continue };
            if !self.trace.counts(execution.stack) {
                continue;
            }
            for (address, length) in self.trace.code.instructions(block) {
                let node = self.node(execution.stack, address);
                let last = address.wrapping_add(u64::from(length) - 1);
                let count = match weight {
                    Weight::CodeBytes if seen.insert((node, address)) => u64::from(length),
                    Weight::ExecutedBytes => execution.count * u64::from(length),
                    Weight::Instructions => execution.count,
                    Weight::InstructionLines => {
                        let first = seen.insert((node, address / LINE_BYTES));
                        u64::from(first) + u64::from(seen.insert((node, last / LINE_BYTES)))
                    }
                    Weight::CodeBytes | Weight::DataLines => 0,
                };
                self.builder.add(node, weight_of(count));
            }
        }
    }

    fn grow_data(&mut self, footprint: &Footprint) {
        let mut seen = HashSet::<(u32, u64), BuildMix>::default();
        for touch in &footprint.touches {
            if !self.trace.counts(touch.stack) {
                continue;
            }
            let node = self.node(touch.stack, instruction(self.trace.code, touch.block));
            if seen.insert((node, touch.line)) {
                self.builder.add(node, 1.0);
            }
        }
    }

    /// The node of an instruction executed on top of a stack.
    fn node(&mut self, stack: StackId, instruction: u64) -> u32 {
        let place = self.stack_node(stack);
        self.inline(place, instruction).node
    }

    /// The place of a stack, and of all frames below it that are not known yet.
    fn stack_node(&mut self, stack: StackId) -> StackNode<'a> {
        let stacks = self.trace.stacks;
        let unknown = stacks.frames(stack).take_while(|frame| !self.known.contains_key(frame));
        let mut unknown: Vec<_> = unknown.collect();
        while let Some(frame) = unknown.pop() {
            let around = match stacks.caller(frame) {
                Some(caller) => {
                    let place = self.known[&caller].clone();
                    self.inline(place, stacks.call_site(frame).0)
                }
                None => StackNode { node: 0, seen: Vec::new() },
            };
            let function = stacks.function(frame);
            let place = match self.frames {
                Frames::Functions => self.step(around, &self.trace.name(function)),
                Frames::Categories => {
                    let trace = self.trace;
                    let known = self.of_function.entry(function);
                    let category = *known.or_insert_with(|| trace.category(function));
                    self.condense(around, category)
                }
            };
            self.known.insert(frame, place);
        }
        self.known[&stack].clone()
    }

    /// Descends through the functions that are inlined at an address.
    fn inline(&mut self, mut place: StackNode<'a>, address: u64) -> StackNode<'a> {
        for (name, file) in self.trace.names.inlined(address) {
            place = match (self.frames, file) {
                (Frames::Functions, _) => self.step(place, name),
                (Frames::Categories, Some(path)) => {
                    let categories = self.trace.categories;
                    let subject = Subject { file, ..Subject::default() };
                    let known = self.of_file.entry(path);
                    let category = *known.or_insert_with(|| categories.category(subject));
                    self.condense(place, category)
                }
                (Frames::Categories, None) => place,
            };
        }
        place
    }

    fn step(&mut self, place: StackNode<'a>, name: &str) -> StackNode<'a> {
        StackNode { node: self.builder.child(place.node, name), ..place }
    }

    /// Adds a category on top, unless it is already on the path.
    fn condense(&mut self, mut place: StackNode<'a>, category: Option<&'a str>) -> StackNode<'a> {
        match category {
            Some(category) if !place.seen.contains(&category) => {
                place.seen.push(category);
                self.step(place, category)
            }
            _ => place,
        }
    }
}

fn instruction(code: &Code, block: BlockId) -> u64 {
    code.get(block).map_or(0, |block| block.last)
}

/// A count as a weight.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn weight_of(count: u64) -> f64 {
    count as f64
}
