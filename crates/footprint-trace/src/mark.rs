//! Marks: instructions without effect that say where a region begins or ends.
//!
//! A mark is `nopl disp32(%rax,%rax,1)`: the eight bytes `0F 1F 84 00` and a displacement, whose
//! bits 31-20 are the magic number, bit 19 is 0, bit 18 is 1 for an end, bits 17-12 are the region,
//! and bits 11-0 the operation. Compilers, which pad code with the same instruction, use
//! displacement 0. Executed natively, a mark is a NOP.

/// Which end of a region a mark is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// Recording begins with the next instruction.
    Begin,
    /// Recording ended with the instruction before.
    End,
}

/// A mark, as encoded in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Begin or end.
    pub edge: Edge,
    /// Which region, below [`REGIONS`].
    pub region: u8,
    /// Which operation, below [`OPERATIONS`].
    pub operation: u16,
}

/// How many region numbers a mark can encode.
pub const REGIONS: u8 = 64;

/// How many operation numbers a mark can encode.
pub const OPERATIONS: u16 = 4096;

const OPCODE: [u8; 4] = [0x0f, 0x1f, 0x84, 0x00];
const MAGIC: u32 = 0x5f5;

impl Mark {
    /// The instruction. `const`, so that it can be used in assembly. Numbers that are too large are
    /// truncated to their low bits.
    pub const fn code(self) -> [u8; 8] {
        let edge = match self.edge {
            Edge::Begin => 0,
            Edge::End => 1,
        };
        let region = (self.region % REGIONS) as u32;
        let operation = (self.operation % OPERATIONS) as u32;
        let [a, b, c, d] = (MAGIC << 20 | edge << 18 | region << 12 | operation).to_le_bytes();
        let [o, p, q, r] = OPCODE;
        [o, p, q, r, a, b, c, d]
    }

    /// Decodes an instruction, or returns `None` if it is not a mark.
    pub(crate) fn decode(code: &[u8]) -> Option<Self> {
        let (opcode, displacement) = <&[u8; 8]>::try_from(code).ok()?.split_first_chunk()?;
        let displacement = u32::from_le_bytes(displacement.try_into().ok()?);
        if *opcode != OPCODE || displacement >> 19 != MAGIC << 1 {
            return None;
        }
        let edge = if displacement >> 18 & 1 == 0 { Edge::Begin } else { Edge::End };
        let [low, high, ..] = (displacement & 0xfff).to_le_bytes();
        let operation = u16::from_le_bytes([low, high]);
        Some(Self { edge, region: (displacement >> 12 & 0x3f) as u8, operation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_back_from_their_code() {
        for edge in [Edge::Begin, Edge::End] {
            for (region, operation) in [(0, 0), (1, 2), (63, 4095)] {
                let mark = Mark { edge, region, operation };
                assert_eq!(Mark::decode(&mark.code()), Some(mark));
            }
        }
        let begin = Mark { edge: Edge::Begin, region: 1, operation: 2 };
        assert_eq!(begin.code(), [0x0f, 0x1f, 0x84, 0x00, 0x02, 0x10, 0x50, 0x5f]);
    }

    #[test]
    fn padding_is_no_mark() {
        assert_eq!(Mark::decode(&[0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0]), None);
        assert_eq!(Mark::decode(&[0x0f, 0x1f, 0x84, 0, 0, 0, 0x58, 0x5f]), None);
        assert_eq!(Mark::decode(&[0x90]), None);
    }
}
