//! Exercises files by library calls as fsx does by system calls: random reads, writes, truncations,
//! allocations, holes and copies, through two attachments of the arena, as two processes would
//! have, and through descriptors some of which share an offset. The expected content is kept in a
//! vector of bytes.
//!
//! `FSPRISM_FSX_OPERATIONS` sets the number of operations.

#[path = "../../densefs/src/random.rs"]
mod random;

use std::path::Path;

use densefs_process::{Base, DenseFs, Errno, NewArena, Whence, flags, make};

use random::Random;

/// The maximum length of the file.
const FILE_BYTES: u64 = 256 << 10;
/// The maximum length of one operation.
const OPERATION_BYTES: u64 = 64 << 10;
/// After this many operations, a new file is begun.
const OPERATIONS_OF_FILE: u64 = 5_000;

impl Random {
    /// A random amount up to `most`. Often small, since small files have special forms, or close to
    /// a page boundary.
    fn amount(&mut self, most: u64) -> u64 {
        let amount = match self.below(4) {
            0 => self.below(200),
            1 => (self.below(64) * 4_096 + self.below(3)).saturating_sub(1),
            _ => self.below(most + 1),
        };
        amount % (most + 1)
    }

    /// A range that ends before the maximum length of the file.
    fn range(&mut self) -> (u64, u64) {
        let offset = self.amount(FILE_BYTES - 1);
        (offset, self.amount(OPERATION_BYTES.min(FILE_BYTES - offset)))
    }

    /// Bytes, none of which are zero.
    fn bytes(&mut self, length: u64) -> Vec<u8> {
        let seed = self.below(250);
        (0..length).map(|at| u8::try_from((at * 7 + seed) % 251 + 1).expect("it fits")).collect()
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).expect("it is small")
}

/// A descriptor in one of the attachments, and which of the offsets it uses.
#[derive(Clone, Copy)]
struct Hand<'f> {
    files: &'f DenseFs,
    descriptor: u32,
    offset: usize,
}

/// A file, how it is open, and its expected content.
struct Exercised<'f> {
    hands: [Hand<'f>; 3],
    appending: Hand<'f>,
    /// The expected offsets.
    offsets: [u64; 3],
    model: Vec<u8>,
    /// Its last mtime.
    mtime_ns: i64,
    random: Random,
    /// The current operation, for messages.
    said: String,
}

impl<'f> Exercised<'f> {
    fn new([one, other]: [&'f DenseFs; 2], name: &str, seed: u64) -> Self {
        let open = |files: &'f DenseFs, how, offset| {
            let opened = files.open_descriptor(Base::Working, Path::new(name), how, 0o600);
            Hand { files, descriptor: opened.expect("there is room"), offset }
        };
        let first = open(one, flags::READ_WRITE | flags::CREATE, 0);
        let twin = one.duplicate(first.descriptor, 0, 0).expect("there is room");
        let twin = Hand { descriptor: twin, ..first };
        let hands = [first, twin, open(other, flags::READ_WRITE, 1)];
        let appending = open(other, flags::WRITE | flags::APPEND, 2);
        let (random, said) = (Random(seed), String::new());
        let (offsets, model) = ([0; 3], Vec::new());
        Self { hands, appending, offsets, model, mtime_ns: 0, random, said }
    }

    fn close(self) {
        for hand in self.hands.into_iter().chain([self.appending]) {
            hand.files.close(hand.descriptor).expect("it is open");
        }
    }

    fn size(&self) -> u64 {
        self.model.len() as u64
    }

    /// The expected result of a read.
    fn expected(&self, offset: u64, length: u64) -> &[u8] {
        let (from, to) = (offset.min(self.size()), (offset + length).min(self.size()));
        &self.model[index(from)..index(to)]
    }

    fn model_write(&mut self, offset: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            let (from, to) = (index(offset), index(offset) + bytes.len());
            self.model.resize(self.model.len().max(to), 0);
            self.model[from..to].copy_from_slice(bytes);
            self.assert_newer();
        }
    }

    /// Each change of the content gets an mtime of its own, however soon it follows another.
    fn assert_newer(&mut self) {
        let Hand { files, descriptor, .. } = self.appending;
        let mtime_ns = files.stat_descriptor(descriptor).expect("it is open").mtime_ns;
        assert_ne!(mtime_ns, self.mtime_ns, "{}", self.said);
        self.mtime_ns = mtime_ns;
    }

    /// Reads at an offset, or at the descriptor's.
    fn read(&mut self, hand: Hand<'_>) {
        let (offset, length) = self.random.range();
        let mut into = vec![0xff; index(length)];
        let own = self.offsets[hand.offset];
        let is_own = self.random.below(2) == 0;
        let offset = if is_own { own } else { offset };
        self.said = format!("read {length} from {offset}, by its own offset: {is_own}");
        let read = if is_own {
            hand.files.read(hand.descriptor, &mut into)
        } else {
            hand.files.read_from(hand.descriptor, offset, &mut into)
        };
        let read = read.expect("it is a file");
        assert!(into[..read] == *self.expected(offset, length), "{}", self.said);
        if is_own {
            self.offsets[hand.offset] += read as u64;
        }
    }

    /// Writes at an offset, or at the descriptor's.
    fn write(&mut self, hand: Hand<'_>) {
        let (offset, length) = self.random.range();
        let own = self.offsets[hand.offset];
        let is_own = self.random.below(2) == 0 && own + length <= FILE_BYTES;
        let offset = if is_own { own } else { offset };
        self.said = format!("write {length} to {offset}, by its own offset: {is_own}");
        let bytes = self.random.bytes(length);
        let written = if is_own {
            self.offsets[hand.offset] += length;
            hand.files.write(hand.descriptor, &bytes)
        } else {
            hand.files.write_to(hand.descriptor, offset, &bytes)
        };
        assert_eq!(written, Ok(bytes.len()), "{}", self.said);
        self.model_write(offset, &bytes);
    }

    /// Appends, whatever offset is given.
    fn append(&mut self) {
        let (offset, length) = self.random.range();
        let length = length.min(FILE_BYTES - self.size());
        self.said = format!("append {length} to {}", self.size());
        let bytes = self.random.bytes(length);
        let Hand { files, descriptor, .. } = self.appending;
        let written = if self.random.below(2) == 0 {
            files.write(descriptor, &bytes)
        } else {
            files.write_to(descriptor, offset, &bytes)
        };
        assert_eq!(written, Ok(bytes.len()), "{}", self.said);
        self.model_write(self.size(), &bytes);
    }

    fn truncate(&mut self, hand: Hand<'_>) {
        let size = self.random.amount(FILE_BYTES);
        self.said = format!("truncate to {size}");
        assert_eq!(hand.files.truncate_descriptor(hand.descriptor, size), Ok(()), "{}", self.said);
        self.model.resize(index(size), 0);
        self.assert_newer();
    }

    fn allocate(&mut self, hand: Hand<'_>) {
        let (offset, length) = self.random.range();
        let keeps_size = self.random.below(2) == 0;
        self.said = format!("allocate {length} from {offset}, size kept: {keeps_size}");
        let done = hand.files.allocate(hand.descriptor, offset, length, keeps_size);
        if length == 0 {
            assert_eq!(done, Err(Errno::INVAL), "{}", self.said);
            return;
        }
        assert_eq!(done, Ok(()), "{}", self.said);
        if !keeps_size {
            self.model.resize(self.model.len().max(index(offset + length)), 0);
        }
    }

    fn punch(&mut self, hand: Hand<'_>) {
        let (offset, length) = self.random.range();
        self.said = format!("punch {length} from {offset}");
        let done = hand.files.punch(hand.descriptor, offset, length);
        let wanted = if length == 0 { Err(Errno::INVAL) } else { Ok(()) };
        assert_eq!(done, wanted, "{}", self.said);
        let (from, to) = (offset.min(self.size()), (offset + length).min(self.size()));
        self.model[index(from)..index(to)].fill(0);
        if length > 0 {
            self.assert_newer();
        }
    }

    /// Copies a part of the file to another place in it, each at a given offset or at the
    /// descriptor's.
    fn copy(&mut self, from: Hand<'_>, to: Hand<'_>) {
        let (begin, length) = self.random.range();
        let target = self.random.amount(FILE_BYTES - length);
        let own = self.offsets[to.offset];
        let begin = if self.random.below(2) == 0 { None } else { Some(begin) };
        let is_own = self.random.below(2) == 0 && own + length <= FILE_BYTES;
        let target = if is_own { None } else { Some(target) };
        let begins_at = begin.unwrap_or(self.offsets[from.offset]);
        let goes_to = target.unwrap_or(own);
        let moved = self.expected(begins_at, length).to_vec();
        self.said = format!("copy {length} from {begin:?} ({begins_at}) to {target:?} ({goes_to})");
        let copied =
            from.files.copy_range(from.descriptor, begin, to.descriptor, target, index(length));
        // As on Linux, bytes past the end of the file do not count for an overlap.
        if begins_at.abs_diff(goes_to) < moved.len() as u64 {
            assert_eq!(copied, Err(Errno::INVAL), "{}", self.said);
            return;
        }
        assert_eq!(copied, Ok(moved.len()), "{}", self.said);
        self.model_write(goes_to, &moved);
        for (given, hand, at) in [(begin, from, begins_at), (target, to, goes_to)] {
            if given.is_none() {
                self.offsets[hand.offset] = at + moved.len() as u64;
            }
        }
    }

    /// Moves a descriptor's offset to a position, or to the next data or hole.
    fn seek(&mut self, hand: Hand<'_>) {
        let to = self.random.amount(FILE_BYTES);
        let own = self.offsets[hand.offset];
        let (by, from) = match self.random.below(5) {
            0 => (to.cast_signed(), Whence::Start),
            1 => (to.cast_signed() - own.cast_signed(), Whence::Current),
            2 => (to.cast_signed() - self.size().cast_signed(), Whence::End),
            3 => (to.cast_signed(), Whence::Data),
            _ => (to.cast_signed(), Whence::Hole),
        };
        self.said = format!("seek by {by} from {from:?}, to {to}");
        let sought = hand.files.seek(hand.descriptor, by, from);
        if matches!(from, Whence::Data | Whence::Hole) {
            self.assert_sought(to, from, sought);
        } else {
            assert_eq!(sought, Ok(to), "{}", self.said);
        }
        self.offsets[hand.offset] = sought.unwrap_or(own);
    }

    /// What is skipped on the way to data must be zeros. What is skipped on the way to a hole may
    /// contain zeros that nobody has written, so it cannot be checked here.
    fn assert_sought(&self, from: u64, what: Whence, sought: Result<u64, Errno>) {
        match sought {
            Ok(found) => {
                assert!((from..=self.size()).contains(&found), "{}: {found}", self.said);
                let passed = self.expected(from, found - from);
                let is_well = what == Whence::Hole || passed.iter().all(|&byte| byte == 0);
                assert!(is_well, "{}: {found}", self.said);
            }
            Err(why) => {
                assert_eq!(why, Errno::NXIO, "{}", self.said);
                let left = self.expected(from, FILE_BYTES);
                assert!(left.iter().all(|&byte| byte == 0), "{}", self.said);
                assert!(what == Whence::Data || left.is_empty(), "{}", self.said);
            }
        }
    }

    fn step(&mut self) {
        let hand = self.hands[index(self.random.below(3))];
        match self.random.below(12) {
            0 | 1 => self.read(hand),
            2..=4 => self.write(hand),
            5 => self.append(),
            6 => self.truncate(hand),
            7 => self.allocate(hand),
            8 => self.punch(hand),
            9 => {
                let to = self.hands[index(self.random.below(2))];
                self.copy(self.hands[0], to);
            }
            10 => self.seek(hand),
            _ => self.look(hand),
        }
    }

    /// Compares the whole content.
    fn look(&mut self, hand: Hand<'_>) {
        let size = hand.files.stat_descriptor(hand.descriptor).expect("it is open").size;
        assert_eq!(size, self.size(), "after: {}", self.said);
        let mut into = vec![0xff; self.model.len() + 1];
        let read = hand.files.read_from(hand.descriptor, 0, &mut into).expect("it is a file");
        assert!(into[..read] == self.model, "after: {}", self.said);
    }
}

#[test]
fn files_hold_what_was_written_by_calls() {
    let operations = std::env::var("FSPRISM_FSX_OPERATIONS").ok();
    let operations: u64 = operations.map_or(100_000, |text| text.parse().expect("it is a number"));
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena::new(16 << 20, root)).expect("there is room");
    let attach = || DenseFs::attach(&arena).expect("it was made");
    let (one, other) = (attach(), attach());
    let used = |files: &DenseFs| files.usage().expect("it is whole");
    for file in 0..operations.div_ceil(OPERATIONS_OF_FILE) {
        let name = format!("file-{file}");
        let mut exercised = Exercised::new([&one, &other], &name, 0x9e37_79b9_7f4a_7c15 + file);
        for operation in 0..OPERATIONS_OF_FILE.min(operations - file * OPERATIONS_OF_FILE) {
            exercised.step();
            let hand = exercised.hands[if operation % 2 == 0 { 0 } else { 2 }];
            exercised.look(hand);
        }
        exercised.close();
        one.remove(&name).expect("it is there");
    }
    other.leave();
    drop(other);
    let report = one.check().expect("nobody else uses it").unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(report.descriptions, 0);
    // All files are gone, and so is the space they took, except for what threads have in stock.
    let usage = used(&one);
    assert!(usage.free_bytes > usage.bytes * 9 / 10, "{usage:?}");
}
