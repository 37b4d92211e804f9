//! However a program ends, its trace is whole or says what is missing, and it lists the mapped
//! files.

use footprint_trace::maps::Mapping;
use footprint_trace::reader::CutReason;

use crate::tool::Program;

const EXIT: &str = "mov $60, %eax\nxor %edi, %edi\nsyscall\n";

#[test]
fn mapped_files_are_attached_with_the_programs_addresses() {
    let Some(program) = Program::assemble(EXIT) else { return };
    for arguments in [&[][..], &["-B", "0x10000000"]] {
        let traced = program.trace_with(arguments, "");
        let path = program.path().display().to_string();
        let has = |mapping: &Mapping| {
            // Where linkers place code with fixed addresses.
            mapping.path == path && mapping.start <= 0x40_1000 && 0x40_1000 < mapping.end
        };
        assert!(traced.maps.iter().any(has), "{arguments:?}: {:x?}", traced.maps);
        assert_eq!(traced.ending.cut, None);
    }
}

#[test]
fn a_program_that_kills_itself_leaves_all_but_its_end() {
    let code = "mov $39, %eax\nsyscall\nmov %eax, %edi\nmov $15, %esi\nmov $62, %eax\nsyscall\n";
    let Some(program) = Program::assemble(&format!("{code}{EXIT}")) else { return };
    let traced = program.trace("");
    assert_eq!(traced.ending.cut, Some(CutReason::Killed));
    assert_eq!(traced.count('I'), 6);
    assert!(!traced.maps.is_empty());
}

#[test]
fn a_program_killed_by_a_fault_leaves_what_was_written() {
    let code = "mov $300000, %ecx\n1: push %rax\npop %rax\ndec %ecx\njnz 1b\nmov (0), %eax\n";
    let Some(program) = Program::assemble(&format!("{code}{EXIT}")) else { return };
    let traced = program.trace("");
    assert_eq!(traced.ending.cut, Some(CutReason::Killed));
    assert!((1_000_000..1_200_001).contains(&traced.count('I')), "{}", traced.count('I'));
}

#[test]
fn a_program_that_replaces_itself_leaves_all_of_its_own() {
    let code = "lea path(%rip), %rdi\nxor %esi, %esi\nxor %edx, %edx\nmov $59, %eax\nsyscall\n";
    let path = "path: .asciz \"/bin/true\"";
    let Some(program) = Program::assemble(&format!("{code}{EXIT}{path}")) else { return };
    let traced = program.trace("");
    assert_eq!((traced.ending.cut, traced.count('I')), (Some(CutReason::Killed), 5));
    // A program whose exec fails continues, and so does its trace.
    let path = "path: .asciz \"/no/such/program\"";
    let Some(program) = Program::assemble(&format!("{code}{EXIT}{path}")) else { return };
    let traced = program.trace("");
    assert_eq!((traced.ending.cut, traced.count('I')), (None, 8));
}
