//! Small programs whose traces are known.

use std::fmt::Write;
use std::process::Command;

use footprint_trace::mark::{Edge, Mark};
use footprint_trace::reader::CutReason;

use crate::tool::{Program, has};

const EXIT: &str = "mov $60, %eax\nxor %edi, %edi\nsyscall\n";
const DATA: &str = ".bss\n.balign 4096\ndata: .skip 8192\n";

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn loads_stores_and_a_loop_are_exact() {
    let code = "lea data(%rip), %rsi\nmov $2, %ecx\n1: mov 8(%rsi), %eax\nincq 16(%rsi)\n\
                dec %ecx\njnz 1b\npush %rax\npop %rax\n";
    let Some(program) = Program::assemble(&format!("{code}{EXIT}{DATA}")) else { return };
    let traced = program.trace("");
    let mut expected = "I0 I7 ".to_owned();
    for _ in 0..2 {
        expected += "Ic L4@8 If L8@10 S8@10 I13 I15 ";
    }
    expected += "I17 S8 I18 L8 I19 I1e I20";
    let is_stack = |event: &String| event.starts_with("S8@") && !event.ends_with("@10");
    let push = traced.events.iter().position(is_stack).unwrap();
    let mut events = traced.events;
    // The stack's address varies, but a push and its pop access the same place.
    assert_eq!(events[push][1..], events[push + 2][1..]);
    events[push].truncate(2);
    events[push + 2].truncate(2);
    assert_eq!(events, words(&expected));
    assert_eq!((traced.ending.cut, traced.ending.forks), (None, 0));
}

/// Traces `code` until it faults; the signal handler ends the region and the program.
fn traced_up_to_fault(signal: u32, code: &str) -> Option<Vec<String>> {
    let (begin, end) = (mark(Edge::Begin, 0), mark(Edge::End, 0));
    // rt_sigaction, with the flag SA_RESTORER, which the kernel requires.
    let install = format!(
        "mov $13, %eax\nmov ${signal}, %edi\nlea action(%rip), %rsi\nxor %edx, %edx\n\
         mov $8, %r10d\nsyscall\n"
    );
    let handler =
        format!("handler: {end}{EXIT}.data\naction: .quad handler, 0x4000000, handler, 0");
    let program = Program::assemble(&format!("{install}{begin}{code}{EXIT}{handler}"))?;
    Some(program.trace(",regions=marked").events)
}

#[test]
fn nothing_after_a_fault_counts_as_executed() {
    let load = "xor %eax, %eax\nlea 1(%rcx), %rcx\nmov (%rax), %rbx\nlea 1(%rcx), %rcx\n";
    let Some(events) = traced_up_to_fault(11, load) else { return };
    assert_eq!(events, words("B3.0.0 I0 I2 I6 E3.0.0"));
    let division = "xor %ecx, %ecx\nmov $1, %eax\ncltd\ndiv %ecx\nlea 1(%rcx), %rcx\n";
    let Some(events) = traced_up_to_fault(8, division) else { return };
    assert_eq!(events, words("B3.0.0 I0 I2 I7 I8 E3.0.0"));
}

#[test]
fn a_repeated_instruction_is_executed_once() {
    let code = "lea data(%rip), %rdi\nmov $3, %ecx\nrep stosq\nmov $0, %ecx\nrep stosq\n";
    let Some(program) = Program::assemble(&format!("{code}{EXIT}{DATA}")) else { return };
    let expected = "I0 I7 Ic S8@0 S8@8 S8@10 If I14 I17 I1c I1e";
    assert_eq!(program.trace("").events, words(expected));
}

#[test]
fn accesses_of_vectors_are_whole() {
    let code = "lea data(%rip), %rsi\nmovups 8(%rsi), %xmm0\nmovups %xmm0, 32(%rsi)\n\
                paddq 16(%rsi), %xmm0\nmovq %xmm0, (%rsi)\n";
    let Some(program) = Program::assemble(&format!("{code}{EXIT}{DATA}")) else { return };
    let expected = "I0 I7 L16@8 Ib S16@20 If L16@10 I14 S8@0 I18 I1d I1f";
    assert_eq!(program.trace("").events, words(expected));
}

fn mark(edge: Edge, operation: u16) -> String {
    let bytes = Mark { edge, region: 3, operation }.code().map(|byte| byte.to_string());
    format!(".byte {}\n", bytes.join(","))
}

#[test]
fn only_marked_regions_are_recorded() {
    let (begin, end) = (mark(Edge::Begin, 300), mark(Edge::End, 300));
    let region = format!("{begin}mov (%rsi), %eax\nnop\n{end}");
    let mut code = "lea data(%rip), %rsi\nmov $2, %ebx\n1: mov (%rsi), %eax\n".to_owned();
    write!(code, "{region}mov %eax, (%rsi)\ndec %ebx\njnz 1b\n{EXIT}{DATA}").unwrap();
    let Some(program) = Program::assemble(&code) else { return };
    let expected = "B3.300.0 I0 L4@0 I2 E3.300.0 B3.300.1 I0 L4@0 I2 E3.300.1";
    assert_eq!(program.trace(",regions=marked").events, words(expected));
    // With full coverage, marks end nothing: two before the loop, two rounds of six, three to exit.
    let whole = program.trace("");
    assert_eq!((whole.count('B'), whole.count('I')), (2, 2 + 2 * 6 + 3));
}

#[test]
fn a_region_records_code_that_ran_before_it() {
    let (begin, end) = (mark(Edge::Begin, 7), mark(Edge::End, 7));
    let code = format!(
        "lea data(%rip), %rsi\ncall 3f\n{begin}call 3f\ncall 3f\n{end}call 3f\ncall 3f\n{EXIT}\
         3: mov $5, %ecx\n4: mov (%rsi), %eax\ndec %ecx\njnz 4b\nret\n{DATA}"
    );
    let Some(program) = Program::assemble(&code) else { return };
    let traced = program.trace(",regions=marked");
    // Twice a call, a move, five rounds of three and a return.
    assert_eq!((traced.count('I'), traced.count('L'), traced.count('S')), (36, 12, 2));
    assert_eq!((traced.count('B'), traced.count('E')), (1, 1));
}

#[test]
fn a_trace_stops_at_its_limit() {
    let code = "mov $2000000, %ecx\n1: push %rax\npop %rax\ndec %ecx\njnz 1b\n";
    let Some(program) = Program::assemble(&format!("{code}{EXIT}")) else { return };
    let traced = program.trace(",limit=1048576");
    assert_eq!(traced.ending.cut, Some(CutReason::Limit));
    assert!(traced.count('I') > 100_000);
}

#[test]
fn counts_agree_with_valgrind() {
    let code = "lea data(%rip), %rsi\nmov $1000, %ecx\n1: mov (%rsi), %rax\nadd %rcx, 8(%rsi)\n\
                movups (%rsi), %xmm0\npush %rax\ncall 2f\npop %rax\ndec %ecx\njnz 1b\n";
    let code = format!("{code}{EXIT}2: ret\n{DATA}");
    let Some(program) = Program::assemble(&code) else { return };
    if !has("valgrind") {
        return;
    }
    let mut lackey = Command::new("valgrind");
    lackey.args(["--tool=lackey", "--basic-counts=no", "--trace-mem=yes"]).arg(program.path());
    let output = lackey.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let count = |prefix| text.lines().filter(|line| line.starts_with(prefix)).count();
    let traced = program.trace("");
    let theirs = [count("I "), count(" L") + count(" M"), count(" S") + count(" M")];
    assert_eq!([traced.count('I'), traced.count('L'), traced.count('S')], theirs);
}
