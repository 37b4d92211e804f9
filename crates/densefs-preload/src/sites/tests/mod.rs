//! What is found in the machine's libraries, against a full decoder.

#![expect(unsafe_code, reason = "the text of libraries")]

mod symbols;

use std::{
    arch::asm,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use super::{
    WHICH, entry,
    instruction::{self, Flow},
    libraries,
    site::{self, RETURN_FROM_SIGNAL, Site},
    text::Text,
    vectors,
};
use crate::call::{Served, SystemCall};

/// A text as the full decoder reads it.
struct Truth {
    /// All instructions, by where they begin.
    instructions: BTreeMap<usize, Instruction>,
    /// All targets of direct branches.
    targets: BTreeSet<usize>,
}

impl Truth {
    /// Decodes each function of `text` from its beginning on.
    fn read(text: &Text) -> Self {
        let mut truth = Self { instructions: BTreeMap::new(), targets: BTreeSet::new() };
        for function in functions(text) {
            let bytes = &text.bytes[..function.end];
            let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
            decoder.set_position(function.start).expect("it is in the text");
            decoder.set_ip(function.start as u64);
            while decoder.can_decode() {
                let instruction = decoder.decode();
                let is_direct = instruction.is_jcc_short_or_near()
                    || instruction.is_jmp_short_or_near()
                    || instruction.is_jcx_short()
                    || instruction.is_loop()
                    || instruction.is_call_near();
                if is_direct {
                    truth.targets.insert(offset(instruction.near_branch_target()));
                }
                truth.instructions.insert(offset(instruction.ip()), instruction);
            }
        }
        truth
    }

    fn calls(&self) -> BTreeSet<usize> {
        let calls = self.instructions.iter().filter(|(_, known)| known.code() == Code::Syscall);
        calls.map(|(&at, _)| at).collect()
    }
}

fn offset(address: u64) -> usize {
    usize::try_from(address).expect("an offset")
}

/// The functions of a text in order.
fn functions(text: &Text) -> Vec<Range<usize>> {
    let mut functions = Vec::new();
    let mut at = 0;
    while at < text.bytes.len() {
        let function = text.function(at).unwrap_or(at..at + 1);
        at = function.end;
        functions.push(function);
    }
    functions
}

/// Calls `check` with the C library and the dynamic linker.
fn each_library(check: &dyn Fn(&str, &Text)) {
    let mut places = Vec::new();
    libraries::each(&mut |name, place| {
        let name = name.to_str().expect("a plain name").to_owned();
        places.extend(WHICH[..2].contains(&&*name).then_some((name, place)));
    });
    assert_eq!(places.len(), 2);
    for (name, place) in places {
        let place = place.expect("a library as usual");
        // SAFETY: these two are never unloaded, and this process does not rewrite them.
        check(&name, &unsafe { place.text() }.expect("a table of functions"));
    }
}

fn sites(text: &Text) -> Vec<Site> {
    let mut sites = Vec::new();
    site::each(text, &|_| true, &mut |site| sites.push(site));
    sites
}

#[test]
fn instructions_have_the_length_that_a_full_decoder_says() {
    each_library(&|name, text| {
        let truth = Truth::read(text);
        let mut unknown = 0;
        for (&at, known) in &truth.instructions {
            let Some(ours) = instruction::decode(text.bytes, at) else {
                unknown += 1;
                continue;
            };
            if known.is_invalid() {
                continue;
            }
            let bytes = &text.bytes[at..at + known.len()];
            assert_eq!(ours.end - at, known.len(), "{name} {at:x}: {bytes:x?}");
            let step = instruction::step(text.bytes, at).expect("as above");
            assert_eq!(step.end, ours.end, "{name} {at:x}: {bytes:x?}");
            assert!(step.may_branch || ours.flow == Flow::Next, "{name} {at:x}: {bytes:x?}");
            check_flow(ours.flow, known, name, at);
        }
        println!("{name}: {} instructions, {unknown} unknown", truth.instructions.len());
        assert!(unknown * 1000 < truth.instructions.len(), "{name}: {unknown} are unknown");
    });
}

#[test]
fn no_branch_leads_between_a_number_and_its_call() {
    each_library(&|name, text| {
        let truth = Truth::read(text);
        for site in sites(text).iter().filter(|site| site.number.is_some()) {
            let loads = |(_, known): &(&usize, &Instruction)| {
                known.op0_register().full_register32() == Register::EAX
            };
            let load = truth.instructions.range(..site.call).rev().find(loads);
            let (&load, _) = load.expect("the number is loaded");
            for at in load + 1..=site.call {
                assert!(!truth.targets.contains(&at), "{name} {at:x} {site:x?}");
            }
        }
    });
}

#[test]
fn numbers_in_registers_are_loaded_by_the_function() {
    each_library(&|name, text| {
        let truth = Truth::read(text);
        let mut left = BTreeMap::new();
        site::each(text, &|_| false, &mut |site| {
            left.insert(site.call, site.number);
        });
        let mut count = 0;
        for site in sites(text).iter().filter(|site| site.number.is_none()) {
            let Some(number) = left[&site.call] else { continue };
            let function = text.function(site.call).expect("a function");
            let is_loaded = truth.instructions.range(function).any(|(_, known)| {
                let is_zero = known.mnemonic() == Mnemonic::Xor && number == 0;
                let is_load = known.code() == Code::Mov_r32_imm32;
                is_zero || is_load && known.immediate32() as usize == number
            });
            assert!(is_loaded, "{name}: {site:x?} {number}");
            count += 1;
        }
        assert!(count > 3, "{name}: {count}");
    });
}

/// Where it goes on is what the full decoder says.
fn check_flow(flow: Flow, known: &Instruction, name: &str, at: usize) {
    let target = || offset(known.near_branch_target()).cast_signed();
    let expected = match known.flow_control() {
        FlowControl::Next => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump(target()),
        FlowControl::ConditionalBranch if known.is_jcx_short() || known.is_loop() => {
            Flow::Loop(target())
        }
        FlowControl::ConditionalBranch => {
            let Flow::Branch { condition, .. } = flow else { panic!("{name} {at:x}: {flow:?}") };
            Flow::Branch { target: target(), condition }
        }
        FlowControl::IndirectBranch => Flow::Computed,
        FlowControl::Call if known.code() == Code::Syscall => Flow::SystemCall,
        FlowControl::Call => Flow::Call(Some(target())),
        FlowControl::IndirectCall => Flow::Call(None),
        FlowControl::Return
        | FlowControl::Interrupt
        | FlowControl::XbeginXabortXend
        | FlowControl::Exception => Flow::Ends,
    };
    // To halt is no end to the decoder.
    assert!(flow == expected || known.code() == Code::Hlt, "{name} {at:x}: {flow:?}");
}

#[test]
fn the_sites_are_the_instructions_that_make_system_calls() {
    each_library(&|name, text| {
        let calls = Truth::read(text).calls();
        let sites = sites(text);
        let found: BTreeSet<usize> = sites.iter().map(|site| site.call).collect();
        // The function to which handlers of signals return is described as beginning one byte
        // early, so that a decoder that starts there is astray.
        for &call in calls.symmetric_difference(&found) {
            assert!(found.contains(&call), "{name} {call:x} is not found");
            let returns = text.bytes[call - 7..call] == [0x48, 0xc7, 0xc0, 15, 0, 0, 0];
            assert!(returns, "{name} {call:x} makes no system call");
        }
        assert_eq!(found.len(), sites.len());
        // Without looking closer, the numbers of those that are left are the same.
        let mut left = Vec::new();
        site::each(text, &|_| false, &mut |site| left.push(site));
        for (left, site) in left.iter().zip(&sites) {
            let is_same = left.number == site.number || site.number.is_none();
            assert!(left.call == site.call && is_same, "{name}: {left:x?} {site:x?}");
        }
        assert_eq!(left.len(), sites.len());
    });
}

/// The numbers of futex and `arch_prctl`, which no file system wants.
const FUTEX: usize = 202;
const ARCH_PRCTL: usize = 158;

#[test]
fn sites_are_possible_but_for_few_with_known_numbers() {
    each_library(&|name, text| {
        let sites = sites(text);
        for site in sites.iter().filter(|site| site.window.is_none()) {
            // The last two are in functions with a jump through a table.
            let is_known = matches!(site.number, Some(RETURN_FROM_SIGNAL | FUTEX | ARCH_PRCTL));
            assert!(is_known, "{name}: {site:x?}");
        }
        // The numbers of those are in registers: in `syscall`, in functions for locks, for exit.
        let unknown = sites.iter().filter(|site| site.number.is_none()).count();
        assert!(unknown * 10 < sites.len(), "{name}: {unknown} of {} unknown", sites.len());
    });
}

#[test]
fn no_branch_leads_into_what_is_moved() {
    each_library(&|name, text| {
        let truth = Truth::read(text);
        for site in sites(text) {
            let Some(window) = &site.window else { continue };
            for at in window.start + 1..window.end {
                assert!(!truth.targets.contains(&at), "{name} {at:x} in {site:x?}");
            }
            // A branch to a call that is still there would pass by the jump.
            if window.end == site.call {
                assert!(!truth.targets.contains(&site.call), "{name} {site:x?}");
            }
            // Windows begin and end with an instruction.
            for at in [window.start, window.end] {
                assert!(truth.instructions.contains_key(&at), "{name} {at:x} of {site:x?}");
            }
        }
    });
}

/// Where the entry has found the registers of a test, and where it has left them.
#[repr(C, align(16))]
struct Vectors {
    before: [[u64; 2]; 16],
    after: [[u64; 2]; 16],
}

/// Overwrites the vector registers, as a function may.
extern "C" fn serve(call: &mut SystemCall) -> Served {
    // SAFETY: it tells what it overwrites.
    unsafe {
        asm!(
            "pcmpeqb xmm0, xmm0",
            "movaps xmm1, xmm0",
            "movaps xmm2, xmm0",
            "movaps xmm7, xmm0",
            "movaps xmm8, xmm0",
            "movaps xmm15, xmm0",
            clobber_abi("C"),
        );
    }
    call.arguments[0] += call.number;
    Served::Yes
}

#[test]
fn vector_registers_are_kept_where_they_may_be_in_use() {
    entry::set(serve);
    let [with_vectors, _] = entry::addresses();
    let mut vectors = Vectors { before: [[0; 2]; 16], after: [[0; 2]; 16] };
    for (index, value) in (1..).zip(&mut vectors.before) {
        *value = [index * 0x0101_0101, !index];
    }
    let mut result: usize = 1000;
    // SAFETY: the entry does what a system call does, and that is told.
    unsafe {
        asm!(
            "movaps xmm0, [r12]",
            "movaps xmm1, [r12 + 16]",
            "movaps xmm2, [r12 + 32]",
            "movaps xmm7, [r12 + 112]",
            "movaps xmm8, [r12 + 128]",
            "movaps xmm15, [r12 + 240]",
            "lea rcx, [rip + 2f]",
            "jmp r13",
            "2:",
            "syscall",
            "movaps [r12 + 256], xmm0",
            "movaps [r12 + 256 + 16], xmm1",
            "movaps [r12 + 256 + 32], xmm2",
            "movaps [r12 + 256 + 112], xmm7",
            "movaps [r12 + 256 + 128], xmm8",
            "movaps [r12 + 256 + 240], xmm15",
            in("r12") &raw mut vectors,
            in("r13") with_vectors,
            inout("rax") result,
            in("rdi") 234_usize,
            clobber_abi("C"),
        );
    }
    assert_eq!(result, 1234);
    for index in [0, 1, 2, 7, 8, 15] {
        assert_eq!(vectors.after[index], vectors.before[index], "xmm{index}");
    }
}

/// Why a site may have vector registers in use is that an instruction after it reads one: that is
/// what the full decoder says of the code up to the end of the function.
#[test]
fn vector_registers_are_read_after_no_site_where_they_are_not_saved() {
    each_library(&|name, text| {
        let truth = Truth::read(text);
        let mut saved = 0;
        let sites = sites(text);
        for site in &sites {
            if vectors::may_be_used(text, site.call + 2) {
                saved += 1;
            } else {
                check_no_vectors(text, &truth, site.call + 2, name);
            }
        }
        println!("{name}: saved at {saved} of {}", sites.len());
        assert!(saved * 3 < sites.len(), "{name}: saved at {saved} of {}", sites.len());
    });
}

/// Follows all paths from `start` on to the end of the function.
fn check_no_vectors(text: &Text, truth: &Truth, start: usize, name: &str) {
    let function = text.function(start).expect("a function");
    let mut pending = vec![start];
    let mut seen = BTreeSet::new();
    while let Some(at) = pending.pop() {
        if !function.contains(&at) || !seen.insert(at) {
            continue;
        }
        let known = &truth.instructions[&at];
        let has_vector = (0..known.op_count()).any(|operand| {
            known.op_kind(operand) == OpKind::Register
                && known.op_register(operand).is_vector_register()
        });
        assert!(!has_vector, "{name} {at:x}, after {start:x}");
        match known.flow_control() {
            FlowControl::UnconditionalBranch => pending.push(offset(known.near_branch_target())),
            FlowControl::ConditionalBranch => {
                pending.push(offset(known.near_branch_target()));
                pending.push(at + known.len());
            }
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                pending.push(at + known.len());
            }
            FlowControl::IndirectBranch => panic!("{name} {at:x} leads anywhere"),
            FlowControl::Return
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend
            | FlowControl::Exception => {}
        }
    }
}
