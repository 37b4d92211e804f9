//! Logs at random, and what their replays do, by this crate and by fio.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use job_iologs::{Extent, FileIndex, Replay, ReplayAction, ReplayOptions, Source};

/// How long the files are. Logs end before that.
pub(crate) const FILE_BYTES: u64 = 1 << 20;

/// Numbers at random: a linear congruential generator (Knuth, The Art of Computer Programming,
/// vol. 2, 3rd ed., section 3.3.4, table 1, line 26).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn choose<T: Copy>(&mut self, of: &[T]) -> T {
        let index = self.below(of.len() as u64);
        of[usize::try_from(index).expect("an index")]
    }
}

/// What a replay does, a line for each step: `write f0 4096 512`.
pub(crate) type Steps = Vec<String>;

/// A log, and options for its replay.
pub(crate) struct Case {
    pub(crate) log: String,
    pub(crate) options: Vec<String>,
}

impl Case {
    /// Makes a case. The times are short.
    pub(crate) fn new(random: &mut Random) -> Self {
        let version = 2 + random.below(2);
        let files = random.choose(&[1, 1, 2, 4]);
        let mut log = LogText { text: format!("fio version {version} iolog\n"), version, time: 0 };
        for action in ["add", "open"] {
            for file in 0..files {
                log.line(random, &format!("f{file} {action}"));
            }
        }
        for _ in 0..20 + random.below(40) {
            let file = random.below(files);
            log.step(random, file);
        }
        for file in 0..files {
            log.line(random, &format!("f{file} close"));
        }
        let mut options = Vec::new();
        for alternatives in OPTIONS {
            let option = random.choose(alternatives);
            // fio stops when the first of several files that became one is closed.
            if !option.is_empty() && (files == 1 || !option.starts_with("replay_redirect")) {
                options.push(option.to_owned());
            }
        }
        Self { log: log.text, options }
    }

    /// What this crate makes of it.
    pub(crate) fn steps(&self) -> Steps {
        let source =
            Source::new(Path::new("log"), Box::new(std::io::Cursor::new(self.log.clone())));
        let mut replay = Replay::new(source, &self.replay_options()).expect("it can be replayed");
        let mut steps = Steps::new();
        while let Some(event) = replay.next() {
            let action = event.expect("a step").action;
            let name = |file: FileIndex| replay.files()[file.get()].name.display();
            let io = |what: &str, Extent { file, offset, length }| {
                format!("{what} {} {offset} {length}", name(file))
            };
            steps.push(match action {
                ReplayAction::WaitUntil { .. } => continue,
                ReplayAction::Open(file) => format!("open {}", name(file)),
                ReplayAction::Close(file) => format!("close {}", name(file)),
                ReplayAction::Sync(file) => format!("sync {}", name(file)),
                ReplayAction::Datasync(file) => format!("datasync {}", name(file)),
                ReplayAction::Read(extent) => io("read", extent),
                ReplayAction::Write(extent) => io("write", extent),
                ReplayAction::Trim(extent) => io("trim", extent),
            });
        }
        steps
    }

    fn replay_options(&self) -> ReplayOptions {
        let mut options = ReplayOptions::default();
        for option in &self.options {
            match option.split_once('=').expect("options have values") {
                ("read_iolog_chunked", value) => options.chunked = value == "1",
                ("replay_no_stall", value) => options.no_stall = value == "1",
                ("readonly", _) => options.read_only = true,
                ("replay_redirect", value) => options.redirect = Some(value.into()),
                ("replay_scale", value) => options.scale = value.parse().expect("a number"),
                ("replay_align", value) => options.align_bytes = value.parse().expect("a number"),
                // fio 3.33 heeds neither for the order of steps.
                ("replay_skip" | "replay_time_scale", _) => {}
                (name, _) => panic!("{name}"),
            }
        }
        options
    }

    /// What fio does, from what it says of files and operations.
    pub(crate) fn steps_of_fio(&self) -> Steps {
        let directory = tempfile::tempdir().expect("a directory");
        for file in 0..=4 {
            let file = fs::File::create(directory.path().join(format!("f{file}")));
            file.and_then(|file| file.set_len(FILE_BYTES)).expect("a file");
        }
        fs::write(directory.path().join("log"), &self.log).expect("a log");
        let output = Command::new("timeout")
            .current_dir(directory.path())
            .args(["30", "fio", "--name=x", "--read_iolog=log", "--debug=io,file", "--thread=1"])
            .args(self.options.iter().map(|option| {
                format!("--{}", if option == "readonly=1" { "readonly" } else { option })
            }))
            .output()
            .expect("fio must be installed");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "fio: {}, {said}", output.status);
        String::from_utf8_lossy(&output.stdout).lines().filter_map(step_of_fio).collect()
    }
}

/// Alternatives for each option; an empty one leaves it out.
const OPTIONS: &[&[&str]] = &[
    &["", "", "read_iolog_chunked=1"],
    &["", "", "replay_redirect=f4"],
    &["", "", "replay_scale=2", "replay_scale=3"],
    &["", "", "replay_align=512", "replay_align=4096"],
    &["", "", "", "replay_no_stall=1"],
    &["", "", "replay_time_scale=50", "replay_time_scale=170"],
    &["", "", "", "replay_skip=write"],
    &["", "", "", "", "readonly=1"],
];

/// Lines that are ignored, without a time.
const IGNORED: &[&str] = &[
    "#",
    "f0 unlink",
    "f0 unlink 0 4096",
    "f0 read",
    "f0 read 4",
    "f0 open 0 4096",
    "f0 sync_file_range 0 4096",
    "",
];

struct LogText {
    text: String,
    version: u64,
    time: u64,
}

impl LogText {
    fn line(&mut self, random: &mut Random, line: &str) {
        if self.version == 3 {
            write!(self.text, "{} ", self.time).expect("memory");
        }
        writeln!(self.text, "{line}").expect("memory");
        self.time = match random.below(40) {
            0 => 0,
            1 => self.time.saturating_sub(5_000),
            2..10 => self.time + random.below(3_000),
            _ => self.time,
        };
    }

    fn step(&mut self, random: &mut Random, file: u64) {
        let bytes = random.choose(&[512, 1_000, 4_096, 65_536]);
        let offset = random.below(FILE_BYTES - bytes);
        let tail = random.choose(&["", "", " and more", " 7"]);
        match random.below(20) {
            0 => {
                self.line(random, &format!("f{file} close"));
                self.line(random, &format!("f{file} open"));
            }
            // Up to 300 milliseconds after fio began.
            1 => self.line(random, &format!("f{file} wait {} 0", offset % 300)),
            2 | 3 => {
                let ignored = random.choose(IGNORED);
                self.line(random, ignored);
            }
            4 => self.line(random, &format!("f{file} trim {offset} {bytes}")),
            5 => self.line(random, &format!("f{file} sync {offset} 0{tail}")),
            6 => self.line(random, &format!("f{file} datasync {offset} 0")),
            7..14 => self.line(random, &format!("f{file} read {offset} {bytes}{tail}")),
            _ => self.line(random, &format!("f{file} write {offset} {bytes}{tail}")),
        }
    }
}

/// A step, from a line such as `file 123 fd open f0` or
/// `io 123 queue: io_u 0x5..: off=0x1000,len=0x1000,ddir=0,file=f0`.
fn step_of_fio(line: &str) -> Option<String> {
    let (_, rest) =
        line.strip_prefix("io").or(line.strip_prefix("file"))?.trim().split_once(' ')?;
    if let Some(file) = rest.strip_prefix("fd open ") {
        return Some(format!("open {file}"));
    }
    if let Some(file) = rest.strip_prefix("fd close ") {
        return Some(format!("close {file}"));
    }
    let (_, rest) = rest.strip_prefix("queue: io_u")?.split_once("off=0x")?;
    let mut fields = rest.split(',').filter_map(|field| field.rsplit('=').next());
    let mut hex = || {
        let digits = fields.next()?.trim_start_matches("0x");
        u64::from_str_radix(digits, 16).ok()
    };
    let (offset, length) = (hex()?, hex()?);
    let direction: usize = fields.next()?.parse().ok()?;
    let what = ["read", "write", "trim", "sync", "datasync"][direction];
    let file = fields.next()?;
    Some(if direction < 3 {
        format!("{what} {file} {offset} {length}")
    } else {
        format!("{what} {file}")
    })
}
