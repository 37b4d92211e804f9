//! The slot that a thread used last, where its next call finds it.
//!
//! It is a thread-local word at an offset that is known once the library is loaded. In a shared
//! library, Rust's thread-local variables are found by a function call, and that call alone touches
//! five lines of instructions and five of data.
#![expect(unsafe_code, reason = "the word is reached by instructions of our own")]

use std::arch::{asm, global_asm};

use super::ThreadSlot;

global_asm!(
    ".pushsection .tbss.densefs_last_seat, \"awT\", @nobits",
    ".p2align 3",
    ".globl densefs_last_seat",
    ".hidden densefs_last_seat",
    ".type densefs_last_seat, @object",
    ".size densefs_last_seat, 8",
    "densefs_last_seat:",
    ".zero 8",
    ".popsection",
);

/// Takes the slot away. Code that interrupts the thread finds none, and takes another.
#[inline(always)]
pub(crate) fn take() -> Option<Box<ThreadSlot>> {
    of_word(exchange(std::ptr::null_mut()))
}

/// Puts a slot there; returns the one that was there before.
#[inline(always)]
pub(crate) fn put(slot: Box<ThreadSlot>) -> Option<Box<ThreadSlot>> {
    of_word(exchange(Box::into_raw(slot)))
}

#[inline(always)]
fn of_word(slot: *mut ThreadSlot) -> Option<Box<ThreadSlot>> {
    // SAFETY: a pointer that is not null was put there by this thread, and is no longer there.
    (!slot.is_null()).then(|| unsafe { Box::from_raw(slot) })
}

#[inline(always)]
fn exchange(new: *mut ThreadSlot) -> *mut ThreadSlot {
    let old;
    // SAFETY: nothing else refers to the word, and no other thread accesses this thread's.
    unsafe {
        asm!(
            "mov {place}, qword ptr [rip + densefs_last_seat@gottpoff]",
            "mov {old}, qword ptr fs:[{place}]",
            "mov qword ptr fs:[{place}], {new}",
            place = out(reg) _,
            old = out(reg) old,
            new = in(reg) new,
            options(nostack, preserves_flags),
        );
    }
    old
}
