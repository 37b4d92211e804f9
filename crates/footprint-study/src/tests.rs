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
