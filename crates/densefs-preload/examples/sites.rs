//! A library that rewrites the sites of the program that loads it, with a server that does what the
//! program asks it to: for the test of the sites.
//!
//! The variable `SITES` says which calls go to the server: `all`, or those of the numbers in it;
//! and always those without a fixed number. Without the variable, nothing is rewritten.

#![expect(unsafe_code, reason = "functions for C programs, and a constructor")]

use std::{
    arch::asm,
    env,
    ffi::{c_int, c_long},
    sync::atomic::{
        AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
};

use call::{Served, SystemCall};

#[path = "../src/call.rs"]
mod call;
#[allow(dead_code, reason = "the library uses more of it")]
#[path = "../src/sites/mod.rs"]
mod sites;

/// How many numbers are counted.
const NUMBERS: usize = 512;

/// How often the server has got each number.
static SEEN: [AtomicUsize; NUMBERS] = [const { AtomicUsize::new(0) }; NUMBERS];

/// What the server does with one number.
static ORDER: Order = Order {
    number: AtomicUsize::new(usize::MAX),
    how: AtomicUsize::new(0),
    value: AtomicUsize::new(0),
};

/// What the server does with one number. How: 0 nothing; 1 return the value; 2 return the value, on
/// the stack that the first argument points to; 3 like 1, but without changing registers on
/// purpose.
struct Order {
    number: AtomicUsize,
    how: AtomicUsize,
    value: AtomicUsize,
}

extern "C" fn serve(call: &mut SystemCall) -> Served {
    let how = ORDER.how.load(Relaxed);
    if how == 3 && call.number == ORDER.number.load(Relaxed) {
        call.arguments[0] = ORDER.value.load(Relaxed);
        return Served::Yes;
    }
    if let Some(seen) = SEEN.get(call.number) {
        seen.fetch_add(1, Relaxed);
    }
    overwrite();
    if call.number != ORDER.number.load(SeqCst) {
        return Served::No;
    }
    let value = ORDER.value.load(SeqCst);
    match how {
        1 => {
            call.arguments = [value, 1, 2, 3, 4, 5];
            Served::Yes
        }
        2 => {
            call.new_stack = call.arguments[0];
            call.arguments = [value; 6];
            Served::Yes
        }
        _ => Served::No,
    }
}

/// Overwrites all registers that a function may.
fn overwrite() {
    // SAFETY: what is overwritten is told.
    unsafe {
        asm!(
            "mov rax, 0x1111111111111111",
            "movq xmm0, rax",
            "movddup xmm0, xmm0",
            "movaps xmm1, xmm0",
            "movaps xmm2, xmm0",
            "movaps xmm3, xmm0",
            "movaps xmm4, xmm0",
            "movaps xmm5, xmm0",
            "movaps xmm6, xmm0",
            "movaps xmm7, xmm0",
            "movaps xmm8, xmm0",
            "movaps xmm9, xmm0",
            "movaps xmm10, xmm0",
            "movaps xmm11, xmm0",
            "movaps xmm12, xmm0",
            "movaps xmm13, xmm0",
            "movaps xmm14, xmm0",
            "movaps xmm15, xmm0",
            "mov rcx, rax",
            "mov rdx, rax",
            "mov rsi, rax",
            "mov rdi, rax",
            "mov r8, rax",
            "mov r9, rax",
            "mov r10, rax",
            "mov r11, rax",
            options(nostack),
            clobber_abi("C"),
        );
    }
}

/// How often the server has got the call with this number.
#[unsafe(no_mangle)]
extern "C" fn sites_seen(number: c_int) -> c_long {
    let seen = usize::try_from(number).ok().and_then(|number| SEEN.get(number));
    seen.map_or(-1, |seen| c_long::try_from(seen.load(SeqCst)).unwrap_or(c_long::MAX))
}

/// Sets what the server does with a number.
#[unsafe(no_mangle)]
extern "C" fn sites_order(number: usize, how: usize, value: usize) {
    ORDER.how.store(0, SeqCst);
    ORDER.number.store(number, SeqCst);
    ORDER.value.store(value, SeqCst);
    ORDER.how.store(how, SeqCst);
}

/// A function for comparison with what a site costs.
#[unsafe(no_mangle)]
extern "C" fn sites_plain() -> c_long {
    let mut call = SystemCall { number: 110, arguments: [0; 6], new_stack: 0 };
    std::hint::black_box(serve as extern "C" fn(&mut SystemCall) -> Served)(&mut call);
    c_long::try_from(call.arguments[0]).unwrap_or(0)
}

#[unsafe(link_section = ".init_array")]
#[used]
static START: extern "C" fn() = start;

extern "C" fn start() {
    let Ok(which) = env::var("SITES") else { return };
    let mut listed = [which == "all"; NUMBERS];
    for number in which.split(',').filter_map(|one| one.parse::<usize>().ok()) {
        listed[number] = true;
    }
    let wanted = |number| listed.get(number).is_none_or(|&is_listed| is_listed);
    // SAFETY: the program has not begun.
    let (outcome, _) = unsafe { sites::rewrite(serve, &wanted, None) };
    if env::var_os("SITES_REPORT").is_some() {
        for (name, library) in sites::WHICH.iter().zip(&outcome.libraries) {
            eprintln!(
                "{name}: {:?} {} {} {} {} {:?}",
                library.state,
                library.found,
                library.rewritten,
                library.left,
                library.impossible,
                library.impossible_numbers.iter().flatten().collect::<Vec<_>>(),
            );
        }
    }
}
