//! The model against the paper's table, a formula, and the simulation of caches.

use proptest::prelude::*;

use super::*;
use crate::{Access, Purpose};
use crate::{CachePolicy, FirstLevel, Geometry, Hierarchy, Shape, Simulation};

fn question(lines: u64, footprint: u64, file: u64, phases: &[Phase]) -> Question {
    Question { lines, footprint, file, phases: phases.to_vec() }
}

fn flushes(question: Question) -> Vec<u64> {
    let answer = Naive::new(question).expect("a model").answer();
    answer.phases.iter().map(|one| one.flushes).collect()
}

#[test]
fn table_7_of_the_paper_comes_out() {
    let both = [Phase::Write, Phase::Read];
    let large = Naive::new(question(4, 3, 16, &both)).expect("Figure 2").answer();
    let one = |phase, flushes| PhaseAnswer { phase, accesses: 16, flushes };
    assert_eq!(large.phases, [one(Phase::Write, 15), one(Phase::Read, 1)]);
    let small = Naive::new(question(4, 1, 16, &both)).expect("Figure 3").answer();
    assert_eq!(small.phases, [one(Phase::Write, 13), one(Phase::Read, 3)]);
}

#[test]
fn a_file_that_fits_is_never_flushed() {
    let phases = [Phase::Write, Phase::Write, Phase::Read];
    assert_eq!(flushes(question(4, 1, 3, &phases)), [0, 0, 0]);
    assert_eq!(flushes(question(4, 0, 5, &phases)), [1, 5, 4]);
    assert_eq!(flushes(question(4, 0, 5, &[Phase::Read, Phase::Write])), [0, 1]);
}

#[test]
fn each_refusal_names_the_option() {
    let refused = |lines, footprint, file, phases: &[Phase]| {
        Naive::new(question(lines, footprint, file, phases)).expect_err("refused").to_string()
    };
    let write = [Phase::Write];
    assert!(refused(4, 4, 16, &write).contains("--footprint less than --lines"));
    assert!(refused(0, 0, 16, &write).contains("leaves none of the 0"));
    assert!(refused(1 << 27, 0, 16, &write).contains("--lines up to"));
    assert!(refused(4, 1, 0, &write).contains("--file at least 1"));
    assert!(refused(4, 1, 16, &[]).contains("write,read"));
    assert!(refused(4, 1, u64::MAX, &[Phase::Read; 2]).contains("smaller --file"));
    assert!(refused(4, 1, (1 << 31) + 1, &write).contains("smaller --file"));
}

#[test]
fn the_picture_shows_each_step_of_figure_3() {
    let model = Naive::new(question(4, 1, 16, &[Phase::Write, Phase::Read])).expect("Figure 3");
    let text = model.text(100);
    let line = |text: &str, begins: &str| {
        let mut lines = text.lines().filter(|line| line.trim_start().starts_with(begins));
        lines.next().unwrap_or_else(|| panic!("no {begins}")).to_owned()
    };
    assert!(line(&text, "write 3 ").contains("[##| 1*| 2*| 3*]"), "{text}");
    assert!(line(&text, "write 4 ").contains("[##| 4*| 2*| 3*]"), "{text}");
    assert!(line(&text, "write 4 ").ends_with("flushed 1"), "{text}");
    assert!(line(&text, "write 16 ").contains("[##|16*|14*|15*]"), "{text}");
    let (_, read) = text.split_once("Phase 2").expect("two phases");
    assert!(line(read, "read 1 ").contains("[##|16*| 1 |15*]"), "{text}");
    assert!(line(read, "read 3 ").ends_with("flushed 16"), "{text}");
    assert!(line(read, "read 4 ").ends_with("replaced 1"), "{text}");
    assert!(line(read, "sequential write").ends_with("13"), "{text}");
}

#[test]
fn a_large_picture_says_what_it_leaves_out() {
    let phases = vec![Phase::Write; 20];
    let model = Naive::new(question(1000, 100, 10_000, &phases)).expect("a model");
    let text = model.text(100);
    assert!(text.lines().count() < 300, "{}", text.lines().count());
    assert!(text.contains("9976 steps left out, 9088 flushes"), "{text}");
    assert!(text.contains("[100 x ##|..|"), "{text}");
    assert!(text.contains("The steps of 12 more phases are left out."), "{text}");
    for (lines, file) in [(1000, 10_000), (1 << 20, 5_000_000), (200, 30)] {
        let phases = [Phase::Write, Phase::Read];
        let model = Naive::new(question(lines, lines / 2, file, &phases)).expect("a model");
        for width in [80, 100] {
            let text = model.text(width);
            let most = text.lines().map(|line| line.chars().count()).max();
            assert!(most.is_some_and(|most| most <= width), "{lines} {most:?}\n{text}");
        }
    }
}

/// The number of flushes by formula: if the file does not fit in the lines left over, every access
/// evicts. First to be flushed is what the previous phase wrote last, as much as fits in these
/// lines, and then whatever this phase has written itself.
fn formula(question: &Question) -> Vec<u64> {
    let room = question.lines - question.footprint;
    let (mut taken, mut dirty) = (0, 0);
    let phases = question.phases.iter().map(|phase| {
        if question.file <= room {
            return 0;
        }
        let own = if *phase == Phase::Write { question.file - room } else { 0 };
        let flushes = dirty.min(taken) + own;
        taken = room;
        dirty = if *phase == Phase::Write { room } else { 0 };
        flushes
    });
    phases.collect()
}

/// Flushes of a fully associative LRU cache with as many lines as are left over.
fn simulated(question: &Question) -> Vec<u64> {
    let size_bytes = (question.lines - question.footprint) * 64;
    let shape = Shape { size_bytes, line_bytes: 64, ways: 0, policy: CachePolicy::Lru };
    let data = Geometry::new(shape).expect("a cache");
    let caches = Hierarchy::new(FirstLevel::Data(data), Vec::new()).expect("one cache");
    let mut simulation = Simulation::new(&caches);
    let phases = question.phases.iter().map(|phase| {
        let purpose = if *phase == Phase::Write { Purpose::Store } else { Purpose::Load };
        simulation.begin_region();
        for segment in 0..question.file {
            simulation.access(Access { purpose, address: segment * 64, bytes: 64 });
        }
        simulation.report().levels[0].write_backs
    });
    phases.collect()
}

proptest! {
    #[test]
    fn formula_and_simulation_agree(
        room in 1..20_u64,
        footprint in 0..5_u64,
        file in 1..60_u64,
        phases in prop::collection::vec(
            prop_oneof![Just(Phase::Write), Just(Phase::Read)], 1..6),
    ) {
        let question = question(room + footprint, footprint, file, &phases);
        let answered = flushes(question.clone());
        prop_assert_eq!(&answered, &formula(&question));
        prop_assert_eq!(answered, simulated(&question));
    }
}
