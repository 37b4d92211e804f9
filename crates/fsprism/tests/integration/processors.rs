//! Traces a guest with two processors whose programs are interrupted, and compares the trace with
//! instructions counted by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use footprint::description::{Description, Function};
use footprint::touched::Figures;
use footprint::trace::Region;
use footprint_study::{RegionFigures, regions};
use footprint_trace::mark::{Edge, Mark};
use lab::{Boot, ImageParts, Lab, Plugin, image, kernel};
use machine::measuring_lock::{MeasuringLock, Purpose};

use crate::guests::lab;
use crate::place::{Place, say_skipped};

/// How often the program's loop of two instructions is executed. At an instruction per nanosecond,
/// this takes longer than several ticks of the kernel's clock, which are at most 10 ms apart.
const ROUNDS: u64 = 12_000_000;
/// How many guests may be booted until one has no tick within a call.
const ATTEMPTS: u32 = 4;
/// Instructions that each program executes between its marks: the loop, and `mov`, `mov`,
/// `syscall`.
const INSTRUCTIONS: u64 = 2 * ROUNDS + 3;

/// Source of a program that stays on the processor given as its argument, and executes a loop and
/// `getppid` between marks whose region is that processor.
fn source() -> String {
    let mark = |edge, region| {
        let code = Mark { edge, region, operation: 1 }.code();
        code.map(|byte| byte.to_string()).join(",")
    };
    let part = |region| {
        let (begin, end) = (mark(Edge::Begin, region), mark(Edge::End, region));
        format!(
            "part{region}: .byte {begin}\n mov ${ROUNDS}, %ecx\n 1: dec %ecx\n jnz 1b\n \
             mov $110, %eax\n syscall\n .byte {end}\n jmp done\n"
        )
    };
    format!(
        ".globl _start\n_start: mov 16(%rsp), %rsi\n movzbl (%rsi), %ebx\n sub $'0', %ebx\n \
         mov %ebx, %ecx\n mov $1, %eax\n shl %cl, %eax\n push %rax\n \
         mov $203, %eax\n xor %edi, %edi\n mov $8, %esi\n mov %rsp, %rdx\n syscall\n \
         test %ebx, %ebx\n jnz part1\n{}{}\
         done: xor %eax, %eax\n xor %ecx, %ecx\n cpuid\n mov $60, %eax\n xor %edi, %edi\n \
         syscall\n",
        part(0),
        part(1)
    )
}

/// The compiled program, or why it cannot be made.
fn program(place: &Place) -> Result<Vec<u8>, String> {
    fs::write(place.path("program.S"), source()).expect("ours");
    let mut gcc = Command::new("gcc");
    gcc.args(["-nostdlib", "-static", "-o"]).args([place.path("program"), place.path("program.S")]);
    let made = gcc.status().map_err(|error| format!("gcc: {error}"))?;
    assert!(made.success(), "gcc refuses the program");
    Ok(fs::read(place.path("program")).expect("a program"))
}

/// The kernel's functions, from the text of its `/proc/kallsyms`.
fn names(kallsyms: &str) -> Description {
    let symbols = kallsyms.lines().filter_map(|line| {
        let [address, letter, name, ..] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let address = u64::from_str_radix(address, 16).ok()?;
        "tTwW".contains(letter).then(|| (address, name.to_owned()))
    });
    let symbols: BTreeMap<u64, String> = symbols.collect();
    let ends: Vec<u64> = symbols.keys().skip(1).copied().chain([u64::MAX]).collect();
    let function = |((address, name), end): ((u64, String), u64)| Function {
        address,
        bytes: end - address,
        name,
        ..Function::default()
    };
    let functions = symbols.into_iter().zip(ends).map(function).collect();
    Description { functions, ..Description::default() }
}

/// A boot with two processors that runs both programs at once, traced into the place.
fn boot(lab: &Path, place: &Place, program: Vec<u8>) -> Boot {
    let lab = Lab::at(lab.to_owned());
    let kernel = kernel::find(&lab, None).expect("the lab has a kernel");
    let fsprism = Path::new(env!("CARGO_BIN_EXE_fsprism"));
    let parts = ImageParts { kernel: &kernel, program: fsprism, further: &[] };
    let image = image::build(&lab, parts).expect("an image");
    let mut boot = Boot::new(kernel, image);
    boot.processors = 2;
    let script = "cp /job/program /program && chmod 755 /program\n\
                  /program 0 & /program 1 & wait\n\
                  cat /proc/kallsyms >/hand-back/kallsyms\n";
    boot.job = vec![("/job/run".to_owned(), script.into()), ("/job/program".to_owned(), program)];
    boot.plugin = Some(Plugin {
        library: footprint_library::write_into(&place.path("")).expect("a file"),
        trace: place.path("trace"),
        options: vec!["regions=marked".to_owned()],
    });
    boot
}

/// The figures of each processor's region.
fn figures(place: &Place) -> Vec<Figures> {
    let kallsyms = fs::read_to_string(place.path("handed/kallsyms")).expect("text");
    let found = regions(&place.path("trace"), names(&kallsyms), None).expect("a trace");
    let of = |processor: u8| {
        let is_its = |found: &&RegionFigures| {
            found.region == Region::Marked { region: processor, operation: 1, repetition: 0 }
        };
        found.iter().find(is_its).unwrap_or_else(|| panic!("{processor}: {found:?}")).figures
    };
    vec![of(0), of(1)]
}

#[test]
fn interrupts_on_two_processors_are_set_apart() {
    let test = "interrupts_on_two_processors_are_set_apart";
    let place = Place::new();
    let (lab, program) = match (lab(), program(&place)) {
        (Ok(lab), Ok(program)) => (lab, program),
        (Err(why), _) | (_, Err(why)) => return say_skipped(test, why.trim()),
    };
    let _lock = MeasuringLock::wait_to(Purpose::Count).expect("the lock can be opened");
    for attempt in 1.. {
        let ran = boot(&lab, &place, program.clone()).run(&place.path("handed"));
        ran.expect("a guest of two processors comes to its end");
        let both = figures(&place);
        // If the clock ticks within the call, which is rare, the end of the call switches to
        // another task, whose instructions are not part of an interrupt.
        let has_passed_on = both.iter().any(|figures| figures.instructions >= 600);
        if has_passed_on && attempt < ATTEMPTS {
            continue;
        }
        for (processor, figures) in both.into_iter().enumerate() {
            let all = format!("processor {processor}: {figures:?}");
            assert_eq!(figures.user_instructions, INSTRUCTIONS, "{all}");
            assert!(figures.interrupt_instructions > 1000, "{all}");
            assert!((200..600).contains(&figures.instructions), "{all}");
        }
        return;
    }
}
