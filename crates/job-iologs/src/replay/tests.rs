//! Replays of small logs. What fio 3.33 does with each was observed with strace(1).

use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::{
    Access, Extent, FileIndex, Replay, ReplayAction, ReplayEvent, ReplayOptions, TrimReplay,
};
use crate::error::IologError;
use crate::source::Source;

const VERSION_3: &str = "fio version 3 iolog
0 /f add
0 /f open
500000 /f write 0 4096
700000 /f write 8192 8192
900000 /f sync 0 0
900000 /f datasync 0 0
900000 /f trim 0 4096
1200000 /f wait 3 4
1300000 /f read 4096 4096
1300000 /f close
";

const VERSION_2: &str = "fio version 2 iolog
/f add
/f open
/f write 0 4096
/f wait 1000 0
/f write 8192 8192
/f wait 300 0
/f read 4096 4096
/f close
/f wait 1800 0
";

fn replay(log: impl AsRef<[u8]>, options: &ReplayOptions) -> Result<Replay, IologError> {
    let bytes = Box::new(Cursor::new(log.as_ref().to_vec()));
    Replay::new(Source::new(Path::new("a.log"), bytes), options)
}

fn events(log: &str, options: &ReplayOptions) -> Vec<(Option<u128>, ReplayAction)> {
    replay(log, options)
        .expect("a log")
        .map(|event| {
            let ReplayEvent { at, action } = event.expect("a step");
            (at.map(|at| at.as_millis()), action)
        })
        .collect()
}

fn message(log: &str) -> String {
    replay(log, &ReplayOptions::default()).expect_err("an error").to_string()
}

const FILE: FileIndex = FileIndex(0);

fn extent(offset: u64, length: u32) -> Extent {
    Extent { file: FILE, offset, length }
}

fn wait(ms: u64) -> ReplayAction {
    ReplayAction::WaitUntil { since_run_began: Duration::from_millis(ms) }
}

#[test]
fn times_of_version_3() {
    use ReplayAction::{Close, Datasync, Open, Read, Sync, Write};
    let steps = events(VERSION_3, &ReplayOptions::default());
    let expected = [
        (Some(0), Open(FILE)),
        (Some(0), Write(extent(0, 4_096))),
        (Some(200), Write(extent(8_192, 8_192))),
        (Some(400), Sync(FILE)),
        (Some(400), Datasync(FILE)),
        (Some(500), Read(extent(4_096, 4_096))),
        (Some(500), Close(FILE)),
    ];
    assert_eq!(steps, expected);
    let slow = ReplayOptions { time_scale_percent: 50, ..ReplayOptions::default() };
    let times: Vec<_> = events(VERSION_3, &slow).into_iter().filter_map(|(at, _)| at).collect();
    assert_eq!(times, [0, 0, 400, 800, 800, 1_000, 1_000]);
    let fast = ReplayOptions { no_stall: true, ..ReplayOptions::default() };
    let untimed: Vec<_> = expected.into_iter().map(|(_, action)| (None, action)).collect();
    assert_eq!(events(VERSION_3, &fast), untimed);
}

#[test]
fn waits_of_version_2() {
    use ReplayAction::{Close, Open, Read, Write};
    let steps = events(VERSION_2, &ReplayOptions::default());
    let expected = [
        (None, Open(FILE)),
        (None, Write(extent(0, 4_096))),
        (None, wait(1_000)),
        (None, Write(extent(8_192, 8_192))),
        (None, wait(300)),
        (None, Read(extent(4_096, 4_096))),
        (None, Close(FILE)),
        (None, wait(1_800)),
    ];
    assert_eq!(steps, expected);
    let fast = ReplayOptions { no_stall: true, ..ReplayOptions::default() };
    assert_eq!(events(VERSION_2, &fast).len(), 5);
}

#[test]
fn offsets_are_scaled_then_aligned() {
    let options = ReplayOptions { scale: 3, align_bytes: 4_096, ..ReplayOptions::default() };
    let offsets: Vec<_> = events(VERSION_3, &options)
        .into_iter()
        .filter_map(|(_, action)| match action {
            ReplayAction::Read(extent) | ReplayAction::Write(extent) => Some(extent.offset),
            ReplayAction::Trim(_)
            | ReplayAction::Sync(_)
            | ReplayAction::Datasync(_)
            | ReplayAction::Open(_)
            | ReplayAction::Close(_)
            | ReplayAction::WaitUntil { .. } => None,
        })
        .collect();
    assert_eq!(offsets, [0, 0, 0]);
}

#[test]
fn steps_are_left_out() {
    let read_only = ReplayOptions { read_only: true, ..ReplayOptions::default() };
    let replay_read_only = replay(VERSION_3, &read_only).expect("a log");
    assert_eq!(replay_read_only.access(), Access::Read);
    let times: Vec<_> = events(VERSION_3, &read_only).into_iter().map(|(at, _)| at).collect();
    // The intervals above the two writes are lost.
    assert_eq!(times, [0, 200, 200, 300, 300].map(Some));
    let skip = "write,sync".parse().expect("a list");
    let trims = TrimReplay::Replayed;
    let some = ReplayOptions { skip, trims, ..ReplayOptions::default() };
    let replay_some = replay(VERSION_3, &some).expect("a log");
    let totals = replay_some.totals();
    assert_eq!((totals.writes.operations, totals.syncs, totals.trims.operations), (0, 0, 1));
}

#[test]
fn what_there_is_to_do_is_known_before() {
    let replay = replay(VERSION_3, &ReplayOptions::default()).expect("a log");
    let totals = replay.totals();
    assert_eq!((totals.writes.bytes, totals.writes.bytes_max), (12_288, 8_192));
    assert_eq!((totals.reads.bytes, totals.bytes_max(), totals.syncs), (4_096, 8_192, 2));
    assert_eq!(replay.access(), Access::ReadWrite);
    let [file] = replay.files() else { panic!("one file") };
    assert_eq!((file.name.to_str(), file.end), (Some("/f"), 16_384));
    let remarks: Vec<_> = replay.remarks().first().iter().map(ToString::to_string).collect();
    let expected = [
        "a.log, line 8: ignored: trims in logs are not replayed by fio 3.33",
        "a.log, line 9: ignored: version 3 has no `wait`, since every line has a time",
    ];
    assert_eq!(remarks, expected);
}

#[test]
fn everything_goes_to_one_file() {
    let log = "fio version 2 iolog\na add\nb add\na open\nb open\na write 0 1\na close\n\
               b read 9 1\nb close\n";
    let options = ReplayOptions { redirect: Some("/dev/target".into()), ..Default::default() };
    let steps: Vec<_> = events(log, &options).into_iter().map(|(_, action)| action).collect();
    let expected = [
        ReplayAction::Open(FILE),
        ReplayAction::Write(extent(0, 1)),
        ReplayAction::Read(extent(9, 1)),
        ReplayAction::Close(FILE),
    ];
    assert_eq!(steps, expected);
    let replay = replay(log, &options).expect("a log");
    assert_eq!((replay.files().len(), replay.files()[0].end), (1, 10));
    assert_eq!(replay.files()[0].name, "/dev/target");
}

#[test]
fn a_log_is_read_ahead() {
    let chunked = ReplayOptions { chunked: true, ..ReplayOptions::default() };
    let mut log = VERSION_3.to_owned();
    for block in 0..50_000 {
        if block % 1_000 == 0 {
            log += &format!("1300000 /f{block} add\n1300000 /f{block} open\n");
        }
        let file = block - block % 1_000;
        log += &format!("{} /f{file} write {} 512\n", 1_300_000 + block, block * 512);
    }
    assert_eq!(events(&log, &chunked), events(&log, &ReplayOptions::default()));
    let mut ahead = replay(&log, &chunked).expect("a log");
    assert_eq!((ahead.access(), ahead.totals().writes.operations), (Access::ReadWrite, 0));
    assert!(ahead.by_ref().all(|event| event.is_ok()));
    let whole = replay(&log, &ReplayOptions::default()).expect("a log");
    assert_eq!(ahead.totals(), whole.totals());
    assert_eq!(ahead.files(), whole.files());
    assert_eq!(ahead.remarks(), whole.remarks());
    // A thread whose receiver is gone ends.
    drop(replay(&log, &chunked));
}

#[test]
fn an_error_ends_a_log_that_is_read_ahead() {
    let chunked = ReplayOptions { chunked: true, ..ReplayOptions::default() };
    let log = format!("{VERSION_2}/g open\n/f open\n");
    let steps: Vec<_> = replay(&log, &chunked).expect("a log").collect();
    assert_eq!(steps.len(), 9);
    assert!(steps[..8].iter().all(Result::is_ok));
    let error = steps[8].as_ref().expect_err("an error").to_string();
    assert_eq!(error, "a.log, line 11: /g was not added; put a line with `/g add` above");
}

#[test]
fn files_are_used_in_order() {
    let begin = "fio version 2 iolog\n/f add\n";
    let of = |lines: &str| message(&format!("{begin}{lines}"));
    assert_eq!(
        of("/f read 0 1\n"),
        "a.log, line 3: /f is not open here; put a line with `/f open` above"
    );
    assert_eq!(
        of("/f open\n/f open\n"),
        "a.log, line 4: /f is open already; put a line with `/f close` above"
    );
    assert_eq!(
        of("/f open\n/f close\n/f close\n"),
        "a.log, line 5: /f is not open here; put a line with `/f open` above"
    );
    assert_eq!(
        of("/g read 0 1\n"),
        "a.log, line 3: /g was not added; put a line with `/g add` above"
    );
}

#[test]
fn syncs_alone_are_nothing_to_replay() {
    let log = "fio version 3 iolog\n0 /f add\n0 /f open\n0 /f sync 0 0\n0 /f close\n";
    let nothing = "the I/O log a.log has nothing to replay: no read, no write and no wait";
    assert_eq!(message(log), nothing);
    let chunked = ReplayOptions { chunked: true, ..ReplayOptions::default() };
    assert_eq!(events(log, &chunked).len(), 3);
    let empty = replay("fio version 3 iolog\n# nothing\n", &chunked);
    assert_eq!(empty.expect_err("an error").to_string(), nothing);
}

/// What logs are made of, and what they are not.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[fg]",
        "(read|write|trim|sync|datasync|wait|add|open|close|sync_file_range)",
        "[0-9]{1,25}",
        "[ -~]{0,5}",
        Just(u64::MAX.to_string()),
        Just("\n".to_owned()),
        Just("\n0 f open\n0 g add".to_owned()),
    ]
}

fn options() -> impl Strategy<Value = ReplayOptions> {
    (any::<[bool; 5]>(), 0..5_u32, any::<[u32; 2]>()).prop_map(|(flags, scale, numbers)| {
        let [chunked, no_stall, read_only, is_redirected, trims] = flags;
        ReplayOptions {
            chunked,
            redirect: is_redirected.then(|| "target".into()),
            scale,
            align_bytes: numbers[0],
            no_stall,
            time_scale_percent: numbers[1],
            read_only,
            skip: "read".parse().expect("a list"),
            trims: if trims { TrimReplay::Replayed } else { TrimReplay::Ignored },
        }
    })
}

fn exhaust(log: &[u8], options: &ReplayOptions) -> (Vec<ReplayEvent>, bool) {
    let Ok(replay) = replay(log, options) else { return (Vec::new(), false) };
    let steps: Vec<_> = replay.collect();
    let is_whole = steps.iter().all(Result::is_ok);
    (steps.into_iter().filter_map(Result::ok).collect(), is_whole)
}

proptest! {
    #[test]
    fn bytes_do_no_harm(bytes: Vec<u8>, version in 2..4_u8, options in options()) {
        exhaust(&bytes, &options);
        let mut log = format!("fio version {version} iolog\n").into_bytes();
        log.extend(bytes);
        exhaust(&log, &options);
    }

    #[test]
    fn words_do_no_harm(
        words in prop::collection::vec(word(), 0..60),
        version in 2..4_u8,
        options in options(),
    ) {
        let log = format!("fio version {version} iolog\n0 f add\n0 f open\n{}", words.join(" "));
        let (steps, is_whole) = exhaust(log.as_bytes(), &options);
        let times: Vec<_> = steps.iter().filter_map(|step| step.at).collect();
        prop_assert!(times.is_sorted());
        if is_whole {
            let ahead = ReplayOptions { chunked: true, ..options };
            prop_assert_eq!(exhaust(log.as_bytes(), &ahead).0, steps);
        }
    }
}
