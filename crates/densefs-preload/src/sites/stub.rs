//! The code to which a site jumps, and the jump.

use super::{
    instruction::{self, Flow, Instruction},
    plan::Planned,
    scan::SYSTEM_CALL,
    text::Text,
};

/// More than the longest stub takes.
pub(super) const LONGEST: usize = 128;

/// Memory that stubs are written to, one after the other.
pub(super) struct Stubs<'a> {
    /// Where the memory is.
    address: usize,
    bytes: &'a mut [u8],
    /// Where the next stub begins.
    at: usize,
}

impl<'a> Stubs<'a> {
    /// Begins to write to `bytes`, which are at `address`. First come the `entries`, the addresses
    /// of what stubs go to, which need not be near.
    pub(super) fn new(address: usize, bytes: &'a mut [u8], entries: [usize; 2]) -> Option<Self> {
        let mut stubs = Self { address, bytes, at: 0 };
        for entry in entries {
            stubs.put(&entry.to_le_bytes())?;
        }
        Some(stubs)
    }

    /// Writes what the window of a site of `text` is replaced by, and returns its address. `None`
    /// if there is no room, or the text is too far away.
    ///
    /// What it goes to gets in rcx the address of a `syscall` instruction, so that it can jump
    /// there, or behind it. rcx is free, as that instruction overwrites it.
    pub(super) fn write(&mut self, text: &Text, site: &Planned) -> Option<usize> {
        let begin = self.at;
        let written = self.write_all(text, site);
        if written.is_none() {
            self.at = begin;
        }
        written.map(|()| self.address + begin)
    }

    fn write_all(&mut self, text: &Text, site: &Planned) -> Option<()> {
        let Planned { call, window, has_vectors } = site;
        let call = *call;
        if self.bytes.len() - self.at < LONGEST {
            return None;
        }
        let mut at = window.start;
        while at < call {
            at = self.move_here(text, at)?.end;
        }
        let is_moved = window.end > call;
        // lea the_syscall(%rip),%rcx
        self.put(&[0x48, 0x8d, 0x0d])?;
        // The jump that comes next has 6 bytes.
        let its_call = if is_moved { self.here() + 4 + 6 } else { text.address + call };
        self.put_distance(its_call)?;
        // jmp *the_entry(%rip)
        self.put(&[0xff, 0x25])?;
        let entry = usize::from(!has_vectors);
        self.put_distance(self.address + entry * size_of::<usize>())?;
        if is_moved {
            self.put(&SYSTEM_CALL)?;
            let mut at = call + SYSTEM_CALL.len();
            while at < window.end {
                at = self.move_here(text, at)?.end;
            }
            self.jump(text.address + window.end)?;
        }
        Some(())
    }

    /// Writes the instruction at `at` of `text` so that it does here what it does there.
    fn move_here(&mut self, text: &Text, at: usize) -> Option<Instruction> {
        let instruction = instruction::decode(text.bytes, at)?;
        let there = |target: isize| text.address.checked_add_signed(target);
        match instruction.flow {
            Flow::Jump(target) => self.jump(there(target)?)?,
            Flow::Branch { target, condition } => {
                self.put(&[0x0f, 0x80 | condition])?;
                self.put_distance(there(target)?)?;
            }
            Flow::Next | Flow::Ends => {
                let begin = self.at;
                self.put(&text.bytes[instruction.start..instruction.end])?;
                if let Some(relative) = instruction.relative {
                    let end = there(isize::try_from(instruction.end).ok()?)?;
                    let target =
                        end.checked_add_signed(instruction::distance(text.bytes, relative)?)?;
                    let field = begin + relative - instruction.start;
                    let distance = distance(self.here(), target)?;
                    self.bytes[field..field + 4].copy_from_slice(&distance);
                }
            }
            Flow::Loop(_) | Flow::Call(_) | Flow::Computed | Flow::SystemCall => return None,
        }
        Some(instruction)
    }

    fn here(&self) -> usize {
        self.address + self.at
    }

    fn jump(&mut self, target: usize) -> Option<()> {
        self.put(&[0xe9])?;
        self.put_distance(target)
    }

    /// Writes the distance to `target`, as the last four bytes of an instruction.
    fn put_distance(&mut self, target: usize) -> Option<()> {
        self.put(&distance(self.here() + 4, target)?)
    }

    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(self.at..self.at + bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }
}

/// The jump at `from` to `target`.
pub(super) fn jump(from: usize, target: usize) -> Option<[u8; 5]> {
    let [a, b, c, d] = distance(from + 5, target)?;
    Some([0xe9, a, b, c, d])
}

fn distance(end: usize, target: usize) -> Option<[u8; 4]> {
    let distance = target.wrapping_sub(end).cast_signed();
    Some(i32::try_from(distance).ok()?.to_le_bytes())
}
