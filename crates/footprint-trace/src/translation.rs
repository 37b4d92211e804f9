//! Cuts translated code into blocks.

use crate::mark::{Edge, Mark};
use crate::x86;

/// One instruction that QEMU translated.
#[derive(Debug)]
pub struct Instruction {
    /// Its virtual address.
    pub address: u64,
    /// Its bytes.
    pub code: Vec<u8>,
}

/// A part of translated code, by the indices of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePart {
    /// A mark.
    Mark {
        /// Index of the instruction.
        at: usize,
        /// The decoded mark.
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

/// The parts of translated code, in order.
pub fn cut(instructions: &[Instruction]) -> Vec<CodePart> {
    let mut parts = Vec::new();
    let mut first = 0;
    for (index, instruction) in instructions.iter().enumerate() {
        let is_last = index + 1 == instructions.len();
        if let Some(mark) = Mark::decode(&instruction.code) {
            if first < index {
                parts.push(CodePart::Block { first, last: index - 1 });
            }
            parts.push(CodePart::Mark { at: index, mark });
        } else if x86::is_harmless(&instruction.code) && !is_last {
            continue;
        } else {
            parts.push(CodePart::Block { first, last: index });
        }
        first = index + 1;
    }
    parts
}

/// Which parts of translated code get callbacks.
#[derive(Debug, PartialEq, Eq)]
pub struct Callbacks {
    /// The marks, and the blocks that may have to be recorded.
    pub recorded: Vec<CodePart>,
    /// The last instruction with an access callback, if QEMU disarms the callback there (see
    /// `on_safe_point` in the plugin).
    pub safe_point: Option<usize>,
}

/// Decides which parts of translated code get callbacks. `is_needed` says whether blocks at its
/// start do. After an end mark they no longer do, unless the whole execution is covered.
pub fn callbacks(
    parts: &[CodePart],
    instructions: &[Instruction],
    mut is_needed: bool,
    is_whole: bool,
) -> Callbacks {
    let mut callbacks = Callbacks { recorded: Vec::new(), safe_point: None };
    let mut has_ended = false;
    for &part in parts {
        let is_recorded = match part {
            CodePart::Mark { mark, .. } => {
                has_ended = mark.edge == Edge::End;
                is_needed = is_whole || !has_ended;
                true
            }
            CodePart::Block { last, .. } => {
                let code = &instructions[last].code;
                let is_safe = x86::is_helped(code) && (is_needed || has_ended);
                if is_safe {
                    callbacks.safe_point = Some(last);
                } else if is_needed && x86::may_access(code) {
                    callbacks.safe_point = None;
                }
                is_needed || is_safe
            }
        };
        if is_recorded {
            callbacks.recorded.push(part);
        }
    }
    callbacks
}

#[cfg(test)]
mod tests {
    use crate::mark::Mark;

    use super::*;

    const NOP: &[u8] = &[0x90];
    const RET: &[u8] = &[0xc3];
    const CPUID: &[u8] = &[0x0f, 0xa2];

    fn planned(codes: &[&[u8]], is_needed: bool, is_whole: bool) -> (Vec<usize>, Option<usize>) {
        let instruction = |code: &&[u8]| Instruction { address: 0, code: code.to_vec() };
        let instructions: Vec<_> = codes.iter().map(instruction).collect();
        let callbacks = callbacks(&cut(&instructions), &instructions, is_needed, is_whole);
        let last = |part: &CodePart| match *part {
            CodePart::Mark { at, .. } => at,
            CodePart::Block { last, .. } => last,
        };
        (callbacks.recorded.iter().map(last).collect(), callbacks.safe_point)
    }

    #[test]
    fn nothing_is_called_back_where_nothing_is_needed() {
        assert_eq!(planned(&[CPUID, NOP, RET], false, false), (vec![], None));
    }

    #[test]
    fn blocks_are_needed_from_a_begin_to_an_end() {
        let [begin, end] =
            [Edge::Begin, Edge::End].map(|edge| Mark { edge, region: 1, operation: 2 }.code());
        let code: [&[u8]; 6] = [RET, &begin, RET, &end, CPUID, RET];
        assert_eq!(planned(&code, false, false), (vec![1, 2, 3, 4], Some(4)));
        assert_eq!(planned(&code, true, false), (vec![0, 1, 2, 3, 4], Some(4)));
        assert_eq!(planned(&code, true, true), (vec![0, 1, 2, 3, 4, 5], None));
    }

    #[test]
    fn a_point_is_safe_only_if_no_access_follows() {
        assert_eq!(planned(&[RET, CPUID, NOP], true, false), (vec![0, 1, 2], Some(1)));
        assert_eq!(planned(&[CPUID, RET], true, false), (vec![0, 1], None));
    }
}
