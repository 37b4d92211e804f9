//! Where everything lies, told once. `SPEC.md` says what each field means and when it changes.

use crate::arena::{Field, LINE_BYTES, LINES_PER_PAGE, Ref};

/// What an arena begins with.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"DENSEFS\n");
/// The version of this layout.
pub const VERSION: u32 = 3;

/// The lock of whatever has one, in its first line: owner 15 bits, waiters 1, version 16.
pub(crate) const WORD: Field<u32> = Field::at(0);

/// The parts of [`WORD`].
pub(crate) mod lock {
    /// The number of the slot whose thread holds the lock, plus 1; 0 if nobody holds it.
    pub(crate) const OWNER: u32 = 0x7fff;
    /// Somebody sleeps until the lock is released.
    pub(crate) const WAITERS: u32 = 0x8000;
    /// One step of the version, which is odd while the lock is held.
    pub(crate) const STEP: u32 = 0x1_0000;

    /// Whether somebody holds the lock with this word.
    #[inline(always)]
    pub(crate) fn is_held(word: u32) -> bool {
        word & OWNER != 0
    }
}

/// The superblock: the first page.
pub(crate) mod superblock {
    use super::{Field, Ref};

    /// Set by mkfs and never changed.
    pub(crate) const FIXED: Ref = Ref(0);
    pub(crate) const MAGIC: Field<u64> = Field::at(0);
    pub(crate) const VERSION: Field<u32> = Field::at(8);
    /// How many slots there are.
    pub(crate) const SLOTS: Field<u32> = Field::at(12);
    /// How many lines the arena has.
    pub(crate) const LINES: Field<u32> = Field::at(16);
    /// The root directory's cell.
    pub(crate) const ROOT: Field<u32> = Field::at(20);
    /// What hashes of names are mixed with.
    pub(crate) const SECRET: Field<u64> = Field::at(24);
    /// What inode numbers are mixed with: who sees those is not to know the other.
    pub(crate) const INO_SECRET: Field<u64> = Field::at(32);

    /// How much of the arena is in use, under a lock of its own.
    pub(crate) const GROWTH: Ref = Ref(1);
    /// Zones whose header can be touched.
    pub(crate) const ZONES: Field<u32> = Field::at(4);

    /// The table of modes, under a lock of its own.
    pub(crate) const MODES: Ref = Ref(2);
    /// How many of its entries are in use.
    pub(crate) const MODE_COUNT: Field<u32> = Field::at(4);

    /// Held by whoever changes two directories, before any other lock: what is below what does not
    /// change meanwhile.
    pub(crate) const RENAME: Ref = Ref(3);

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
    /// As many as an index of 16 bits tells apart, but for those that mark cells of other kinds.
    pub(crate) const MOST: u32 = super::cell::DESCRIPTION_MARK as u32;
}

/// The slot of a thread.
pub(crate) mod slot {
    use super::{Field, Ref, superblock};

    pub(crate) const LINES: u32 = 16;
    /// The first one follows the superblock.
    pub(crate) const FIRST: Ref = Ref(super::LINES_PER_PAGE);
    /// How many locks a thread can hold.
    pub(crate) const HELD_MOST: usize = 6;
    /// How many lines its stock can hold.
    pub(crate) const CELLS_MOST: u32 = 16;
    /// How many runs its stock can hold.
    pub(crate) const RUNS_MOST: u32 = 8;
    /// Entries of the redo log: four to a line.
    pub(crate) const LOG_MOST: u32 = 4 * (LINES - LOG);

    // Line 0 is the seams': it says whether the thread is alive.
    /// The line of what it is doing.
    pub(crate) const STATE: u32 = 1;
    /// The lines whose locks it holds, or is about to.
    pub(crate) const HELD: Field<u32> = Field::at(0);
    /// How many entries of the log are to be done; 0 if none are.
    pub(crate) const COMMITTED: Field<u32> = Field::at(24);
    /// How many lines are in stock.
    pub(crate) const CELLS: Field<u32> = Field::at(28);
    /// How many runs are in stock.
    pub(crate) const RUNS: Field<u32> = Field::at(32);
    /// An inode without names that is not open, whose content is being given back; or none.
    pub(crate) const DYING: Field<u32> = Field::at(36);
    /// The line with the stock of lines.
    pub(crate) const CELL_STOCK: u32 = 2;
    pub(crate) const CELL: Field<u32> = Field::at(0);
    /// The line with the stock of runs: the first line below, the number of lines above.
    pub(crate) const RUN_STOCK: u32 = 3;
    pub(crate) const RUN: Field<u64> = Field::at(0);
    /// The first line of the log.
    pub(crate) const LOG: u32 = 4;

    /// The slot's first line.
    pub(crate) fn line_of(number: u32) -> Ref {
        FIRST.plus(number.wrapping_mul(LINES))
    }

    const _: () = {
        assert!(HELD.byte() + 4 * HELD_MOST <= COMMITTED.byte());
        assert!(4 * CELLS_MOST as usize <= super::LINE_BYTES);
        assert!(8 * RUNS_MOST as usize <= super::LINE_BYTES);
        assert!(superblock::MODE_PAGES.0 + 16 <= super::LINES_PER_PAGE);
    };
}

/// The record of a process: a line, under a lock of its own.
pub(crate) mod process {
    use super::{Field, LINES_PER_PAGE, Ref, slot};

    /// 1 from when somebody has it until all that it held has been given back.
    pub(crate) const STATE: Field<u32> = Field::at(4);
    /// The run with its descriptors below, and above 1 more than the logarithm to base 2 of its
    /// lines; 0 if there are none.
    pub(crate) const TABLE: Field<u64> = Field::at(8);
    /// No place before this one is free.
    pub(crate) const LOWEST: Field<u32> = Field::at(16);
    /// How often the working directory has been changed.
    pub(crate) const CHANGES: Field<u64> = Field::at(24);
    /// From here on, the line is the surroundings'.
    #[expect(dead_code, reason = "the surroundings know it by SPEC.md")]
    pub(crate) const THEIRS: Field<u64> = Field::at(32);

    /// A descriptor: its description's cell below, its flags above; 0 if there is none.
    pub(crate) const ENTRY: Field<u64> = Field::at(0);
    pub(crate) const ENTRIES_PER_LINE: u32 = 8;
    /// The logarithm to base 2 of the most lines of a table.
    pub(crate) const BITS_MOST: u32 = 16;
    /// The place of the working directory.
    pub(crate) const WORKING: u32 = 0;
    /// The place of descriptor 0; the one before is not used.
    pub(crate) const FIRST: u32 = 2;

    /// How many records an arena with so many slots has: whole pages.
    pub(crate) fn count(slots: u32) -> Option<u32> {
        slots.checked_next_multiple_of(LINES_PER_PAGE)
    }

    /// Where the records begin.
    pub(crate) fn first(slots: u32) -> Ref {
        slot::line_of(slots)
    }
}

/// An open description: a cell that says so in place of its mode.
pub(crate) mod description {
    use super::{Field, cell};

    /// Descriptors that refer to it.
    pub(crate) const REFERENCES: Field<u16> = cell::LINKS;
    /// Where it reads and writes next.
    pub(crate) const OFFSET: Field<u64> = Field::at(8);
    /// What it was opened for.
    pub(crate) const FLAGS: Field<u32> = Field::at(16);
    /// The inode.
    pub(crate) const INODE: Field<u32> = cell::TARGET;
}

/// A zone: pages that are handed out under one lock.
pub(crate) mod zone {
    use super::{Field, LINES_PER_PAGE};

    pub(crate) const PAGES: u32 = 4096;
    pub(crate) const LINES: u32 = PAGES * LINES_PER_PAGE;
    /// Pages of its header: one with bitmaps of pages, eight with a bitmap of lines for each page.
    pub(crate) const HEADER_PAGES: u32 = 9;
    /// Pages that are supplied at a time.
    pub(crate) const BATCH_PAGES: u32 = 512;
    /// Most pages of one run: what its bits take in the log is bounded.
    pub(crate) const RUN_PAGES_MOST: u32 = 2048;

    /// Pages that can be touched, counted from the zone's start; 0 before the first batch.
    pub(crate) const SUPPLIED: Field<u32> = Field::at(4);
    /// Pages that are free.
    pub(crate) const FREE_COUNT: Field<u32> = Field::at(8);
    /// The first line of the bitmap of free pages; 1 is free.
    pub(crate) const FREE: u32 = 8;
    /// The first lines of the bitmaps of pages that have both used and free lines: one for each
    /// class of [`ROOMS`]. Pages of cells are in the first.
    pub(crate) const PARTIAL: [u32; ROOMS.len()] = [16, 32, 40, 48, 56];
    /// How many free lines in a row pages of a class have at least: fewer than those of the next.
    pub(crate) const ROOMS: [u32; 5] = [1, 4, 8, 16, 32];
    /// The first line of the bitmap of pages whose lines are cells, now and for ever: whoever comes
    /// too late to a cell finds another there, or a free one, whose lock still is a lock.
    pub(crate) const CELLS: u32 = 24;
    /// The first line of the bitmaps of lines, a word for each page; 1 is used.
    pub(crate) const USED: u32 = LINES_PER_PAGE;
    /// Words of 64 bits in a line.
    pub(crate) const WORDS_PER_LINE: u32 = 8;
    /// The first word of a line.
    pub(crate) const BITS: Field<u64> = Field::at(0);
    /// Words of a bitmap of pages.
    pub(crate) const BITMAP_WORDS: u32 = PAGES / 64;

    const _: () = {
        assert!(FREE + BITMAP_WORDS / WORDS_PER_LINE == PARTIAL[0]);
        assert!(PARTIAL[0] + BITMAP_WORDS / WORDS_PER_LINE == CELLS);
        assert!(CELLS + BITMAP_WORDS / WORDS_PER_LINE == PARTIAL[1]);
        assert!(PARTIAL[4] + BITMAP_WORDS / WORDS_PER_LINE == USED);
        assert!(USED + PAGES / WORDS_PER_LINE <= HEADER_PAGES * LINES_PER_PAGE);
        assert!(BATCH_PAGES.is_multiple_of(64) && PAGES.is_multiple_of(BATCH_PAGES));
    };
}

/// A cell: an inode with its first name, or a further name of one.
pub(crate) mod cell {
    use super::Field;

    /// Its mode, by index.
    pub(crate) const MODE: Field<u16> = Field::at(4);
    pub(crate) const LINKS: Field<u16> = Field::at(6);
    /// Bytes of a file.
    pub(crate) const SIZE: Field<u64> = Field::at(8);
    /// Of a directory: how many entries it has, in place of half its size.
    pub(crate) const ENTRIES: Field<u32> = Field::at(8);
    /// Of a directory: the one that it is in, in place of the other half.
    pub(crate) const PARENT: Field<u32> = Field::at(12);
    /// Nanoseconds since 1970.
    pub(crate) const MTIME: Field<u64> = Field::at(16);
    pub(crate) const CTIME: Field<u64> = Field::at(24);
    /// Where its bytes or its entries are.
    pub(crate) const DATA: Field<u32> = Field::at(32);
    /// Of a further name: the inode's cell.
    pub(crate) const TARGET: Field<u32> = DATA;
    /// How many open descriptions there are.
    pub(crate) const OPENS: Field<u16> = Field::at(36);
    /// How `DATA` is to be read.
    pub(crate) const FORM: Field<u8> = Field::at(38);
    /// Its form if it has an annex, where `DATA` and `FORM` stand for what they else would here.
    pub(crate) const ANNEX: u8 = 0xff;
    /// Bytes of the name; 0 if the cell is no entry.
    pub(crate) const NAME_LENGTH: Field<u8> = Field::at(39);
    /// The name, or of one that is longer than `NAME_MOST` its first bytes.
    pub(crate) const NAME: Field<u64> = Field::at(40);
    pub(crate) const NAME_WORDS: usize = 3;
    pub(crate) const NAME_MOST: usize = 8 * NAME_WORDS;
    /// Of a long name: where the whole of it lies, in place of the last bytes.
    pub(crate) const LONG_NAME: Field<u32> = Field::at(60);
    /// What stands for a mode in cells that are further names.
    pub(crate) const LINK_MARK: u16 = 0xffff;
    /// What stands for a mode in cells that are open descriptions.
    pub(crate) const DESCRIPTION_MARK: u16 = 0xfffe;

    const _: () = {
        assert!(OPENS.byte() == DATA.byte() + 4 && NAME.byte() == NAME_LENGTH.byte() + 1);
        assert!(NAME.byte() + NAME_MOST == super::LINE_BYTES);
        assert!(ENTRIES.byte() == SIZE.byte() && PARENT.byte() == ENTRIES.byte() + 4);
        assert!(NAME.byte() <= 40);
    };
}

/// The annex of an inode that has more than a cell holds: a line.
pub(crate) mod annex {
    use super::{Field, cell};

    /// Grows whenever a lock of a file is given back, for those who sleep until then.
    pub(crate) const RELEASES: Field<u32> = Field::at(0);
    /// The run with the extended attributes, and how many bytes they take there; no bytes, no run.
    pub(crate) const ATTRIBUTES: Field<u32> = Field::at(8);
    pub(crate) const ATTRIBUTE_BYTES: Field<u32> = Field::at(12);
    /// The run with the locks of the file, and how many there are; none, no run.
    pub(crate) const LOCKS: Field<u32> = Field::at(16);
    pub(crate) const LOCK_COUNT: Field<u32> = Field::at(20);
    /// When it was last accessed, in nanoseconds since 1970 and 1 more; 0 if nobody has set that.
    pub(crate) const ATIME: Field<u64> = Field::at(24);

    // `cell::DATA` and `cell::FORM` lie where they do in a cell.
    const _: () = assert!(ATIME.byte() + 8 <= cell::DATA.byte());
}

/// A lock of a file that a program has taken: half a line.
pub(crate) mod file_lock {
    use super::{Field, LINE_BYTES};

    pub(crate) const BYTES: u32 = 32;
    pub(crate) const PER_LINE: u32 = 2;
    /// Above, what the owner is; in the lowest bit, whether it is exclusive.
    pub(crate) const HOW: Field<u32> = Field::at(0);
    pub(crate) const PID: Field<u32> = Field::at(4);
    pub(crate) const OWNER: Field<u32> = Field::at(8);
    pub(crate) const START: Field<u64> = Field::at(16);
    /// The byte behind the last one.
    pub(crate) const END: Field<u64> = Field::at(24);

    const _: () = assert!((BYTES * PER_LINE) as usize == LINE_BYTES);
}

/// What a file's `FORM` says of its content, and the map of a larger one.
pub(crate) mod content {
    use super::Field;

    /// Up to this form, it is the number of lines in a run; 0 if there are none.
    pub(crate) const RUN_MOST: u8 = 64;
    /// From this form on, a map of 2^(form - this) lines says where pages are.
    pub(crate) const MAP: u8 = 65;
    /// Most lines of a map, as bits.
    pub(crate) const MAP_BITS_MOST: u32 = 16;
    const _: () = assert!(MAP as u32 + MAP_BITS_MOST < super::cell::ANNEX as u32);
    /// Words of a line of a map. Word 0 of a map holds the number of its extents below, then how
    /// many lines the last one has if that is less than a page, and above the page behind the last
    /// one. Each other word is an extent: the page of the file at which
    /// it begins below, and above its first line, or 0 for a hole. It ends where the next begins.
    pub(crate) const WORDS_PER_LINE: u32 = 8;
    pub(crate) const WORD: Field<u64> = Field::at(0);
    /// Where the lines of a short last extent stand in word 0.
    pub(crate) const TAIL_SHIFT: u32 = 26;
    /// The bits of the number of extents.
    pub(crate) const EXTENTS: u32 = (1 << TAIL_SHIFT) - 1;
    const _: () = assert!(WORDS_PER_LINE << MAP_BITS_MOST <= EXTENTS);
}

/// A bucket: twelve entries of a directory in one line.
pub(crate) mod bucket {
    use super::Field;

    /// How many buckets further on an entry may be that belongs here.
    pub(crate) const REACH: Field<u8> = Field::at(0);
    /// Which of the entries belong in a bucket before: a bit for each, the lowest for the first.
    pub(crate) const STRANGERS: Field<u16> = Field::at(2);
    /// Of each entry's hash, the eight bits behind those that say where it belongs; 0 where there
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
