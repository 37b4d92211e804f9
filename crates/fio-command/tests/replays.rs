//! Logs that are replayed (`read_iolog`): what they say is what is done, to the bytes of the files.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fio_command::{Streams, run};
use tempfile::TempDir;

/// A place of its own, where a log and a directory with files lie.
struct Place {
    root: TempDir,
}

/// What a command has said.
struct Said {
    status: u8,
    out: String,
    err: String,
}

impl Place {
    fn new(log: &str) -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        // fio 3.33 crashes where a log and `directory=` meet, so the names are whole paths.
        let directory = root.path().join("files").display().to_string();
        let log = log.replace('%', &format!("{directory}/"));
        fs::write(root.path().join("log"), log).expect("it was made a moment ago");
        let place = Self { root };
        place.renew();
        place
    }

    /// Files are those of the beginning.
    fn renew(&self) {
        let _none = fs::remove_dir_all(self.files());
        fs::create_dir(self.files()).expect("nothing has this name");
        fs::write(self.files().join("old"), vec![b'-'; 64 << 10]).expect("a file");
    }

    fn files(&self) -> std::path::PathBuf {
        self.root.path().join("files")
    }

    fn arguments(&self, more: &str) -> Vec<String> {
        let log = self.root.path().join("log");
        let fixed = [
            "--name=job".to_owned(),
            format!("--read_iolog={}", log.display()),
            "--output-format=json".to_owned(),
            "--eta=never".to_owned(),
            "--buffer_pattern=0x61626364".to_owned(),
        ];
        let directory = format!("{}/", self.files().display());
        let more = more.split_whitespace().map(|one| one.replace('%', &directory));
        fixed.into_iter().chain(more).collect()
    }

    fn replay(&self, more: &str) -> Said {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut streams = Streams { out: &mut out, err: &mut err, is_terminal: false };
        let status = run(&self.arguments(more), &mut streams);
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Said { status, out: text(out), err: text(err) }
    }

    /// Names and contents of all files.
    fn contents(&self) -> Vec<Content> {
        let entries = fs::read_dir(self.files()).expect("it is there").flatten();
        let content = |path: &Path| fs::read(path).expect("a file");
        let mut all: Vec<_> = entries
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), content(&entry.path())))
            .collect();
        all.sort();
        all
    }
}

/// A file's name and its bytes.
type Content = (String, Vec<u8>);

/// Names of which one side alone knows, and of each other the first byte that differs.
fn differences(ours: &[Content], theirs: &[Content]) -> String {
    let names = |all: &[Content]| all.iter().map(|(name, _)| name.clone()).collect();
    let (own, other): (Vec<_>, Vec<_>) = (names(ours), names(theirs));
    if own != other {
        return format!("{own:?} instead of {other:?}");
    }
    let differs = ours.iter().zip(theirs).filter(|(own, other)| own != other);
    let text = |((name, own), (_, other)): (&Content, &Content)| {
        let at = own.iter().zip(other).position(|(one, two)| one != two);
        format!("{name}: {} bytes, not {}, differ at {at:?}; ", own.len(), other.len())
    };
    differs.map(text).collect()
}

/// Of reads and writes: operations and bytes.
fn moved(out: &str) -> [(u64, u64); 2] {
    let parsed: serde_json::Value = serde_json::from_str(out).expect(out);
    ["read", "write"].map(|way| {
        let own = &parsed["jobs"][0][way];
        let number = |name: &str| own[name].as_u64().expect("a number");
        (number("total_ios"), number("io_bytes"))
    })
}

const MIXED: &str = "fio version 3 iolog
0 %old add
0 %new add
1 %old open
1 %new open
2 %old read 0 4096
3 %new write 8192 4096
4 %new write 0 512
5 %old write 1000 3000
6 %new sync 0 0
7 %new datasync 0 0
8 %old close
9 %old open
10 %old read 32768 8192
11 %old close
12 %new close
";

const ENGINES: [&str; 7] = [
    "psync",
    "sync",
    "vsync",
    "pvsync2",
    "libaio --iodepth=4",
    "io_uring --iodepth=4",
    "posixaio --iodepth=4",
];

fn has_fio() -> bool {
    let version = Command::new("fio").arg("--version").output();
    version.is_ok_and(|said| said.stdout.starts_with(b"fio-3.33"))
}

#[test]
fn every_engine_does_what_the_log_says() {
    let place = Place::new(MIXED);
    for engine in ENGINES {
        for chunked in ["", "--read_iolog_chunked=1"] {
            place.renew();
            let said = place.replay(&format!("--ioengine={engine} {chunked}"));
            assert_eq!((said.status, said.err.as_str()), (0, ""), "{engine}");
            assert_eq!(moved(&said.out), [(2, 12_288), (3, 7608)], "{engine}");
            let [(new, written), (_, old)] = &place.contents()[..] else { panic!("two files") };
            assert_eq!((new.as_str(), written.len()), ("new", 12_288), "{engine}");
            assert!(written[..512].iter().all(|byte| (b'a'..=b'd').contains(byte)), "{engine}");
            assert!(written[512..8192].iter().all(|byte| *byte == 0), "{engine}");
            assert!(old[..1000].iter().all(|byte| *byte == b'-'), "{engine}");
            assert!(old[1000..4000].iter().all(|byte| *byte != b'-'), "{engine}");
            assert!(old[4000..].iter().all(|byte| *byte == b'-'), "{engine}");
        }
    }
}

#[test]
fn files_are_those_that_fio_leaves() {
    if !has_fio() {
        eprintln!("skipped: fio 3.33 is not installed");
        return;
    }
    let place = Place::new(MIXED);
    let cases = [
        "",
        "--read_iolog_chunked=1",
        "--ioengine=libaio --iodepth=4",
        "--replay_no_stall=1",
        "--replay_time_scale=50",
        "--replay_redirect=%elsewhere",
        "--replay_redirect=%old --replay_scale=2 --replay_align=1024",
        "--readonly",
        "--numjobs=2 --group_reporting",
        "--end_fsync=1 --unlink=0 --fsync=1",
        "--direct=0 --invalidate=0 --pre_read=1 --fadvise_hint=0",
        "--ramp_time=0 --runtime=20 --time_based=0",
    ];
    for options in cases {
        place.renew();
        let theirs = Command::new("fio").args(place.arguments(options)).output();
        let theirs = theirs.expect("fio was there a moment ago");
        let expected = place.contents();
        place.renew();
        let ours = place.replay(options);
        let out = String::from_utf8_lossy(&theirs.stdout);
        let err = String::from_utf8_lossy(&theirs.stderr);
        assert_eq!(
            Some(i32::from(ours.status)),
            theirs.status.code(),
            "{options}\n{err}{}",
            ours.err
        );
        assert_eq!(differences(&place.contents(), &expected), "", "{options}");
        if ours.status == 0 {
            let from = out.find('{').expect("JSON");
            let [own, other] = [moved(&ours.out), moved(&out[from..])];
            // fio does not count the bytes of what is in flight when a log ends.
            match options.contains("iodepth") {
                true => assert_eq!(own.map(|one| one.0), other.map(|one| one.0), "{options}"),
                false => assert_eq!(own, other, "{options}"),
            }
        }
    }
}

#[test]
fn steps_are_never_before_their_time() {
    let log = "fio version 3 iolog\n0 %old add\n1000 %old open\n1000 %old read 0 4096\n\
               101000 %old read 0 4096\n301000 %old read 0 4096\n301000 %old close\n";
    let place = Place::new(log);
    for (options, least_ms) in [
        ("", 300),
        ("--ioengine=libaio --iodepth=2", 300),
        ("--replay_time_scale=200", 150),
        ("--replay_no_stall=1", 0),
    ] {
        let began = Instant::now();
        let said = place.replay(options);
        assert_eq!((said.status, moved(&said.out)[0].0), (0, 3), "{options}: {}", said.err);
        assert!(began.elapsed() >= Duration::from_millis(least_ms), "{options}");
    }
    let waits = Place::new(
        "fio version 2 iolog\n%old add\n%old open\n%old read 0 4096\n%old wait 200 0\n\
         %old read 0 512\n",
    );
    let began = Instant::now();
    assert_eq!(moved(&waits.replay("").out)[0], (2, 4608));
    assert!(began.elapsed() >= Duration::from_millis(200));
}

#[test]
fn what_a_replay_writes_is_verified() {
    let place = Place::new(
        "fio version 3 iolog\n0 %new add\n1 %new open\n2 %new write 0 4096\n\
         3 %new write 8192 8192\n4 %new close\n",
    );
    let said = place.replay("--verify=crc32c --verify_state_save=0 --ioengine=libaio --iodepth=2");
    assert_eq!((said.status, moved(&said.out)[1]), (0, (2, 12_288)), "{}", said.err);
    assert_eq!(moved(&said.out)[0].1, 12_288, "all of it is read to be verified");
}

#[test]
fn names_are_in_the_directory() {
    let place = Place::new("fio version 3 iolog\n0 /a add\n1 /a open\n2 /a write 0 512\n");
    let said = place.replay("--directory=%");
    assert_eq!((said.status, moved(&said.out)), (0, [(0, 0), (1, 512)]), "{}", said.err);
    assert_eq!(place.contents()[0].1.len(), 512);
}

#[test]
fn a_replay_ends_when_its_time_is_over() {
    let place = Place::new(
        "fio version 3 iolog\n0 %old add\n1 %old open\n2 %old read 0 4096\n\
         900000000 %old read 0 512\n",
    );
    let said = place.replay("--runtime=1");
    assert_eq!((said.status, moved(&said.out)[0]), (0, (1, 4096)), "{}", said.err);
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let refused = |log: &str, options: &str| {
        let said = Place::new(log).replay(options);
        assert_eq!((said.status, said.out.as_str()), (1, ""), "{options}");
        said.err
    };
    let read = "fio version 2 iolog\n%old add\n%old open\n%old read 0 512\n";
    assert!(refused("hello\n", "").contains("is not an I/O log"));
    assert!(refused("fio version 3 iolog\n1 x open\n", "").contains("line 2: x was not added"));
    assert!(refused(read, "--rate_iops=5").contains("replay_time_scale="));
    assert!(refused(read, "--loops=2").contains("a log is replayed once"));
    assert!(refused(read, "--replay_skip=flush").contains("none of read, write, trim and sync"));
    assert!(refused(read, "--ioengine=filestat").contains("the engine works on names"));
    let gone = Place::new(&read.replace("old", "gone"));
    let said = gone.replay("");
    assert_eq!(said.status, 1, "{}", said.out);
}

#[test]
fn what_is_ignored_is_said() {
    let place = Place::new(
        "fio version 3 iolog\n0 %old add\n1 %old open\n2 %old read 0 512\n3 %old trim 0 512\n",
    );
    let said = place.replay("--write_iolog=/nowhere/log");
    assert_eq!((said.status, moved(&said.out)), (0, [(1, 512), (0, 0)]), "{}", said.err);
    assert!(said.err.contains("line 5: ignored: trims"), "{}", said.err);
    assert!(said.err.contains("write_iolog is ignored"), "{}", said.err);
    let skipped = Place::new(MIXED);
    fs::write(skipped.files().join("new"), "").expect("a file");
    let said = skipped.replay("--replay_skip=write,sync");
    assert_eq!(moved(&said.out), [(2, 12_288), (0, 0)], "{}", said.err);
}
