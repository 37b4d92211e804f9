//! kill -9 at random moments: nothing is left behind, and the run can be resumed to its end.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;

use crate::place::{Place, names_in};
use crate::process::{ends_within, kill};

const KILLS: u32 = 20;
const BLOCKS: u64 = 8;

/// When to kill the process.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// This long after its start, while targets are being made or measured.
    AfterMilliseconds(u32),
    /// When its journal has grown by this many lines, in the middle of measuring.
    AfterLines(usize),
}

/// Random numbers that are the same in every test run (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn moment(&mut self) -> Moment {
        if self.below(2) == 0 {
            let milliseconds = u32::try_from(self.below(500)).expect("below 500");
            return Moment::AfterMilliseconds(milliseconds);
        }
        Moment::AfterLines(usize::try_from(self.below(24)).expect("below 24"))
    }
}

#[test]
fn twenty_sudden_deaths_leave_nothing_and_lose_nothing() {
    let name = "twenty_sudden_deaths_leave_nothing_and_lose_nothing";
    let Some(place) = Place::as_root(name) else { return };
    let data = place.make("data");
    fs::write(data.join("precious"), "kept").expect("the place is ours");
    let mut random = Random(20);
    let (mut deaths, mut runs) = (0, 1);
    while deaths < KILLS {
        let run = format!("run{runs}");
        let mut child = begin_or_go_on(&place, &run);
        let moment = random.moment();
        let ended = match moment {
            Moment::AfterMilliseconds(milliseconds) => ends_within(&child, milliseconds),
            Moment::AfterLines(lines) => ends_before_lines(&child, &place.path(&run), lines),
        };
        kill(&mut child);
        place.assert_nothing_left(child.id());
        assert_eq!(names_in(&data), ["precious"], "{moment:?}");
        // On a fast machine, a run may end before it is killed.
        (deaths, runs) = if ended { (deaths, runs + 1) } else { (deaths + 1, runs) };
        println!("{deaths} deaths in {runs} runs: {moment:?}");
    }
    let last = begin_or_go_on(&place, &format!("run{runs}")).wait().expect("it is ours");
    assert!(last.success(), "{last}");
    assert_eq!(names_in(&data), ["precious"]);
    for run in 1..=runs {
        assert_complete(&place.path(&format!("run{run}")));
    }
}

/// Starts a run with one target of each kind, or resumes it if it has a manifest.
fn begin_or_go_on(place: &Place, run: &str) -> Child {
    let begin = format!(
        "run survey/in-memory a=ext4:size=128m,memory=512m,read_bps=500m b=xfs:size=320m \
         tmpfs:size=128m d=./data --size 1m --seed 7 --budget 2s --blocks {BLOCKS} --out {run}"
    );
    let go_on = format!("run --resume {run}");
    let is_begun = place.path(run).join("manifest.json").exists();
    let mut command = place.measure(if is_begun { &go_on } else { &begin });
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it can be started")
}

/// Waits until the journal has grown by `lines` lines. Returns whether the process ended before.
pub(crate) fn ends_before_lines(child: &Child, run: &Path, lines: usize) -> bool {
    let events = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK);
    let events = events.expect("the kernel has inotify");
    let journal = run.join("cells.jsonl");
    if inotify::add_watch(&events, &journal, inotify::WatchFlags::MODIFY).is_err() {
        // Nothing has been written yet.
        return ends_within(child, 100);
    }
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).expect("it is ours");
    let count = || fs::read(&journal).map_or(0, |text| text.split(|&b| b == b'\n').count());
    let wanted = count() + lines;
    while count() < wanted {
        if wait_for_either(&events, &end) {
            return true;
        }
    }
    false
}

/// Waits for an event or for the end. Returns whether it was the end.
fn wait_for_either(events: &OwnedFd, end: &OwnedFd) -> bool {
    let mut both = [PollFd::new(events, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
    poll(&mut both, None).expect("they can be waited for");
    let ended = !both[1].revents().is_empty();
    let _all_events_alike = rustix::io::read(events, &mut [0; 4096]);
    ended
}

/// Checks that every cell is in the journal once per block, and that its histogram contains those
/// operations.
fn assert_complete(run: &Path) {
    let manifest = fs::read_to_string(run.join("manifest.json")).expect("it is there");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let cells = manifest["cells"].as_array().expect("a list").len() as u64;
    let journal = fs::read_to_string(run.join("cells.jsonl")).expect("it is there");
    let mut done = BTreeSet::new();
    // Benchmarks that the files are too small for are not measured in any block.
    let mut left_out = BTreeSet::new();
    for line in journal.lines() {
        let line: Value = serde_json::from_str(line).expect("every line is whole");
        assert_ne!(line["kind"], "cell-failed", "{line}");
        for one in line["left_out"].as_array().into_iter().flatten() {
            left_out.extend(one["cells"].as_array().expect("a list").iter().map(Value::as_u64));
        }
        if line["kind"] == "replicate" {
            let place = (line["block"].as_u64(), line["cell"].as_u64());
            assert!(done.insert(place), "{place:?} stands twice");
        }
    }
    assert!((left_out.len() as u64) < cells, "{left_out:?}");
    let measured: Vec<_> = (0..cells).map(Some).filter(|cell| !left_out.contains(cell)).collect();
    let wanted =
        (0..BLOCKS).flat_map(|block| measured.iter().map(move |&cell| (Some(block), cell)));
    assert_eq!(done, wanted.collect(), "each cell once per block");
}
