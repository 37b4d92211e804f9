//! What generated code touches, counted in a trace by QEMU of this test itself.

use std::process::{Command, Stdio};

use footprint::trace::{Nameless, Region};
use footprint_trace::marked::{PhasePosition, around};
use user_code::{CodeShape, Loads, Order, UserCode};

/// Set where QEMU executes the test.
const TRACED: &str = "USER_CODE_IS_TRACED";

/// Lines of code and of data.
const LINES: [[u32; 2]; 14] = [
    [1, 1],
    [2, 1],
    [3, 7],
    [1, 20],
    [5, 1000],
    [63, 64],
    [64, 63],
    [100, 10],
    [128, 512],
    [512, 512],
    [999, 3],
    [1000, 1000],
    [17, 1000],
    [1000, 1],
];

fn shapes() -> Vec<CodeShape> {
    let of = |order, loads| {
        LINES.map(|[code_lines, data_lines]| CodeShape { code_lines, data_lines, order, loads })
    };
    [
        of(Order::Sequential, Loads::Independent),
        of(Order::Random, Loads::Independent),
        of(Order::Sequential, Loads::Dependent),
        of(Order::Random, Loads::Dependent),
    ]
    .concat()
}

/// Executes code of each shape between marks, twice.
fn execute() {
    let made = |shape: &CodeShape| UserCode::new(shape, 11).expect("there is memory");
    let all: Vec<UserCode> = shapes().iter().map(made).collect();
    for code in &all {
        code.run();
        around(PhasePosition::First, || code.run());
    }
}

/// Instructions, lines of instructions and lines of data of each region of a trace.
fn traced() -> Vec<[u64; 3]> {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let plugin = footprint_library::write_into(place.path()).expect("there is room");
    let trace = place.path().join("trace");
    let plugin = format!("{},out={},regions=marked", plugin.display(), trace.display());
    let ran = Command::new("qemu-x86_64")
        .args(["-plugin", &plugin])
        .arg(std::env::current_exe().expect("it runs"))
        .args(["--exact", "generated_code_touches_what_was_asked_for", "--test-threads=1"])
        .env(TRACED, "1")
        .output()
        .expect("it is there");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let regions = footprint_study::regions(&trace, Nameless, None).expect("the trace is whole");
    let marked = regions.into_iter().filter(|one| matches!(one.region, Region::Marked { .. }));
    marked
        .map(|one| {
            let figures = one.figures;
            [figures.instructions, figures.instruction_lines, figures.data_lines]
        })
        .collect()
}

#[test]
fn generated_code_touches_what_was_asked_for() {
    if std::env::var_os(TRACED).is_some() {
        return execute();
    }
    let help = Command::new("qemu-x86_64").arg("-h").stderr(Stdio::null()).output();
    if !help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("-plugin")) {
        eprintln!("skipped: there is no qemu-x86_64 here, or it takes no plugins");
        return;
    }
    let (shapes, counted) = (shapes(), traced());
    assert_eq!(counted.len(), shapes.len());
    // What enters the code and leaves it is the same for all. Not optimised, it takes some lines.
    let [_, code_lines, data_lines] = counted[0];
    assert!((2..=6).contains(&code_lines), "{code_lines}");
    assert!((2..=6).contains(&data_lines), "{data_lines}");
    let around = [code_lines - 1, data_lines - 1];
    let mut instructions_around = None;
    for (shape, [instructions, code_lines, data_lines]) in shapes.iter().zip(counted) {
        let asked = [u64::from(shape.code_lines), u64::from(shape.data_lines)];
        assert_eq!([code_lines - around[0], data_lines - around[1]], asked, "{shape:?}");
        let work = UserCode::new(shape, 11).expect("there is memory").work();
        let more = instructions - work.instructions;
        assert_eq!(*instructions_around.get_or_insert(more), more, "{shape:?}");
    }
}
