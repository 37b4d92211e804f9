//! What an instruction does to eax, from which system calls take their number.

use super::instruction::Instruction;

/// More than there are system calls.
const MOST: usize = 1024;

/// What becomes of eax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It keeps its value.
    None,
    /// It is this number.
    Constant(usize),
    /// It may be anything.
    Unknown,
}

/// The register that `instruction` copies to eax.
pub(super) fn source(text: &[u8], instruction: &Instruction) -> Option<u8> {
    let [opcode, operands] = text[instruction.opcode..instruction.end] else { return None };
    let high = |bit: u8| if instruction.extension & bit == 0 { 0 } else { 8 };
    let [first, second] = [operands >> 3 & 7 | high(4), operands & 7 | high(1)];
    match opcode {
        0x89 if operands >= 0xc0 && second == 0 => Some(first),
        0x8b if operands >= 0xc0 && first == 0 => Some(second),
        _ => None,
    }
}

/// The numbers of system calls in what looks like an instruction of `code` that loads a number to
/// `register`. No such instruction is overlooked.
pub(super) fn loaded(code: &[u8], register: u8) -> impl Iterator<Item = usize> {
    let register = register & 7;
    let zeroed = 0xc0 | register << 3 | register;
    code.windows(5).filter_map(<[u8]>::first_chunk).filter_map(move |&[opcode, a, b, c, d]| {
        match opcode {
            0x31 | 0x33 if a == zeroed => Some(0),
            _ if opcode == 0xb8 | register => match constant([a, b, c, d]) {
                Effect::Constant(number) if number < MOST => Some(number),
                Effect::Constant(_) | Effect::None | Effect::Unknown => None,
            },
            _ => None,
        }
    })
}

/// What `instruction` does to eax. Few instructions are looked at: those that compilers put between
/// loading the number and making the call.
pub(super) fn effect(text: &[u8], instruction: &Instruction) -> Effect {
    let code = &text[instruction.opcode..instruction.end];
    let operands = instruction.operands.map(|at| text[at]);
    let first = (instruction.extension & 4) << 1 | operands.map_or(0, |byte| byte >> 3 & 7);
    let second = match operands {
        Some(byte) if byte >= 0xc0 => Some((instruction.extension & 1) << 3 | byte & 7),
        _ => None,
    };
    let keeps = |register: Option<u8>| match register {
        Some(0) => Effect::Unknown,
        _ => Effect::None,
    };
    let is_half = text[instruction.start..instruction.opcode].contains(&0x66);
    match *code {
        [0xb8, a, b, c, d] if instruction.extension & 9 == 0 => constant([a, b, c, d]),
        [0xc7, 0xc0, a, b, c, d] if instruction.extension & 1 == 0 => constant([a, b, c, d]),
        [0x31 | 0x33, 0xc0] if instruction.extension & 5 == 0 && !is_half => Effect::Constant(0),
        [0xb8..=0xbf, ..] => keeps(Some((instruction.extension & 1) << 3 | code[0] & 7)),
        // To the first operand: mov, lea, and arithmetic.
        [0x03 | 0x0b | 0x23 | 0x2b | 0x33 | 0x63 | 0x8b | 0x8d, ..] => keeps(Some(first)),
        // To the second operand.
        [0x01 | 0x09 | 0x21 | 0x29 | 0x31 | 0x81 | 0x83 | 0x89 | 0xc7, ..] => keeps(second),
        // A byte of it: one of eax, ecx, edx, ebx, or with a REX prefix of any register.
        [0x80 | 0xc6, ..] => match second {
            Some(register) if instruction.extension == 0 && register & 3 == 0 => Effect::Unknown,
            register => keeps(register),
        },
        [0xc1 | 0xd1, ..] => keeps(second),
        [0xf7, ..] if (2..4).contains(&(first & 7)) => keeps(second),
        // Comparisons.
        [0x38..=0x3d | 0x84 | 0x85 | 0xa8 | 0xa9, ..] => Effect::None,
        [0x50..=0x57, ..] => Effect::None,
        // Conditional moves and extensions.
        [0x0f, 0x40..=0x4f | 0xb6 | 0xb7 | 0xbe | 0xbf, ..] => keeps(Some(first)),
        // Vectors.
        [0x0f, 0x10 | 0x11 | 0x28 | 0x29 | 0x6c..=0x6f | 0x7f | 0xd6 | 0xef, ..] => Effect::None,
        // Nothing.
        [0x90] | [0x0f, 0x1f, ..] => Effect::None,
        _ => Effect::Unknown,
    }
}

fn constant(bytes: [u8; 4]) -> Effect {
    match usize::try_from(u32::from_le_bytes(bytes)) {
        Ok(number) => Effect::Constant(number),
        Err(_) => Effect::Unknown,
    }
}
