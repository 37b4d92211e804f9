//! Cutting translated code into blocks.

use footprint_trace::mark::Mark;
use footprint_trace::x86;

/// One instruction, as QEMU translated it.
#[derive(Debug)]
pub(crate) struct Instruction {
    /// Its virtual address.
    pub(crate) address: u64,
    /// Its bytes.
    pub(crate) code: Vec<u8>,
}

/// A part of translated code, as indices of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A mark.
    Mark {
        /// The instruction.
        at: usize,
        /// The mark that it is.
        mark: Mark,
    },
    /// A block.
    Block {
        /// Its first instruction.
        first: usize,
        /// Its last.
        last: usize,
    },
}

/// The parts of translated code in their order.
pub(crate) fn cut(instructions: &[Instruction]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut first = 0;
    for (index, instruction) in instructions.iter().enumerate() {
        let is_last = index + 1 == instructions.len();
        if let Some(mark) = Mark::of_code(&instruction.code) {
            if first < index {
                parts.push(Part::Block { first, last: index - 1 });
            }
            parts.push(Part::Mark { at: index, mark });
        } else if x86::is_harmless(&instruction.code) && !is_last {
            continue;
        } else {
            parts.push(Part::Block { first, last: index });
        }
        first = index + 1;
    }
    parts
}
