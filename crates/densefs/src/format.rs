//! Making an arena, and finding out whether something is one.

use crate::arena::{Arena, Field, LINES_PER_PAGE, Ref};
use crate::errno::Errno;
use crate::geometry::Geometry;
pub use crate::layout::VERSION;
use crate::layout::{MAGIC, cell, slot, superblock};
use crate::member::Member;
use crate::modes::{DIRECTORY, Mode};
use crate::seams::Seams;

/// What is asked of a new arena.
#[derive(Clone, Copy, Debug)]
pub struct FormatRequest {
    /// What hashes of names are mixed with: random, and nobody else's.
    pub secret: u64,
    /// What inode numbers are mixed with: likewise, and unlike the other.
    pub ino_secret: u64,
    /// The root directory's owner, group and permissions.
    pub root: Mode,
}

/// Why bytes are not an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoArena {
    /// They do not begin like one.
    NoDenseFs,
    /// Their layout has this version, which is not ours.
    Version(u32),
    /// They are fewer or more than it says, which is so many lines.
    Size(u32),
    /// What it says of itself cannot be.
    Damaged,
}

/// How many slots an arena of so many lines gets: one for each 256 KiB, within bounds.
fn slots_for(lines: u32) -> u32 {
    (lines / 4096).clamp(16, 4096).next_multiple_of(LINES_PER_PAGE / slot::LINES)
}

/// Where an arena has what belongs to its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(Geometry);

impl Shape {
    /// Whose a slot is, in the first line of the slot: 0 means nobody's, and everything else what
    /// the surroundings say.
    pub const OWNER: Field<u32> = Field::at(0);

    /// That of an arena which holds a file system.
    ///
    /// # Errors
    /// Why it holds none that this code understands.
    pub fn of(arena: &Arena<'_>) -> Result<Self, NoArena> {
        let fixed = arena.line(superblock::FIXED).map_err(|_| NoArena::NoDenseFs)?;
        if fixed.load(superblock::MAGIC) != MAGIC {
            return Err(NoArena::NoDenseFs);
        }
        let version = fixed.load(superblock::VERSION);
        if version != VERSION {
            return Err(NoArena::Version(version));
        }
        let lines = fixed.load(superblock::LINES);
        if lines != arena.lines() {
            return Err(NoArena::Size(lines));
        }
        let slots = fixed.load(superblock::SLOTS);
        if slots != slots_for(lines) {
            return Err(NoArena::Damaged);
        }
        Geometry::of(lines, slots).map(Self).ok_or(NoArena::Damaged)
    }

    /// How many slots there are.
    #[must_use]
    pub fn slots(self) -> u32 {
        self.0.slots()
    }

    /// The first line of a slot, which is the surroundings'.
    #[must_use]
    pub fn slot(self, number: u32) -> Ref {
        slot::line_of(number)
    }

    /// How many records of processes there are.
    #[must_use]
    pub fn processes(self) -> u32 {
        self.0.processes()
    }
}

/// Makes a file system in an arena, all of whose bytes are zero or have not been supplied.
///
/// # Errors
/// [`Errno::INVAL`] if it is too small; [`Errno::NOSPC`] if there is no space for it.
pub fn make<S: Seams>(arena: Arena<'_>, seams: S, request: &FormatRequest) -> Result<(), Errno> {
    let slots = slots_for(arena.lines());
    let geometry = Geometry::of(arena.lines(), slots).ok_or(Errno::INVAL)?;
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
