//! From a site to the function that serves its call, and back.
//!
//! To the code around it, a site has to remain what the `syscall` instruction is there: it changes
//! rax, rcx, r11 and the flags, and nothing else. So this saves what a function may change, without
//! touching the 128 bytes below the stack pointer, the red zone, which functions use that call
//! none.
//!
//! Of the vector registers, the lower 128 bits are saved. glibc is compiled for processors that
//! have no more, apart from functions for memory and text that make no system calls; and to a
//! function of the C library's, its caller passes nothing in the rest. The same holds for the mask
//! registers. Whoever compiles glibc for later processors might keep something there across a
//! system call, which the server would have to destroy by calling one of those functions.

#![expect(unsafe_code, reason = "the registers of a program that is in the middle of something")]

use std::{
    arch::naked_asm,
    sync::atomic::{AtomicPtr, Ordering},
};

use crate::call::{Served, SystemCall};

/// A function that serves calls.
pub(crate) type Serve = extern "C" fn(&mut SystemCall) -> Served;

/// The [`Serve`] that all sites go to.
static SERVE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Sets the function that the entries call.
pub(super) fn set(serve: Serve) {
    SERVE.store(serve as *mut (), Ordering::Release);
}

/// The addresses of what stubs jump to: for sites where vector registers may be in use, and for
/// others.
pub(super) fn addresses() -> [usize; 2] {
    [with_vectors as *const () as usize, without_vectors as *const () as usize]
}

// Where the entries end.
unsafe extern "C" {
    static densefs_preload_end_with_vectors: u8;
    static densefs_preload_end_without_vectors: u8;
}

/// Whether an address is in the code that calls the server.
pub(super) fn is_entry(address: usize) -> bool {
    let ends = [
        (&raw const densefs_preload_end_with_vectors).addr(),
        (&raw const densefs_preload_end_without_vectors).addr(),
    ];
    let mut ranges = addresses().into_iter().zip(ends);
    ranges.any(|(start, end)| (start..=end).contains(&address))
}

/// From a stub up to where vector registers are saved.
macro_rules! enter {
    () => {
        concat!(
            ".cfi_startproc\n",
            ".cfi_signal_frame\n",
            ".cfi_def_cfa rsp, 0\n",
            ".cfi_register rip, rcx\n",
            "endbr64\n",
            "mov r11, rsp\n",
            "lea rsp, [rsp - 128 - 400]\n",
            ".cfi_def_cfa r11, 0\n",
            "and rsp, -64\n",
            "mov [rsp + 128], r11\n",
            "mov [rsp + 120], rcx\n",
            // The stack pointer is at 128, the return address at 120 of what rsp, register 7,
            // points to.
            ".cfi_escape 0x0f, 0x04, 0x77, 0x80, 0x01, 0x06\n",
            ".cfi_escape 0x10, 0x10, 0x03, 0x77, 0xf8, 0x00\n",
            "mov [rsp], rax\n",
            "mov [rsp + 64], rax\n",
            "mov [rsp + 8], rdi\n",
            "mov [rsp + 72], rdi\n",
            "mov [rsp + 16], rsi\n",
            "mov [rsp + 80], rsi\n",
            "mov [rsp + 24], rdx\n",
            "mov [rsp + 88], rdx\n",
            "mov [rsp + 32], r10\n",
            "mov [rsp + 96], r10\n",
            "mov [rsp + 40], r8\n",
            "mov [rsp + 104], r8\n",
            "mov [rsp + 48], r9\n",
            "mov [rsp + 112], r9\n",
            "mov qword ptr [rsp + 56], 0\n",
        )
    };
}

/// The call of the server.
macro_rules! call {
    () => {
        concat!("mov rdi, rsp\n", "call [rip + {serve}]\n",)
    };
}

/// From where vector registers are restored on.
macro_rules! leave {
    () => {
        concat!(
            "test eax, eax\n",
            "je 3f\n",
            // Served: the result is where the first argument was.
            "mov rax, [rsp + 8]\n",
            "mov r11, [rsp + 56]\n",
            "test r11, r11\n",
            "cmovz r11, [rsp + 128]\n",
            "mov rcx, [rsp + 120]\n",
            "mov rdi, [rsp + 72]\n",
            "mov rsi, [rsp + 80]\n",
            "mov rdx, [rsp + 88]\n",
            "mov r10, [rsp + 96]\n",
            "mov r8, [rsp + 104]\n",
            "mov r9, [rsp + 112]\n",
            "add rcx, 2\n",
            ".cfi_remember_state\n",
            "mov rsp, r11\n",
            ".cfi_def_cfa rsp, 0\n",
            ".cfi_register rip, rcx\n",
            "notrack jmp rcx\n",
            ".cfi_restore_state\n",
            // Not served: the kernel is to do it.
            "3:\n",
            "mov rcx, [rsp + 120]\n",
            "mov rax, [rsp + 64]\n",
            "mov rdi, [rsp + 72]\n",
            "mov rsi, [rsp + 80]\n",
            "mov rdx, [rsp + 88]\n",
            "mov r10, [rsp + 96]\n",
            "mov r8, [rsp + 104]\n",
            "mov r9, [rsp + 112]\n",
            "mov rsp, [rsp + 128]\n",
            ".cfi_def_cfa rsp, 0\n",
            ".cfi_register rip, rcx\n",
            "notrack jmp rcx\n",
            ".cfi_endproc\n",
        )
    };
}

/// Defines what stubs jump to, with the number and the arguments where `syscall` expects them, and
/// in rcx the address of a `syscall` instruction.
///
/// If the call has been served, this goes on behind that instruction, with the argument registers
/// as they were. If it has not been, it jumps to the instruction with all registers as they were,
/// so that calls that continue elsewhere or on another stack (clone, vfork) are made as if nothing
/// had been there, and what looks at where a thread is (unwinders, debuggers, the cancellation of
/// threads from glibc 2.41 on) finds it in the C library.
///
/// On the stack are, from rsp: the `SystemCall` with 64 bytes; at 64, number and arguments as they
/// were; at 120 rcx; at 128 rsp; at 144 the vector registers, if they are saved. Unwinders are told
/// so: to them, a site looks as if a signal had come there.
///
/// There is no `call` without its `ret` here, so that shadow stacks remain right. Where indirect
/// jumps may only go to an `endbr64`, this begins with one, and jumps back by `notrack`.
macro_rules! entry {
    ($name:ident, $save:expr, $restore:expr) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                enter!(),
                $save,
                call!(),
                $restore,
                leave!(),
                concat!(".globl densefs_preload_end_", stringify!($name)),
                concat!(".hidden densefs_preload_end_", stringify!($name)),
                concat!("densefs_preload_end_", stringify!($name), ":"),
                serve = sym SERVE,
            )
        }
    };
}

entry!(
    with_vectors,
    concat!(
        "movaps [rsp + 144], xmm0\n",
        "movaps [rsp + 160], xmm1\n",
        "movaps [rsp + 176], xmm2\n",
        "movaps [rsp + 192], xmm3\n",
        "movaps [rsp + 208], xmm4\n",
        "movaps [rsp + 224], xmm5\n",
        "movaps [rsp + 240], xmm6\n",
        "movaps [rsp + 256], xmm7\n",
        "movaps [rsp + 272], xmm8\n",
        "movaps [rsp + 288], xmm9\n",
        "movaps [rsp + 304], xmm10\n",
        "movaps [rsp + 320], xmm11\n",
        "movaps [rsp + 336], xmm12\n",
        "movaps [rsp + 352], xmm13\n",
        "movaps [rsp + 368], xmm14\n",
        "movaps [rsp + 384], xmm15\n",
    ),
    concat!(
        "movaps xmm0, [rsp + 144]\n",
        "movaps xmm1, [rsp + 160]\n",
        "movaps xmm2, [rsp + 176]\n",
        "movaps xmm3, [rsp + 192]\n",
        "movaps xmm4, [rsp + 208]\n",
        "movaps xmm5, [rsp + 224]\n",
        "movaps xmm6, [rsp + 240]\n",
        "movaps xmm7, [rsp + 256]\n",
        "movaps xmm8, [rsp + 272]\n",
        "movaps xmm9, [rsp + 288]\n",
        "movaps xmm10, [rsp + 304]\n",
        "movaps xmm11, [rsp + 320]\n",
        "movaps xmm12, [rsp + 336]\n",
        "movaps xmm13, [rsp + 352]\n",
        "movaps xmm14, [rsp + 368]\n",
        "movaps xmm15, [rsp + 384]\n",
    )
);

entry!(without_vectors, "", "");
