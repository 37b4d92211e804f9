//! Byte counts for cachemaps: how often each byte of each line was touched, and by what.
//!
//! "DenseFS" (section 2, Figure 1) draws a row per line in address order and a cell per byte,
//! coloured by its count.

use std::collections::BTreeMap;

use footprint_trace::BlockId;
use footprint_trace::event::AccessKind;

use super::LINE_BYTES;
use super::figures::lines_of;
use super::footprint::Footprint;
use crate::trace::{Code, Context, StackId, StackTree};

/// [`LINE_BYTES`] as an array length.
const BYTES_OF_LINE: usize = 64;

/// A line and how often each of its bytes was touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteCounts {
    /// The line: the address of its first byte.
    pub line: u64,
    /// The count of each byte; 0 is drawn white.
    pub counts: Box<[u64; 64]>,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Executed code.
    Instructions,
    /// Data read.
    Loads,
    /// Data written.
    Stores,
}

impl From<AccessKind> for Content {
    fn from(kind: AccessKind) -> Self {
        match kind {
            AccessKind::Load => Self::Loads,
            AccessKind::Store => Self::Stores,
        }
    }
}

/// One way in which a byte was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteUse {
    /// Executed, read or written.
    pub content: Content,
    /// The stack on top of which that happened.
    pub stack: StackId,
    /// The instruction's address, in the function on top of the stack.
    pub instruction: u64,
    /// How many times.
    pub count: u64,
}

type Counts = BTreeMap<u64, Box<[u64; BYTES_OF_LINE]>>;

/// The lines with executed bytes, by address, over the contexts for which `counts` is true.
#[must_use]
pub fn instruction_map(
    footprint: &Footprint,
    code: &Code,
    stacks: &StackTree,
    counts: impl Fn(Context) -> bool,
) -> Vec<ByteCounts> {
    let mut found = Counts::new();
    for execution in &footprint.executions {
        if let Some(block) = code.get(execution.block)
            && counts(stacks.context(execution.stack))
        {
            for (line, mask) in lines_of(block.address, block.next) {
                add(&mut found, line, mask, execution.count);
            }
        }
    }
    into_lines(found)
}

/// The lines with accessed bytes, by address, over the contexts for which `counts` is true.
#[must_use]
pub fn data_map(
    footprint: &Footprint,
    stacks: &StackTree,
    contents: &[Content],
    counts: impl Fn(Context) -> bool,
) -> Vec<ByteCounts> {
    let mut found = Counts::new();
    for touch in &footprint.touches {
        if counts(stacks.context(touch.stack)) {
            for part in &touch.accesses {
                if contents.contains(&Content::from(part.kind)) {
                    add(&mut found, touch.line, part.mask(), part.count);
                }
            }
        }
    }
    into_lines(found)
}

/// In which ways a byte was touched, in all contexts: first by executing code there, then by
/// accessing data there, each in the order of first occurrence.
#[must_use]
pub fn uses_of(footprint: &Footprint, code: &Code, address: u64) -> Vec<ByteUse> {
    let mut uses = Vec::new();
    for execution in &footprint.executions {
        let Some(block) = code.get(execution.block) else { continue };
        if (block.address..block.next).contains(&address) {
            let reached = code.instructions(block).take_while(|&(at, _)| at <= address);
            let instruction = reached.last().map_or(block.address, |(at, _)| at);
            let (stack, count) = (execution.stack, execution.count);
            uses.push(ByteUse { content: Content::Instructions, stack, instruction, count });
        }
    }
    let bit = 1 << (address % LINE_BYTES);
    let line = address - address % LINE_BYTES;
    for touch in footprint.touches.iter().filter(|touch| touch.line == line) {
        let instruction = instruction_of(code, touch.block);
        for content in [Content::Loads, Content::Stores] {
            let parts = touch.accesses.iter();
            let parts = parts.filter(|part| Content::from(part.kind) == content);
            let count = parts.filter(|part| part.mask() & bit != 0).map(|part| part.count).sum();
            if count > 0 {
                uses.push(ByteUse { content, stack: touch.stack, instruction, count });
            }
        }
    }
    uses
}

fn instruction_of(code: &Code, block: BlockId) -> u64 {
    code.get(block).map_or(0, |block| block.last)
}

fn add(found: &mut Counts, line: u64, mask: u64, count: u64) {
    let counts = found.entry(line).or_insert_with(|| Box::new([0; BYTES_OF_LINE]));
    for (byte, known) in counts.iter_mut().enumerate() {
        *known += count * (mask >> byte & 1);
    }
}

fn into_lines(found: Counts) -> Vec<ByteCounts> {
    found.into_iter().map(|(line, counts)| ByteCounts { line, counts }).collect()
}
