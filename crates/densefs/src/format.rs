//! Making an arena, and recognising one.

use crate::arena::{Arena, Field, LINES_PER_PAGE, Ref};
use crate::errno::Errno;
use crate::geometry::Geometry;
pub use crate::layout::VERSION;
use crate::layout::{MAGIC, cell, process, slot, superblock};
use crate::member::Member;
use crate::modes::{DIRECTORY, Mode};
use crate::seams::Seams;

/// Parameters of a new arena.
#[derive(Clone, Copy, Debug)]
pub struct FormatRequest {
    /// Mixed into the hashes of names: random, and known to nobody else.
    pub secret: u64,
    /// Mixed into inode numbers: likewise, and different from `secret`.
    pub ino_secret: u64,
    /// The root directory's owner, group and permissions.
    pub root: Mode,
    /// How many threads may use it at the same time, rounded up to a multiple of 4; none for one
    /// for each 256 KiB, from 16 to 4,096.
    pub threads: Option<u32>,
}

/// Why memory does not contain a usable arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidArena {
    /// It does not begin like one.
    NoDenseFs,
    /// Its layout has this version, which is not ours.
    Version(u32),
    /// It is not as large as the superblock says, which is this many lines.
    Size(u32),
    /// The superblock contradicts itself.
    Damaged,
}

/// Slots in a page.
const SLOTS_PER_PAGE: u32 = LINES_PER_PAGE / slot::LINES;

/// How many slots an arena of this many lines gets, in whole pages; none if there cannot be as many
/// as the request says.
fn slots_for(lines: u32, request: &FormatRequest) -> Option<u32> {
    let threads = request.threads.unwrap_or_else(|| (lines / 4096).clamp(16, 4096));
    let slots = threads.checked_next_multiple_of(SLOTS_PER_PAGE)?;
    (1..=slot::COUNT_MAX).contains(&slots).then_some(slots)
}

/// The parts of an arena that belong to its environment ([`Seams`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(Geometry);

impl Shape {
    /// The owner of a slot, in the first line of the slot: 0 means that the slot is free, and the
    /// environment defines all other values.
    pub const OWNER: Field<u32> = Field::at(0);
    /// How many slots, from the first one on, may have had an owner, in [`Self::COMMON`]: an
    /// environment that raises it before it takes a slot need not look at the others.
    pub const SLOTS_TAKEN: Field<u32> = Field::at(0);
    /// The line that belongs to the environment as a whole.
    pub const COMMON: Ref = superblock::THEIRS;
    /// What a process does with the arena, in its record: the environment defines all values.
    pub const ROLE: Field<u32> = process::THEIRS;
    /// Whether a process may take a record over, and what it gets: the environment defines all
    /// values.
    pub const HAND_OVER: Field<u32> = process::THEIRS_NEXT;

    /// The shape of an arena with a file system.
    ///
    /// # Errors
    /// Why it does not contain one that this code understands.
    pub fn from_arena(arena: &Arena<'_>) -> Result<Self, InvalidArena> {
        let fixed = arena.line(superblock::FIXED).map_err(|_| InvalidArena::NoDenseFs)?;
        if fixed.load(superblock::MAGIC) != MAGIC {
            return Err(InvalidArena::NoDenseFs);
        }
        let version = fixed.load(superblock::VERSION);
        if version != VERSION {
            return Err(InvalidArena::Version(version));
        }
        let lines = fixed.load(superblock::LINES);
        if lines != arena.lines() {
            return Err(InvalidArena::Size(lines));
        }
        let slots = fixed.load(superblock::SLOTS);
        if !slots.is_multiple_of(SLOTS_PER_PAGE) || !(1..=slot::COUNT_MAX).contains(&slots) {
            return Err(InvalidArena::Damaged);
        }
        Geometry::new(lines, slots).map(Self).ok_or(InvalidArena::Damaged)
    }

    /// How many slots there are.
    #[must_use]
    pub fn slots(self) -> u32 {
        self.0.slots()
    }

    /// The first line of a slot, which belongs to the environment.
    #[must_use]
    pub fn slot(self, number: u32) -> Ref {
        slot::line_of(number)
    }

    /// How many records of processes there are.
    #[must_use]
    pub fn processes(self) -> u32 {
        self.0.processes()
    }

    /// The record of a process.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such record.
    pub fn record(self, number: u32) -> Result<Ref, Errno> {
        self.0.process(number)
    }
}

/// Makes a file system in an arena. All bytes of the arena must be zero, or not supplied yet.
///
/// # Errors
/// [`Errno::INVAL`] if it is too small, or too small for so many threads; [`Errno::NOSPC`] if there
/// is no space for it.
pub fn make<S: Seams>(arena: Arena<'_>, seams: S, request: &FormatRequest) -> Result<(), Errno> {
    let slots = slots_for(arena.lines(), request).ok_or(Errno::INVAL)?;
    let geometry = Geometry::new(arena.lines(), slots).ok_or(Errno::INVAL)?;
    if !seams.supply(0, geometry.first_page()) {
        return Err(Errno::NOSPC);
    }
    let fixed = arena.line(superblock::FIXED)?;
    fixed.store(superblock::VERSION, VERSION);
    fixed.store(superblock::SLOTS, slots);
    fixed.store(superblock::LINES, arena.lines());
    fixed.store(superblock::SECRET, request.secret);
    fixed.store(superblock::INO_SECRET, request.ino_secret);
    let member = Member::new(arena, seams, 0, 0)?;
    let mode = member.index_of(Mode { mode: request.root.mode | DIRECTORY, ..request.root })?;
    member.ready(1)?;
    member.begin_reserve()?;
    let root = member.take_cell()?;
    let line = member.line(root)?;
    let now = member.seams().now_ns();
    member.fill(line, cell::MODE, mode);
    member.fill(line, cell::LINKS, 2);
    member.fill(line, cell::SIZE, 0);
    member.fill(line, cell::PARENT, root.0);
    member.fill(line, cell::MTIME, now);
    member.fill(line, cell::CTIME, now);
    member.fill(line, cell::DATA, 0);
    member.fill(line, cell::OPENS, 0);
    member.fill(line, cell::FORM, 0);
    member.fill(line, cell::NAME_LENGTH, 0);
    member.put(superblock::FIXED, superblock::ROOT, root.0);
    member.put(superblock::FIXED, superblock::MAGIC, MAGIC);
    member.commit();
    Ok(())
}
