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

/// In the word beside the address of the slot, while its thread is in an operation.
const IN_OPERATION: usize = 1;

/// Takes the slot for an operation. Code that interrupts the thread finds none, and takes another.
#[inline(always)]
pub(crate) fn begin() -> Option<Box<ThreadSlot>> {
    let slot = load();
    if slot.is_null() || is_in_operation(slot) {
        return None;
    }
    exchange(marked(slot));
    of_word(slot)
}

/// Notes a slot that was not there as the one of the operation that begins.
pub(crate) fn mark(slot: &ThreadSlot) {
    exchange(marked(std::ptr::from_ref(slot).cast_mut()));
}

/// Forgets the slot of the operation that ends.
pub(crate) fn unmark() {
    exchange(std::ptr::null_mut());
}

/// Takes the slot away, unless the thread is in an operation.
pub(crate) fn take() -> Option<Box<ThreadSlot>> {
    let slot = load();
    if is_in_operation(slot) {
        return None;
    }
    exchange(std::ptr::null_mut());
    of_word(slot)
}

/// Takes the slot of the operation that this thread is in; none if it is in none.
pub(crate) fn interrupt() -> Option<Box<ThreadSlot>> {
    let slot = load();
    if !is_in_operation(slot) {
        return None;
    }
    exchange(std::ptr::null_mut());
    of_word(slot.map_addr(|address| address & !IN_OPERATION))
}

/// Puts a slot there; returns the one that was there before.
#[inline(always)]
pub(crate) fn put(slot: Box<ThreadSlot>) -> Option<Box<ThreadSlot>> {
    let before = exchange(Box::into_raw(slot));
    if is_in_operation(before) { None } else { of_word(before) }
}

#[inline(always)]
fn marked(slot: *mut ThreadSlot) -> *mut ThreadSlot {
    slot.map_addr(|address| address | IN_OPERATION)
}

#[inline(always)]
fn is_in_operation(word: *mut ThreadSlot) -> bool {
    word.addr() & IN_OPERATION != 0
}

#[inline(always)]
fn of_word(slot: *mut ThreadSlot) -> Option<Box<ThreadSlot>> {
    // SAFETY: a pointer that is not null was put there by this thread, and is no longer there.
    (!slot.is_null()).then(|| unsafe { Box::from_raw(slot) })
}

#[inline(always)]
fn load() -> *mut ThreadSlot {
    let word;
    // SAFETY: nothing else refers to the word, and no other thread accesses this thread's.
    unsafe {
        asm!(
            "mov {word}, qword ptr [rip + densefs_last_seat@gottpoff]",
            "mov {word}, qword ptr fs:[{word}]",
            word = out(reg) word,
            options(nostack, preserves_flags, readonly),
        );
    }
    word
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
