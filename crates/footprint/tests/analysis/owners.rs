//! Whose code misses what, on a short trace, counted by hand.

use caches::{CachePolicy, FirstLevel, Geometry, Hierarchy, Shape};
use footprint::owners::{CodeOwner, Mapped, MappedNames, OwnerFigures, OwnerSimulator};
use footprint::trace::{Completeness, FunctionId, Names, Walk};
use footprint_trace::header::{Coverage, Scope};
use footprint_trace::mark::Edge;

use crate::made::{IRET, MOV, NOP, SYSCALL, SYSRET, TraceBuilder, reader};

const KERNEL: u64 = 0xffff_ffff_8100_0000;
const INTERRUPT: u64 = KERNEL + 0x1000;
const PROGRAM: u64 = 0x1000;
const C_LIBRARY: u64 = 0x2000;
const LIBRARY: u64 = 0x7000_0000;
/// Stack slots in lines of their own.
const SLOT: u64 = 0x7fff_0000;
const DEEPER: u64 = 0x7ffe_ff00;
/// Data in lines of their own.
const FILE: u64 = 0x90000;
const COPIED: u64 = 0x91000;
const OWN: u64 = 0x92000;

struct Interrupts;

impl Names for Interrupts {
    fn function(&self, address: u64) -> Option<FunctionId> {
        (INTERRUPT..INTERRUPT + 64).contains(&address).then_some(FunctionId(INTERRUPT))
    }

    fn name(&self, _: FunctionId) -> Option<&str> {
        Some("asm_sysvec_apic_timer_interrupt")
    }
}

/// A program calls a file system's library, which calls the C library to copy; then it makes a
/// system call, is interrupted, and goes on.
fn program() -> Vec<u8> {
    let mut made = TraceBuilder::new(Scope::Machine, Coverage::Marked);
    made.mark(Edge::Begin, 0, 1);
    made.run(PROGRAM, &[NOP, NOP]).call(PROGRAM + 2, LIBRARY, SLOT);
    made.run(LIBRARY, &[MOV]).load(FILE, 8).call(LIBRARY + 3, C_LIBRARY, DEEPER);
    made.run(C_LIBRARY, &[MOV]).load(COPIED, 8).ret(C_LIBRARY + 3, DEEPER);
    made.ret(LIBRARY + 8, SLOT);
    made.run(PROGRAM + 7, &[SYSCALL]);
    made.run(KERNEL, &[MOV]).load(FILE, 8).run(KERNEL + 3, &[SYSRET]);
    made.run(PROGRAM + 9, &[MOV]).load(OWN, 8);
    made.run(INTERRUPT, &[NOP]).run(INTERRUPT + 1, &[IRET]);
    made.run(PROGRAM + 12, &[MOV]).load(SLOT, 8);
    made.mark(Edge::End, 0, 1);
    made.trace()
}

/// Two lines of instructions and two of data.
fn caches() -> Hierarchy {
    let shape = Shape { size_bytes: 128, line_bytes: 64, ways: 2, policy: CachePolicy::Lru };
    let two = Geometry::new(shape).expect("it is possible");
    let first = FirstLevel::Split { instruction: two, data: two };
    Hierarchy::new(first, Vec::new()).expect("it is possible")
}

fn figures(mapped: Vec<Mapped>) -> OwnerFigures {
    let trace = program();
    let mut reader = reader(&trace);
    let names = MappedNames::new(Interrupts, mapped);
    let simulator = OwnerSimulator::new(&names, &caches());
    let mut walk = Walk::new(*reader.header(), names);
    let regions = simulator.run(&mut walk, &mut reader).expect("a whole trace");
    let [figures] = regions.try_into().expect("one region");
    figures
}

fn mapped(start: u64, is_file_system: bool) -> Mapped {
    Mapped { addresses: start..start + 0x1000, is_file_system }
}

#[test]
fn misses_are_those_of_whose_code_runs() {
    let found =
        figures(vec![mapped(PROGRAM, false), mapped(C_LIBRARY, false), mapped(LIBRARY, true)]);
    assert_eq!(found.completeness, Completeness::Whole);
    // Two NOPs, a call, a system call, two moves.
    assert_eq!(found.of(CodeOwner::Program).0, 6);
    // With the C library's two, which it has called.
    assert_eq!(found.of(CodeOwner::FileSystemLibrary).0, 5);
    assert_eq!((found.of(CodeOwner::Kernel).0, found.of(CodeOwner::Others).0), (2, 2));
    // The program's line is missed at first and after the libraries' two; the kernel's and the
    // interrupt's move out others. Of data it misses its stack, twice, and its own.
    assert_eq!(found.of(CodeOwner::Program).1, [2, 3]);
    assert_eq!(found.misses_alone, [1, 2]);
    // Each of its two lines of code once. Of data the file, the deeper stack, what is copied, and
    // the stack, which these have moved out.
    assert_eq!(found.of(CodeOwner::FileSystemLibrary).1, [2, 4]);
    assert_eq!(found.of(CodeOwner::Kernel).1, [1, 1]);
    assert_eq!(found.of(CodeOwner::Others).1, [1, 0]);
}

#[test]
fn without_a_library_all_in_user_mode_is_the_programs() {
    let found = figures(Vec::new());
    assert_eq!((found.of(CodeOwner::Program).0, found.of(CodeOwner::FileSystemLibrary).0), (11, 0));
    assert_eq!(found.of(CodeOwner::Program).1, [4, 7]);
    assert_eq!(found.of(CodeOwner::Kernel), (2, &[1, 1][..]));
}
