//! The content of two files.

use densefs_process::{DenseFs, File, NewArena, flags, make};

use crate::history::{Call, Model, is_explained, overlapping, round};
use crate::{CALLS, Random, THREADS, rounds};

const FILES: usize = 2;
/// Writes are a multiple of this many bytes, which divides neither lines nor pages.
const UNIT: usize = 700;
/// The maximum length of a file, in units.
const UNITS: usize = 24;

#[derive(Clone, Copy, Debug)]
enum Act {
    Read,
    /// The first unit, the number of units, and the number written into each.
    Write(usize, usize, u16),
    Append(usize, u16),
    Cut(usize),
    Punch(usize, usize),
    Size,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Units(Vec<u16>),
    Size(usize),
    /// A unit with parts of several writes, or bytes that are not a unit.
    Torn,
}

/// The content of each unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Content(Vec<u16>);

impl Content {
    fn write(&mut self, at: usize, units: usize, what: u16) {
        let end = at + units;
        self.0.resize(self.0.len().max(end), 0);
        self.0[at..end].fill(what);
    }
}

impl Model for Content {
    type Act = Act;
    type Outcome = Outcome;

    fn explains(&mut self, act: &Act, outcome: &Outcome) -> bool {
        match *act {
            Act::Read => return *outcome == Outcome::Units(self.0.clone()),
            Act::Size => return *outcome == Outcome::Size(self.0.len()),
            Act::Write(at, units, what) => self.write(at, units, what),
            Act::Append(units, what) => self.write(self.0.len(), units, what),
            Act::Cut(units) => self.0.resize(units, 0),
            Act::Punch(at, units) => {
                let length = self.0.len();
                self.0[at.min(length)..(at + units).min(length)].fill(0);
            }
        }
        *outcome == Outcome::Nothing
    }
}

fn draw(random: &mut Random, what: u16) -> Act {
    let (at, units) = (random.index(UNITS / 2), 1 + random.index(UNITS / 2));
    match random.index(10) {
        0..=2 => Act::Write(at, units, what),
        3 => Act::Append(units / 3 + 1, what),
        4 => Act::Cut(at * 2),
        5 => Act::Punch(at, units),
        6 => Act::Size,
        _ => Act::Read,
    }
}

/// A file, opened for reading and writing, and for appending.
struct Opened {
    file: File,
    to_append: File,
}

fn units_of(bytes: &[u8]) -> Outcome {
    let unit = |bytes: &[u8]| {
        let first = bytes.first_chunk::<2>()?;
        let is_whole = bytes.len() == UNIT && bytes.chunks(2).all(|pair| pair == first);
        is_whole.then(|| u16::from_ne_bytes(*first))
    };
    bytes.chunks(UNIT).map(unit).collect::<Option<_>>().map_or(Outcome::Torn, Outcome::Units)
}

fn act(files: &DenseFs, opened: &Opened, act: &Act) -> Outcome {
    let file = opened.file.descriptor();
    let bytes = |units: usize, what: u16| what.to_ne_bytes().repeat(units * UNIT / 2);
    let range = |at: usize, units: usize| ((at * UNIT) as u64, (units * UNIT) as u64);
    match *act {
        Act::Read => {
            let mut bytes = vec![0xff; 16 * UNITS * UNIT];
            let length = files.read_from(file, 0, &mut bytes).expect("it is a file");
            assert!(length < bytes.len(), "no file is so long");
            return units_of(&bytes[..length]);
        }
        Act::Size => {
            let size = opened.file.stat().expect("it is open").size;
            let units = usize::try_from(size).expect("it is small");
            let is_whole = units.is_multiple_of(UNIT);
            return if is_whole { Outcome::Size(units / UNIT) } else { Outcome::Torn };
        }
        Act::Write(at, units, what) => {
            let written = files.write_to(file, range(at, 0).0, &bytes(units, what));
            assert_eq!(written, Ok(units * UNIT));
        }
        Act::Append(units, what) => {
            assert_eq!(opened.to_append.write(&bytes(units, what)), Ok(units * UNIT));
        }
        Act::Cut(units) => {
            let cut = files.truncate_descriptor(file, range(units, 0).0);
            cut.expect("there is room");
        }
        Act::Punch(at, units) => {
            let (offset, length) = range(at, units);
            files.punch(file, offset, length).expect("there is room");
        }
    }
    Outcome::Nothing
}

#[test]
fn a_file_changes_at_once() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena::new(16 << 20, root)).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    let open = |file: usize, how| {
        let how = flags::CREATE | flags::READ_WRITE | how;
        files.open(file.to_string(), how, 0o600).expect("there is room")
    };
    let opened: Vec<_> = (0..FILES)
        .map(|number| Opened { file: open(number, 0), to_append: open(number, flags::APPEND) })
        .collect();
    let mut before = vec![Content::default(); FILES];
    let (mut met, mut read) = (0, 0);
    for number in 0..rounds() {
        // Each file has its own history.
        let file = usize::try_from(number).expect("it is small") % FILES;
        let script = |thread: usize| {
            let mut random = Random::new(number, thread);
            let what = |call: usize| u16::try_from(1 + thread * CALLS + call).expect("it fits");
            (0..CALLS).map(|call| draw(&mut random, what(call))).collect()
        };
        let scripts = (0..THREADS).map(script).collect();
        let mut calls = round::<Content>(scripts, |_, one| act(&files, &opened[file], one));
        met += overlapping(&calls);
        let outcome = act(&files, &opened[file], &Act::Read);
        let Outcome::Units(after) = &outcome else { panic!("round {number}: torn in the end") };
        read += after.len();
        let after = Content(after.clone());
        calls.push(Call { began: u64::MAX - 1, over: u64::MAX, act: Act::Read, outcome });
        calls.sort_by_key(|call| call.began);
        let from = &before[file];
        assert!(is_explained(from, &calls), "round {number}, from {from:?}: {calls:#?}");
        before[file] = after;
    }
    println!("{} rounds, {met} calls within others, {read} units in the end", rounds());
    assert!(met > 0 && read > 0);
    drop(opened);
    files.check().expect("there is memory").unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn content_that_cannot_be_is_rejected() {
    let call = |began, over, act, outcome| Call::<Content> { began, over, act, outcome };
    let explained = |calls: &[Call<Content>]| is_explained(&Content::default(), calls);
    let writes = |seen: &[u16]| {
        [
            call(1, 6, Act::Write(0, 3, 1), Outcome::Nothing),
            call(2, 6, Act::Write(1, 3, 2), Outcome::Nothing),
            call(3, 5, Act::Read, Outcome::Units(seen.to_vec())),
        ]
    };
    for seen in [&[][..], &[1, 1, 1], &[0, 2, 2, 2], &[1, 2, 2, 2], &[1, 1, 1, 2]] {
        assert!(explained(&writes(seen)), "{seen:?}");
    }
    // A part of one write, or parts of both.
    for seen in [&[1][..], &[1, 1], &[1, 2, 1, 2], &[1, 1, 2, 2], &[0, 0, 0]] {
        assert!(!explained(&writes(seen)), "{seen:?}");
    }
    // Two concurrent appends do not overwrite each other.
    let append = |what| call(1, 4, Act::Append(1, what), Outcome::Nothing);
    let size = |units| call(5, 6, Act::Size, Outcome::Size(units));
    assert!(explained(&[append(1), append(2), size(2)]));
    assert!(!explained(&[append(1), append(2), size(1)]));
    assert_eq!(units_of(&[1; UNIT + 1]), Outcome::Torn);
}
