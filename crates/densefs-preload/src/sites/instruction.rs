//! The length of an x86-64 instruction, and what it does to the flow of control.
//!
//! No more is decoded than the rewriting of sites needs. What this does not know for certain, it
//! does not decode: then the site is reported as impossible. A test compares it with a full decoder
//! over the text of the C library and the dynamic linker.
//!
//! As programs start only after this, it has to be fast: tables say what most opcodes need.

use super::opcodes::{
    IMMEDIATE, ONE_BYTE, OPERANDS, OPERANDS_LENGTH, SPECIAL, TWO_BYTES, Table, VARIABLE, VECTOR,
    WITH_BYTE, WITH_OPERANDS,
};

/// An instruction of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Where it begins in the text.
    pub(super) start: usize,
    /// Where the next one begins.
    pub(super) end: usize,
    /// Where its opcode begins in the text, after the prefixes.
    pub(super) opcode: usize,
    /// Where its `ModRM` byte is in the text, if it has one.
    pub(super) operands: Option<usize>,
    /// Its REX prefix, or 0.
    pub(super) extension: u8,
    /// Where the four bytes are in the text that tell an address relative to `end`, if it has some.
    pub(super) relative: Option<usize>,
    /// Where it goes on.
    pub(super) flow: Flow,
}

/// Where a program goes on after an instruction. Targets are offsets into the text, and may lie
/// outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// At the next instruction.
    Next,
    /// At the target.
    Jump(isize),
    /// At the target if a condition holds, whose opcode's last four bits are these, and otherwise
    /// at the next instruction.
    Branch {
        /// The target.
        target: isize,
        /// The condition.
        condition: u8,
    },
    /// At the target for certain values of rcx, and otherwise at the next instruction.
    Loop(isize),
    /// At the target, or wherever a register or memory says, and later at the next instruction.
    Call(Option<isize>),
    /// Wherever a register or memory says.
    Computed,
    /// In the kernel, and then at the next instruction.
    SystemCall,
    /// Nowhere that is told here: it returns or fails.
    Ends,
}

impl Flow {
    /// Where it may go on but at the next instruction.
    pub(super) fn target(self) -> Option<isize> {
        match self {
            Self::Jump(target) | Self::Branch { target, .. } | Self::Loop(target) => Some(target),
            Self::Call(target) => target,
            Self::Next | Self::Computed | Self::SystemCall | Self::Ends => None,
        }
    }
}

/// The prefixes of an instruction: a REX prefix in the lowest eight bits, and bits for others. It
/// is one number so that the compiler keeps it in a register.
type Prefixes = u32;

/// The prefix for operands of half the size.
const HALF: Prefixes = 0x100;

/// The prefix for addresses of half the size.
const SHORT_ADDRESS: Prefixes = 0x200;

/// The bits of a REX prefix.
const EXTENSION: Prefixes = 0xff;

/// The bit of a REX prefix for operands of twice the size.
const WIDE: Prefixes = 8;

/// The instruction that begins at `start`; `None` if it is not known or does not end in the text.
#[inline]
pub(super) fn decode(text: &[u8], start: usize) -> Option<Instruction> {
    // No instruction is longer than 15 bytes, and this needs none of the bytes behind it.
    let bytes = text.get(start..)?;
    let mut at = 0;
    let prefixes = prefixes(bytes, &mut at)?;
    let opcode = at;
    let (table, is_one_byte) = table(bytes, &mut at, prefixes)?;
    let code = *bytes.get(at)?;
    at += 1;
    let shape = table[usize::from(code)];
    let mut operands = None;
    let mut relative = None;
    if shape & OPERANDS != 0 {
        operands = Some(start + at);
        let byte = *bytes.get(at)?;
        if byte & 0xc7 == 5 {
            relative = Some(start + at + 1);
        }
        at += operands_length(bytes, at, byte)?;
    }
    at += usize::from(shape & IMMEDIATE);
    let mut flow = Flow::Next;
    if shape & SPECIAL != 0 {
        let form = operands.map_or(0, |at| text[at] >> 3 & 7);
        at = at.checked_add_signed(correction(is_one_byte, code, prefixes, form)?)?;
        let end = start + at;
        flow = if is_one_byte {
            one_byte_flow(text, end, code, form)?
        } else {
            two_byte_flow(text, end, code)?
        };
        let is_near = matches!((is_one_byte, code), (true, 0xe8..=0xe9) | (false, 0x80..=0x8f));
        relative = if is_near { Some(end - 4) } else { relative };
    }
    if at > bytes.len() || at > 15 {
        return None;
    }
    let [extension, ..] = prefixes.to_le_bytes();
    Some(Instruction {
        start,
        end: start + at,
        opcode: start + opcode,
        operands,
        extension,
        relative,
        flow,
    })
}

/// Where the instruction ends that begins at `start`, and whether it may go on elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) end: usize,
    pub(super) may_branch: bool,
}

/// The same as [`decode`], but no more than this, and in less time.
#[inline]
pub(super) fn step(text: &[u8], start: usize) -> Option<Step> {
    quick_step(text, start).or_else(|| {
        let instruction = decode(text, start)?;
        Some(Step { end: instruction.end, may_branch: instruction.flow != Flow::Next })
    })
}

/// The same for most instructions; `None` for others.
#[inline]
fn quick_step(text: &[u8], start: usize) -> Option<Step> {
    let bytes = text.get(start..)?.first_chunk::<16>()?;
    let is_extended = bytes[0] & 0xf0 == 0x40;
    let is_wide = is_extended && bytes[0] & 8 != 0;
    let mut at = usize::from(is_extended);
    let mut shape = ONE_BYTE[usize::from(bytes[at])];
    if bytes[at] == 0x0f {
        at += 1;
        shape = TWO_BYTES[usize::from(bytes[at])];
    } else if is_wide && bytes[at] & 0xf8 == 0xb8 {
        return None;
    }
    if shape & VARIABLE != 0 {
        return None;
    }
    at += 1;
    if shape & OPERANDS != 0 {
        let operands = bytes[at];
        let is_long = operands & 0xc7 == 4 && bytes[at + 1] & 7 == 5;
        at += usize::from(OPERANDS_LENGTH[usize::from(operands)]) + if is_long { 4 } else { 0 };
    }
    at += usize::from(shape & IMMEDIATE);
    Some(Step { end: start + at, may_branch: shape & SPECIAL != 0 })
}

#[inline]
fn prefixes(bytes: &[u8], at: &mut usize) -> Option<Prefixes> {
    let mut prefixes = 0;
    loop {
        let byte = *bytes.get(*at)?;
        match byte {
            // This one counts only directly before the opcode.
            0x40..=0x4f => {
                *at += 1;
                return Some(prefixes | Prefixes::from(byte));
            }
            0x66 => prefixes |= HALF,
            0x67 => prefixes |= SHORT_ADDRESS,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0xf0 | 0xf2 | 0xf3 => {}
            _ => return Some(prefixes),
        }
        *at += 1;
    }
}

/// Steps over what says which table of opcodes is meant. The second value says whether it is that
/// of the opcodes of one byte.
#[inline]
fn table(bytes: &[u8], at: &mut usize, prefixes: Prefixes) -> Option<(&'static Table, bool)> {
    let vector = |length: usize, map: u8, at: &mut usize| {
        *at += length;
        let table = match map {
            1 => &VECTOR,
            2 => &WITH_OPERANDS,
            3 => &WITH_BYTE,
            _ => return None,
        };
        (prefixes & EXTENSION == 0).then_some((table, false))
    };
    match *bytes.get(*at)? {
        0x0f => {
            *at += 1;
            let table = match *bytes.get(*at)? {
                0x38 => &WITH_OPERANDS,
                0x3a => &WITH_BYTE,
                _ => return Some((&TWO_BYTES, false)),
            };
            *at += 1;
            Some((table, false))
        }
        0xc5 => vector(2, 1, at),
        0xc4 => vector(3, *bytes.get(*at + 1)? & 0x1f, at),
        0x62 => vector(4, *bytes.get(*at + 1)? & 7, at),
        _ => Some((&ONE_BYTE, true)),
    }
}

/// The length of a `ModRM` byte with what belongs to it: a SIB byte and a displacement.
#[inline]
fn operands_length(bytes: &[u8], at: usize, byte: u8) -> Option<usize> {
    let (mode, base) = (byte >> 6, byte & 7);
    let has_more = mode != 3 && base == 4;
    let wide = match mode {
        0 if has_more => *bytes.get(at + 1)? & 7 == 5,
        0 => base == 5,
        _ => mode == 2,
    };
    Some(1 + usize::from(has_more) + if wide { 4 } else { usize::from(mode == 1) })
}

/// By how much an instruction is longer than its table says. `form` are the three bits of the
/// `ModRM` byte that some opcodes have more of. `None` if it is not known.
fn correction(is_one_byte: bool, code: u8, prefixes: Prefixes, form: u8) -> Option<isize> {
    if !is_one_byte {
        return Some(0);
    }
    let is_wide = prefixes & WIDE != 0;
    let is_half = prefixes & HALF != 0 && !is_wide;
    let word = if is_half { 2 } else { 4 };
    Some(match code {
        0xf6 if form < 2 => 1,
        0xf7 if form < 2 => word,
        0xb8..=0xbf if is_wide => 4,
        0xa0..=0xa3 if prefixes & SHORT_ADDRESS != 0 => -4,
        // With this prefix, processors of different makers take different lengths.
        0xe8..=0xe9 if is_half => return None,
        // The beginning and the end of a transaction, and what is not defined.
        0x8f | 0xc6 | 0xc7 if form != 0 => return None,
        0xff if form == 7 => return None,
        0x00..=0x3f | 0x68 | 0x69 | 0x81 | 0xa9 | 0xb8..=0xbf | 0xc7 => word - 4,
        _ => 0,
    })
}

fn one_byte_flow(text: &[u8], end: usize, code: u8, form: u8) -> Option<Flow> {
    Some(match code {
        0x70..=0x7f => Flow::Branch { target: short(text, end)?, condition: code & 15 },
        0xe0..=0xe3 => Flow::Loop(short(text, end)?),
        0xe8 => Flow::Call(Some(near(text, end)?)),
        0xe9 => Flow::Jump(near(text, end)?),
        0xeb => Flow::Jump(short(text, end)?),
        0xff if matches!(form, 2 | 3) => Flow::Call(None),
        0xff if matches!(form, 4 | 5) => Flow::Computed,
        0xc2 | 0xc3 | 0xca | 0xcb | 0xcc | 0xcd | 0xcf | 0xf1 | 0xf4 => Flow::Ends,
        _ => Flow::Next,
    })
}

fn two_byte_flow(text: &[u8], end: usize, code: u8) -> Option<Flow> {
    Some(match code {
        0x05 => Flow::SystemCall,
        0x07 | 0x0b | 0x34 | 0x35 => Flow::Ends,
        0x80..=0x8f => Flow::Branch { target: near(text, end)?, condition: code & 15 },
        _ => Flow::Next,
    })
}

/// Where an instruction leads that ends with a distance in a byte.
fn short(text: &[u8], end: usize) -> Option<isize> {
    let distance = i8::from_le_bytes([*text.get(end - 1)?]);
    end.cast_signed().checked_add(isize::from(distance))
}

/// Where an instruction leads that ends with a distance in four bytes.
fn near(text: &[u8], end: usize) -> Option<isize> {
    end.cast_signed().checked_add(distance(text, end - 4)?)
}

/// The distance in the four bytes at `at`.
pub(super) fn distance(text: &[u8], at: usize) -> Option<isize> {
    let bytes = text.get(at..at + 4)?.first_chunk()?;
    isize::try_from(i32::from_le_bytes(*bytes)).ok()
}
