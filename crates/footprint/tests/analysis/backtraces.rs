//! Compares shadow stacks with the backtraces of gdb, which unwinds with the compiler's tables.
//!
//! Both see the same program under QEMU: once it is traced, once gdb stops it at random points. It
//! is compiled without DWARF line information, so that gdb, too, shows no inlined functions. The
//! two differ in `longjmp`, where gdb is told that the frames are gone before the jump happens.

use std::fmt::Write;
use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use footprint::description::Description;
use footprint::trace::{
    Code, Completeness, FunctionId, Names, Observer, Region, StackId, StackTree, Step, Touch, Walk,
};

use crate::made::reader;
use crate::native::{Native, has};

const POINTS: usize = 200;
/// Limit on how many times gdb passes a breakpoint before it stops there, since that is slow.
const PASSES_MAX: usize = 40;

/// Each executed instruction, with the stack that it ran on top of.
#[derive(Default)]
struct Executed(Vec<(u64, StackId)>);

impl Observer for Executed {
    fn begin(&mut self, _: u32, _: Region) {}

    fn execute(&mut self, code: &Code, _: &StackTree, step: Step<'_>) {
        let instructions = code.instructions(step.block);
        self.0.extend(instructions.map(|(address, _)| (address, step.stack)));
    }

    fn access(&mut self, _: &Code, _: &StackTree, _: Touch<'_>) {}

    fn end(&mut self, _: u32, _: Completeness) {}
}

/// Where to stop: an index into the executed instructions, and how many times to pass the same
/// address before that.
struct Point {
    at: usize,
    passes: usize,
}

/// Random points in execution order, from `main` on.
fn points(executed: &[(u64, StackId)], start: usize) -> Vec<Point> {
    let stride = (executed.len() - start) / (POINTS + 1);
    let mut state = 7_u64;
    let mut points = Vec::new();
    let mut from = start;
    for number in 0..POINTS {
        let window = start + number * stride;
        for _ in 0..100 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = window + usize::try_from(state >> 33).expect("31 bits") % stride;
            if at <= from {
                continue;
            }
            let between = executed[from + 1..at].iter();
            let passes = between.filter(|(address, _)| *address == executed[at].0).count();
            if passes <= PASSES_MAX {
                points.push(Point { at, passes });
                from = at;
                break;
            }
        }
    }
    points
}

/// The program counters of each gdb backtrace, callees first. Passes are counted from `main` on,
/// because earlier code passes some of the points too.
fn backtraces(
    native: &Native,
    main: u64,
    executed: &[(u64, StackId)],
    points: &[Point],
) -> Vec<Vec<u64>> {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("one").port();
    let mut script = format!(
        "set pagination off\nset confirm off\nset width 0\nset backtrace past-main on\n\
         set tcp connect-timeout 60\ntarget remote 127.0.0.1:{port}\n\
         break *{main:#x}\ncontinue\ndelete 1\n"
    );
    for (number, point) in points.iter().enumerate() {
        let (address, breakpoint) = (executed[point.at].0, number + 2);
        let passes = point.passes;
        write!(
            script,
            "break *{address:#x}\nignore {breakpoint} {passes}\ncontinue\necho POINT\\n\nbt\n\
             delete {breakpoint}\n"
        )
        .expect("text");
    }
    script.push_str("kill\n");
    let path = native.directory().join("script");
    fs::write(&path, script).expect("a file");
    let mut qemu = Command::new("qemu-x86_64");
    qemu.arg("-g").arg(port.to_string()).arg(native.path()).stdout(Stdio::null());
    let mut qemu = qemu.spawn().expect("QEMU runs");
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-x"]).arg(path).arg(native.path());
    let output = gdb.output().expect("gdb runs");
    let _ = qemu.kill();
    qemu.wait().expect("QEMU ends");
    let text = String::from_utf8_lossy(&output.stdout);
    text.split("POINT\n").skip(1).map(counters).collect()
}

/// Parses `#1  0x0000000000401136 in f ()` and so on.
fn counters(backtrace: &str) -> Vec<u64> {
    let frames = backtrace.lines().take_while(|line| line.starts_with('#'));
    let counter = |line: &str| {
        let word = line.split_whitespace().nth(1)?.strip_prefix("0x")?;
        u64::from_str_radix(word, 16).ok()
    };
    frames.filter_map(counter).collect()
}

/// The functions in a gdb stack. Return addresses point after the call, hence the subtraction.
fn theirs(names: &Description, counters: &[u64]) -> Vec<Option<FunctionId>> {
    let at =
        |(depth, counter): (usize, &u64)| Names::function(names, counter - u64::from(depth > 0));
    counters.iter().enumerate().map(at).collect()
}

fn ours(names: &Description, stacks: &StackTree, stack: StackId) -> Vec<Option<FunctionId>> {
    let frames = stacks.frames(stack);
    frames.map(|frame| Names::function(names, stacks.function(frame).0)).collect()
}

#[test]
fn shadow_stacks_are_those_of_gdb() {
    if !has(&["gcc", "gdb", "nm", "qemu-x86_64"]) {
        return;
    }
    let native = Native::compile(include_str!("calls.c"), &[]);
    let Some(trace) = native.trace() else { return };
    let names = native.names();
    let mut reader = reader(&trace);
    let mut walk = Walk::new(*reader.header(), names.clone());
    let mut executed = Executed::default();
    walk.run(&mut reader, &mut executed).expect("a whole trace");
    let executed = executed.0;
    let main = names.functions.iter().find(|function| function.name == "main").expect("main");
    let start = executed.iter().position(|&(address, _)| address == main.address).expect("main");
    let points = points(&executed, start);
    assert!(points.len() > POINTS * 9 / 10, "{} points", points.len());
    let backtraces = backtraces(&native, main.address, &executed, &points);
    assert_eq!(backtraces.len(), points.len(), "gdb stopped at all points");
    let mut equal = 0;
    for (point, counters) in points.iter().zip(&backtraces) {
        let (address, stack) = executed[point.at];
        assert_eq!(counters[0], address, "gdb stopped elsewhere");
        let (ours, theirs) = (ours(&names, walk.stacks(), stack), theirs(&names, counters));
        equal += usize::from(ours == theirs);
        if ours != theirs {
            let name = |id: &Option<FunctionId>| {
                id.and_then(|id| names.name(id)).unwrap_or("?").to_owned()
            };
            let list = |all: &[Option<FunctionId>]| all.iter().map(name).collect::<Vec<_>>();
            eprintln!("{address:#x}: {:?}, gdb {:?}", list(&ours), list(&theirs));
        }
    }
    eprintln!("{equal} of {} backtraces are equal", points.len());
    assert!(equal * 100 >= points.len() * 99, "{equal} of {} are equal", points.len());
}
