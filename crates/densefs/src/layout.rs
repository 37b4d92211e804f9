//! The position of every field, defined once. `SPEC.md` says what each field means and when it
//! changes.

use crate::arena::{Field, LINE_BYTES, LINES_PER_PAGE, Ref};

/// The first bytes of an arena.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"DENSEFS\n");
/// The version of this layout.
pub const VERSION: u32 = 6;

/// The lock word, in the first line of everything that has a lock: owner 15 bits, waiters 1,
/// version 16.
pub(crate) const WORD: Field<u32> = Field::at(0);

/// The parts of [`WORD`].
pub(crate) mod lock {
    /// The number of the slot whose thread holds the lock, plus 1; 0 if nobody holds it. A half of
    /// the word, which the thread that holds the lock can store by itself.
    pub(crate) const OWNER: u32 = 0xffff;
    /// Somebody sleeps until the lock is released.
    pub(crate) const WAITERS: u32 = 0x1_0000;
    /// One step of the version, which changes whenever the lock is taken.
    pub(crate) const STEP: u32 = 0x2_0000;

    /// Whether somebody holds the lock with this word.
    #[inline(always)]
    pub(crate) fn is_held(word: u32) -> bool {
        word & OWNER != 0
    }
}

/// The superblock: the first page.
pub(crate) mod superblock {
    use super::{Field, Ref};

    /// Written by mkfs and never changed.
    pub(crate) const FIXED: Ref = Ref(0);
    pub(crate) const MAGIC: Field<u64> = Field::at(0);
    pub(crate) const VERSION: Field<u32> = Field::at(8);
    /// How many slots there are.
    pub(crate) const SLOTS: Field<u32> = Field::at(12);
    /// How many lines the arena has.
    pub(crate) const LINES: Field<u32> = Field::at(16);
    /// The root directory's cell.
    pub(crate) const ROOT: Field<u32> = Field::at(20);
    /// Mixed into the hashes of names.
    pub(crate) const SECRET: Field<u64> = Field::at(24);
    /// Mixed into inode numbers. Different from the other, so that inode numbers reveal nothing
    /// about it.
    pub(crate) const INO_SECRET: Field<u64> = Field::at(32);

    /// How much of the arena is in use; has its own lock.
    pub(crate) const GROWTH: Ref = Ref(1);
    /// How many zones have a header that can be accessed.
    pub(crate) const ZONES: Field<u32> = Field::at(4);

    /// The table of modes; has its own lock.
    pub(crate) const MODES: Ref = Ref(2);
    /// How many of its entries are in use.
    pub(crate) const MODE_COUNT: Field<u32> = Field::at(4);

    /// Taken before any other lock by an operation that changes two directories. While it is held,
    /// no directory gets another parent.
    pub(crate) const RENAME: Ref = Ref(3);

    /// Belongs to the seams.
    pub(crate) const THEIRS: Ref = Ref(4);

    /// References to the pages of the table of modes, 16 to a line.
    pub(crate) const MODE_PAGES: Ref = Ref(16);
    pub(crate) const MODE_PAGE: Field<u32> = Field::at(0);
}

/// An entry of the table of modes: 16 bytes.
pub(crate) mod mode_entry {
    use super::{Field, LINES_PER_PAGE};

    pub(crate) const UID: Field<u32> = Field::at(0);
    pub(crate) const GID: Field<u32> = Field::at(4);
    pub(crate) const MODE: Field<u32> = Field::at(8);
    /// Entries in a line.
    pub(crate) const PER_LINE: u32 = 4;
    pub(crate) const PER_PAGE: u32 = PER_LINE * LINES_PER_PAGE;
    /// As many as a 16-bit index can tell apart, except for the values that mark cells of other
    /// kinds.
    pub(crate) const MAX: u32 =
        if cfg!(test) { 2 * PER_PAGE } else { super::cell::DESCRIPTION_MARK as u32 };
    /// Entries before this one never change, so threads may cache them. Others get a new meaning
    /// when no inode has theirs any more.
    pub(crate) const LASTING: u32 = if cfg!(test) { 8 } else { 0x8000 };
}

/// The slot of a thread.
pub(crate) mod slot {
    use super::{Field, Ref, superblock};

    pub(crate) const LINES: u32 = 16;
    /// Most slots that an arena can have, in whole pages.
    pub(crate) const COUNT_MAX: u32 = 0x7fff / 4 * 4;
    /// The first one follows the superblock.
    pub(crate) const FIRST: Ref = Ref(super::LINES_PER_PAGE);
    /// Most locks that a thread can hold.
    pub(crate) const HELD_MAX: usize = 6;
    /// Most lines in its stock.
    pub(crate) const CELLS_MAX: u32 = 16;
    /// Most runs in its stock.
    pub(crate) const RUNS_MAX: u32 = 8;
    /// Entries of the redo log: four to a line.
    pub(crate) const LOG_MAX: u32 = 4 * (LINES - LOG);

    // Line 0 belongs to the seams: it shows whether the thread is alive.
    /// The line with the state of the current operation.
    pub(crate) const STATE: u32 = 1;
    /// The lines whose locks it holds, or is about to take.
    pub(crate) const HELD: Field<u32> = Field::at(0);
    /// How many entries of the log are to be applied; 0 if none are.
    pub(crate) const COMMITTED: Field<u32> = Field::at(24);
    /// How many lines are in stock.
    pub(crate) const CELLS: Field<u32> = Field::at(28);
    /// How many runs are in stock.
    pub(crate) const RUNS: Field<u32> = Field::at(32);
    /// An inode without names whose content nobody has open and is being freed; or none.
    pub(crate) const DYING: Field<u32> = Field::at(36);
    /// The line with the stock of single lines.
    pub(crate) const CELL_STOCK: u32 = 2;
    pub(crate) const CELL: Field<u32> = Field::at(0);
    /// The line with the stock of runs: the first line in the low half, the number of lines in the
    /// high half.
    pub(crate) const RUN_STOCK: u32 = 3;
    pub(crate) const RUN: Field<u64> = Field::at(0);
    /// The first line of the log.
    pub(crate) const LOG: u32 = 4;

    /// The slot's first line.
    pub(crate) fn line_of(number: u32) -> Ref {
        FIRST.plus(number.wrapping_mul(LINES))
    }

    const _: () = {
        assert!(HELD.byte() + 4 * HELD_MAX <= COMMITTED.byte());
        assert!(4 * CELLS_MAX as usize <= super::LINE_BYTES);
        assert!(8 * RUNS_MAX as usize <= super::LINE_BYTES);
        assert!(superblock::MODE_PAGES.0 + 16 <= super::LINES_PER_PAGE);
    };
}

/// The record of a process: a line with its own lock.
pub(crate) mod process {
    use super::{Field, LINES_PER_PAGE, Ref, slot};

    /// 1 from when a process takes it until all that the process had has been released.
    pub(crate) const STATE: Field<u32> = Field::at(4);
    /// The table of descriptors: its run in the low half, and in the high half 1 more than the
    /// base-2 logarithm of its number of lines; 0 if there is none.
    pub(crate) const TABLE: Field<u64> = Field::at(8);
    /// No place before this one is free.
    pub(crate) const LOWEST: Field<u32> = Field::at(16);
    /// How often the working directory has been changed.
    pub(crate) const CHANGES: Field<u64> = Field::at(24);
    /// The rest of the line belongs to the environment: this, and what follows.
    pub(crate) const THEIRS: Field<u32> = Field::at(32);
    pub(crate) const THEIRS_NEXT: Field<u32> = Field::at(36);

    /// A descriptor: its description's cell in the low half, its flags in the high half; 0 if there
    /// is none.
    pub(crate) const ENTRY: Field<u64> = Field::at(0);
    pub(crate) const ENTRIES_PER_LINE: u32 = 8;
    /// The base-2 logarithm of the largest number of lines in a table.
    pub(crate) const BITS_MAX: u32 = 16;
    /// The place of the working directory.
    pub(crate) const WORKING: u32 = 0;
    /// The place of the first description in the list of the files that the process has mapped.
    pub(crate) const MAPPINGS: u32 = 1;
    /// The place of descriptor 0.
    pub(crate) const FIRST: u32 = 2;

    /// How many records an arena with this many slots has: whole pages of them.
    pub(crate) fn count(slots: u32) -> Option<u32> {
        slots.checked_next_multiple_of(LINES_PER_PAGE)
    }

    /// Where the records begin.
    pub(crate) fn first(slots: u32) -> Ref {
        slot::line_of(slots)
    }
}

/// An open description: a cell with a mark instead of a mode.
pub(crate) mod description {
    use super::{Field, cell};

    /// How many descriptors refer to it.
    pub(crate) const REFERENCES: Field<u16> = cell::LINKS;
    /// Its current offset.
    pub(crate) const OFFSET: Field<u64> = Field::at(8);
    /// In the list of a process' mapped files, which need no offset: the next one.
    pub(crate) const NEXT: Field<u32> = Field::at(8);
    /// The flags it was opened with.
    pub(crate) const FLAGS: Field<u32> = Field::at(16);
    /// The flag of one that only refers to its inode.
    pub(crate) const PATH: u32 = 0o10_000_000;
    /// The flags of one that only keeps its inode's number.
    pub(crate) const NUMBER_ONLY: u32 = PATH | 1 << 30;
    /// The inode.
    pub(crate) const INODE: Field<u32> = cell::TARGET;
}

/// A zone: pages that are allocated under one lock.
pub(crate) mod zone {
    use super::{Field, LINES_PER_PAGE};

    pub(crate) const PAGES: u32 = 4096;
    pub(crate) const LINES: u32 = PAGES * LINES_PER_PAGE;
    /// Pages of its header: one with bitmaps of pages, eight with a bitmap of lines for each page.
    pub(crate) const HEADER_PAGES: u32 = 9;
    /// The first zone of an arena with this many pages keeps one for the reserve, and at least two.
    pub(crate) const PAGES_PER_RESERVED: u32 = 256;
    /// The largest reserve, in pages.
    pub(crate) const RESERVED_MAX: u32 = 256;
    /// Pages that are supplied at a time.
    pub(crate) const BATCH_PAGES: u32 = 64;
    /// The largest run, in pages: it bounds how many log entries its bits take.
    pub(crate) const RUN_PAGES_MAX: u32 = 2048;

    /// How many pages can be accessed, from the zone's start; 0 before the first batch.
    pub(crate) const SUPPLIED: Field<u32> = Field::at(4);
    /// How many pages are free.
    pub(crate) const FREE_COUNT: Field<u32> = Field::at(8);
    /// A bit for each group of 64 pages that are all free and whose memory was returned to the
    /// system.
    pub(crate) const RETURNED: Field<u64> = Field::at(16);
    /// The first line of the bitmap of free pages; 1 is free.
    pub(crate) const FREE: u32 = 8;
    /// The first lines of the bitmaps of pages with both used and free lines: one for each class of
    /// [`ROOMS`]. Pages of cells are in the first.
    pub(crate) const PARTIAL: [u32; ROOMS.len()] = [16, 32, 40, 48, 56];
    /// The least number of contiguous free lines in pages of each class; all have fewer than the
    /// next class requires.
    pub(crate) const ROOMS: [u32; 5] = [1, 4, 8, 16, 32];
    /// The first line of the bitmap of pages of cells. These stay pages of cells forever: a thread
    /// that comes too late to a cell finds another one or a free one, and its lock is still a lock.
    pub(crate) const CELLS: u32 = 24;
    /// The first line of the bitmaps of lines, a word for each page; 1 is used.
    pub(crate) const USED: u32 = LINES_PER_PAGE;
    /// Words of 64 bits in a line.
    pub(crate) const WORDS_PER_LINE: u32 = 8;
    /// The first word of a line.
    pub(crate) const BITS: Field<u64> = Field::at(0);
    /// Words in a bitmap of pages.
    pub(crate) const BITMAP_WORDS: u32 = PAGES / 64;

    const _: () = {
        assert!(FREE + BITMAP_WORDS / WORDS_PER_LINE == PARTIAL[0]);
        assert!(PARTIAL[0] + BITMAP_WORDS / WORDS_PER_LINE == CELLS);
        assert!(CELLS + BITMAP_WORDS / WORDS_PER_LINE == PARTIAL[1]);
        assert!(PARTIAL[4] + BITMAP_WORDS / WORDS_PER_LINE == USED);
        assert!(USED + PAGES / WORDS_PER_LINE <= HEADER_PAGES * LINES_PER_PAGE);
        assert!(BATCH_PAGES.is_multiple_of(64) && PAGES.is_multiple_of(BATCH_PAGES));
        // A bit of a word for each group.
        assert!(BITMAP_WORDS == 64);
    };
}

/// A cell: an inode with its first name, or an additional name of an inode.
pub(crate) mod cell {
    use super::Field;

    /// The index of its mode.
    pub(crate) const MODE: Field<u16> = Field::at(4);
    pub(crate) const LINKS: Field<u16> = Field::at(6);
    /// The size of a file in bytes.
    pub(crate) const SIZE: Field<u64> = Field::at(8);
    /// Directories only: the number of entries, in the low half of the size.
    pub(crate) const ENTRIES: Field<u32> = Field::at(8);
    /// Directories only: the parent directory, in the high half.
    pub(crate) const PARENT: Field<u32> = Field::at(12);
    /// Nanoseconds since 1970, negative before.
    pub(crate) const MTIME: Field<u64> = Field::at(16);
    pub(crate) const CTIME: Field<u64> = Field::at(24);
    /// Where its content or its entries are.
    pub(crate) const DATA: Field<u32> = Field::at(32);
    /// Additional names only: the inode's cell.
    pub(crate) const TARGET: Field<u32> = DATA;
    /// How many open descriptions it has, of two kinds: see [`crate::opens`].
    pub(crate) const OPENS: Field<u16> = Field::at(36);
    /// How to interpret `DATA`.
    pub(crate) const FORM: Field<u8> = Field::at(38);
    /// The form of an inode with an annex. `DATA` is the annex then, and the actual data and form
    /// are stored there.
    pub(crate) const ANNEX: u8 = 0xff;
    /// Length of the name in bytes; 0 if the cell is not an entry.
    pub(crate) const NAME_LENGTH: Field<u8> = Field::at(39);
    /// The name, or its first bytes if it is longer than `NAME_MAX`.
    pub(crate) const NAME: Field<u64> = Field::at(40);
    pub(crate) const NAME_WORDS: usize = 3;
    pub(crate) const NAME_MAX: usize = 8 * NAME_WORDS;
    /// Long names only: where all of it is stored, instead of the last bytes.
    pub(crate) const LONG_NAME: Field<u32> = Field::at(60);
    /// Stands for the mode in cells of additional names.
    pub(crate) const LINK_MARK: u16 = 0xffff;
    /// Stands for the mode in cells of open descriptions.
    pub(crate) const DESCRIPTION_MARK: u16 = 0xfffe;

    const _: () = {
        assert!(OPENS.byte() == DATA.byte() + 4 && NAME.byte() == NAME_LENGTH.byte() + 1);
        assert!(NAME.byte() + NAME_MAX == super::LINE_BYTES);
        assert!(ENTRIES.byte() == SIZE.byte() && PARENT.byte() == ENTRIES.byte() + 4);
        assert!(NAME.byte() <= 40);
    };
}

/// How many bytes of an inode's line hold what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeBytes {
    /// All of it.
    pub whole: usize,
    /// The name.
    pub name: usize,
    /// The times.
    pub times: usize,
    /// Owner, group and mode: an index in the table of modes.
    pub owner_and_mode: usize,
    /// The size, counts of links and of openings, where the content is, the lock, and how long the
    /// name is.
    pub others: usize,
}

impl InodeBytes {
    /// Those of this layout.
    pub const OURS: Self = {
        use cell::{CTIME, DATA, FORM, LINKS, MODE, MTIME, NAME_LENGTH, NAME_MAX, OPENS, SIZE};
        Self {
            whole: LINE_BYTES,
            name: NAME_MAX,
            times: MTIME.bytes() + CTIME.bytes(),
            owner_and_mode: MODE.bytes(),
            others: SIZE.bytes()
                + LINKS.bytes()
                + OPENS.bytes()
                + DATA.bytes()
                + FORM.bytes()
                + WORD.bytes()
                + NAME_LENGTH.bytes(),
        }
    };

    /// What is left, for instance for a number.
    #[must_use]
    pub const fn left(self) -> usize {
        self.whole - self.name - self.times - self.owner_and_mode - self.others
    }
}

/// The annex of an inode that needs more than its cell: a line.
pub(crate) mod annex {
    use super::{Field, cell};

    /// Incremented whenever a file lock is released; waiters sleep on it.
    pub(crate) const RELEASES: Field<u32> = Field::at(0);
    /// 1 if somebody may sleep on that; whoever releases a lock resets it and wakes them.
    pub(crate) const WAITERS: Field<u32> = Field::at(4);
    /// The run with the extended attributes, and their total length in bytes; there is no run if
    /// that is 0.
    pub(crate) const ATTRIBUTES: Field<u32> = Field::at(8);
    pub(crate) const ATTRIBUTE_BYTES: Field<u32> = Field::at(12);
    /// The run with the file's locks, and how many there are; there is no run if that is 0.
    pub(crate) const LOCKS: Field<u32> = Field::at(16);
    pub(crate) const LOCK_COUNT: Field<u32> = Field::at(20);
    /// When it was last accessed, in nanoseconds since 1970, plus 1 from 1970 on; 0 if never set.
    pub(crate) const ATIME: Field<u64> = Field::at(24);

    /// How many processes have mapped the file.
    pub(crate) const MAPPINGS: Field<u32> = Field::at(40);
    /// 1 if the file may have pages past its end because it was mapped when they were cut off.
    pub(crate) const HAS_EXCESS: Field<u32> = Field::at(44);

    // `cell::DATA` and `cell::FORM` have the same positions as in a cell.
    const _: () = {
        assert!(ATIME.byte() + 8 <= cell::DATA.byte() && cell::FORM.byte() < MAPPINGS.byte());
    };
}

/// A lock that a program has taken on a file: half a line.
pub(crate) mod file_lock {
    use super::{Field, LINE_BYTES};

    pub(crate) const BYTES: u32 = 32;
    pub(crate) const PER_LINE: u32 = 2;
    /// The kind of owner, times 2, plus 1 if it is exclusive.
    pub(crate) const HOW: Field<u32> = Field::at(0);
    pub(crate) const PID: Field<u32> = Field::at(4);
    pub(crate) const OWNER: Field<u32> = Field::at(8);
    pub(crate) const START: Field<u64> = Field::at(16);
    /// The byte after the last one.
    pub(crate) const END: Field<u64> = Field::at(24);

    const _: () = assert!((BYTES * PER_LINE) as usize == LINE_BYTES);
}

/// The forms of a file, and the map of a larger one.
pub(crate) mod content {
    use super::Field;

    /// Forms up to this one are the number of lines in the file's run; 0 if there is none.
    pub(crate) const RUN_MAX: u8 = 64;
    /// From this form on, the file has a map, whose root has 2^(form - this) lines.
    pub(crate) const MAP: u8 = 65;
    /// The base-2 logarithm of the number of lines of every other node, and the largest for a root.
    /// None in unit tests, so that small files have maps of several levels.
    pub(crate) const NODE_BITS: u32 = if cfg!(test) { 0 } else { 5 };
    const _: () = assert!(MAP as u32 + NODE_BITS < super::cell::ANNEX as u32);
    /// Words in a line of a node. The first word of a node has the number of its entries in its
    /// lowest bits, then its distance from the leaves; in the root also the number of lines of the
    /// last extent if that is less than a page, and in the high half the page after the last one.
    /// Every other word is an entry: in the low half the page of the file with which it begins, in
    /// the high half, in leaves, the first line of the extent, or 0 for a hole; in other nodes, the
    /// node below. It ends where the next one begins.
    pub(crate) const WORDS_PER_LINE: u32 = 8;
    pub(crate) const WORD: Field<u64> = Field::at(0);
    /// The mask for the number of entries.
    pub(crate) const COUNT: u32 = (1 << LEVEL_SHIFT) - 1;
    /// The position of the distance from the leaves, and its mask there.
    pub(crate) const LEVEL_SHIFT: u32 = 16;
    pub(crate) const LEVEL: u32 = (1 << (TAIL_SHIFT - LEVEL_SHIFT)) - 1;
    /// The largest distance from the leaves. Nodes that have been split are at least half full, so
    /// such a map has room for more extents than an arena has pages.
    pub(crate) const LEVEL_MAX: u32 = 3;
    /// The position of the number of lines in a partial last page.
    pub(crate) const TAIL_SHIFT: u32 = 26;
    const _: () = assert!(WORDS_PER_LINE << NODE_BITS <= COUNT && LEVEL_MAX <= LEVEL);
}

/// A bucket: twelve entries of a directory in one line.
pub(crate) mod bucket {
    use super::Field;

    /// How many buckets further on an entry that belongs here can be.
    pub(crate) const REACH: Field<u8> = Field::at(0);
    /// Which of the entries belong in an earlier bucket: one bit each, the lowest for the first.
    pub(crate) const STRANGERS: Field<u16> = Field::at(2);
    /// For each entry, the eight bits of the hash after those that select the bucket; 0 where there
    /// is no entry.
    pub(crate) const TAG: Field<u8> = Field::at(4);
    /// The entries' cells.
    pub(crate) const ENTRY: Field<u32> = Field::at(16);
    pub(crate) const ENTRIES: usize = 12;

    const _: () = {
        assert!(ENTRIES <= 16 && STRANGERS.byte() + 2 == TAG.byte());
        assert!(TAG.byte() + ENTRIES == ENTRY.byte());
        assert!(ENTRY.byte() + 4 * ENTRIES == super::LINE_BYTES);
    };
}
