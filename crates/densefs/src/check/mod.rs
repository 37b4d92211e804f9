//! Checks that an arena is consistent: everything is reachable exactly once, nothing is lost, and
//! all counts are right.
//!
//! Nothing else may be running. Operations that dead threads left unfinished must have been
//! completed ([`crate::Member::repair`]). What is in a slot's stock belongs to that slot.

mod bitmaps;

use crate::annex::runs_of;
use crate::arena::{LINES_PER_PAGE, Line, Ref, Word};
use crate::descriptors::DescriptorTable;
use crate::directory::Table;
use crate::errno::Errno;
use crate::layout::{WORD, cell, content, description, lock, mode_entry, slot, superblock};
use crate::member::Member;
use crate::modes::TYPE;
use crate::name::{NAME_MAX, Name};
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

/// What is known about a line, in the memory lent by the caller.
const UNSEEN: u8 = 0;
const IN_STOCK: u8 = 1;
/// For an inode's cell, plus one for each name found, saturating.
const USED: u8 = 2;

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
}

type Checked<T = ()> = Result<T, Problem>;

fn problem<T>(what: &'static str, at: Ref) -> Checked<T> {
    Err(Problem { what, line: at.0 })
}

impl<'a, S: Seams> Member<'a, S> {
    /// Checks the whole arena. `seen` must have a byte for each of its lines; its initial content
    /// does not matter.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self, seen: &mut [u8]) -> Result<Report, Problem> {
        if seen.len() < self.arena().lines() as usize {
            return problem("fewer bytes were lent than there are lines", Ref::NONE);
        }
        seen.fill(UNSEEN);
        let report = Report::default();
        let mut check =
            Check { member: self, seen, report, opens: 0, references: 0, descriptors: 0 };
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
        check.bitmaps()?;
        Ok(check.report)
    }
}

impl<'a, S: Seams> Check<'_, 'a, S> {
    fn line(&self, at: Ref) -> Checked<Line<'a>> {
        let outside = |_| Problem { what: "something refers to a line outside", line: at.0 };
        self.member.line(at).map_err(outside)
    }

    /// Records what these lines are. It is a problem if any was claimed before.
    fn claim(&mut self, at: Ref, lines: u32, what: u8) -> Checked {
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
        Ok(())
    }

    fn slots(&mut self) -> Checked {
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
                self.claim(dying, 1, IN_STOCK)?;
                self.opens += crate::opens::Opens::from_inode(self.line(dying)?).count();
                self.annex(self.line(dying)?, IN_STOCK)?;
                self.content(dying, IN_STOCK)?;
            }
            for place in 0..cells {
                let stock = self.line(first.plus(slot::CELL_STOCK))?;
                self.claim(Ref(stock.load(slot::CELL.element(place as usize))), 1, IN_STOCK)?;
            }
            for place in 0..runs {
                let stock = self.line(first.plus(slot::RUN_STOCK))?;
                let run = stock.load(slot::RUN.element(place as usize));
                let (at, lines) = crate::space::run_of(run);
                self.claim(at, lines, IN_STOCK)?;
            }
        }
        Ok(())
    }

    /// Claims everything that processes have open.
    fn processes(&mut self) -> Checked {
        for number in 0..self.member.geometry().processes() {
            let outside = |_| Problem { what: "there is no record of a process", line: 0 };
            let at = self.member.geometry().process(number).map_err(outside)?;
            let record = self.line(at)?;
            if lock::is_held(record.load(WORD)) {
                return problem("somebody holds the lock of a process", at);
            }
            let table = DescriptorTable::from_record(record);
            self.claim(table.start, table.lines(), USED)?;
            for (line, field) in table.positions() {
                let entry = self.line(line)?.load(field);
                if entry != 0 {
                    self.descriptor(Ref(u32::from_bits(entry)))?;
                }
            }
        }
        Ok(())
    }

    /// Claims what a descriptor refers to.
    fn descriptor(&mut self, at: Ref) -> Checked {
        let line = self.line(at)?;
        if line.load(cell::MODE) != cell::DESCRIPTION_MARK {
            return problem("a descriptor refers to something else than a description", at);
        }
        self.descriptors += 1;
        if self.seen[at.0 as usize] == UNSEEN {
            self.claim(at, 1, USED)?;
            self.report.descriptions += 1;
            self.references += u64::from(line.load(description::REFERENCES));
        }
        Ok(())
    }

    fn mode_pages(&mut self) -> Checked {
        let count = self.line(superblock::MODES)?.load(superblock::MODE_COUNT);
        for page in 0..count.min(mode_entry::MAX).div_ceil(mode_entry::PER_PAGE) {
            let pages = self.line(superblock::MODE_PAGES.plus(page / 16))?;
            let at = Ref(pages.load(superblock::MODE_PAGE.element((page % 16) as usize)));
            self.claim(at, LINES_PER_PAGE, USED)?;
        }
        Ok(())
    }

    fn root(&mut self) -> Checked {
        let root = self.member.root().map_err(|_| Problem { what: "no root", line: 0 })?;
        self.claim(root.at, 1, USED)?;
        self.inode(root.at)
    }

    /// Visits every cell in address order. A directory's entries are claimed when the directory is
    /// visited, so by the end each has been claimed exactly once.
    fn cells(&mut self) -> Checked {
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
        self.each_cell_page(|check, page, used| {
            for place in 0..LINES_PER_PAGE {
                check.whole_cell(page.plus(place), used >> place & 1 == 1)?;
            }
            Ok(())
        })
    }

    /// Checks a cell once all names are known.
    fn whole_cell(&mut self, at: Ref, is_used: bool) -> Checked {
        let line = self.line(at)?;
        if lock::is_held(line.load(WORD)) {
            return problem("somebody holds the lock of a cell", at);
        }
        let (seen, links) = (self.seen[at.0 as usize], line.load(cell::LINKS));
        let is_inode = line.load(cell::MODE) < cell::DESCRIPTION_MARK;
        if !is_used || seen == IN_STOCK || !is_inode {
            return if is_used && seen == UNSEEN { problem("a cell is lost", at) } else { Ok(()) };
        }
        let opens = crate::opens::Opens::from_inode(line);
        self.opens += opens.count();
        if seen == UNSEEN {
            if links != 0 || opens.count() == 0 || opens.is_being_freed() {
                return problem("an inode is lost", at);
            }
            self.claim(at, 1, USED)?;
            self.annex(line, USED)?;
            return if self.is_directory(at)? { Ok(()) } else { self.content(at, USED) };
        }
        let is_counted = self.is_directory(at)? || seen == u8::MAX;
        if !is_counted && u16::from(seen - USED) != links {
            return problem("an inode has more or fewer names than it says", at);
        }
        Ok(())
    }

    fn is_directory(&self, at: Ref) -> Checked<bool> {
        let index = self.line(at)?.load(cell::MODE);
        if index >= cell::DESCRIPTION_MARK {
            return Ok(false);
        }
        match self.member.mode(index) {
            Ok(mode) => Ok(mode.is_directory()),
            Err(_) => problem("a cell has no mode", at),
        }
    }

    /// Claims a directory's table and entries, and checks its counts.
    fn entries(&mut self, at: Ref) -> Checked {
        let directory = self.line(at)?;
        if let Some(table) = Table::from_body(self.body(directory)?) {
            self.claim(table.start, table.buckets(), USED)?;
        }
        let (mut entries, mut subdirectories) = (0, 0);
        let mut found = Ok(());
        let walked = self.member.each_entry(directory, |_, cell| {
            let one = self.entry(at, directory, cell);
            entries += 1;
            subdirectories += u32::from(matches!(one, Ok(true)));
            if let (Ok(()), Err(why)) = (&found, one) {
                found = Err(why);
            }
            Ok(())
        });
        found?;
        if walked.is_err() {
            return problem("a directory's table refers to a line outside", at);
        }
        if entries != directory.load(cell::ENTRIES) {
            return problem("a directory has more or fewer entries than it says", at);
        }
        let links = u32::from(directory.load(cell::LINKS));
        // A directory that has been removed but is still open has no links.
        if links != 0 && subdirectories + 2 != links || links == 0 && subdirectories != 0 {
            return problem("a directory has more or fewer subdirectories than it says", at);
        }
        Ok(())
    }

    /// Claims an entry; whether it is a directory.
    fn entry(&mut self, at: Ref, directory: Line<'a>, cell: Ref) -> Checked<bool> {
        let line = self.line(cell)?;
        // An inode may have been claimed already, through another name.
        let is_inode = line.load(cell::MODE) != cell::LINK_MARK;
        if !(is_inode && self.seen[cell.0 as usize] >= USED) {
            self.claim(cell, 1, USED)?;
        }
        let mut bytes = [0; NAME_MAX];
        let name = self.member.name_of(line, &mut bytes);
        let Ok(name) = name.and_then(|name| Name::new(name, self.member.secret())) else {
            return problem("an entry has no name", cell);
        };
        if !name.is_short() {
            self.claim(Ref(line.load(cell::LONG_NAME)), name.lines(), USED)?;
        }
        let found = self.member.find(directory, &name).ok().flatten();
        let Some(found) = found.filter(|entry| entry.cell == cell) else {
            return problem("an entry is not found by its name", cell);
        };
        if !self.member.is_marked(self.body(directory)?, &found, &name) {
            return problem("a bucket is wrong about which entries belong there", cell);
        }
        if line.load(cell::MODE) == cell::LINK_MARK {
            self.named(Ref(line.load(cell::TARGET)))?;
            return Ok(false);
        }
        self.named(cell)?;
        let is_directory = self.is_directory(cell)?;
        if is_directory && line.load(cell::PARENT) != at.0 {
            return problem("a directory says that it is in another", cell);
        }
        Ok(is_directory)
    }

    /// Counts one name of an inode.
    fn named(&mut self, at: Ref) -> Checked {
        self.line(at)?;
        if self.seen[at.0 as usize] == UNSEEN {
            self.claim(at, 1, USED)?;
        }
        if self.seen[at.0 as usize] == USED {
            self.inode(at)?;
        }
        let names = &mut self.seen[at.0 as usize];
        if *names == IN_STOCK {
            return problem("a name stands for a cell that nobody uses", at);
        }
        *names = names.saturating_add(1);
        Ok(())
    }

    fn inode(&mut self, at: Ref) -> Checked {
        let line = self.line(at)?;
        let Ok(mode) = self.member.mode(line.load(cell::MODE)) else {
            return problem("an inode has no mode", at);
        };
        if mode.mode & TYPE == 0 || line.load(cell::LINKS) == 0 {
            return problem("an inode with a name has no type, or no links", at);
        }
        self.annex(line, USED)?;
        if mode.is_directory() {
            self.report.directories += 1;
            return Ok(());
        }
        self.report.others += 1;
        self.content(at, USED)
    }

    /// The line with an inode's data and form.
    fn body(&self, inode: Line<'a>) -> Checked<Line<'a>> {
        let outside = |_| Problem { what: "an annex lies outside", line: inode.load(cell::DATA) };
        self.member.body(inode).map_err(outside)
    }

    /// Claims an inode's annex, if it has one.
    fn annex(&mut self, inode: Line<'a>, what: u8) -> Checked {
        if inode.load(cell::FORM) != cell::ANNEX {
            return Ok(());
        }
        self.claim(Ref(inode.load(cell::DATA)), 1, what)?;
        for (run, lines) in runs_of(self.body(inode)?) {
            self.claim(run, lines, what)?;
        }
        Ok(())
    }

    /// Claims a file's content.
    fn content(&mut self, at: Ref, what: u8) -> Checked {
        let body = self.body(self.line(at)?)?;
        let form = body.load(cell::FORM);
        if (1..=content::RUN_MAX).contains(&form) {
            return self.claim(Ref(body.load(cell::DATA)), form.into(), what);
        }
        let mut found = Ok(());
        let walked = self.member.each_run(body, |run, lines| {
            if found.is_ok() {
                found = self.claim(run, lines, what);
            }
        });
        found?;
        if walked.is_err() { problem("a file's map is no map", at) } else { Ok(()) }
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
