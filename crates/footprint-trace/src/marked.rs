//! Code that marks itself: for benchmarks whose phases are to be told apart in a trace.
//!
//! A sequence of phases has two kinds of regions: its first phase, and each that follows. So a
//! trace of several executions can be divided, however many phases there are.

/// Where in a sequence a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is the first.
    First,
    /// Another comes before it.
    Later,
}

impl Place {
    /// The number of its operation in marks.
    #[must_use]
    pub const fn operation(self) -> u16 {
        match self {
            Self::First => 0,
            Self::Later => 1,
        }
    }
}

/// Does something between marks.
pub fn around<T>(place: Place, act: impl FnOnce() -> T) -> T {
    match place {
        Place::First => edge::around_first(act),
        Place::Later => edge::around_later(act),
    }
}

#[cfg(target_arch = "x86_64")]
mod edge {
    #![expect(unsafe_code, reason = "a mark is an instruction of its own")]

    use std::arch::asm;
    use std::arch::x86_64::__cpuid;
    use std::sync::OnceLock;

    use super::Place;
    use crate::mark::{Edge, Mark};

    /// A mark's instruction as a number.
    const fn code(edge: Edge, place: Place) -> u64 {
        u64::from_le_bytes(Mark { edge, region: 0, operation: place.operation() }.code())
    }

    /// Executes it.
    macro_rules! mark {
        ($edge:ident, $place:ident) => {
            // SAFETY: it is a NOP, which changes neither registers nor memory.
            unsafe {
                asm!(
                    ".quad {code}",
                    code = const code(Edge::$edge, Place::$place),
                    options(nostack, preserves_flags),
                );
            }
        };
    }

    pub(super) fn around_first<T>(act: impl FnOnce() -> T) -> T {
        mark!(Begin, First);
        let done = act();
        mark!(End, First);
        settle();
        done
    }

    pub(super) fn around_later<T>(act: impl FnOnce() -> T) -> T {
        mark!(Begin, Later);
        let done = act();
        mark!(End, Later);
        settle();
        done
    }

    /// Under QEMU's emulation, CPUID is where the plugin lets code be translated without callbacks
    /// again. Elsewhere it may take a trap to a hypervisor, so it is not executed there.
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

    /// The name that a leaf of CPUID has in EBX, ECX and EDX.
    #[allow(unused_unsafe, reason = "`__cpuid` is unsafe in the oldest supported compiler only")]
    fn vendor(leaf: u32) -> [u8; 12] {
        // SAFETY: every x86-64 processor has `cpuid`, and it touches no memory.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_between_marks_is_done_once() {
        let mut done = Vec::new();
        let given = around(Place::First, || {
            done.push(1);
            7
        });
        around(Place::Later, || done.push(2));
        assert_eq!((given, done), (7, vec![1, 2]));
    }
}
