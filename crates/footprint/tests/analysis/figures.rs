//! Figures, maps, trees and differences of traces computed by hand.

use caches::{CachePolicy, FirstLevel, Geometry, Hierarchy, LevelReport, Shape};
use footprint::categories::Categories;
use footprint::cgstacks::{CategorizedTrace, Frames, Weight};
use footprint::description::{Description, Function, Inlined};
use footprint::diff::{Change, Shares, difference};
use footprint::simulated::{CacheOutcome, CacheSimulator, Warmth};
use footprint::touched::{
    Collector, Content, Footprint, Repeated, Selection, data_map, instruction_map, uses_of,
};
use footprint::trace::{Completeness, Context, Region, Walk};
use footprint::tree::FlameTree;
use footprint_trace::header::{Coverage, Scope};
use footprint_trace::mark::Edge;

use crate::made::{MOV, NOP, RET, TraceBuilder, reader};

fn function(address: u64, name: &str, file: &str) -> Function {
    let (name, file) = (name.to_owned(), Some(file.to_owned()));
    Function { address, bytes: 0x100, name, file, ..Function::default() }
}

/// The virtual file system's `main` calls the page cache's `find` and a file system's `get`, which
/// calls `find` too and contains an inlined lock.
fn names() -> Description {
    let mut description = Description {
        functions: vec![
            function(0x1000, "main", "fs/open.c"),
            function(0x1100, "find", "mm/filemap.c"),
            function(0x1200, "get", "fs/ext4/inode.c"),
        ],
        inlined: vec![Inlined {
            address: 0x1201,
            bytes: 1,
            name: "lock".to_owned(),
            file: Some("include/linux/spinlock.h".to_owned()),
            ..Inlined::default()
        }],
        ..Description::default()
    };
    description.sort();
    description
}

/// One repetition, with the lines and counts that the tests below expect.
fn repetition(made: &mut TraceBuilder) {
    made.mark(Edge::Begin, 1, 2);
    made.call(0x1000, 0x1100, 0x7ff0);
    made.run(0x1100, &[NOP, NOP, MOV]).load(0x8000, 8);
    made.ret(0x1105, 0x7ff0);
    made.call(0x1005, 0x1200, 0x7ff0);
    made.run(0x1200, &[NOP, NOP, MOV]).store(0x903c, 8);
    made.call(0x1205, 0x1100, 0x7fe0);
    made.run(0x1100, &[NOP, NOP, MOV]).load(0x8004, 8);
    made.ret(0x1105, 0x7fe0).run(0x120a, &[RET]).load(0x7ff0, 8);
    made.run(0x100a, &[NOP]);
    made.mark(Edge::End, 1, 2);
}

fn trace(repetitions: u32) -> Vec<u8> {
    let mut made = TraceBuilder::new(Scope::Program, Coverage::Marked);
    (0..repetitions).for_each(|_| repetition(&mut made));
    made.trace()
}

struct Seen {
    walk: Walk<Description>,
    footprints: Vec<Footprint>,
    outcomes: Vec<CacheOutcome>,
}

fn see(trace: &[u8], selection: Selection, warmth: Warmth) -> Seen {
    let mut reader = reader(trace);
    let mut walk = Walk::new(*reader.header(), names());
    let mut collector = Collector::new(selection);
    let shape = Shape { size_bytes: 1 << 10, line_bytes: 64, ways: 4, policy: CachePolicy::Lru };
    let l1 = Geometry::new(shape).expect("a cache");
    let caches = Hierarchy::new(FirstLevel::Split { instruction: l1, data: l1 }, Vec::new());
    let mut simulated = CacheSimulator::new(Scope::Program, &caches.expect("caches"), warmth);
    walk.run(&mut reader, &mut (&mut collector, &mut simulated)).expect("a whole trace");
    let (footprints, outcomes) = (collector.into_footprints(), simulated.into_outcomes());
    Seen { walk, footprints, outcomes }
}

fn is_user(context: Context) -> bool {
    context.counts(Scope::Program)
}

#[test]
fn figures_are_as_computed_by_hand() {
    let seen = see(&trace(1), Selection::default(), Warmth::Warm);
    let [footprint] = &seen.footprints[..] else { panic!("one region") };
    assert_eq!(footprint.region, Region::Marked { region: 1, operation: 2, repetition: 0 });
    assert_eq!((footprint.repetitions, footprint.completeness), (1, Completeness::Whole));
    let figures = footprint.figures(seen.walk.code(), seen.walk.stacks(), is_user);
    let instructions = 1 + 3 + 1 + 1 + 3 + 1 + 3 + 1 + 1 + 1;
    assert_eq!(figures.instructions, instructions);
    assert_eq!(figures.user_instructions, instructions);
    // Lines 0x1000, 0x1100 and 0x1200 with 5+5+1, 5+1 and 5+5+1 bytes.
    assert_eq!((figures.instruction_lines, figures.instruction_bytes), (3, 28));
    assert_eq!(figures.instruction_bytes_unused, 3 * 64 - 28);
    assert_eq!(figures.instruction_lines_used_once, 2, "but 0x1100");
    // Lines 0x7fc0 with two slots of 8 bytes, 0x8000 with bytes 0 to 11, 0x9000 and 0x9040.
    assert_eq!((figures.data_lines, figures.data_bytes), (4, 16 + 12 + 8));
    assert_eq!(figures.data_bytes_unused, 4 * 64 - 36);
    assert_eq!(figures.data_lines_used_once, 2, "0x9000 and 0x9040");
    assert_eq!((figures.data_lines_loaded, figures.data_lines_stored), (2, 3));
    assert_eq!((figures.loads, figures.stores), (5, 4));
}

#[test]
fn repetitions_are_passed_over_apart_or_merged() {
    let trace = trace(3);
    let of = |warm_up, repeated| {
        let seen = see(&trace, Selection { warm_up, repeated }, Warmth::Warm);
        let figures = seen.footprints.iter().map(|footprint| {
            let figures = footprint.figures(seen.walk.code(), seen.walk.stacks(), is_user);
            (footprint.repetitions, figures.instructions, figures.data_lines_used_once)
        });
        figures.collect::<Vec<_>>()
    };
    assert_eq!(of(0, Repeated::Apart), [(1, 16, 2); 3]);
    assert_eq!(of(2, Repeated::Apart), [(1, 16, 2)]);
    assert_eq!(of(1, Repeated::Merged), [(2, 32, 0)]);
}

#[test]
fn maps_count_each_byte() {
    let seen = see(&trace(1), Selection::default(), Warmth::Warm);
    let (footprint, code, stacks) = (&seen.footprints[0], seen.walk.code(), seen.walk.stacks());
    let map = instruction_map(footprint, code, stacks, is_user);
    assert_eq!(map.iter().map(|line| line.line).collect::<Vec<_>>(), [0x1000, 0x1100, 0x1200]);
    assert_eq!(map[1].counts[..7], [2, 2, 2, 2, 2, 2, 0]);
    assert_eq!(map[2].counts[..12], [1; 11].iter().copied().chain([0]).collect::<Vec<_>>()[..]);
    let all = [Content::Loads, Content::Stores];
    let map = data_map(footprint, stacks, &all, is_user);
    assert_eq!(
        map.iter().map(|line| line.line).collect::<Vec<_>>(),
        [0x7fc0, 0x8000, 0x9000, 0x9040]
    );
    assert_eq!(map[1].counts[..13], [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 0]);
    assert_eq!(map[0].counts[0x30], 4, "both calls and returns");
    let stored = data_map(footprint, stacks, &[Content::Stores], is_user);
    assert_eq!(stored.iter().map(|line| line.line).collect::<Vec<_>>(), [0x7fc0, 0x9000, 0x9040]);
    let uses = uses_of(footprint, code, 0x8004);
    assert_eq!(
        uses.iter().map(|one| (one.instruction, one.count)).collect::<Vec<_>>(),
        [(0x1102, 1); 2]
    );
    assert_ne!(uses[0].stack, uses[1].stack);
    let uses = uses_of(footprint, code, 0x1104);
    assert_eq!(uses.iter().map(|one| one.instruction).collect::<Vec<_>>(), [0x1102; 2]);
}

#[test]
fn caches_are_warm_or_empty() {
    let misses = |warmth| {
        let seen = see(&trace(2), Selection::default(), warmth);
        let of = |outcome: &CacheOutcome| {
            let levels = outcome.report.levels.iter().map(LevelReport::misses);
            let levels: Vec<u64> = levels.collect();
            let by_stack = outcome.missed.iter().map(|missed| missed.misses.iter().sum::<u64>());
            assert_eq!(by_stack.sum::<u64>(), levels.iter().sum::<u64>());
            levels
        };
        seen.outcomes.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(misses(Warmth::Warm), [vec![3, 4], vec![0, 0]]);
    assert_eq!(misses(Warmth::Empty), [vec![3, 4], vec![3, 4]]);
    let seen = see(&trace(1), Selection::default(), Warmth::Warm);
    let report = &seen.outcomes[0].report;
    assert_eq!(
        (report.accesses.fetches, report.accesses.loads, report.accesses.stores),
        (16, 5, 4)
    );
    let levels = report.levels.iter();
    let levels = levels.map(|level| (level.name.as_str(), level.misses(), level.write_backs));
    assert_eq!(levels.collect::<Vec<_>>(), [("l1i", 3, 0), ("l1d", 4, 0)]);
    assert_eq!(report.levels.iter().map(|level| level.dirty_bytes).sum::<u64>(), 192);
    assert_eq!(report.straddling.total(), 1);
}

/// The tree's paths with their own weights, except those without any.
fn paths(tree: &FlameTree) -> Vec<(String, f64)> {
    let nodes = (0..).zip(&tree.own).filter(|(_, own)| **own != 0.0);
    let mut paths: Vec<_> = nodes.map(|(node, &own)| (tree.path(node), own)).collect();
    paths.sort_by(|a, b| a.0.cmp(&b.0));
    paths
}

fn grown(frames: Frames, weight: Weight) -> Vec<(String, f64)> {
    let seen = see(&trace(1), Selection::default(), Warmth::Warm);
    let categories = Categories::default();
    paths(&side(&seen, &categories).tree(&seen.footprints[0], frames, weight))
}

#[test]
fn stacks_condense_to_categories() {
    let expected = |weights: [f64; 5]| {
        let paths = [
            "vfs",
            "vfs;file system",
            "vfs;file system;locking",
            "vfs;file system;page cache",
            "vfs;page cache",
        ];
        let all = paths.into_iter().zip(weights).filter(|(_, weight)| *weight != 0.0);
        all.map(|(path, weight)| (path.to_owned(), weight)).collect::<Vec<_>>()
    };
    let grown = |weight| grown(Frames::Categories, weight);
    assert_eq!(grown(Weight::CodeBytes), expected([11.0, 10.0, 1.0, 6.0, 6.0]));
    assert_eq!(grown(Weight::Instructions), expected([3.0, 4.0, 1.0, 4.0, 4.0]));
    assert_eq!(grown(Weight::InstructionLines), expected([1.0; 5]));
    assert_eq!(grown(Weight::DataLines), expected([1.0, 3.0, 0.0, 2.0, 2.0]));
}

#[test]
fn a_category_is_in_a_stack_once() {
    let mut made = TraceBuilder::new(Scope::Program, Coverage::Marked);
    made.mark(Edge::Begin, 1, 2).call(0x1000, 0x1200, 0x7ff0).call(0x1200, 0x1000, 0x7fe0);
    made.run(0x1000, &[NOP, NOP]).mark(Edge::End, 1, 2);
    let seen = see(&made.trace(), Selection::default(), Warmth::Warm);
    let categories = Categories::default();
    let walked = side(&seen, &categories);
    let tree = walked.tree(&seen.footprints[0], Frames::Categories, Weight::ExecutedBytes);
    let expected = [("vfs".to_owned(), 5.0), ("vfs;file system".to_owned(), 5.0 + 2.0)];
    assert_eq!(paths(&tree), expected);
}

#[test]
fn functions_are_not_condensed() {
    let expected = ["main", "main;find", "main;get", "main;get;find", "main;get;lock"];
    let expected = expected.into_iter().zip([11.0, 6.0, 10.0, 6.0, 1.0]);
    let expected: Vec<_> = expected.map(|(path, weight)| (path.to_owned(), weight)).collect();
    assert_eq!(grown(Frames::Functions, Weight::ExecutedBytes), expected);
}

#[test]
fn differences_are_by_category_and_function() {
    let before = see(&trace(1), Selection::default(), Warmth::Warm);
    let mut made = TraceBuilder::new(Scope::Program, Coverage::Marked);
    made.mark(Edge::Begin, 1, 2).call(0x1000, 0x1100, 0x7ff0);
    made.run(0x1100, &[NOP, NOP, MOV]).load(0x8000, 8).ret(0x1105, 0x7ff0);
    made.run(0x1005, &[MOV]).load(0xa000, 64).mark(Edge::End, 1, 2);
    let after = see(&made.trace(), Selection::default(), Warmth::Warm);
    let categories = Categories::default();
    let shares = |seen: &Seen| Shares::new(side(seen, &categories), &seen.footprints[0]);
    let found = difference(&shares(&before), &shares(&after));
    let rows = |rows: &[Change]| {
        let row = |row: &Change| {
            let name = row.function.as_ref().unwrap_or(&row.category).clone();
            (name, row.lines_gained(), row.instructions_gained())
        };
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let named = |rows: [(&str, i64, i64); 3]| rows.map(|(name, a, b)| (name.to_owned(), a, b));
    let expected = [("file system", -4, -5), ("vfs", 1, -1), ("page cache", 0, -4)];
    assert_eq!(rows(&found.categories), named(expected));
    let expected = [("get", -4, -5), ("main", 1, -1), ("find", 0, -4)];
    assert_eq!(rows(&found.functions), named(expected));
}

fn side<'a>(seen: &'a Seen, categories: &'a Categories) -> CategorizedTrace<'a> {
    let walk = &seen.walk;
    let (code, stacks, names) = (walk.code(), walk.stacks(), walk.names());
    CategorizedTrace { scope: Scope::Program, code, stacks, names, categories }
}
