//! Code that marks itself, for benchmarks whose phases must be told apart in a trace.
//!
//! A sequence of phases has two kinds of regions: its first phase, and each later one. So a trace
//! of several executions can be divided into them, however many phases there are.

/// The position of a phase in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhasePosition {
    /// It is the first.
    First,
    /// Another phase comes before it.
    Later,
}

impl PhasePosition {
    /// The operation number that marks of this place carry.
    #[must_use]
    pub const fn operation(self) -> u16 {
        match self {
            Self::First => 0,
            Self::Later => 1,
        }
    }
}

/// Calls `act` between two marks.
pub fn around<T>(position: PhasePosition, act: impl FnOnce() -> T) -> T {
    match position {
        PhasePosition::First => edge::around_first(act),
        PhasePosition::Later => edge::around_later(act),
    }
}

/// Executes the mark that begins a phase, which ends elsewhere: perhaps in another process.
pub fn begin(position: PhasePosition) {
    match position {
        PhasePosition::First => edge::begin_first(),
        PhasePosition::Later => edge::begin_later(),
    }
}

/// Executes the mark that ends a phase.
pub fn end(position: PhasePosition) {
    match position {
        PhasePosition::First => edge::end_first(),
        PhasePosition::Later => edge::end_later(),
    }
}

#[cfg(target_arch = "x86_64")]
mod edge {
    #![expect(unsafe_code, reason = "a mark is an instruction of its own")]

    use std::arch::asm;
    use std::arch::x86_64::__cpuid;
    use std::sync::OnceLock;

    use super::PhasePosition;
    use crate::mark::{Edge, Mark};

    /// A mark's instruction as an integer.
    const fn code(edge: Edge, position: PhasePosition) -> u64 {
        u64::from_le_bytes(Mark { edge, region: 0, operation: position.operation() }.code())
    }

    /// Executes a mark.
    macro_rules! mark {
        ($edge:ident, $position:ident) => {
            // SAFETY: a mark is a NOP, which changes neither registers nor memory.
            unsafe {
                asm!(
                    ".quad {code}",
                    code = const code(Edge::$edge, PhasePosition::$position),
                    options(nostack, preserves_flags),
                );
            }
        };
    }

    pub(super) fn around_first<T>(act: impl FnOnce() -> T) -> T {
        mark!(Begin, First);
        let done = act();
        end_first();
        done
    }

    pub(super) fn around_later<T>(act: impl FnOnce() -> T) -> T {
        mark!(Begin, Later);
        let done = act();
        end_later();
        done
    }

    pub(super) fn begin_first() {
        mark!(Begin, First);
    }

    pub(super) fn begin_later() {
        mark!(Begin, Later);
    }

    pub(super) fn end_first() {
        mark!(End, First);
        settle();
    }

    pub(super) fn end_later() {
        mark!(End, Later);
        settle();
    }

    /// Executes CPUID if QEMU emulates this processor: the plugin treats it as the point from which
    /// code can be translated without callbacks again. Under a real hypervisor it would cause a VM
    /// exit, so it is not executed elsewhere.
    fn settle() {
        static IS_EMULATED: OnceLock<bool> = OnceLock::new();
        if *IS_EMULATED.get_or_init(is_emulated) {
            vendor(0);
        }
    }

    fn is_emulated() -> bool {
        const HYPERVISOR: u32 = 0x4000_0000;
        vendor(HYPERVISOR) == *b"TCGTCGTCGTCG"
    }

    /// The name that a CPUID leaf returns in EBX, ECX and EDX.
    #[allow(unused_unsafe, reason = "`__cpuid` is unsafe in the oldest supported compiler only")]
    fn vendor(leaf: u32) -> [u8; 12] {
        // SAFETY: every x86-64 processor has `cpuid`, and it does not touch memory.
        let found = unsafe { __cpuid(leaf) };
        let mut name = [0; 12];
        for (bytes, register) in name.chunks_mut(4).zip([found.ebx, found.ecx, found.edx]) {
            bytes.copy_from_slice(&register.to_le_bytes());
        }
        name
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod edge {
    pub(super) fn around_first<T>(act: impl FnOnce() -> T) -> T {
        act()
    }

    pub(super) fn around_later<T>(act: impl FnOnce() -> T) -> T {
        act()
    }

    pub(super) fn begin_first() {}

    pub(super) fn begin_later() {}

    pub(super) fn end_first() {}

    pub(super) fn end_later() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_between_marks_is_done_once() {
        let mut done = Vec::new();
        let given = around(PhasePosition::First, || {
            done.push(1);
            7
        });
        around(PhasePosition::Later, || done.push(2));
        assert_eq!((given, done), (7, vec![1, 2]));
    }
}
