//! Checks that an arena is consistent: everything is reachable exactly once, nothing is lost, and
//! all counts are right.
//!
//! Nothing else may be running. Operations that dead threads left unfinished must have been
//! completed ([`crate::Member::repair`]). What is in a slot's stock belongs to that slot.
//!
//! Whatever passes can be copied out: all names are names of files, every directory is below the
//! root, and every file's content lies in lines that nothing else has.

mod inodes;
mod pages;

use crate::arena::{LINES_PER_PAGE, Line, Ref, Word};
use crate::descriptors::DescriptorTable;
use crate::errno::Errno;
use crate::layout::{WORD, cell, description, lock, mode_entry, slot, superblock};
use crate::member::Member;
use crate::opens::Opens;
use crate::seams::Seams;

/// An inconsistency, and the line of the arena where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub what: &'static str,
    /// Where.
    pub line: u32,
}

/// Totals of a check that found no problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Directories, including the root.
    pub directories: u64,
    /// Inodes of any other type.
    pub others: u64,
    /// Open descriptions.
    pub descriptions: u64,
    /// Lines used by inodes, names, tables and content.
    pub lines_used: u64,
    /// Lines that threads have in stock.
    pub lines_in_stock: u64,
    /// Lines of supplied pages that nothing uses.
    pub lines_free: u64,
}

/// How far a check has come, in lines looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many have been looked at.
    pub lines: u64,
    /// About how many will have been at the end.
    pub of: u64,
}

/// What is known about a line, in the memory lent by the caller.
const UNSEEN: u8 = 0;
const IN_STOCK: u8 = 1;
/// For an inode's cell, plus one for each name found, saturating.
const USED: u8 = 2;
/// For a directory's cell once it is known to be below the root. Its only name has been counted.
const BELOW_ROOT: u8 = USED + 2;

/// How many lines are looked at between two reports of how far the check has come.
const SHOW_LINES: u64 = 1 << 16;

/// A check in progress.
struct Check<'m, 'a, S> {
    member: &'m Member<'a, S>,
    /// One byte per line of the arena.
    seen: &'m mut [u8],
    report: Report,
    /// The sums of the open counts of inodes, and of the reference counts of descriptions.
    opens: u64,
    references: u64,
    /// How many descriptors were found.
    descriptors: u64,
    /// How many descriptions of mapped files were found, less how many inodes say there are.
    mappings: i64,
    checked: Checked,
    /// How many lines had been looked at when that was last shown.
    shown: u64,
    show: &'m mut dyn FnMut(Checked),
}

type Found<T = ()> = Result<T, Problem>;

fn problem<T>(what: &'static str, at: Ref) -> Found<T> {
    Err(Problem { what, line: at.0 })
}

impl<'a, S: Seams> Member<'a, S> {
    /// Checks the whole arena. `seen` must have a byte for each of its lines; its initial content
    /// does not matter.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self, seen: &mut [u8]) -> Result<Report, Problem> {
        self.check_showing(seen, &mut |_| {})
    }

    /// Like [`Self::check`], and shows from time to time how far it has come.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check_showing(
        &self,
        seen: &mut [u8],
        show: &mut dyn FnMut(Checked),
    ) -> Result<Report, Problem> {
        if seen.len() < self.arena().lines() as usize {
            return problem("fewer bytes were lent than there are lines", Ref::NONE);
        }
        seen.fill(UNSEEN);
        let mut check = Check {
            member: self,
            seen,
            report: Report::default(),
            opens: 0,
            references: 0,
            descriptors: 0,
            mappings: 0,
            checked: Checked { lines: 0, of: 0 },
            shown: 0,
            show,
        };
        check.checked.of = check.lines_to_check()?;
        check.locks()?;
        check.slots()?;
        check.processes()?;
        check.mode_pages()?;
        check.root()?;
        check.cells()?;
        if check.opens != check.report.descriptions {
            return problem("inodes say that they are open more or fewer times", Ref::NONE);
        }
        if check.references != check.descriptors {
            return problem("there are more or fewer descriptors than is said", Ref::NONE);
        }
        if check.mappings != 0 {
            return problem("files are mapped more or less often than they say", Ref::NONE);
        }
        check.bitmaps()?;
        Ok(check.report)
    }
}

impl<'a, S: Seams> Check<'_, 'a, S> {
    fn line(&self, at: Ref) -> Found<Line<'a>> {
        let outside = |_| Problem { what: "something refers to a line outside", line: at.0 };
        self.member.line(at).map_err(outside)
    }

    /// Records what a cell is. It is a problem if it was claimed before.
    fn claim_cell(&mut self, at: Ref, what: u8) -> Found {
        if !self.is_in_page_of_cells(at)? {
            return problem("a cell is not in a page of cells", at);
        }
        self.claim(at, 1, what)
    }

    /// Records what the lines of a run are. It is a problem if any was claimed before.
    fn claim_run(&mut self, at: Ref, lines: u32, what: u8) -> Found {
        let within = at.0 % LINES_PER_PAGE;
        let is_in_place = if lines < LINES_PER_PAGE {
            within + lines <= LINES_PER_PAGE
        } else {
            within == 0 && lines.is_multiple_of(LINES_PER_PAGE)
        };
        if !is_in_place {
            return problem("a run lies across the bounds of its pages", at);
        }
        for page in 0..lines.div_ceil(LINES_PER_PAGE) {
            let at = at.plus(page * LINES_PER_PAGE);
            if self.is_in_page_of_cells(at)? {
                return problem("a run lies among cells", at);
            }
        }
        self.claim(at, lines, what)
    }

    fn claim(&mut self, at: Ref, lines: u32, what: u8) -> Found {
        for line in 0..lines {
            let at = at.plus(line);
            self.line(at)?;
            let seen = &mut self.seen[at.0 as usize];
            if *seen != UNSEEN {
                return problem("a line is had twice", at);
            }
            *seen = what;
        }
        match what {
            IN_STOCK => self.report.lines_in_stock += u64::from(lines),
            _ => self.report.lines_used += u64::from(lines),
        }
        self.look_at(lines);
        Ok(())
    }

    /// Counts lines that have been looked at, and shows that from time to time.
    fn look_at(&mut self, lines: u32) {
        self.checked.lines += u64::from(lines);
        if self.checked.lines - self.shown >= SHOW_LINES {
            self.shown = self.checked.lines;
            (self.show)(self.checked);
        }
    }

    /// Checks that nobody holds the locks of the arena's own parts.
    fn locks(&self) -> Found {
        for at in [superblock::GROWTH, superblock::MODES, superblock::RENAME] {
            if lock::is_held(self.line(at)?.load(WORD)) {
                return problem("somebody holds a lock of the superblock", at);
            }
        }
        Ok(())
    }

    fn slots(&mut self) -> Found {
        for number in 0..self.member.geometry().slots() {
            let first = slot::line_of(number);
            let state = self.line(first.plus(slot::STATE))?;
            if state.load(slot::COMMITTED) != 0 {
                return problem("a log has not been done", first);
            }
            let (cells, runs) = (state.load(slot::CELLS), state.load(slot::RUNS));
            if cells > slot::CELLS_MAX || runs > slot::RUNS_MAX {
                return problem("a stock holds more than it can", first);
            }
            let dying = Ref(state.load(slot::DYING));
            if dying.is_some() {
                self.claim_cell(dying, IN_STOCK)?;
                self.opens += Opens::from_inode(self.line(dying)?).count();
                self.annex(self.line(dying)?, IN_STOCK)?;
                self.content(dying, IN_STOCK)?;
            }
            for place in 0..cells {
                let stock = self.line(first.plus(slot::CELL_STOCK))?;
                let cell = Ref(stock.load(slot::CELL.element(place as usize)));
                self.claim_cell(cell, IN_STOCK)?;
            }
            for place in 0..runs {
                let stock = self.line(first.plus(slot::RUN_STOCK))?;
                let run = stock.load(slot::RUN.element(place as usize));
                let (at, lines) = crate::space::run_of(run);
                self.claim_run(at, lines, IN_STOCK)?;
            }
        }
        Ok(())
    }

    /// Claims everything that processes have open.
    fn processes(&mut self) -> Found {
        for number in 0..self.member.geometry().processes() {
            let outside = |_| Problem { what: "there is no record of a process", line: 0 };
            let at = self.member.geometry().process(number).map_err(outside)?;
            let record = self.line(at)?;
            if lock::is_held(record.load(WORD)) {
                return problem("somebody holds the lock of a process", at);
            }
            let table = DescriptorTable::from_record(record);
            self.claim_run(table.start, table.lines(), USED)?;
            for (line, field) in table.positions_of_descriptors() {
                let entry = self.line(line)?.load(field);
                if entry != 0 {
                    self.descriptor(Ref(u32::from_bits(entry)))?;
                }
            }
            self.mapped(record)?;
        }
        Ok(())
    }

    /// Claims what a descriptor refers to.
    fn descriptor(&mut self, at: Ref) -> Found {
        let line = self.line(at)?;
        if line.load(cell::MODE) != cell::DESCRIPTION_MARK {
            return problem("a descriptor refers to something else than a description", at);
        }
        self.descriptors += 1;
        if self.seen[at.0 as usize] == UNSEEN {
            self.claim_cell(at, USED)?;
            self.report.descriptions += 1;
            self.references += u64::from(line.load(description::REFERENCES));
        }
        Ok(())
    }

    /// Claims the descriptions of the files that a process has mapped.
    fn mapped(&mut self, record: Line<'a>) -> Found {
        let mut found = Ok(());
        let listed = self.member.each_mapping(record, |at| {
            found = self.mapping(at);
            found.map_err(Errno::from)
        });
        found?;
        listed.map_err(|_| Problem { what: "the list of mapped files has no end", line: 0 })
    }

    fn mapping(&mut self, at: Ref) -> Found {
        if self.line(at)?.load(cell::MODE) != cell::DESCRIPTION_MARK {
            return problem("a list of mapped files has something else than a description", at);
        }
        self.claim_cell(at, USED)?;
        self.report.descriptions += 1;
        self.mappings += 1;
        Ok(())
    }

    fn mode_pages(&mut self) -> Found {
        let count = self.line(superblock::MODES)?.load(superblock::MODE_COUNT);
        if count > mode_entry::MAX {
            return problem("there are more modes than fit", superblock::MODES);
        }
        for page in 0..count.div_ceil(mode_entry::PER_PAGE) {
            let pages = self.line(superblock::MODE_PAGES.plus(page / 16))?;
            let at = Ref(pages.load(superblock::MODE_PAGE.element((page % 16) as usize)));
            self.claim_run(at, LINES_PER_PAGE, USED)?;
        }
        Ok(())
    }

    fn root(&mut self) -> Found {
        let root = self.member.root().map_err(|_| Problem { what: "no root", line: 0 })?.at;
        self.claim_cell(root, USED)?;
        if !self.is_directory(root)? || self.line(root)?.load(cell::PARENT) != root.0 {
            return problem("the root is not a root directory", root);
        }
        self.inode(root)
    }

    /// Visits every cell in address order. A directory's entries are claimed when the directory is
    /// visited, so by the end each has been claimed exactly once.
    fn cells(&mut self) -> Found {
        self.each_cell_page(|check, page, used| {
            for place in 0..LINES_PER_PAGE {
                let at = page.plus(place);
                let is_live = used >> place & 1 == 1 && check.seen[at.0 as usize] != IN_STOCK;
                if is_live && check.is_directory(at)? {
                    check.entries(at)?;
                }
            }
            Ok(())
        })?;
        let root = self.member.root().map_err(|_| Problem { what: "no root", line: 0 })?.at;
        match &mut self.seen[root.0 as usize] {
            names if *names == USED => *names = BELOW_ROOT,
            _ => return problem("the root is in a directory", root),
        }
        self.each_cell_page(|check, page, used| {
            for place in 0..LINES_PER_PAGE {
                check.whole_cell(page.plus(place), used >> place & 1 == 1)?;
            }
            Ok(())
        })
    }

    /// Checks a cell once all names are known.
    fn whole_cell(&mut self, at: Ref, is_used: bool) -> Found {
        let line = self.line(at)?;
        if lock::is_held(line.load(WORD)) {
            return problem("somebody holds the lock of a cell", at);
        }
        let (seen, links) = (self.seen[at.0 as usize], line.load(cell::LINKS));
        let is_inode = line.load(cell::MODE) < cell::DESCRIPTION_MARK;
        if !is_used || seen == IN_STOCK || !is_inode {
            return if is_used && seen == UNSEEN { problem("a cell is lost", at) } else { Ok(()) };
        }
        let opens = Opens::from_inode(line);
        self.opens += opens.count();
        if seen == UNSEEN {
            if links != 0 || opens.count() == 0 || opens.is_being_freed() {
                return problem("an inode is lost", at);
            }
            self.claim_cell(at, USED)?;
            self.annex(line, USED)?;
            return if self.is_directory(at)? { Ok(()) } else { self.content(at, USED) };
        }
        if self.is_directory(at)? {
            return self.below_root(at);
        }
        if seen != u8::MAX && u16::from(seen - USED) != links {
            return problem("an inode has more or fewer names than it says", at);
        }
        Ok(())
    }
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} (line {})", self.what, self.line)
    }
}

impl From<Problem> for Errno {
    fn from(_: Problem) -> Self {
        Self::CORRUPT
    }
}
