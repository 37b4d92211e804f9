//! Compares the simulation with valgrind's cachegrind, on a real program.
//!
//! lackey records the accesses of a program, which the simulation reads; cachegrind runs the same
//! program. Misses in the first level are the same. Those in the last level differ for two reasons,
//! given in `docs/cache-simulation.md`. The test proves that there is no third: it feeds a separate
//! cache the way cachegrind does, and then gets cachegrind's numbers.
//!
//! Skipped, with a message on standard error, if valgrind is not installed.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

use caches::{Access, Purpose, lackey};
use caches::{
    CachePolicy, FirstLevel, Geometry, Hierarchy, Inclusion, LowerLevel, Report, Shape, Simulation,
};

const PROGRAM: &str = "/bin/true";
/// How far figures may differ: two runs of a program are not identical to the byte.
const TOLERANCE: f64 = 0.01;

/// I1, D1 and LL.
type Shapes = [Shape; 3];

const SHAPES: [Shapes; 3] = [
    [shape(8 << 10, 64, 2), shape(8 << 10, 64, 2), shape(64 << 10, 64, 8)],
    [shape(32 << 10, 64, 8), shape(32 << 10, 64, 8), shape(1 << 20, 64, 16)],
    [shape(2 << 10, 32, 1), shape(2 << 10, 32, 1), shape(16 << 10, 32, 4)],
];

const fn shape(size_bytes: u64, line_bytes: u32, ways: u32) -> Shape {
    Shape { size_bytes, line_bytes, ways, policy: CachePolicy::Lru }
}

/// Misses of fetches, loads and stores.
type Misses = [u64; 3];

#[test]
fn misses_are_those_of_cachegrind() {
    let work = tempfile::tempdir().expect("a directory");
    let trace = work.path().join("trace");
    let log = format!("--log-file={}", trace.display());
    if valgrind(&["--tool=lackey", "--trace-mem=yes", &log]).is_none() {
        eprintln!("skipped: misses_are_those_of_cachegrind: valgrind cannot run {PROGRAM} here");
        return;
    }
    for shapes in SHAPES {
        let (first, last) = cachegrind(shapes);
        let report = simulated(shapes, &trace);
        assert_near(found(&report, &["l1i", "l1d"]), first, "first level");
        assert_near(as_cachegrind_does(shapes, &trace), last, "last level, fed as cachegrind's");
        let ours: u64 = found(&report, &["l2"]).iter().sum();
        let theirs: u64 = last.iter().sum();
        assert!(is_near(ours, theirs), "last level: {ours} is not {theirs}");
    }
}

/// Runs the program under a tool and returns its standard error; `None` if that fails.
fn valgrind(options: &[&str]) -> Option<String> {
    let output = Command::new("valgrind").args(options).arg(PROGRAM).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(text)
}

/// Cachegrind's misses in the first and in the last level.
fn cachegrind(shapes: Shapes) -> (Misses, Misses) {
    let option = |name: &str, Shape { size_bytes, line_bytes, ways, .. }: Shape| {
        format!("--{name}={size_bytes},{ways},{line_bytes}")
    };
    let [i1, d1, ll] = shapes;
    let (i1, d1, ll) = (option("I1", i1), option("D1", d1), option("LL", ll));
    let options = ["--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"];
    let options = [&options[..], &[i1.as_str(), d1.as_str(), ll.as_str()]].concat();
    let text = valgrind(&options).expect("cachegrind runs where lackey does");
    let numbers = |name: &str| -> Vec<u64> {
        let line = text.lines().find(|line| line.contains(name));
        let (_, line) = line.and_then(|line| line.split_once(':')).expect("cachegrind says it");
        let words = line.replace(',', "");
        words.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
    };
    // For data: the total, then the loads' and the stores' share of it.
    let data = |name| -> (u64, u64) {
        let numbers = numbers(name);
        assert_eq!(numbers.len(), 3, "{text}");
        assert_eq!(numbers[0], numbers[1] + numbers[2], "{text}");
        (numbers[1], numbers[2])
    };
    let (first, last) = (data("D1  misses"), data("LLd misses"));
    let (i1, ll) = (numbers("I1  misses")[0], numbers("LLi misses")[0]);
    ([i1, first.0, first.1], [ll, last.0, last.1])
}

fn geometry(shape: Shape) -> Geometry {
    Geometry::new(shape).expect("a cache")
}

fn read(trace: &Path, take: impl FnMut(Access)) {
    let file = BufReader::new(File::open(trace).expect("lackey wrote it"));
    lackey::read(file, take).expect("lackey's lines");
}

fn simulated([i1, d1, ll]: Shapes, trace: &Path) -> Report {
    let first = FirstLevel::Split { instruction: geometry(i1), data: geometry(d1) };
    let lower = LowerLevel { geometry: geometry(ll), inclusion: Inclusion::NonInclusive };
    let hierarchy = Hierarchy::new(first, vec![lower]).expect("caches");
    let mut simulation = Simulation::new(&hierarchy);
    read(trace, |access| simulation.access(access));
    simulation.report()
}

/// Misses in a last level that is given the whole access if any of its lines missed above, and
/// never any write-backs: `cachesim_ref` in valgrind's `cg_sim.c`.
fn as_cachegrind_does([i1, d1, ll]: Shapes, trace: &Path) -> Misses {
    let alone = |first| Simulation::new(&Hierarchy::new(first, Vec::new()).expect("caches"));
    let first = FirstLevel::Split { instruction: geometry(i1), data: geometry(d1) };
    let (mut above, mut last) = (alone(first), alone(FirstLevel::Unified(geometry(ll))));
    read(trace, |access| {
        above.begin_region();
        above.access(access);
        if above.report().levels.iter().any(|level| level.misses() > 0) {
            last.access(access);
        }
    });
    found(&last.report(), &["l1"])
}

/// Accesses missed, by purpose, in the levels with these names.
fn found(report: &Report, names: &[&str]) -> Misses {
    let levels = report.levels.iter().filter(|level| names.contains(&level.name.as_str()));
    let levels: Vec<_> = levels.collect();
    Purpose::ALL
        .map(|purpose| levels.iter().map(|one| one.lookups.get(purpose).accesses_missed).sum())
}

fn assert_near(ours: Misses, theirs: Misses, what: &str) {
    let all = ours.iter().zip(theirs).all(|(&ours, theirs)| is_near(ours, theirs));
    eprintln!("{what}: {ours:?}, cachegrind {theirs:?}");
    assert!(all, "{what}: {ours:?}, cachegrind {theirs:?}");
    assert!(theirs.iter().all(|&misses| misses > 100), "{theirs:?} tell little");
}

fn is_near(ours: u64, theirs: u64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let (apart, of) = (ours.abs_diff(theirs) as f64, theirs as f64);
    apart <= of * TOLERANCE
}
