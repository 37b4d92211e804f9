//! Compares the system calls of Bonnie's phases with those of the Bonnie++ on this machine, as
//! strace shows them. Phases that both have make the same calls. Single characters are an
//! exception: Bonnie++ 2.00 makes a system call for each.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::geteuid;

use crate::place::{Place, say_skipped};
use crate::process::Outcome;

/// The calls to trace. With `?`, strace accepts that the architecture may lack the older of two
/// calls that do the same.
const TRACED: &str = "trace=?open,openat,read,write,lseek,fsync,close,?unlink,unlinkat,?mkdir,\
                      mkdirat,?rmdir,chdir,?stat,fstat,newfstatat,getdents64,sync,syncfs";

/// Number of seeks in both programs. `CHUNK` is the size of a block.
const SEEKS: usize = 40;
const CHUNK: u64 = 8192;

/// A system call: the thread that made it, its name, its arguments and its result.
#[derive(Clone, Debug)]
struct Call {
    thread: u32,
    name: String,
    arguments: String,
    result: String,
}

/// Runs both programs under strace, each in its own directory. If a program is missing or strace
/// may not trace, says that the test is skipped and returns `None`.
fn traced(test: &str, theirs: &str, ours: &str) -> Option<[Vec<Call>; 2]> {
    for program in ["strace", "bonnie++"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
        if !found.is_ok_and(|found| found.status.success()) {
            say_skipped(test, &format!("it needs {program}, which `scripts/setup test` installs"));
            return None;
        }
    }
    if !Command::new("strace").args(["-o", "/dev/null", "true"]).status().ok()?.success() {
        say_skipped(test, "strace may not trace here");
        return None;
    }
    let place = Place::new();
    let data = place.make("data");
    let user = if geteuid().is_root() { "-u root" } else { "" };
    let theirs = format!("bonnie++ -d {} -r 0 -q {user} {theirs}", data.display());
    let ours = format!("{} run {ours} --blocks 1 data", env!("CARGO_BIN_EXE_fsprism"));
    Some([theirs, ours].map(|command| calls(&place, &command)))
}

fn calls(place: &Place, command: &str) -> Vec<Call> {
    let file = place.path("trace");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "--seccomp-bpf", "-y", "-s", "256", "-e", TRACED, "-e", "signal=none", "-o"])
        .arg(&file);
    let strace = place.here(strace, command);
    let output = { strace }.output().expect("it can be started");
    Outcome::from_output(output).assert_code(0);
    parsed(&fs::read_to_string(&file).expect("it was written"))
}

/// The calls in the order in which they returned. A call that another thread interrupted is on two
/// lines.
fn parsed(trace: &str) -> Vec<Call> {
    let mut begun: BTreeMap<u32, String> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Ok(thread) = thread.parse::<u32>() else { continue };
        let rest = rest.trim_start();
        if let Some(beginning) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, beginning.to_owned());
            continue;
        }
        let whole = match rest.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>")) {
            Some((_, end)) => begun.remove(&thread).unwrap_or_default() + end,
            None => rest.to_owned(),
        };
        let Some((name, rest)) = whole.split_once('(') else { continue };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { continue };
        let arguments = arguments.trim_end().trim_end_matches(')').to_owned();
        let (name, result) = (name.to_owned(), result.to_owned());
        calls.push(Call { thread, name, arguments, result });
    }
    calls
}

impl Call {
    /// The path of the file descriptor that the call is about.
    fn path(&self) -> &str {
        let from = |text: &'_ str| -> Option<(usize, usize)> {
            let begin = text.find('<')? + 1;
            Some((begin, begin + text[begin..].find('>')?))
        };
        let is_opening = self.name.starts_with("open");
        let text = if is_opening { &self.result } else { &self.arguments };
        from(text).map_or("", |(begin, end)| &text[begin..end])
    }

    /// Whether it is about Bonnie's file, or a file below Bonnie's directory.
    fn is_of_bonnie(&self) -> bool {
        Path::new(self.path())
            .components()
            .any(|part| part.as_os_str().to_string_lossy().starts_with("Bonnie"))
    }

    fn last(&self) -> &str {
        self.arguments.rsplit(", ").next().unwrap_or_default()
    }
}

/// What each thread did between opening Bonnie's file and closing it: each call with the number of
/// bytes it moved. Sessions that moved nothing are left out.
fn sessions(calls: &[Call]) -> Vec<Vec<String>> {
    let mut open: BTreeMap<(u32, String), Vec<String>> = BTreeMap::new();
    let mut sessions = Vec::new();
    for call in calls.iter().filter(|call| call.is_of_bonnie()) {
        let descriptor =
            |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
        let words = match call.name.as_str() {
            "open" | "openat" if !call.arguments.contains("O_RDWR") => continue,
            "open" | "openat" => {
                let how = if call.arguments.contains("O_CREAT") { "create" } else { "open" };
                open.insert((call.thread, descriptor(&call.result)), vec![how.to_owned()]);
                continue;
            }
            "read" | "write" => format!("{} {}", call.name, call.result),
            "lseek" => {
                let mut arguments = call.arguments.split(", ").skip(1);
                format!("lseek {}", arguments.by_ref().collect::<Vec<_>>().join(" "))
            }
            name => name.to_owned(),
        };
        let key = (call.thread, descriptor(&call.arguments));
        let Some(session) = open.get_mut(&key) else { continue };
        session.push(words);
        if call.name == "close" {
            let session = open.remove(&key).unwrap_or_default();
            let moved = |word: &String| word.starts_with("read") || word.starts_with("write");
            if session.iter().any(moved) {
                sessions.push(session);
            }
        }
    }
    sessions
}

/// How many tickets the seekers drew, and for how many of them the block was written back. A ticket
/// is a seek and a read; a block is written back by a second seek to the same place and a write.
fn tickets(sessions: &[Vec<String>]) -> (usize, usize) {
    let (mut all, mut updates) = (0, 0);
    for session in sessions {
        assert_eq!(session[0], "open");
        assert_eq!(session[session.len() - 2..], ["fsync", "close"], "{session:?}");
        let mut rest = &session[1..session.len() - 2];
        while let [seek, read, ..] = rest {
            assert!(seek.starts_with("lseek ") && seek.ends_with(" SEEK_SET"), "{seek}");
            assert_eq!(*read, format!("read {CHUNK}"));
            all += 1;
            rest = &rest[2..];
            if let [again, write, ..] = rest
                && *write == format!("write {CHUNK}")
            {
                assert_eq!(again, seek);
                updates += 1;
                rest = &rest[2..];
            }
        }
        assert!(rest.is_empty(), "{rest:?}");
    }
    (all, updates)
}

#[test]
fn bonnie_makes_the_calls_of_bonnie_plus_plus() {
    let name = "bonnie_makes_the_calls_of_bonnie_plus_plus";
    let theirs = format!("-f -n 0 -s 1:8k:{SEEKS}:4");
    let options = format!("--chunk 8k --seeks {SEEKS} --fsync --phase-order bonnie++");
    let ours = format!("bonnie --size 1m {options}");
    let Some(both) = traced(name, &theirs, &ours) else { return };
    let [theirs, ours] = both.map(|calls| sessions(&calls));
    // With -f, Bonnie++ leaves out the phases per character.
    let (their_phases, their_seeks) = theirs.split_at(3);
    // The pilot may have executed everything once before, so only the last execution counts. It has
    // nine sessions, unless a seeker drew no ticket.
    let begins = ours.iter().rposition(|session| is_per_character(session, "create"));
    let ours = &ours[begins.expect("it writes characters")..];
    let (our_phases, our_seeks) = ours.split_at(5);
    let mut our_phases = our_phases.to_vec();
    let char_input = our_phases.remove(3);
    assert!(is_per_character(&char_input, "open"), "{char_input:?}");
    assert_eq!(their_phases, &our_phases[1..]);
    assert_eq!(tickets(our_seeks), (SEEKS, SEEKS / 10));
    assert_eq!(tickets(their_seeks).0, SEEKS);
}

#[test]
fn without_phases_per_character_nothing_else_is_called_before_a_phase() {
    let name = "without_phases_per_character_nothing_else_is_called_before_a_phase";
    let theirs = format!("-f -n 0 -s 1:8k:{SEEKS}:4");
    let options = format!("--chunk 8k --seeks {SEEKS} --fsync --phase-order bonnie++-f");
    let ours = format!("bonnie --size 1m {options}");
    let Some(both) = traced(name, &theirs, &ours) else { return };
    let [theirs, ours] = both.map(|calls| sessions(&calls));
    let begins = ours.iter().rposition(|session| session[0] == "create");
    let (our_phases, our_seeks) = ours[begins.expect("it writes a file")..].split_at(3);
    let (their_phases, their_seeks) = theirs.split_at(3);
    assert_eq!(their_phases, our_phases);
    assert_eq!(tickets(our_seeks), (SEEKS, SEEKS / 10));
    assert_eq!(tickets(their_seeks).0, SEEKS);
}

/// Whether a session moves a file of 1 MiB in calls of a size other than a block's: that of a stdio
/// buffer, which Bonnie++ 2.00 does not use.
fn is_per_character(session: &[String], how: &str) -> bool {
    session[0] == how && session[1] != format!("write {CHUNK}") && !session[1].starts_with("lseek")
}

/// What the thread that makes Bonnie's directory does from then on, as steps without names, in
/// which files of a directory that are treated alike appear once; and how often each step was done.
fn steps(calls: &[Call]) -> (Vec<String>, BTreeMap<String, usize>) {
    let is_top = |call: &Call| {
        let makes = ["mkdir", "mkdirat"].contains(&call.name.as_str());
        let made = call.arguments.split('"').nth(1).unwrap_or_default();
        makes && made.trim_start_matches("./").starts_with("Bonnie")
    };
    // The pilot may have executed everything once before. Each execution makes the directory twice.
    let tops: Vec<usize> = (0..calls.len()).filter(|&index| is_top(&calls[index])).collect();
    let first = tops[tops.len() - 2];
    let thread = calls[first].thread;
    let mut steps: Vec<String> = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for call in calls[first..].iter().filter(|call| call.thread == thread) {
        let Some(step) = step(call) else { continue };
        *counts.entry(step.to_owned()).or_default() += 1;
        if steps.last().is_none_or(|last| last != step) {
            steps.push(step.to_owned());
        }
    }
    (steps, counts)
}

/// The step that a call is, if it belongs to the tests.
fn step(call: &Call) -> Option<&'static str> {
    let is_up = call.arguments.contains("\"..\"");
    Some(match call.name.as_str() {
        "mkdir" | "mkdirat" => "mkdir",
        "chdir" if is_up => "chdir ..",
        "chdir" => "chdir",
        "rmdir" => "rmdir",
        "unlinkat" if call.last().contains("AT_REMOVEDIR") => "rmdir",
        "unlink" | "unlinkat" => "unlink",
        "open" | "openat" if call.arguments.contains("O_CREAT") => "create and close",
        "open" | "openat" if call.is_of_bonnie() => "list",
        "getdents64" => "getdents",
        "stat" => "stat",
        "newfstatat" if !call.last().contains("AT_EMPTY_PATH") => "stat",
        "sync" | "syncfs" => "sync",
        _ => return None,
    })
}

#[test]
fn the_tests_of_files_make_the_calls_of_bonnie_plus_plus() {
    let name = "the_tests_of_files_make_the_calls_of_bonnie_plus_plus";
    // 1024 files in both. Bonnie++ puts 65 into each directory except the last.
    let ours = "bonnie-metadata --dirs 16 --files 64";
    let Some([theirs, ours]) = traced(name, "-s 0 -n 1:0:0:16", ours) else { return };
    let (theirs, ours) = (steps(&theirs), steps(&ours));
    let ends = ours.0.iter().rposition(|step| step == "sync").expect("it ends with a sync");
    assert_eq!(theirs.0, ours.0[..=ends]);
    for (step, count) in [("create and close", 2048), ("stat", 2048), ("unlink", 2048)] {
        assert_eq!((theirs.1[step], ours.1[step]), (count, count), "{step}");
    }
}
