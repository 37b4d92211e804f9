//! `fsprism footprint map`, `stacks`, `diff` and `simulate` on traces computed by hand, which
//! `crates/report/src/sample_traces.rs` makes; and the page of a run that contains such traces.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::place::Place;
use crate::process::Outcome;

/// A place with `ext4.trace` and `xfs.trace` in `traces`.
fn place() -> Place {
    let place = Place::new();
    let traces = place.make("traces");
    for name in ["ext4.trace", "xfs.trace"] {
        let fixture = Path::new("../report/tests/fixtures").join(name);
        fs::copy(fixture, traces.join(name)).expect("a fixture");
    }
    place
}

fn footprint(place: &Place, arguments: &str) -> Outcome {
    place.finish(place.fsprism(&format!("footprint {arguments}")))
}

#[test]
fn a_map_is_text_json_or_a_picture() {
    let place = place();
    let text = footprint(&place, "map traces/xfs.trace --op create --of data");
    let text = &text.assert_code(0).stdout;
    assert!(text.starts_with("xfs, create, data: 6 lines"), "{text}");
    assert!(
        text.contains("ffff88803e400000 ....++++........................ per-CPU cpu_slabs+0x8")
    );
    let json = footprint(&place, "map traces --format json").assert_code(0).document();
    let maps = json["maps"].as_array().expect("maps");
    assert_eq!(maps.len(), 8, "two traces, two operations, instructions and data");
    assert_eq!(json["schema_version"], 1);
    let line = &maps[1]["lines"][0];
    assert_eq!((&maps[1]["target"], &maps[1]["of"]), (&"ext4".into(), &"data".into()));
    assert_eq!(line["name"], "dentry+0x58 d_lockref");
    assert_eq!(
        (&line["address"], &line["counts"][0x18]),
        (&"0xffff888004000100".into(), &1.into())
    );
    let drawn = footprint(&place, "map traces/xfs.trace --op stat --of data --png map.png");
    assert_eq!(drawn.assert_code(0).stdout, "map.png\n");
    assert_eq!(&fs::read(place.path("map.png")).expect("a picture")[1..4], b"PNG");
    footprint(&place, "map traces --png map.png").assert_refused(&["saves one map", "--op"]);
}

#[test]
fn stacks_are_a_tree_or_folded() {
    let place = place();
    let stacks = |options: &str| footprint(&place, &format!("stacks traces/xfs.trace {options}"));
    let text = stacks("--op create");
    assert!(text.assert_code(0).stdout.contains("bytes of code"), "{text:?}");
    let folded = stacks("--op create --frames functions --weight instructions --folded");
    let line = "entry_SYSCALL_64;do_syscall_64;vfs_create;xfs_create;kmem_cache_alloc 6\n";
    assert!(folded.assert_code(0).stdout.contains(line), "{folded:?}");
    fs::write(place.path("rules"), "symbol * mine\npath fs/* theirs\n").expect("ours");
    let own = stacks("--op create --categories rules --weight lines --format json");
    let tree = &own.assert_code(0).document()["trees"][0];
    let names: Vec<_> = tree["nodes"].as_array().expect("nodes").iter().collect();
    assert!(names.iter().any(|node| node["name"] == "theirs"), "{names:?}");
    assert_eq!(tree["unit"], "instruction lines");
    fs::write(place.path("rules"), "nonsense\n").expect("ours");
    stacks("--categories rules").assert_refused(&["rules: line 1 of the categories"]);
    stacks("--op chmod").assert_refused(&["no operation `chmod`", "create, stat"]);
    stacks("--weight love").assert_refused(&["unknown weight `love`", "bytes, instructions"]);
}

#[test]
fn two_traces_and_two_directories_are_compared() {
    let place = place();
    let text = footprint(&place, "diff traces/ext4.trace traces/xfs.trace --op create");
    let text = &text.assert_code(0).stdout;
    assert!(text.contains("create: from ext4 to xfs"), "{text}");
    assert!(text.contains("kmem_cache_alloc (malloc)"), "{text}");
    let json = footprint(&place, "diff traces traces --format json").assert_code(0).document();
    let found = json["differences"].as_array().expect("differences");
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|one| one["functions"].as_array().is_some_and(Vec::is_empty)));
}

#[test]
fn a_comparison_is_a_page() {
    let place = place();
    let diff = |out: &str| {
        footprint(&place, &format!("diff traces/ext4.trace traces/xfs.trace --out {out}"))
    };
    assert_eq!(diff("page.html").assert_code(0).stdout, "page.html\n");
    let page = fs::read_to_string(place.path("page.html")).expect("a page");
    assert!(page.contains("<title>Footprints from ext4 to xfs - fsprism</title>"));
    assert!(page.contains("create: from ext4 to xfs"), "as text too");
    diff("page.html").assert_code(0);
    fs::write(place.path("notes"), "mine").expect("ours");
    diff("notes").assert_refused(&["notes is not an fsprism page: name another file"]);
    diff("nowhere/page.html").assert_refused(&["the directory nowhere does not exist"]);
    diff("traces").assert_refused(&["traces is a directory: name a file in it"]);
    assert_eq!(fs::read_to_string(place.path("notes")).expect("ours"), "mine");
}

#[test]
fn what_cannot_be_done_is_refused_with_why() {
    let place = place();
    let refused = |arguments: &str, words: &[&str]| {
        footprint(&place, arguments).assert_refused(words);
    };
    let map = "map traces/xfs.trace --op stat --of data";
    refused(&format!("{map} --png nowhere/a.png"), &["the directory nowhere does not exist"]);
    refused("stacks traces --categories nowhere", &["cannot read nowhere: No such file"]);
    let full = footprint(&place, &format!("{map} --png /dev/full"));
    full.assert_code(1).assert_says(&["cannot write /dev/full: No space left"]);
    let is_device = |metadata: fs::Metadata| metadata.file_type().is_char_device();
    assert!(fs::metadata("/dev/full").is_ok_and(is_device), "it is written to, not replaced");
    fs::write(place.path("theirs"), "mine").expect("ours");
    std::os::unix::fs::symlink("theirs", place.path("link")).expect("ours");
    let link = footprint(&place, &format!("{map} --png link"));
    link.assert_code(1).assert_says(&["cannot write link: it is a symbolic link"]);
    assert_eq!(fs::read_to_string(place.path("theirs")).expect("ours"), "mine");
    place.make("others");
    fs::copy(place.path("traces/xfs.trace"), place.path("others/a.trace")).expect("a fixture");
    refused("diff traces others", &["traces and others have no trace with the same name"]);
    refused("trace --out made --op create -- /bin/true", &["--op, --warm-up", "for a program"]);
    refused("trace --out made --cache l1d=32k,64,8 --target xfs", &["--cache"]);
    refused("trace --out made --target nope", &["`nope` is neither"]);
    refused("trace --out made -- /etc/passwd", &["no executable program `/etc/passwd`"]);
    assert!(!place.path("made").exists(), "nothing was made");
}

#[test]
fn each_operation_of_a_trace_is_simulated() {
    let place = place();
    let caches = "--cache l1i=32k,64,8 --cache l1d=32k,64,8";
    let arguments = format!("simulate traces/xfs.trace {caches} --format json");
    let json = footprint(&place, &arguments).assert_code(0).document();
    assert_eq!(json["regions"][0]["stream"], "xfs, create");
    // Starting with empty caches, each line misses once.
    assert_eq!(json["regions"][0]["levels"][0]["lookups"]["fetches"]["misses"], 6);
    assert_eq!(json["regions"][1]["stream"], "xfs, stat");
}

#[test]
fn what_is_no_trace_is_refused_and_what_is_left_of_one_is_shown() {
    let place = place();
    let whole = fs::read(place.path("traces/xfs.trace")).expect("a fixture");
    fs::write(place.path("text"), "hello, this is no trace").expect("ours");
    footprint(&place, "map text").assert_refused(&["text: this is not a footprint trace"]);
    footprint(&place, "map nowhere").assert_refused(&["cannot read nowhere"]);
    let mut newer = whole.clone();
    newer[8] = 9;
    fs::write(place.path("newer"), newer).expect("ours");
    footprint(&place, "map newer").assert_refused(&["version 9", "update fsprism"]);
    // The end of the events is followed by 13 bytes of framing, then by the description with its
    // name. Cut into that end.
    let name = whole.windows(11).position(|bytes| bytes == b"description").expect("a name");
    fs::write(place.path("cut"), &whole[..name - 1 - 13 - 3]).expect("ours");
    let partial = footprint(&place, "map cut");
    partial.assert_code(0);
    assert!(partial.stderr.contains("cut: the trace is cut off after"), "{partial:?}");
    assert!(partial.stdout.starts_with("cut, 0, instructions: 6 lines"), "{partial:?}");
    let nameless = footprint(&place, "stacks cut --op 0 --frames functions");
    assert!(nameless.assert_code(0).stdout.contains("0xffffffff81000300"), "{nameless:?}");
    let differ = footprint(&place, "diff cut cut --format json").assert_code(0).document();
    assert!(differ["warnings"][0].as_str().is_some_and(|text| text.contains("is cut off after")));
    place.make("some");
    fs::write(place.path("some/a.trace"), "no trace").expect("ours");
    footprint(&place, "map some").assert_refused(&["a.trace: this is not a footprint trace"]);
    fs::copy(place.path("traces/xfs.trace"), place.path("some/b.trace")).expect("a fixture");
    let rest = footprint(&place, "map some --op stat");
    assert!(rest.assert_code(0).stdout.starts_with("xfs, stat, instructions"), "{rest:?}");
    assert!(rest.stderr.contains("a.trace: this is not a footprint trace"), "{rest:?}");
    place.make("empty");
    footprint(&place, "diff empty traces").assert_refused(&["empty contains no *.trace"]);
}

#[test]
fn a_run_with_traces_has_them_in_its_page() {
    let place = place();
    let command = "run survey/in-memory ext4=. --blocks 2 --budget 1s --size 1m --out run";
    place.run(command).assert_code(0);
    let bytes = |name: &str| fs::metadata(place.path(name)).expect("a page").len();
    let before = bytes("run/report.html");
    fs::rename(place.path("traces"), place.path("run/footprint")).expect("one place");
    fs::write(place.path("run/footprint/bad.trace"), "no trace").expect("ours");
    place.finish(place.fsprism("report run")).assert_code(0);
    assert!(bytes("run/report.html") > before + 2000, "{before}");
}
