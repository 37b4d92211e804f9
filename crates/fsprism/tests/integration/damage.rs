//! Run directories that were damaged by accident or on purpose. Whatever their files contain, they
//! are shown, or refused with a sentence, using little memory and time.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::place::{Place, names_in};

/// The least number of times that damage is tried. `TRIED` is the least time. `FSPRISM_DAMAGES` in
/// the environment sets the exact number of times instead.
const CASES: u32 = 300;
const TRIED: Duration = Duration::from_secs(60);
/// In one of this many cases, the run is also resumed, which takes longer than showing it.
const RESUMED_EVERY: u32 = 25;
/// Limits a command to 1 GiB of memory and two minutes; if it takes longer, its status is 124.
const BOUNDED: &str = "ulimit -v 1048576 && exec timeout 120 \"$0\" \"$@\"";
/// Numbers that no measurement gives, and things that are not numbers.
const INSTEAD: [&str; 13] = [
    "-1",
    "0",
    "1e300",
    "-1e-300",
    "1e15",
    "999999999999999",
    "4294967295",
    "18446744073709551615",
    "9e99999",
    "0.9999999999999999",
    "null",
    "\"\\u001b[2J\\u202e\"",
    "[]",
];
const RESUMED: &str = "survey --resume run --no-wait --budget 1s";
const COMMANDS: [&str; 17] = [
    "report run --terminal",
    "report run --format json",
    "report run --format csv",
    "report run --format csv-summary",
    "report run --format bonnie",
    "report run --format openmetrics",
    "report run --format fio",
    "report run --format markdown",
    "report run --format bmf",
    "report run whole --terminal",
    "report run --out page.html",
    "compare run whole",
    "compare run",
    "compare --a run --b whole",
    "check run",
    "runs",
    "reproduce densefs --run run",
];
/// Where a run contains another, with what was counted in caches.
const TRAFFIC: &str = "cache-traffic";
/// Where a run contains traces.
const TRACES: &str = "footprint";
const OF_TRACES: [&str; 4] = [
    "footprint map run/footprint",
    "footprint stacks run/footprint",
    "footprint diff run/footprint whole/footprint",
    "report run --out page.html",
];

/// Reproducible random choices (Marsaglia's xorshift).
struct Choices(u64);

impl Choices {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).expect("it is below a usize")
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A range within `length`, of few bytes or many.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        let most = *self.pick(&[1, 4, 100, length]);
        start..(start + 1 + self.below(most)).min(length)
    }
}

#[test]
fn damaged_runs_are_shown_or_refused() {
    let place = Place::new();
    // If cells are given up (the file system here may be full or unusual), the journal says so,
    // which is fine as well.
    let whole = place.run("survey . --size 1m --blocks 2 --out whole");
    assert!(matches!(whole.code, Some(0 | 1)), "{whole:?}");
    let search = "cliff . --low 64k --high 512k --width 50% --probes 12 --budget 5s --out search";
    place.run(search).assert_code(0);
    let classic = "run bonnie . --size 64k,256k --seeks 20 --blocks 2 --out classic";
    place.run(classic).assert_code(0);
    let traced = place.run("footprint trace --beside --out traces -- true");
    if traced.code == Some(0) {
        fs::rename(place.path("traces"), place.path("whole").join(TRACES)).expect("it is ours");
    } else {
        eprintln!("no trace is damaged: {traced:?}");
    }
    counted_beside(&place.path("whole"));
    let asked = std::env::var("FSPRISM_DAMAGES").ok().and_then(|text| text.parse().ok());
    let mut choices = Choices(0x9e37_79b9_7f4a_7c15);
    let began = Instant::now();
    let goes_on = |case: &u32| match asked {
        Some(asked) => *case < asked,
        None => *case < CASES || began.elapsed() < TRIED,
    };
    for case in (0..u32::MAX).take_while(goes_on) {
        let of = *choices.pick(&["whole", "whole", "search", "classic"]);
        copy(&place.path(of), &place.path("run"));
        let what = damage(&place.path("run"), &mut choices);
        let command = match what.starts_with(TRACES) {
            true => *choices.pick(&OF_TRACES),
            false if case % RESUMED_EVERY == 0 => RESUMED,
            false => *choices.pick(&COMMANDS),
        };
        let outcome = bounded(&place, command);
        let said = String::from_utf8_lossy(&outcome.stderr);
        let is_well = matches!(outcome.status.code(), Some(0..=2)) && !said.contains("panicked");
        assert!(is_well, "case {case}: {what}: {command}: {:?}: {said}", outcome.status);
        let orders =
            |text: &[u8]| text.contains(&0x1b) || text.windows(3).any(|c| c == b"\xe2\x80\xae");
        assert!(!orders(&outcome.stdout) && !orders(&outcome.stderr), "{what}: {command}");
        fs::remove_dir_all(place.path("run")).expect("it is ours");
    }
}

/// Runs a command within the limits of `BOUNDED`.
fn bounded(place: &Place, command: &str) -> Output {
    Command::new("sh")
        .args(["-c", BOUNDED, env!("CARGO_BIN_EXE_fsprism")])
        .args(command.split(' '))
        .current_dir(place.path(""))
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()
        .expect("sh")
}

/// Every command reports what of a journal is left out, and takes little memory for it.
#[test]
fn journals_that_grew_are_read_in_little_memory_and_what_is_left_out_is_said() {
    let place = Place::new();
    let whole = place.run("survey . --size 1m --blocks 2 --out run");
    assert!(matches!(whole.code, Some(0 | 1)), "{whole:?}");
    copy(&place.path("run"), &place.path("whole"));
    let journal = place.path("run").join("cells.jsonl");
    let own = without_checksums(&fs::read(&journal).expect("it is ours"));
    for line in ["x\n", "{\"kind\":\"start\",\"used_s\":0}\n"] {
        let more = line.repeat((100 << 20) / line.len());
        fs::write(&journal, [&own, more.as_bytes()].concat()).expect("it is ours");
        for command in
            ["report run --terminal", "report run --format csv", "compare run whole", "check run"]
        {
            let outcome = bounded(&place, command);
            let said = [outcome.stdout, outcome.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(outcome.status.code(), Some(0), "{line}: {command}: {said}");
            assert!(said.contains("of cells.jsonl is damaged"), "{line}: {command}: {said}");
        }
    }
}

/// Adds a run to another, in the place of what phases move through caches.
fn counted_beside(run: &Path) {
    let beside = run.join(TRAFFIC);
    fs::create_dir(&beside).expect("it is ours");
    fs::copy(run.join("cells.jsonl"), beside.join("cells.jsonl")).expect("it is ours");
    let manifest = fs::read_to_string(run.join("manifest.json")).expect("it is ours");
    let of_traffic = manifest.replacen("\"suite\": \"survey\"", "\"suite\": \"cache-traffic\"", 1);
    assert_ne!(of_traffic, manifest);
    fs::write(beside.join("manifest.json"), unsummed(of_traffic.as_bytes())).expect("it is ours");
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.expect("coreutils").success());
}

/// Damages one file of a run, and returns what was done.
fn damage(run: &Path, choices: &mut Choices) -> String {
    let histograms = names_in(&run.join("histograms"));
    let has_trace = run.join(TRACES).is_dir();
    let has_traffic = run.join(TRAFFIC).is_dir();
    let mut name = match choices.below(if has_trace { 10 } else { 8 }) {
        0..3 => "manifest.json".to_owned(),
        3..7 => "cells.jsonl".to_owned(),
        // Runs of classic benchmarks have no histograms.
        7 if histograms.is_empty() => "cells.jsonl".to_owned(),
        7 => format!("histograms/{}", choices.pick(&histograms)),
        _ => format!("{TRACES}/true.trace"),
    };
    if has_traffic && !name.contains('/') && choices.below(4) == 0 {
        name = format!("{TRAFFIC}/{name}");
    }
    let path = run.join(&name);
    let mut content = fs::read(&path).expect("it was copied");
    if choices.below(4) > 0 {
        if name.ends_with("manifest.json") {
            content = unsummed(&content);
        } else if name.ends_with("cells.jsonl") {
            content = without_checksums(&content);
        }
    }
    let range = choices.range(content.len());
    let how = match choices.below(12) {
        0 => {
            content[range.start] ^= 1 << choices.below(8);
            "a bit flipped"
        }
        1 => {
            content.truncate(range.start);
            "cut off"
        }
        2 => {
            content[range].fill(0);
            "zeroed"
        }
        3 => {
            content.drain(range);
            "a piece lost"
        }
        4 => {
            let piece = content[range.clone()].to_vec();
            content.splice(range.start..range.start, piece);
            "a piece doubled"
        }
        5 => {
            let mut lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
            let (one, other) = (choices.below(lines.len()), choices.below(lines.len()));
            lines.swap(one, other);
            content = lines.concat();
            "two lines swapped"
        }
        6 => {
            fs::remove_file(&path).expect("it was copied");
            match choices.below(4) {
                0 => fs::create_dir(&path).expect("its place is free"),
                1 => std::os::unix::fs::symlink("/dev/zero", &path).expect("its place is free"),
                2 => {
                    let mode = rustix::fs::Mode::RWXU;
                    rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("its place is free");
                }
                _ => {}
            }
            return format!("{name}: no plain file");
        }
        _ => return format!("{name}: {}", another_value(&path, &content, choices)),
    };
    fs::write(&path, content).expect("it was copied");
    format!("{name}: {how} at {}", range_of(&path))
}

fn range_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// A journal as it was before lines had checksums, so that changes to it go unnoticed.
fn without_checksums(content: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(content);
    let plain = |line: &str| match line.rfind(",\"line\":") {
        Some(end) => format!("{}}}\n", &line[..end]),
        None => format!("{line}\n"),
    };
    text.lines().map(plain).collect::<String>().into_bytes()
}

/// A manifest as it was before there were checksums.
fn unsummed(content: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(content);
    text.rfind(",\n  \"crc32\": ")
        .map_or(content.to_vec(), |end| format!("{}\n}}", &text[..end]).into_bytes())
}

/// Replaces a number with something else.
fn another_value(path: &Path, content: &[u8], choices: &mut Choices) -> String {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'e');
    let is_start = |at: &usize| {
        content[*at].is_ascii_digit()
            && *at > 0
            && matches!(content[at - 1], b':' | b'[' | b',' | b' ')
    };
    let starts: Vec<usize> = (0..content.len()).filter(is_start).collect();
    if starts.is_empty() {
        return "nothing".to_owned();
    }
    let start = *choices.pick(&starts);
    let length = content[start..].iter().take_while(|byte| is_of_number(byte)).count();
    let value = *choices.pick(&INSTEAD);
    let changed = [&content[..start], value.as_bytes(), &content[start + length..]].concat();
    fs::write(path, changed).expect("it was copied");
    let before = String::from_utf8_lossy(&content[start.saturating_sub(60)..start]);
    format!("{value} behind {before}")
}
