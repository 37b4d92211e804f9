//! Studies of traces made by hand.

use std::path::{Path, PathBuf};

use footprint::trace::Completeness;
use footprint_trace::header::Coverage;

use crate::sample_traces::{FILE_SYSTEMS, events, program, repeated, write};
use crate::*;

fn read(path: &Path) -> Studied {
    Studied::read(path, &Questions::default()).expect("a trace")
}

fn traces() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let [ext4, _] = FILE_SYSTEMS.map(|(name, count)| write(place.path(), name, count));
    (place, ext4)
}

#[test]
fn what_follows_the_warm_up_is_studied_and_everything_has_its_name() {
    let (_place, ext4) = traces();
    let studied = read(&ext4);
    let names: Vec<(&str, &str)> =
        studied.executed.iter().map(|one| (one.target.as_str(), one.operation.as_str())).collect();
    assert_eq!(names, [("ext4", "create"), ("ext4", "stat")]);
    assert_eq!(studied.doubt, None);
    assert_eq!(studied.executed[0].repetition, Repetition { number: 1, of: 1 });
    let figures = studied.figures(&studied.executed[0]);
    // 4 calls, 4 returns, 2 loads, 103 NOPs, and the SYSRET.
    assert_eq!(figures.instructions, 4 + 4 + 2 + 103 + 1);
    assert_eq!((figures.instruction_lines, figures.data_lines), (6, 6));
}

#[test]
fn of_several_repetitions_the_one_at_the_medians_is_studied() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.trace");
    let create = |allocations: &[u32]| {
        std::fs::write(&path, repeated(allocations, Coverage::Marked)).unwrap();
        let studied = read(&path);
        let executed = &studied.executed[0];
        (executed.repetition.number, studied.figures(executed).instructions)
    };
    // An allocation takes six instructions.
    let (_, once) = create(&[1]);
    assert_eq!(create(&[9, 1, 3, 2, 5]), (3, once + 2 * 6));
    assert_eq!(create(&[1, 1, 9, 1]), (4, once), "the last of equals");
}

#[test]
fn a_file_s_name_that_stands_for_a_target_is_no_order_to_a_terminal() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("\u{1b}[2J.trace");
    std::fs::write(&path, repeated(&[1], Coverage::Marked)).unwrap();
    assert_eq!(read(&path).executed[0].target, "?[2J");
}

#[test]
fn operations_that_are_not_there_are_refused_by_name() {
    let (place, ext4) = traces();
    let refused = read(&ext4).executions(Some("chmod")).unwrap_err().to_string();
    assert!(refused.contains("`chmod`") && refused.contains("one of create, stat"), "{refused}");
    assert_eq!(traces_in(place.path()).unwrap().len(), 2);
    let empty = tempfile::tempdir().unwrap();
    let refused = traces_in(empty.path()).unwrap_err().to_string();
    assert!(refused.contains("contains no *.trace"), "{refused}");
}

#[test]
fn what_a_truncated_trace_has_is_kept_and_doubted() {
    let (place, ext4) = traces();
    let whole = std::fs::read(&ext4).unwrap();
    let cut = place.path().join("cut.trace");
    // The end and the description are gone; all events are still there.
    let events = events(1, Coverage::Marked);
    std::fs::write(&cut, &events[..events.len() - 3]).unwrap();
    let studied = read(&cut);
    assert!(studied.doubt.as_ref().unwrap().contains("is cut off after"), "{:?}", studied.doubt);
    assert_eq!(studied.executed[0].operation, "0", "without names");
    assert_eq!(studied.executed[0].target, "cut");
    assert_eq!(studied.executed[0].footprint.completeness, Completeness::Whole);
    for (bytes, sentence) in [
        (&b"hello, this is a text"[..], "not a footprint trace"),
        (&whole[..40], "is cut off after"),
        (&[&whole[..8], &[9, 0, 0, 0], &whole[12..]].concat(), "version 9"),
    ] {
        std::fs::write(&cut, bytes).unwrap();
        let refused = Studied::read(&cut, &Questions::default()).unwrap_err().to_string();
        assert!(refused.contains(sentence), "{refused}");
    }
}

#[test]
fn what_is_outside_of_marks_counts_only_where_there_are_none() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("all.trace");
    let names = |studied: &Studied| -> Vec<String> {
        studied.executed.iter().map(|one| one.operation.clone()).collect()
    };
    std::fs::write(&path, events(1, Coverage::Whole)).unwrap();
    assert_eq!(names(&read(&path)), ["0", "4"]);
    std::fs::write(&path, program()).unwrap();
    let studied = read(&path);
    assert_eq!(names(&studied), ["program"]);
    assert_eq!(studied.executed[0].target, "all");
    assert_eq!(studied.figures(&studied.executed[0]).instructions, 3);
}

/// Caches of one level with so many lines each, in one set.
fn of_lines(lines: u64) -> caches::Hierarchy {
    let shape = caches::Shape {
        size_bytes: 64 * lines,
        line_bytes: 64,
        ways: 0,
        policy: caches::CachePolicy::Lru,
    };
    let geometry = caches::Geometry::new(shape).expect("a cache");
    let first = caches::FirstLevel::Split { instruction: geometry, data: geometry };
    caches::Hierarchy::new(first, Vec::new()).expect("one level")
}

fn code(code_lines: u32, data_lines: u32) -> CodeBetween {
    let (order, loads) = (user_code::Order::Random, user_code::Loads::Dependent);
    let shape = user_code::CodeShape { code_lines, data_lines, order, loads };
    CodeBetween::new(shape).expect("there is such code")
}

#[test]
fn what_an_operation_moves_out_the_code_around_it_misses() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.trace");
    std::fs::write(&path, repeated(&[1; 4], Coverage::Marked)).unwrap();
    let rounds = |lines, codes: &[CodeBetween]| {
        let found = polluted(&path, Some("0"), codes, &of_lines(lines)).expect("a trace");
        let [create] = &found.operations[..] else { panic!("one operation: {found:?}") };
        assert_eq!(create.repetitions, 3);
        create.rounds.clone()
    };
    // The operation takes 6 lines of each kind, besides the line of the program.
    let misses = |lines, code: CodeBetween| {
        let found = rounds(lines, &[code]).swap_remove(0);
        [found.alone, found.after_operation, found.of_operation].map(|all| [all[0], all[1]])
    };
    assert_eq!(misses(64, code(3, 2)), [[0.0, 0.0]; 3], "there is room for all");
    let [alone, after, of_operation] = misses(7, code(3, 2));
    assert_eq!(alone, [0.0, 0.0]);
    // Of two lines of data, a round loads one, the other, and the first again, which just stays.
    assert_eq!(after, [3.0, 1.0], "all of the code is moved out, and half of its data");
    assert!(of_operation[0] >= 2.0, "as is what has no room of the operation: {of_operation:?}");
    let [alone, after, _] = misses(4, code(9, 1));
    assert_eq!((alone[0], after[0]), (9.0, 9.0), "code that never fits misses in any case");
    assert_eq!(rounds(64, &[code(1, 1), code(2, 2)]).len(), 2);
}

#[test]
fn a_repetition_unlike_the_others_does_not_move_the_figures() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.trace");
    let misses = |allocations: &[u32]| {
        std::fs::write(&path, repeated(allocations, Coverage::Marked)).unwrap();
        let found = polluted(&path, Some("0"), &[code(3, 2)], &of_lines(16)).expect("a trace");
        found.operations[0].rounds[0].of_operation.clone()
    };
    assert_eq!(misses(&[0, 1, 0, 0]), misses(&[0; 4]));
}

#[test]
fn what_cannot_be_put_among_code_is_refused() {
    let (_place, ext4) = traces();
    let refused = |operation| {
        polluted(&ext4, operation, &[], &of_lines(8)).expect_err("it is refused").to_string()
    };
    assert!(refused(None).contains("traced at least twice"), "{}", refused(None));
    assert!(refused(Some("chmod")).contains("one of create, stat"), "{}", refused(Some("chmod")));
}
