//! Where an x86-64 instruction leads, as far as needed to follow calls and returns.
//!
//! Opcodes are from the Intel manual, volume 2, appendix A.

/// Where execution continues after an instruction that does not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// With the next instruction.
    Next,
    /// At the target of a call, which stores the return address; `None` if indirect.
    Call(Option<u64>),
    /// At the target of a jump; `None` if indirect.
    Jump(Option<u64>),
    /// At the target of a conditional jump, or with the next instruction.
    Branch(u64),
    /// At the return address, which the return loads.
    Return,
    /// Where an interrupt, an exception or a system call entered the kernel: IRET.
    InterruptReturn,
    /// At the kernel's entry point: SYSCALL and SYSENTER.
    SystemCall,
    /// In user mode: SYSRET and SYSEXIT.
    SystemReturn,
}

impl Flow {
    /// Decodes the instruction at an address.
    #[must_use]
    pub fn decode(address: u64, code: &[u8]) -> Self {
        let next = address.wrapping_add(code.len() as u64);
        let opcode = code.iter().position(|byte| !is_prefix(*byte)).unwrap_or(code.len());
        match code[opcode..] {
            [0xe8, ..] => Self::Call(Some(relative(next, code, 4))),
            [0xe9, ..] => Self::Jump(Some(relative(next, code, 4))),
            [0xeb, ..] => Self::Jump(Some(relative(next, code, 1))),
            [0x70..=0x7f | 0xe0..=0xe3, ..] => Self::Branch(relative(next, code, 1)),
            [0x0f, 0x80..=0x8f, ..] => Self::Branch(relative(next, code, 4)),
            [0xff, modrm, ..] if matches!(modrm >> 3 & 7, 2 | 3) => Self::Call(None),
            [0xff, modrm, ..] if matches!(modrm >> 3 & 7, 4 | 5) => Self::Jump(None),
            [0xc2 | 0xc3 | 0xca | 0xcb, ..] => Self::Return,
            [0xcf] => Self::InterruptReturn,
            [0x0f, 0x05 | 0x34] => Self::SystemCall,
            [0x0f, 0x07 | 0x35] => Self::SystemReturn,
            _ => Self::Next,
        }
    }

    /// Whether execution can continue at `to`, if the next instruction is at `next`.
    pub(super) fn expects(self, next: u64, to: u64) -> bool {
        match self {
            Self::Next => to == next,
            Self::Branch(target) => to == next || to == target,
            Self::Call(target) | Self::Jump(target) => target == Some(to),
            Self::Return | Self::InterruptReturn => false,
            Self::SystemCall | Self::SystemReturn => true,
        }
    }
}

/// Whether a byte is a prefix: segment, size, LOCK, REP, BND or REX.
fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3)
}

/// The target of a displacement in the last `bytes` bytes of an instruction.
fn relative(next: u64, code: &[u8], bytes: usize) -> u64 {
    let displacement = match code.last_chunk::<4>() {
        Some(last) if bytes == 4 => i64::from(i32::from_le_bytes(*last)),
        _ => code.last().map_or(0, |&last| i64::from(last.cast_signed())),
    };
    next.wrapping_add_signed(displacement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_known() {
        let known: [(&[u8], Flow); 17] = [
            (&[0xe8, 0xfb, 0xff, 0xff, 0xff], Flow::Call(Some(0x1000))),
            (&[0xff, 0xd0], Flow::Call(None)), // call *%rax
            (&[0x41, 0xff, 0x54, 0x24, 0x08], Flow::Call(None)), // call *8(%r12)
            (&[0x2e, 0xff, 0xe0], Flow::Jump(None)), // cs jmp *%rax
            (&[0xf2, 0xff, 0x25, 0, 0, 0, 0], Flow::Jump(None)), // bnd jmp *(%rip)
            (&[0xeb, 0xfe], Flow::Jump(Some(0x1000))),
            (&[0xe9, 0, 1, 0, 0], Flow::Jump(Some(0x1105))),
            (&[0x75, 0x10], Flow::Branch(0x1012)),
            (&[0x0f, 0x84, 0, 1, 0, 0], Flow::Branch(0x1106)),
            (&[0xe3, 0x02], Flow::Branch(0x1004)), // jrcxz
            (&[0xc3], Flow::Return),
            (&[0xf3, 0xc3], Flow::Return),
            (&[0x48, 0xcf], Flow::InterruptReturn),
            (&[0x0f, 0x05], Flow::SystemCall),
            (&[0x48, 0x0f, 0x07], Flow::SystemReturn),
            (&[0xff, 0xc0], Flow::Next), // inc %eax
            (&[0xff, 0x30], Flow::Next), // push (%rax)
        ];
        for (code, flow) in known {
            assert_eq!(Flow::decode(0x1000, code), flow, "{code:x?}");
        }
    }
}
