//! Where each processor's per-CPU variables are.
//!
//! The kernel addresses them relative to the segment register GS, which contains the processor's
//! base, at the variable's offset (`arch/x86/include/asm/percpu.h`). QEMU does not report
//! registers; but if an instruction's displacement alone is the offset, its access reveals the
//! base.

/// The SIB byte of an operand that is only a displacement.
const SIB_WITHOUT_REGISTERS: u8 = 0x25;

/// The base of GS, from an access to `accessed` by the instruction `code` at `address`: the
/// accessed address minus the displacement. `None` if the instruction does not use GS, or has a
/// base register.
pub fn base(code: &[u8], address: u64, accessed: u64) -> Option<u64> {
    let is_prefix = |byte: &u8| matches!(byte, 0x65 | 0x66 | 0xf0 | 0xf2 | 0xf3 | 0x40..=0x4f);
    let prefixes = code.iter().take_while(|byte| is_prefix(byte)).count();
    let (prefixes, rest) = code.split_at(prefixes);
    if !prefixes.contains(&0x65) {
        return None;
    }
    if let [0xa0..=0xa3, offset @ ..] = rest {
        let offset = u64::from_le_bytes(offset.try_into().ok()?);
        return Some(accessed.wrapping_sub(offset));
    }
    let operands = match rest {
        [0x0f, 0x38 | 0x3a, _, operands @ ..] => operands,
        [0x0f, _, operands @ ..] | [_, operands @ ..] => operands,
        [] => return None,
    };
    let (modrm, rest) = operands.split_first()?;
    let from = match (modrm >> 6, modrm & 7, rest) {
        (0, 4, [SIB_WITHOUT_REGISTERS, ..]) => 0,
        (0, 5, _) => address.wrapping_add(code.len() as u64),
        _ => return None,
    };
    let displacement = if modrm & 7 == 4 { rest.get(1..5)? } else { rest.get(..4)? };
    let displacement = i32::from_le_bytes(displacement.try_into().ok()?);
    let offset = from.wrapping_add_signed(i64::from(displacement));
    Some(accessed.wrapping_sub(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacements_alone_give_the_base() {
        let gs = 0xffff_8880_3ec0_0000;
        // mov %gs:0x1fb80,%rax, by GNU as.
        let absolute = [0x65, 0x48, 0x8b, 0x04, 0x25, 0x80, 0xfb, 0x01, 0x00];
        assert_eq!(base(&absolute, 0x1000, gs + 0x1_fb80), Some(gs));
        // decl %gs:0x7e001234(%rip) at 0xffffffff82000000: relative to ...07, so the offset is
        // 0x123b.
        let relative = [0x65, 0xff, 0x0d, 0x34, 0x12, 0x00, 0x7e];
        let offset = 0xffff_ffff_8200_0007_u64.wrapping_add(0x7e00_1234);
        assert_eq!(base(&relative, 0xffff_ffff_8200_0000, gs.wrapping_add(offset)), Some(gs));
        // lock cmpxchg16b %gs:0x20
        let two = [0x65, 0xf0, 0x48, 0x0f, 0xc7, 0x0c, 0x25, 0x20, 0, 0, 0];
        assert_eq!(base(&two, 0, gs + 0x20), Some(gs));
        // movabs %gs:0x28,%rax
        let offset = [0x65, 0x48, 0xa1, 0x28, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(base(&offset, 0, gs + 0x28), Some(gs));
    }

    #[test]
    fn other_operands_do_not() {
        // mov %gs:(%rax),%rax; mov %gs:0x10(,%rax,8),%rax; mov 0x1fb80,%rax; and truncated ones.
        for code in [
            &[0x65, 0x48, 0x8b, 0x00][..],
            &[0x65, 0x48, 0x8b, 0x04, 0xc5, 0x10, 0, 0, 0],
            &[0x48, 0x8b, 0x04, 0x25, 0x80, 0xfb, 0x01, 0x00],
            &[0x65, 0x48, 0x8b, 0x04, 0x25, 0x80],
            &[0x65, 0x48],
        ] {
            assert_eq!(base(code, 0, 0xffff_8880_0000_0000), None, "{code:x?}");
        }
    }
}
