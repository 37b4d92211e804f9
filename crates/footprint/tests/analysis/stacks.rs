//! Shadow stacks and contexts of traces computed by hand.

use footprint::description::{Description, Function};
use footprint::trace::{Code, Completeness, Names, Observer, Region, StackTree, Step, Touch, Walk};
use footprint_trace::header::{Coverage, Scope};
use footprint_trace::mark::Edge;

use crate::made::{IRET, MOV, NOP, RET, SYSCALL, SYSRET, TraceBuilder, jump, reader};

const KERNEL: u64 = 0xffff_ffff_8100_0000;
/// The stack of the operation's task.
const OWN: u64 = 0xffff_c900_0001_0000;
/// The stack of another task.
const OTHER: u64 = 0xffff_c900_0002_0000;
/// The interrupt stack.
const INTERRUPTS: u64 = 0xffff_c900_0003_0000;

/// Functions of 0x100 bytes, from 0x1000 on and in the kernel.
fn names() -> Description {
    let user = ["main", "f", "g", "h"];
    let kernel = [
        "entry_SYSCALL_64",
        "do_syscall_64",
        "vfs_read",
        "asm_exc_page_fault",
        "asm_sysvec_timer",
        "sysvec_timer",
        "schedule",
        "__switch_to_asm",
        "__switch_to",
        "ret_from_fork",
        "kthread",
        "exit_to_user_mode_prepare",
    ];
    let function = |base: u64| {
        move |(index, name): (usize, &&str)| Function {
            address: base + 0x100 * index as u64,
            bytes: 0x100,
            name: (*name).to_owned(),
            ..Function::default()
        }
    };
    let user = user.iter().enumerate().map(function(0x1000));
    let kernel = kernel.iter().enumerate().map(function(KERNEL));
    Description { functions: user.chain(kernel).collect(), ..Description::default() }
}

fn at(name: &str) -> u64 {
    let names = names();
    names.functions.iter().find(|function| function.name == name).expect("a name").address
}

/// Records every block: its context, and the names in its stack, callees first.
struct Written(Vec<String>);

impl Observer for Written {
    fn begin(&mut self, _: u32, region: Region) {
        self.0.push(format!("begin {region:?}"));
    }

    fn execute(&mut self, _: &Code, stacks: &StackTree, step: Step<'_>) {
        let names = names();
        let frames = stacks.frames(step.stack).map(|frame| stacks.function(frame));
        let frames: Vec<_> = frames.map(|id| names.name(id).unwrap_or("?").to_owned()).collect();
        let context = stacks.context(step.stack).name();
        self.0.push(format!("{context}: {}", frames.join("<")));
    }

    fn access(&mut self, _: &Code, _: &StackTree, _: Touch<'_>) {}

    fn end(&mut self, _: u32, completeness: Completeness) {
        self.0.push(format!("end {completeness:?}"));
    }
}

fn written(made: TraceBuilder) -> Vec<String> {
    let trace = made.trace();
    let mut reader = reader(&trace);
    let mut written = Written(Vec::new());
    Walk::new(*reader.header(), names()).run(&mut reader, &mut written).expect("a whole trace");
    written.0
}

fn program() -> TraceBuilder {
    TraceBuilder::new(Scope::Program, Coverage::Whole)
}

/// What is recorded of a program's trace between its begin and its end.
fn stacks(made: TraceBuilder) -> Vec<String> {
    let all = written(made);
    assert_eq!((all[0].as_str(), all[all.len() - 1].as_str()), ("begin Unmarked", "end Whole"));
    all[1..all.len() - 1].iter().map(|line| line.replace("user: ", "")).collect()
}

#[test]
fn calls_and_returns_nest() {
    let mut made = program();
    made.call(0x1000, 0x1100, 0x7ff0).call(0x1100, 0x1200, 0x7fe0);
    made.ret(0x1200, 0x7fe0).ret(0x1105, 0x7ff0).run(0x1005, &[NOP]);
    assert_eq!(stacks(made), ["main", "f<main", "g<f<main", "f<main", "main"]);
}

#[test]
fn a_tail_call_replaces_its_caller() {
    let mut made = program();
    made.call(0x1000, 0x1100, 0x7ff0).run(0x1100, &[NOP, &jump(0x1101, 0x1200)]);
    made.ret(0x1200, 0x7ff0).run(0x1005, &[NOP]);
    assert_eq!(stacks(made), ["main", "f<main", "g<main", "main"]);
}

#[test]
fn a_jump_out_of_several_calls_drops_them() {
    let mut made = program();
    // main calls f, which calls g, which jumps back into main and calls h, or returns from main.
    made.call(0x1000, 0x1100, 0x7ff0).call(0x1100, 0x1200, 0x7fe0);
    made.run(0x1200, &[&[0xff, 0xe0]]).call(0x1020, 0x1300, 0x7ff0).ret(0x1300, 0x7ff0);
    let found = stacks(made);
    assert_eq!(found[..3], ["main", "f<main", "g<f<main"]);
    assert_eq!(found[4..], ["h<main"]);
}

#[test]
fn a_return_over_frames_drops_them() {
    let mut made = program();
    made.call(0x1000, 0x1100, 0x7ff0).call(0x1100, 0x1200, 0x7fe0);
    made.ret(0x1200, 0x7ff0).run(0x1005, &[NOP]);
    assert_eq!(stacks(made), ["main", "f<main", "g<f<main", "main"]);
}

#[test]
fn a_thunk_of_returns_jumps() {
    let mut made = program();
    // f is a thunk: it calls the next instructions, which overwrite the return address with h.
    made.call(0x1000, 0x1100, 0x7ff0).call(0x1100, 0x1110, 0x7fe8);
    made.run(0x1110, &[&[0x48, 0x89, 0x04, 0x24]]).store(0x7fe8, 8);
    made.ret(0x1114, 0x7fe8).ret(0x1300, 0x7ff0).run(0x1005, &[NOP]);
    assert_eq!(stacks(made), ["main", "f<main", "f<f<main", "f<f<main", "h<main", "main"]);
}

#[test]
fn reading_the_program_counter_is_no_call() {
    let mut made = program();
    made.call(0x1000, 0x1005, 0x7ff0).run(0x1005, &[&[0x58]]).load(0x7ff0, 8);
    made.run(0x1006, &[NOP]);
    assert_eq!(stacks(made), ["main", "main", "main"]);
}

/// A system call, up to where `vfs_read` runs.
fn in_vfs_read(made: &mut TraceBuilder) {
    made.mark(Edge::Begin, 1, 2).run(0x1000, &[SYSCALL]);
    made.call(at("entry_SYSCALL_64"), at("do_syscall_64"), OWN + 0x3f00);
    made.call(at("do_syscall_64"), at("vfs_read"), OWN + 0x3e00);
    made.run(at("vfs_read"), &[MOV]).load(0x8000, 8);
}

/// The way back to the program.
fn back(made: &mut TraceBuilder) {
    made.ret(at("vfs_read") + 0x80, OWN + 0x3e00).ret(at("do_syscall_64") + 5, OWN + 0x3f00);
    made.run(at("entry_SYSCALL_64") + 5, &[SYSRET]).run(0x1002, &[NOP]);
    made.mark(Edge::End, 1, 2);
}

const VFS_READ: &str = "operation: vfs_read<do_syscall_64<entry_SYSCALL_64";

fn machine() -> TraceBuilder {
    TraceBuilder::new(Scope::Machine, Coverage::Marked)
}

/// Checks the frame of a system call, and returns what is inside it.
fn within(made: TraceBuilder) -> Vec<String> {
    let found = written(made);
    let begin = "begin Marked { region: 1, operation: 2, repetition: 0 }";
    let entry = "operation: entry_SYSCALL_64";
    let call = "operation: do_syscall_64<entry_SYSCALL_64";
    let (start, end) = ([begin, "user: main", entry, call, VFS_READ], found.len() - 5);
    assert_eq!(found[..5], start);
    assert_eq!(found[end..], [VFS_READ, call, entry, "user: main", "end Whole"]);
    found[5..end].to_vec()
}

#[test]
fn a_system_call_has_a_stack_of_its_own() {
    let mut made = machine();
    in_vfs_read(&mut made);
    back(&mut made);
    assert_eq!(within(made), [""; 0]);
}

#[test]
fn an_exception_belongs_to_the_operation() {
    let mut made = machine();
    in_vfs_read(&mut made);
    made.run(at("asm_exc_page_fault"), &[NOP, IRET]);
    made.run(at("vfs_read"), &[MOV]).load(0x8000, 8);
    back(&mut made);
    let fault = format!("exception: asm_exc_page_fault<{}", &VFS_READ["operation: ".len()..]);
    assert_eq!(within(made), [fault.as_str(), VFS_READ]);
}

#[test]
fn an_iret_to_the_next_instruction_returns_from_nothing() {
    let mut made = machine();
    in_vfs_read(&mut made);
    made.run(at("asm_exc_page_fault"), &[NOP, IRET]).run(at("asm_exc_page_fault") + 3, &[IRET]);
    made.run(at("vfs_read"), &[MOV]).load(0x8000, 8);
    back(&mut made);
    let fault = format!("exception: asm_exc_page_fault<{}", &VFS_READ["operation: ".len()..]);
    assert_eq!(within(made), [fault.as_str(), fault.as_str(), VFS_READ]);
}

#[test]
fn an_interrupt_between_a_call_and_its_target_is_set_apart() {
    let mut made = machine();
    in_vfs_read(&mut made);
    made.call(at("vfs_read") + 0x10, at("kthread"), OWN + 0x3d00);
    made.run(at("asm_sysvec_timer"), &[NOP]);
    // The handler runs on another stack, and faults.
    made.call(at("asm_sysvec_timer") + 0x10, at("sysvec_timer"), INTERRUPTS + 0x3f00);
    made.run(at("sysvec_timer"), &[MOV]);
    made.run(at("asm_exc_page_fault"), &[IRET]).ret(at("sysvec_timer"), INTERRUPTS + 0x3f00);
    made.run(at("asm_sysvec_timer") + 0x15, &[IRET]);
    made.ret(at("kthread"), OWN + 0x3d00);
    back(&mut made);
    let found = within(made);
    let contexts: Vec<_> = found.iter().map(|line| line.split_once(':').expect("one").0).collect();
    let interrupts = ["interrupt"; 6];
    assert_eq!(contexts[0], "operation");
    assert_eq!(contexts[1..7], interrupts[..]);
    assert!(
        found[3].starts_with("interrupt: sysvec_timer<asm_sysvec_timer<vfs_read<"),
        "{found:?}"
    );
    assert_eq!(found[7], VFS_READ.replace("vfs_read", "kthread<vfs_read"));
}

/// A function calls the scheduler at its offset 0x10, which switches to another task and back:
/// eleven blocks, including these calls and the caller's next block.
fn switch_from(made: &mut TraceBuilder, caller: &str) {
    let switch = |made: &mut TraceBuilder| {
        let from = at("__switch_to_asm");
        made.run(from, &[NOP, &jump(from + 1, at("__switch_to"))]);
    };
    made.call(at(caller) + 0x10, at("schedule"), OWN + 0x3d00);
    made.call(at("schedule"), at("__switch_to_asm"), OWN + 0x3c00);
    // The stack changes here; a new task continues elsewhere.
    switch(made);
    made.ret(at("__switch_to"), OTHER + 0x3c00);
    made.call(at("ret_from_fork"), at("kthread"), OTHER + 0x3e00);
    made.call(at("kthread"), at("schedule"), OTHER + 0x3d00);
    made.call(at("schedule"), at("__switch_to_asm"), OTHER + 0x3c00);
    switch(made);
    made.ret(at("__switch_to"), OWN + 0x3c00);
    made.ret(at("schedule") + 5, OWN + 0x3d00);
    made.run(at(caller) + 0x15, &[NOP]);
}

#[test]
fn other_tasks_are_set_apart() {
    let mut made = machine();
    in_vfs_read(&mut made);
    switch_from(&mut made, "vfs_read");
    switch_from(&mut made, "vfs_read");
    back(&mut made);
    let found = within(made);
    assert_eq!(found.len(), 22);
    for round in found.chunks(11) {
        let is_other = |line: &&String| line.starts_with("other_task: ");
        assert_eq!(round.iter().filter(is_other).count(), 5, "{round:#?}");
        assert!(round[4..9].iter().all(|line| is_other(&line)), "{round:#?}");
        assert_eq!(round[9], VFS_READ.replace("vfs_read", "schedule<vfs_read"));
        assert_eq!(round[10], VFS_READ);
    }
    assert_eq!(found[5], "other_task: kthread<ret_from_fork");
}

#[test]
fn who_gives_way_does_not_pay_for_the_scheduler() {
    let mut made = machine();
    in_vfs_read(&mut made);
    let exit = "exit_to_user_mode_prepare";
    made.call(at("vfs_read") + 0x20, at(exit), OWN + 0x3d80);
    switch_from(&mut made, exit);
    made.ret(at(exit) + 0x16, OWN + 0x3d80);
    made.run(at("vfs_read") + 0x25, &[NOP]);
    back(&mut made);
    let found = within(made);
    let leaving = VFS_READ.replace("vfs_read", "exit_to_user_mode_prepare<vfs_read");
    let contexts: Vec<&str> = found.iter().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(contexts[..2], ["operation"; 2]);
    assert_eq!(contexts[2..11], ["other_task"; 9]);
    assert_eq!(found[10], leaving.replace("operation: ", "other_task: schedule<"));
    assert_eq!(found[11..], [leaving.clone(), leaving, VFS_READ.to_owned()]);
}

#[test]
fn a_region_without_an_end_is_cut() {
    let mut made = machine();
    in_vfs_read(&mut made);
    assert_eq!(written(made).last().map(String::as_str), Some("end Cut"));
}

#[test]
fn a_trace_that_stops_keeps_what_was_read() {
    let mut made = machine();
    in_vfs_read(&mut made);
    back(&mut made);
    let mut trace = made.trace();
    trace.pop();
    let mut reader = reader(&trace);
    let mut seen = Written(Vec::new());
    let stopped = Walk::new(*reader.header(), names()).run(&mut reader, &mut seen);
    assert!(matches!(stopped, Err(footprint_trace::TraceError::Truncated { .. })));
    assert_eq!(seen.0.last().map(String::as_str), Some("end Whole"));
    let mut whole = program();
    whole.run(0x1000, &[NOP]);
    let mut trace = whole.trace();
    trace.pop();
    let mut reader = super::made::reader(&trace);
    let mut seen = Written(Vec::new());
    assert!(Walk::new(*reader.header(), names()).run(&mut reader, &mut seen).is_err());
    assert_eq!(seen.0, ["begin Unmarked", "user: main", "end Cut"]);
}

#[test]
fn returns_from_frames_that_were_not_seen_do_no_harm() {
    let mut made = program();
    made.run(0x1200, &[RET]).load(0x7ff0, 8).run(0x1105, &[RET]).load(0x7ff8, 8);
    made.run(0x1005, &[NOP]);
    assert_eq!(stacks(made), ["g", "f", "main"]);
}
