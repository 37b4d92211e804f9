//! Other programs that keep the machine busy.

use std::process::{Child, Command, Stdio};
use std::thread::available_parallelism;

use serde_json::Value;

use crate::place::Place;
use crate::process::Running;

const RUN: &str = "run survey/metadata tmpfs=. --benchmark stat-100";

/// One busy-looping program per processor; they are killed when this is dropped.
struct Loops(Vec<Child>);

impl Loops {
    fn start() -> Self {
        let count = available_parallelism().map_or(1, usize::from);
        let start = |_| {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            shell.spawn().expect("there is a shell")
        };
        Self((0..count).map(start).collect())
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        for shell in &mut self.0 {
            let _ = shell.kill();
            let _ = shell.wait();
        }
    }
}

/// All warnings of one kind, of the run and of its cells.
fn warnings<'a>(document: &'a Value, kind: &str) -> Vec<&'a Value> {
    let of = |value: &'a Value| value["warnings"].as_array().into_iter().flatten();
    let cells = document["cells"].as_array().expect("there are cells").iter().flat_map(of);
    of(document).chain(cells).filter(|one| one["kind"] == kind).collect()
}

/// Whether it is said that a program other than fsprism used more than half of all processors:
/// `chromium used 1.9 of 2 processors`.
fn is_most_of_the_machine(who: &str) -> bool {
    let share = || {
        let (name, used) = who.split_once(" used ")?;
        let (used, all) = used.strip_suffix(" processors")?.split_once(" of ")?;
        let [used, all]: [f64; 2] = [used.parse().ok()?, all.parse().ok()?];
        (name != "fsprism").then_some(used / all)
    };
    share().is_some_and(|share| share > 0.5)
}

#[test]
fn what_is_measured_beside_busy_programs_is_marked() {
    let place = Place::new();
    let _loops = Loops::start();
    let run = place.run(&format!("{RUN} --blocks 2 --on-busy measure --out busy --format csv"));
    run.assert_code(0);
    assert!(run.stderr.contains("measured while the machine was busy: "), "{}", run.stderr);
    assert!(!run.stderr.contains("waiting until the machine is quiet"), "{}", run.stderr);
    let document = place.finish(place.fsprism("report busy --format json")).document();
    let busy = warnings(&document, "busy-machine");
    assert!(busy.len() >= 2, "of the run and of a cell: {busy:?}");
    let who: Vec<&str> = busy.iter().filter_map(|one| one["who"].as_str()).collect();
    // Beside the loops, a program of another test may be busier for a while: only one is named.
    let is_said = |who: &&str| who.starts_with("sh used ") || is_most_of_the_machine(who);
    assert!(who.iter().any(is_said), "{who:?}");
    let checked = place.finish(place.fsprism("check busy"));
    assert!(checked.stdout.contains("Machine kept busy by others"), "{}", checked.stdout);
    let report = place.finish(place.fsprism("report busy --terminal --full"));
    assert!(report.stdout.contains("BUSY MACHINE"), "{}", report.stdout);
}

#[test]
fn a_run_that_is_to_refuse_a_busy_machine_ends() {
    let place = Place::new();
    let _loops = Loops::start();
    let run = place.run(&format!("{RUN} --blocks 2 --on-busy refuse --out refused --full"));
    run.assert_code(1);
    let ended = "Measuring ended because other programs kept the machine busy";
    assert!(run.stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains(ended), "{run:?}");
}

#[test]
fn a_run_waits_and_says_for_whom() {
    let place = Place::new();
    let loops = Loops::start();
    let command = place.measure(&format!("{RUN} --blocks 1 --budget 8s --on-busy wait"));
    let mut running = Running::start(&place, command);
    running.until(": waiting until the machine is quiet, for 2 s at most");
    drop(loops);
    // Other tests may keep the machine busy too; then it measures anyway.
    running.until("the machine is ");
    running.finish(&place).assert_code(0);
}

#[test]
fn what_cannot_be_seen_of_others_is_said() {
    let Some(place) = Place::as_root("what_cannot_be_seen_of_others_is_said") else { return };
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc", env!("CARGO_BIN_EXE_fsprism")]);
    let outcome = place.finish(place.here(command, &format!("{RUN} --blocks 1")));
    outcome.assert_code(0);
    assert!(outcome.stderr.contains("kernel threads cannot be seen"), "{}", outcome.stderr);
}
