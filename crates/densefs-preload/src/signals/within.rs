//! Whether this thread is in a call of the library: two thread-local words at an offset that is
//! known once the library is loaded, as a function call to find them would take longer than setting
//! them.
#![expect(unsafe_code, reason = "the words are reached by instructions of our own")]

use std::arch::{asm, global_asm};

global_asm!(
    ".pushsection .tbss.densefs_preload_within, \"awT\", @nobits",
    ".p2align 4",
    ".globl densefs_preload_within",
    ".hidden densefs_preload_within",
    ".type densefs_preload_within, @object",
    ".size densefs_preload_within, 16",
    "densefs_preload_within:",
    ".zero 16",
    ".popsection",
);

/// Defines a function that accesses one of the words.
macro_rules! word {
    ($(#[$about:meta])* $read:ident, $(#[$about_write:meta])* $write:ident, $offset:literal) => {
        $(#[$about])*
        #[inline(always)]
        pub(super) fn $read() -> bool {
            let word: u64;
            // SAFETY: nothing else refers to the word, and no other thread accesses this thread's.
            unsafe {
                asm!(
                    "mov {word}, qword ptr [rip + densefs_preload_within@gottpoff]",
                    concat!("mov {word}, qword ptr fs:[{word} + ", $offset, "]"),
                    word = out(reg) word,
                    options(nostack, preserves_flags),
                );
            }
            word != 0
        }

        $(#[$about_write])*
        #[inline(always)]
        pub(super) fn $write(is: bool) {
            // SAFETY: nothing else refers to the word, and no other thread accesses this thread's.
            unsafe {
                asm!(
                    "mov {place}, qword ptr [rip + densefs_preload_within@gottpoff]",
                    concat!("mov qword ptr fs:[{place} + ", $offset, "], {is}"),
                    place = out(reg) _,
                    is = in(reg) u64::from(is),
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

word!(
    /// Whether the thread is in a call of the library.
    is_inside,
    /// Notes whether it is.
    set_inside,
    0
);
word!(
    /// Whether a signal waits for the call's end.
    is_awaited,
    /// Notes whether one does.
    set_awaited,
    8
);
