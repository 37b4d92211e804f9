//! The bytes of the code and of the data.
//!
//! | register | what it holds |
//! | --- | --- |
//! | `rdi` | where the data begin; with dependent loads, the next line to load |
//! | `ecx` | how many passes are left |
//! | `r11` | where to go on after the last one |
//!
//! `rax`, `rdx`, `rsi`, `r8` and `r9` are changed.

use std::ops::Range;

use crate::shape::{CodeShape, LINE_BYTES, Loads, Order, Passes};

/// Arithmetic between the loads, in four chains: `lea 1(%reg),%reg`.
const ARITHMETIC: [&[u8]; 4] = [
    &[0x8d, 0x52, 0x01],       // edx
    &[0x8d, 0x76, 0x01],       // esi
    &[0x45, 0x8d, 0x40, 0x01], // r8d
    &[0x45, 0x8d, 0x49, 0x01], // r9d
];

/// What fills the rest of a line, by its length.
const NOPS: [&[u8]; 4] = [&[], &[0x90], &[0x66, 0x90], &[0x0f, 0x1f, 0x00]];

/// A line's bytes, as a power of 2.
const LINE_SHIFT: u32 = LINE_BYTES.trailing_zeros();

/// What is never executed.
const TRAP: u8 = 0xcc;

/// `jmp *%r11`
pub(crate) const LEAVE: [u8; 3] = [0x41, 0xff, 0xe3];

/// `jmp rel32`
const JUMP_BYTES: usize = 5;

/// The code: lines of bytes, beginning with the one to enter.
#[derive(Debug)]
pub(crate) struct Generated {
    pub(crate) bytes: Vec<u8>,
    /// Instructions of the last pass, with the jump that leaves.
    pub(crate) instructions: u64,
}

/// `mov (%rdi),%rdi`
const DEPENDENT_LOAD: [u8; 3] = [0x48, 0x8b, 0x3f];
/// `mov distance(%rdi),%eax`, before the distance.
const INDEPENDENT_LOAD: [u8; 2] = [0x8b, 0x87];

/// How far from where `rdi` points the instruction that begins here loads from, if it is a load.
pub(crate) fn load_at(code: &[u8]) -> Option<u64> {
    if code.starts_with(&DEPENDENT_LOAD) {
        return Some(0);
    }
    let distance = code.strip_prefix(&INDEPENDENT_LOAD)?.first_chunk()?;
    Some(u64::from(u32::from_le_bytes(*distance)))
}

/// In which order a pass executes lines, and loads from the lines of its data.
pub(crate) struct Orders {
    /// The lines of code.
    pub(crate) places: Vec<u32>,
    /// The lines that independent loads access, from where a pass begins.
    pub(crate) targets: Vec<u32>,
}

impl Orders {
    /// Chooses them.
    pub(crate) fn new(shape: &CodeShape, passes: &Passes, random: &mut Random) -> Self {
        let places = order(shape.order, shape.code_lines, random);
        let targets = order(shape.order, passes.loads.min(shape.data_lines), random);
        Self { places, targets }
    }

    /// The loads in a line of code, by number.
    pub(crate) fn loads(&self, passes: &Passes, line: usize) -> Range<usize> {
        let until = |line: usize| line * passes.loads as usize / self.places.len();
        until(line)..until(line + 1)
    }
}

/// Generates code for these passes.
pub(crate) fn code(shape: &CodeShape, passes: &Passes, orders: &Orders) -> Generated {
    let Orders { places, targets } = orders;
    let mut bytes = vec![TRAP; places.len() * LINE_BYTES];
    let mut instructions = 0;
    for (line, &place) in places.iter().enumerate() {
        let mut code = Line::default();
        for load in orders.loads(passes, line) {
            match shape.loads {
                Loads::Dependent => code.add(&DEPENDENT_LOAD),
                Loads::Independent => {
                    let target = targets[load % targets.len()];
                    code.add_with(&INDEPENDENT_LOAD, target << LINE_SHIFT);
                }
            }
        }
        let at = place as usize * LINE_BYTES;
        match places.get(line + 1) {
            None => code.end(shape.loads, passes, at),
            Some(&next) if next == place + 1 => code.fill(LINE_BYTES),
            Some(&next) => {
                code.fill(LINE_BYTES - JUMP_BYTES);
                let from = at + LINE_BYTES;
                code.add_with(&[0xe9], distance(from, next as usize * LINE_BYTES));
            }
        }
        instructions += code.instructions;
        bytes[at..at + code.bytes.len()].copy_from_slice(&code.bytes);
    }
    Generated { bytes, instructions }
}

/// In which order dependent loads access the lines of data.
pub(crate) fn chain(shape: &CodeShape, random: &mut Random) -> Vec<u32> {
    order(shape.order, shape.data_lines, random)
}

/// For each line of data, where the next one of a chain begins, in bytes.
pub(crate) fn nexts(places: &[u32]) -> Vec<usize> {
    let mut nexts = vec![0; places.len()];
    let after = places.iter().cycle().skip(1);
    for (&place, &next) in places.iter().zip(after) {
        nexts[place as usize] = next as usize * LINE_BYTES;
    }
    nexts
}

/// Lines in the order in which they are used, beginning with the first.
fn order(order: Order, lines: u32, random: &mut Random) -> Vec<u32> {
    let mut all: Vec<u32> = (0..lines).collect();
    if order == Order::Random {
        for last in (2..all.len()).rev() {
            all.swap(last, 1 + random.below(last));
        }
    }
    all
}

/// The operand of a jump.
fn distance(from: usize, to: usize) -> u32 {
    let [to, from] = [to, from].map(|at| i64::try_from(at).expect("memory is smaller"));
    i32::try_from(to - from).expect("code is smaller than 2 GiB").cast_unsigned()
}

/// The instructions of a line.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    instructions: u64,
}

impl Line {
    fn add(&mut self, instruction: &[u8]) {
        self.bytes.extend(instruction);
        self.instructions += 1;
    }

    fn add_with(&mut self, instruction: &[u8], operand: u32) {
        self.add(instruction);
        self.bytes.extend(operand.to_le_bytes());
    }

    /// Adds arithmetic until the line has this many bytes.
    fn fill(&mut self, until: usize) {
        for instruction in ARITHMETIC.iter().cycle() {
            if self.bytes.len() + instruction.len() > until {
                break;
            }
            self.add(instruction);
        }
        if let Some(rest @ [_, ..]) = NOPS.get(until - self.bytes.len()) {
            self.add(rest);
        }
    }

    /// Adds the end of a pass.
    fn end(&mut self, loads: Loads, passes: &Passes, at: usize) {
        let back: &[u8] = &[0x0f, 0x85]; // jnz rel32
        let further = if passes.count == 1 {
            0
        } else if loads == Loads::Independent {
            7 + 2 + 6
        } else {
            2 + 6
        };
        self.fill(LINE_BYTES - LEAVE.len() - further);
        if passes.count > 1 {
            if loads == Loads::Independent {
                // add stride,%rdi
                self.add_with(&[0x48, 0x81, 0xc7], passes.stride_lines << LINE_SHIFT);
            }
            self.add(&[0xff, 0xc9]); // dec %ecx
            let from = at + LINE_BYTES - LEAVE.len();
            self.add_with(back, distance(from, 0));
        }
        self.add(&LEAVE);
    }
}

/// Numbers that depend on the seed alone: Steele, Lea & Flood, "Fast splittable pseudorandom number
/// generators" (OOPSLA 2014), which need not be good here.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let below = (u128::from(mixed) * bound as u128) >> 64;
        usize::try_from(below).expect("it is below the bound")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_full_but_what_is_never_executed() {
        for order in [Order::Sequential, Order::Random] {
            for loads in [Loads::Independent, Loads::Dependent] {
                for (code_lines, data_lines) in [(1, 1), (1, 6), (1, 40), (5, 3), (64, 1024)] {
                    let shape = CodeShape { code_lines, data_lines, order, loads };
                    let passes = shape.passes();
                    let made = code(&shape, &passes, &Orders::new(&shape, &passes, &mut Random(7)));
                    assert_eq!(made.bytes.len(), code_lines as usize * LINE_BYTES);
                    // Nothing is left out, so no line ends in traps.
                    let ends = made.bytes.chunks(LINE_BYTES).map(|line| line[LINE_BYTES - 1]);
                    assert!(ends.into_iter().all(|last| last != TRAP), "{shape:?}");
                }
            }
        }
    }

    #[test]
    fn a_chain_comes_to_each_line_once() {
        let shape = CodeShape {
            code_lines: 1,
            data_lines: 100,
            order: Order::Random,
            loads: Loads::Dependent,
        };
        let nexts = nexts(&chain(&shape, &mut Random(3)));
        let (mut at, mut seen) = (0, vec![false; 100]);
        for _ in 0..100 {
            assert!(!std::mem::replace(&mut seen[at], true));
            at = nexts[at] / LINE_BYTES;
        }
        assert_eq!(at, 0);
    }
}
