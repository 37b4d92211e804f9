//! The properties of x86-64 instructions that matter for cutting blocks and interpreting QEMU's
//! callbacks.
//!
//! Opcodes are from the Intel manual, volume 2, appendix A. An instruction that is not known to be
//! harmless is assumed to be able to fail, which only costs speed.

/// `e_machine` of x86-64.
pub const ARCHITECTURE: u16 = 62;

/// Whether the instruction can neither fail nor access memory: moves, arithmetic and jumps between
/// registers and constants. Any other instruction ends a block.
pub(crate) fn is_harmless(code: &[u8]) -> bool {
    if code == [0xf3, 0x0f, 0x1e, 0xfa] {
        return true;
    }
    let code = code.strip_prefix(&[0x66]).unwrap_or(code);
    let code = match code {
        [0x40..=0x4f, rest @ ..] => rest,
        _ => code,
    };
    match code {
        [0x0f, opcode, rest @ ..] => is_harmless_two_byte(*opcode, rest),
        [opcode, rest @ ..] => is_harmless_one_byte(*opcode, rest),
        [] => false,
    }
}

fn is_harmless_one_byte(opcode: u8, rest: &[u8]) -> bool {
    let Some(modrm) = rest.first() else {
        return matches!(opcode, 0x90..=0x99);
    };
    let is_register = *modrm >= 0xc0;
    let group = *modrm >> 3 & 7;
    match opcode {
        0x00..=0x3f if opcode & 7 <= 3 => is_register,
        0x00..=0x3f => opcode & 7 <= 5,
        0x63 | 0x69 | 0x6b | 0x80 | 0x81 | 0x83..=0x8b => is_register,
        0x70..=0x7f | 0xa8 | 0xa9 | 0xb0..=0xbf | 0xe9 | 0xeb => true,
        0x8d => !is_register,
        0xc0 | 0xc1 | 0xd0..=0xd3 => is_register,
        0xc6 | 0xc7 | 0xfe | 0xff => is_register && group <= u8::from(opcode >= 0xfe),
        0xf6 | 0xf7 => is_register && group <= 5,
        _ => false,
    }
}

fn is_harmless_two_byte(opcode: u8, rest: &[u8]) -> bool {
    let Some(modrm) = rest.first() else {
        return matches!(opcode, 0xc8..=0xcf);
    };
    match opcode {
        // A NOP with a memory operand does not access it.
        0x1f | 0x80..=0x8f => true,
        0x40..=0x4f
        | 0x90..=0x9f
        | 0xa3..=0xa5
        | 0xab..=0xad
        | 0xaf
        | 0xb3
        | 0xb6
        | 0xb7
        | 0xbb..=0xbf => *modrm >= 0xc0,
        0xba => *modrm >= 0xe0,
        _ => false,
    }
}

/// Whether the instruction may access memory: any that is not harmless, except SYSCALL, SYSRET,
/// SYSENTER and SYSEXIT, which can fail but access nothing.
pub fn may_access(code: &[u8]) -> bool {
    let opcode = match code {
        [0x40..=0x4f, rest @ ..] => rest,
        _ => code,
    };
    !is_harmless(code) && !matches!(opcode, [0x0f, 0x05 | 0x07 | 0x34 | 0x35])
}

/// Whether it is CPUID or a division of registers. QEMU implements these by helper functions, after
/// which the translated code continues with the next instruction.
pub(crate) fn is_helped(code: &[u8]) -> bool {
    let code = match code {
        [0x40..=0x4f, rest @ ..] => rest,
        _ => code,
    };
    matches!(code, [0x0f, 0xa2] | [0xf7, 0xf0..=0xff])
}

/// Whether it is a string instruction with a REP prefix, which counts as one instruction however
/// often it iterates.
pub fn is_repeated(code: &[u8]) -> bool {
    let mut has_rep = false;
    for &byte in code {
        match byte {
            0xf2 | 0xf3 => has_rep = true,
            0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 => {}
            0x6c..=0x6f | 0xa4..=0xa7 | 0xaa..=0xaf => return has_rep,
            _ => return false,
        }
    }
    false
}

/// Size of the widest vector access that the instruction can make: 16 or 32 bytes, or `None` if it
/// makes none. QEMU reports accesses of more than 8 bytes in parts of 8.
pub fn vector_bytes(code: &[u8]) -> Option<u32> {
    let prefixes = code.iter().take_while(|&&byte| {
        matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3)
    });
    match code.get(prefixes.count()..)? {
        // VEX: bit 2 of the last prefix byte selects 256 bits.
        [0xc5, last, ..] | [0xc4, _, last, ..] => Some(if last & 4 == 0 { 16 } else { 32 }),
        // Two- and three-byte SSE opcodes, and CMPXCHG16B.
        [0x0f, 0x10..=0x17 | 0x28..=0x2f | 0x38 | 0x3a | 0x50..=0x7f | 0xc2..=0xc7, ..]
        | [0x0f, 0xd0..=0xff, ..] => Some(16),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_harmless_and_memory_is_not() {
        let harmless: [&[u8]; 12] = [
            &[0x48, 0x89, 0xd8],                   // mov %rbx,%rax
            &[0x48, 0x8d, 0x04, 0x18],             // lea (%rax,%rbx),%rax
            &[0x83, 0xe8, 0x01],                   // sub $1,%eax
            &[0x75, 0xfe],                         // jne
            &[0x0f, 0x85, 0, 0, 0, 0],             // jne, long
            &[0x0f, 0x1f, 0x44, 0x00, 0x00],       // nopl 0(%rax,%rax,1)
            &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00], // nopw
            &[0x90],                               // nop
            &[0xf3, 0x0f, 0x1e, 0xfa],             // endbr64
            &[0x0f, 0xaf, 0xc3],                   // imul %ebx,%eax
            &[0xff, 0xc8],                         // dec %eax
            &[0x0f, 0xc8],                         // bswap %eax
        ];
        for code in harmless {
            assert!(is_harmless(code), "{code:x?}");
        }
        let harmful: [&[u8]; 13] = [
            &[0x48, 0x89, 0x18], // mov %rbx,(%rax)
            &[0xf7, 0xf3],       // div %ebx
            &[0xf7, 0xfb],       // idiv %ebx
            &[0x0f, 0x0b],       // ud2
            &[0xcc],             // int3
            &[0x0f, 0x05],       // syscall
            &[0x50],             // push %rax
            &[0xc3],             // ret
            &[0xe8, 0, 0, 0, 0], // call
            &[0xff, 0xd0],       // call *%rax
            &[0xff, 0x08],       // decl (%rax)
            &[0xf0, 0x01, 0xd8], // lock, invalid on a register
            &[0x0f, 0x28, 0xc1], // movaps: can find SSE switched off
        ];
        for code in harmful {
            assert!(!is_harmless(code), "{code:x?}");
        }
    }

    #[test]
    fn system_calls_access_nothing() {
        assert!(!may_access(&[0x0f, 0x05])); // syscall
        assert!(!may_access(&[0x48, 0x0f, 0x07])); // sysretq
        assert!(!may_access(&[0x90])); // nop
        assert!(may_access(&[0xc3])); // ret
    }

    #[test]
    fn helped_instructions_are_known() {
        assert!(is_helped(&[0x0f, 0xa2])); // cpuid
        assert!(is_helped(&[0x48, 0xf7, 0xf1])); // div %rcx
        assert!(!is_helped(&[0xf7, 0xd9])); // neg %ecx
        assert!(!is_helped(&[0x0f, 0x05])); // syscall
    }

    #[test]
    fn repeated_string_instructions_are_known() {
        assert!(is_repeated(&[0xf3, 0xa4]));
        assert!(is_repeated(&[0xf3, 0x48, 0xab]));
        assert!(is_repeated(&[0xf2, 0xae]));
        assert!(!is_repeated(&[0xa4]));
        assert!(!is_repeated(&[0xf3, 0x0f, 0x1e, 0xfa]));
        assert!(!is_repeated(&[0xf3, 0xc3]));
    }

    #[test]
    fn widths_of_vectors_are_known() {
        assert_eq!(vector_bytes(&[0x0f, 0x10, 0x07]), Some(16)); // movups (%rdi),%xmm0
        assert_eq!(vector_bytes(&[0x66, 0x0f, 0x6f, 0x07]), Some(16)); // movdqa
        assert_eq!(vector_bytes(&[0xc5, 0xfe, 0x6f, 0x07]), Some(32)); // vmovdqu, ymm
        assert_eq!(vector_bytes(&[0xc5, 0xfa, 0x6f, 0x07]), Some(16)); // vmovdqu, xmm
        assert_eq!(vector_bytes(&[0x48, 0x0f, 0xc7, 0x0f]), Some(16)); // cmpxchg16b
        assert_eq!(vector_bytes(&[0x0f, 0xae, 0x07]), None); // fxsave
        assert_eq!(vector_bytes(&[0x48, 0xcf]), None); // iretq
    }
}
