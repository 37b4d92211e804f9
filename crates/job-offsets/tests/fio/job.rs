//! A job of fio in one line of options, its choices by this crate, and by a fio that is installed.

use std::fmt::{self, Display};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{self, Command, Stdio};
use std::{env, fs};

use job_offsets::{
    Accesses, Amount, BlockSizes, Choice, Chooser, Completion, Completions, CountedFiles,
    Direction, Distribution, ExtentOptions, FileService, JobSeeds, Limits, OffsetError, Order,
    PerDirection, PresentFile, Purpose, RandomGenerator, Repeats, SeedSource, Sequencer,
    SharedSizes, SizeRules, Spec, SyncKind, Syncs, Verification, Width, ZipfSampler, block_sizes,
    clone_index,
};

/// One choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    what: char,
    file: usize,
    offset: u64,
    length: u64,
}

/// What fio did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It chose this next.
    Chosen(Line),
    /// This has ended.
    Completed(Line),
    /// It found no file: too many were open, or the pass is over.
    NoFile,
}

/// A chooser and its files.
pub(crate) struct Own {
    pub(crate) chooser: Chooser,
    pub(crate) table: CountedFiles,
    completions: Completions,
}

impl Own {
    fn new(job: &Job, clone: u32) -> Result<Self, OffsetError> {
        Self::with_sampler(job, clone, ZipfSampler::Approximate)
    }

    pub(crate) fn with_sampler(
        job: &Job,
        clone: u32,
        sampler: ZipfSampler,
    ) -> Result<Self, OffsetError> {
        let files = job.number("nrfiles", 1);
        let table = CountedFiles::new(files, job.number("openfiles", files));
        let chooser = job.chooser(clone, files, sampler)?;
        Ok(Self { chooser, table, completions: Completions::default() })
    }

    fn next(&mut self) -> Choice {
        self.chooser.note(self.completions);
        self.chooser.next(&mut self.table)
    }
}

impl Line {
    fn is_sync(&self) -> bool {
        matches!(self.what, 's' | 'd' | 'f')
    }
}

/// Options, `rw=randread bs=4k`, as fio takes them.
#[derive(Clone, Debug)]
pub(crate) struct Job(pub(crate) String);

const SYNCS: [(SyncKind, char); 3] =
    [(SyncKind::Fsync, 's'), (SyncKind::Fdatasync, 'd'), (SyncKind::SyncFileRange, 'f')];

impl Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, file, offset, length } = self;
        match what {
            'r' | 'w' | 't' => write!(out, "{what}{file} {offset} {length}"),
            _ => write!(out, "{what}{file}"),
        }
    }
}

impl Job {
    fn get(&self, key: &str) -> Option<&str> {
        let mut all = self.0.split_whitespace().filter_map(|option| option.split_once('='));
        all.find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    fn flag(&self, key: &str) -> bool {
        self.get(key) == Some("1")
    }

    fn number<T: std::str::FromStr>(&self, key: &str, default: T) -> T {
        self.get(key).map_or(default, |text| text.parse().ok().expect("a number"))
    }

    fn bytes(&self, key: &str) -> Option<u64> {
        self.get(key).map(|text| size(text).expect("a size"))
    }

    fn amount(&self, key: &str) -> Option<Amount> {
        self.get(key).map(|text| match text.strip_suffix('%') {
            Some(percent) => Amount::Percent(percent.parse().expect("a percentage")),
            None => Amount::Bytes(size(text).expect("a size")),
        })
    }

    pub(crate) fn clones(&self) -> u32 {
        self.number("numjobs", 1)
    }

    pub(crate) fn is_time_based(&self) -> bool {
        self.flag("time_based")
    }

    /// Whether more than one transfer is in flight.
    pub(crate) fn is_queued(&self) -> bool {
        self.number("iodepth", 1) > 1 && !self.has_files()
    }

    fn accesses(&self) -> (Accesses, Order) {
        let text = self.get("rw").expect("rw");
        let (name, postfix) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
        let (is_random, name) = match name.strip_prefix("rand") {
            Some(name) => (true, name),
            None => (false, name),
        };
        let accesses = match name {
            "read" => Accesses::Read,
            "write" => Accesses::Write,
            "trim" => Accesses::Trim,
            "rw" => Accesses::ReadWrite,
            "trimwrite" => Accesses::TrimWrite,
            _ => panic!("rw={text}"),
        };
        let gap = |text: &str| match text.strip_prefix('-') {
            Some(text) => -size(text).unwrap().cast_signed(),
            None => size(text).unwrap().cast_signed(),
        };
        let order = if is_random {
            Order::Random { every: postfix.map_or(1, |text| text.parse().unwrap()) }
        } else {
            Order::Sequential { gap_bytes: postfix.map_or(0, gap) }
        };
        (accesses, order)
    }

    fn block_sizes(&self) -> PerDirection<BlockSizes> {
        let mut sizes = if let Some(text) = self.get("bssplit") {
            let splits = block_sizes(text, &size).expect("bssplit");
            PerDirection::from_fn(|direction| BlockSizes::split(splits[direction].clone()))
        } else if let Some(text) = self.get("bsrange") {
            by_direction(text, |range| {
                let (min, max) = range.split_once('-').expect("a range");
                BlockSizes::range(size(min).unwrap(), size(max).unwrap())
            })
        } else {
            by_direction(self.get("bs").unwrap_or("4k"), |one| {
                BlockSizes::fixed(size(one).expect("a size"))
            })
        };
        if let Some(text) = self.get("ba") {
            let aligns = by_direction(text, size);
            for direction in Direction::ALL {
                sizes[direction].align_bytes = aligns[direction];
            }
        }
        sizes
    }

    fn generator(&self) -> Option<RandomGenerator> {
        self.get("random_generator").map(|name| match name {
            "lfsr" => RandomGenerator::Lfsr,
            "tausworthe" => RandomGenerator::Tausworthe(Width::Bits32),
            "tausworthe64" => RandomGenerator::Tausworthe(Width::Bits64),
            _ => panic!("random_generator={name}"),
        })
    }

    fn seeds(&self, clone: u32) -> JobSeeds {
        let (accesses, order) = self.accesses();
        let is_wide = self.generator() == Some(RandomGenerator::Tausworthe(Width::Bits64));
        let flag = |key, default: u32| self.number(key, default) == 1;
        JobSeeds::new(&SeedSource {
            randseed: self.get("randseed").map(|text| text.parse().expect("a number")),
            repeats: Repeats::new(flag("randrepeat", 1), flag("allrandrepeat", 0)),
            thread_number: clone + 1,
            is_clone: clone > 0,
            is_random: order.is_random(),
            shared_sizes: SharedSizes {
                reads_and_writes: false,
                trims_and_writes: accesses == Accesses::TrimWrite,
            },
            width: if is_wide { Width::Bits64 } else { Width::Bits32 },
            ..SeedSource::default()
        })
    }

    /// What this crate chooses for a clone: the first choices, up to so many. Each transfer ends
    /// before the next begins.
    pub(crate) fn choices(&self, clone: u32, most: usize) -> Vec<Line> {
        let Ok(mut own) = Own::new(self, clone) else { return Vec::new() };
        let mut lines = Vec::new();
        while own.chooser.begin_pass(&mut own.table) {
            loop {
                match own.chooser.next(&mut own.table) {
                    Choice::PassEnd => break,
                    Choice::Wait => {}
                    choice @ (Choice::Transfer(_) | Choice::Sync { .. }) => {
                        lines.extend(line_of(choice));
                    }
                }
                if lines.len() == most {
                    return lines;
                }
            }
        }
        lines
    }

    /// Follows what fio did for a clone, and says at which of its choices this crate's differ.
    pub(crate) fn follow(&self, clone: u32, events: &[Event]) -> Result<(), String> {
        let mut own = match Own::new(self, clone) {
            Ok(own) => own,
            Err(_) if events.is_empty() => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        let mut is_in_pass = own.chooser.begin_pass(&mut own.table);
        for (at, event) in events.iter().enumerate() {
            match event {
                Event::Completed(line) => {
                    own.table.end(line.file);
                    own.completions.last_was_sync = line.is_sync();
                    own.completions.syncs_in_flight -= u64::from(line.is_sync());
                }
                Event::NoFile => match own.next() {
                    Choice::Wait => {}
                    Choice::PassEnd => is_in_pass = false,
                    choice @ (Choice::Transfer(_) | Choice::Sync { .. }) => {
                        return Err(format!("{at}: {:?}, fio waits", line_of(choice)));
                    }
                },
                Event::Chosen(line) => {
                    let mut choice = if is_in_pass { own.next() } else { Choice::PassEnd };
                    if choice == Choice::PassEnd {
                        own.completions.last_was_sync = false;
                        is_in_pass = own.chooser.begin_pass(&mut own.table);
                        choice = own.next();
                    }
                    let chosen = line_of(choice);
                    if chosen.as_ref() != Some(line) {
                        let chosen = chosen.map_or(format!("{choice:?}"), |line| line.to_string());
                        return Err(format!("{at}: {chosen}, and fio {line}"));
                    }
                    own.table.begin(line.file);
                    own.completions.syncs_in_flight += u64::from(line.is_sync());
                }
            }
        }
        Ok(())
    }

    fn chooser(
        &self,
        clone: u32,
        files: usize,
        sampler: ZipfSampler,
    ) -> Result<Chooser, OffsetError> {
        let (accesses, order) = self.accesses();
        let seeds = self.seeds(clone);
        let block_sizes = self.block_sizes();
        let index = clone_index(u64::from(clone), u64::from(self.clones()));
        let present = |file| match self.bytes("@file") {
            Some(bytes) => (folder().join("whole").display().to_string(), bytes),
            None if self.flag("@folder") => {
                (folder().join(format!("j.{index}.{file}")).display().to_string(), 0)
            }
            None => (format!("j.{index}.{file}"), 0),
        };
        let present: Vec<PresentFile> = (0..files)
            .map(present)
            .map(|(name, bytes)| PresentFile { name: name.into_bytes(), bytes, can_grow: true })
            .collect();
        let options = ExtentOptions {
            size: self.amount("size"),
            file_bytes: self.get("filesize").map(|text| {
                let (low, high) = text.split_once('-').unwrap_or((text, text));
                (size(low).expect("a size"), size(high).expect("a size"))
            }),
            offset_align_bytes: self.bytes("offset_align"),
            offset: self.amount("offset"),
            offset_increment: self.amount("offset_increment"),
            clone_index: index,
            min_block_bytes: block_sizes.iter().map(|one| one.min_bytes).min().unwrap(),
            ..ExtentOptions::default()
        };
        let mut drawn = seeds.generator(Purpose::FileSize);
        let extents = options.place(&present, &mut drawn)?;
        let distribution = self.get("random_distribution").unwrap_or("random");
        let service = self.get("file_service_type").unwrap_or("roundrobin");
        let spec = Spec {
            accesses,
            order,
            sequencer: match self.get("rw_sequencer") {
                Some("identical") => Sequencer::Identical,
                _ => Sequencer::Sequential,
            },
            read_percent: self.number("rwmixread", 50),
            block_sizes,
            size_rules: SizeRules {
                is_unaligned: self.flag("bs_unaligned"),
                are_by_order: self.flag("bs_is_seq_rand"),
            },
            distribution: Distribution::parse(distribution, sampler, &size).expect(distribution),
            random_percent: by_direction(self.get("percentage_random").unwrap_or("100"), |one| {
                one.parse().expect("a percentage")
            }),
            generator: self.generator(),
            has_map: !self.flag("norandommap"),
            file_service: FileService::parse(service, sampler).expect(service),
            syncs: Syncs {
                fsync: self.number("fsync", 0),
                fdatasync: self.number("fdatasync", 0),
                ..Syncs::default()
            },
            limits: Limits {
                size_bytes: extents.size_bytes,
                io_size_bytes: self.bytes("io_size"),
                transfers: self.number("number_ios", 0),
                loops: self.number("loops", 1),
                is_time_based: self.flag("time_based"),
                completion: if self.is_queued() { Completion::Queued } else { Completion::AtOnce },
            },
            verification: Verification::default(),
        };
        Chooser::new(&spec, &seeds, &extents.files)
    }

    /// The engine, and files that it needs: `@file=8m` is a file that exists, and `@folder=1` is
    /// for files that it makes.
    fn files_for_fio(&self) -> Vec<String> {
        if !self.has_files() {
            return vec!["--ioengine=null".to_owned()];
        }
        let folder = folder();
        // What an earlier job left.
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).expect("a folder for files");
        let place = match self.bytes("@file") {
            Some(bytes) => {
                let path = folder.join("whole");
                let file = fs::File::create(&path).expect("a file");
                file.set_len(bytes).expect("a length");
                format!("--filename={}", path.display())
            }
            None => format!("--directory={}", folder.display()),
        };
        vec!["--ioengine=psync".to_owned(), place]
    }

    fn has_files(&self) -> bool {
        self.get("@file").is_some() || self.get("@folder").is_some()
    }

    /// What fio does, by clone: up to so many events.
    pub(crate) fn events_of_fio(&self, most: usize) -> Vec<Vec<Event>> {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "15", "fio", "--name=j", "--debug=io", "--thread=1"]);
        let options = self.0.split_whitespace().filter(|option| !option.starts_with('@'));
        command.args(options.map(|option| format!("--{option}"))).args(self.files_for_fio());
        let mut fio = command.stdout(Stdio::piped()).spawn().expect("fio must be installed");
        let mut output = BufReader::new(fio.stdout.take().expect("it is piped"));
        let mut clones: Vec<(u32, Vec<Event>)> = Vec::new();
        for line in output.by_ref().lines() {
            let Some((process, event)) = event(&line.expect("text")) else { continue };
            let at = clones.iter().position(|(one, _)| *one == process).unwrap_or_else(|| {
                clones.push((process, Vec::new()));
                clones.len() - 1
            });
            if clones[at].1.len() < most {
                clones[at].1.push(event);
            }
            if clones.len() == self.clones() as usize
                && clones.iter().all(|(_, lines)| lines.len() == most)
            {
                break;
            }
        }
        // With nobody to read what it writes, it is killed.
        drop(output);
        fio.wait().expect("it was not waited for");
        drop(fs::remove_dir_all(folder()));
        clones.sort_by_key(|(process, _)| *process);
        clones.into_iter().map(|(_, lines)| lines).collect()
    }
}

/// Where files are, if fio needs some.
fn folder() -> PathBuf {
    env::temp_dir().join(format!("choices-of-fio-{}", process::id()))
}

/// An event, from a line such as
/// `io 123 fill: io_u 0x5..: off=0x1000,len=0x1000,ddir=0,file=j.0.0`.
fn event(line: &str) -> Option<(u32, Event)> {
    let (process, rest) = line.strip_prefix("io")?.trim_start().split_once(' ')?;
    let process = process.parse().ok()?;
    if rest.ends_with("setting file failed") {
        return Some((process, Event::NoFile));
    }
    let (what, rest) = rest.trim_start().split_once(": io_u")?;
    let make = match what {
        "fill" => Event::Chosen,
        "complete" => Event::Completed,
        _ => return None,
    };
    let field = |name: &str| {
        let (_, value) = rest.split_once(name)?;
        value.split(',').next()
    };
    let hex = |name| u64::from_str_radix(field(name)?.strip_prefix("0x")?, 16).ok();
    let what = ['r', 'w', 't', 's', 'd', 'f'][field("ddir=")?.parse::<usize>().ok()?];
    let file = field("file=")?.rsplit('.').next()?.parse().unwrap_or(0);
    let mut line = Line { what, file, offset: hex("off=")?, length: hex("len=")? };
    if line.is_sync() {
        (line.offset, line.length) = (0, 0);
    }
    Some((process, make(line)))
}

fn line_of(choice: Choice) -> Option<Line> {
    match choice {
        Choice::PassEnd | Choice::Wait => None,
        Choice::Sync { file, kind } => {
            let (_, what) = SYNCS.into_iter().find(|(one, _)| *one == kind)?;
            Some(Line { what, file, offset: 0, length: 0 })
        }
        Choice::Transfer(next) => Some(Line {
            what: ['r', 'w', 't'][next.direction as usize],
            file: next.file,
            offset: next.offset_bytes,
            length: next.length_bytes,
        }),
    }
}

fn size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix(['k', 'm', 'g']) {
        Some(digits) => (digits, &text[digits.len()..]),
        None => (text, ""),
    };
    let shift = match unit {
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => 0,
    };
    digits.parse::<u64>().ok().map(|number| number << shift)
}

/// Up to three values; the last is for the directions without one.
fn by_direction<T: Clone>(text: &str, read: impl Fn(&str) -> T) -> PerDirection<T> {
    let all: Vec<T> = text.split(',').map(read).collect();
    let at = |index: usize| all[index.min(all.len() - 1)].clone();
    PerDirection::new(at(0), at(1), at(2))
}
