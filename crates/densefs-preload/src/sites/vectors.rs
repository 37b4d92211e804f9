//! Whether the code after a site may use what vector registers hold there.
//!
//! To save and restore them costs more than all else that a site does. After most sites, the
//! function returns the result or sets errno, and then has no use for them: its caller expects
//! nothing in them, as any function may change them.

use super::{
    instruction::{self, Flow, Instruction},
    text::Text,
};

/// How many instructions are looked at.
const MOST: usize = 48;

/// How many branches are followed.
const MOST_BRANCHES: usize = 16;

/// Whether, from `start` on, vector registers may be used before the function ends. What functions
/// that it calls get in vector registers would have been put there by this one; here, where numbers
/// are passed, none does that before a system call.
pub(super) fn may_be_used(text: &Text, start: usize) -> bool {
    is_without(text, start).is_none()
}

/// `Some` if it is certain that none are used.
fn is_without(text: &Text, start: usize) -> Option<()> {
    let function = text.function(start)?;
    let mut paths = [start; MOST_BRANCHES];
    let mut known = 1;
    let mut next = 0;
    let mut count = 0;
    while next < known {
        let mut at = paths[next];
        next += 1;
        loop {
            let instruction = instruction::decode(text.bytes, at)?;
            count += 1;
            if count > MOST || is_of_vectors(text.bytes, &instruction) {
                return None;
            }
            let target = match instruction.flow {
                Flow::Jump(target) | Flow::Branch { target, .. } | Flow::Loop(target) => target,
                Flow::Computed => return None,
                Flow::Next | Flow::Call(_) | Flow::SystemCall => {
                    at = instruction.end;
                    continue;
                }
                Flow::Ends => break,
            };
            // What is outside is another function, called at the end of this one; but for what
            // rarely runs of this one, which is not told apart.
            let target = usize::try_from(target).ok().filter(|at| function.contains(at))?;
            if !paths[..known].contains(&target) {
                *paths.get_mut(known)? = target;
                known += 1;
            }
            if matches!(instruction.flow, Flow::Jump(_)) {
                break;
            }
            at = instruction.end;
        }
    }
    Some(())
}

/// Whether an instruction may read a vector register. Those that are known not to are all that
/// compilers use otherwise.
fn is_of_vectors(text: &[u8], instruction: &Instruction) -> bool {
    match text[instruction.opcode..instruction.end] {
        [0x62 | 0xc4 | 0xc5, ..] => true,
        [0x0f, second, ..] => !matches!(
            second,
            0x05 | 0x0b | 0x1e..=0x1f | 0x40..=0x4f | 0x80..=0x9f | 0xa3..=0xa5
                | 0xab..=0xad | 0xaf..=0xc1
        ),
        _ => false,
    }
}
