//! Allocation of lines: bitmaps in zones, and a stock in each slot.
//!
//! Operations take single lines and runs of lines from their slot's stock and return them to it,
//! through their redo log like any other change, so that nothing is lost or owned twice whenever a
//! thread dies. Only when a stock gets empty or full are lines exchanged with the bitmaps of a
//! zone, under the zone's lock, which is the last one that any thread takes. What was freed last is
//! reused first, while it is still in the processor's caches.
//!
//! A page of cells remains one. A thread that has found a cell without locking it may read it or
//! take its lock after it has become something else, but it is always a cell.

mod reserve;
mod trim;
mod zones;

use crate::arena::{LINES_PER_PAGE, Ref, Word};
use crate::errno::Errno;
use crate::geometry::{Geometry, Zone};
use crate::layout::{slot, superblock, zone};
use crate::member::Member;
use crate::seams::Seams;

pub(crate) use zones::class_of;
use zones::{Page, PageUse, find_zeros, ones};

/// Free places for lines that a stock keeps, so that an operation can return this many.
const CELLS_ROOM: u32 = 4;
/// Free places for runs that a stock keeps.
const RUNS_ROOM: u32 = 4;
/// The largest run that stays in a stock, in lines. Other threads may need larger ones.
const KEPT_MAX: u32 = LINES_PER_PAGE;

impl<S: Seams> Member<'_, S> {
    /// Makes sure that an operation can take this many lines and return some.
    #[inline]
    pub(crate) fn ready(&self, cells: u32) -> Result<(), Errno> {
        if self.is_ready(cells) { Ok(()) } else { self.even_out(cells) }
    }

    #[inline(always)]
    pub(crate) fn is_ready(&self, cells: u32) -> bool {
        let (have, runs) = (self.cells.get(), self.runs.get());
        !self.is_unsettled()
            && have >= cells
            && have <= slot::CELLS_MAX - CELLS_ROOM
            && runs <= slot::RUNS_MAX - RUNS_ROOM
    }

    #[cold]
    #[inline(never)]
    fn even_out(&self, cells: u32) -> Result<(), Errno> {
        self.settle()?;
        self.ready_to_give()?;
        while self.cells.get() < cells {
            self.in_some_zone(|zone| self.stock_cells(zone))?;
        }
        Ok(())
    }

    /// Whether there is work for [`Self::settle`].
    #[inline]
    pub(crate) fn is_unsettled(&self) -> bool {
        self.dying() != 0 || self.must_settle.get()
    }

    /// Does work that need not be atomic with an operation: takes apart the content of a deleted
    /// file, and returns large runs to their zones and lines of the reserve to the reserve.
    #[inline]
    pub(crate) fn settle(&self) -> Result<(), Errno> {
        if self.is_unsettled() { self.settle_all() } else { Ok(()) }
    }

    /// Like [`Self::settle`], after an operation that is done. If it fails, the next operation
    /// tries again.
    #[inline]
    pub(crate) fn settle_if_possible(&self) {
        self.settle().ok();
    }

    #[cold]
    #[inline(never)]
    fn settle_all(&self) -> Result<(), Errno> {
        self.bury()?;
        self.give_reserved_cells_back()?;
        let mut place = 0;
        while let Some(&run) =
            self.run_stock.get().get(..self.runs.get() as usize).and_then(|runs| runs.get(place))
        {
            if self.must_return(run) {
                self.give_run_at_back(place)?;
            } else {
                place += 1;
            }
        }
        self.must_settle.set(false);
        Ok(())
    }

    /// Whether a run must not stay in stock.
    fn must_return(&self, run: u64) -> bool {
        let (at, lines) = run_of(run);
        lines > KEPT_MAX || self.is_reserved(at)
    }

    /// Returns the whole stock to the zones, before the slot is released.
    ///
    /// # Errors
    /// [`Errno::INTR`], [`Errno::CORRUPT`].
    pub fn retire(&self) -> Result<(), Errno> {
        self.settle()?;
        while self.cells.get() > 0 {
            self.give_cells_back(0, slot::CELLS_MAX)?;
        }
        self.give_runs_back()
    }

    /// Makes sure that an operation can return some lines and runs to the stock. The log must be
    /// empty.
    pub(crate) fn ready_to_give(&self) -> Result<(), Errno> {
        while self.cells.get() > slot::CELLS_MAX - CELLS_ROOM {
            // Several at a time: a thread that frees many is likely to free more.
            self.give_cells_back(0, slot::CELLS_MAX / 2)?;
        }
        while self.runs.get() > slot::RUNS_MAX - RUNS_ROOM {
            self.give_oldest_run_back()?;
        }
        Ok(())
    }

    /// How many pages the arena has for inodes and content, and how many of them are entirely free.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if the arena is corrupt.
    pub fn pages(&self) -> Result<(u32, u32), Errno> {
        let geometry = self.geometry();
        let begun = self.line(superblock::GROWTH)?.load(superblock::ZONES);
        let (mut all, mut free) = (0_u32, 0_u32);
        for number in 0..geometry.zones() {
            let zone = geometry.zone(number);
            let Zone { at, pages, .. } = zone;
            let pages = pages.saturating_sub(zone.first_page());
            all = all.saturating_add(pages);
            // The headers of zones that have not begun must not be accessed yet.
            let header = if number < begun { Some(self.line(at)?) } else { None };
            let left = header.map_or(pages, |header| {
                let supplied = header.load(zone::SUPPLIED).saturating_sub(zone.first_page());
                header.load(zone::FREE_COUNT).saturating_add(pages.saturating_sub(supplied))
            });
            free = free.saturating_add(left.min(pages));
        }
        Ok((all, free))
    }

    /// Takes a line from the stock, in the log. An operation must take all it needs before it
    /// returns anything.
    #[inline]
    pub(crate) fn take_cell(&self) -> Result<Ref, Errno> {
        let left = self.cells.get().wrapping_sub(1);
        if left >= slot::CELLS_MAX {
            return Err(Errno::CORRUPT);
        }
        self.cells.set(left);
        self.put(self.slot_line(slot::STATE), slot::CELLS, left);
        let stock = self.line(self.slot_line(slot::CELL_STOCK))?;
        Ok(Ref(stock.load(slot::CELL.element(left as usize))))
    }

    /// Returns a line to the stock, in the log.
    #[inline]
    pub(crate) fn give_cell(&self, cell: Ref) -> Result<(), Errno> {
        let have = self.cells.get();
        if have >= slot::CELLS_MAX {
            return Err(Errno::CORRUPT);
        }
        self.cells.set(have + 1);
        let (stock, field) = (self.slot_line(slot::CELL_STOCK), slot::CELL.element(have as usize));
        // A line that was taken from this place is still there.
        if self.line(stock)?.load(field) != cell.0 {
            self.put(stock, field, cell.0);
        }
        self.put(self.slot_line(slot::STATE), slot::CELLS, have + 1);
        Ok(())
    }

    /// Makes sure that a run of this many lines is in stock, and returns where it is. It must be
    /// fewer than 64 lines, or whole pages. The log must be empty.
    pub(crate) fn obtain_run(&self, lines: u32) -> Result<Ref, Errno> {
        self.obtain_run_besides(lines, &[])
    }

    /// Like [`Self::obtain_run`], but none of the runs in `others`, which are needed as well.
    pub(crate) fn obtain_run_besides(&self, lines: u32, others: &[Ref]) -> Result<Ref, Errno> {
        if let Some(found) = self.find_run(lines, others)? {
            return Ok(found);
        }
        while self.runs.get() >= slot::RUNS_MAX {
            self.give_oldest_run_back()?;
        }
        self.in_some_zone(|zone| self.stock_run(zone, lines))?;
        self.find_run(lines, others)?.ok_or(Errno::CORRUPT)
    }

    /// Makes sure that runs of all these numbers of lines are in stock at the same time, besides
    /// the run `other`. There must be room for all in a stock. The log must be empty.
    pub(crate) fn obtain_runs(&self, wanted: &[u32], other: Ref) -> Result<(), Errno> {
        for _ in 0..=2 * slot::RUNS_MAX {
            let (missing, spare) = self.compare_stock(wanted, other);
            let Some(lines) = missing else { return Ok(()) };
            if self.runs.get() < slot::RUNS_MAX {
                self.in_some_zone(|zone| self.stock_run(zone, lines))?;
            } else {
                self.give_run_at_back(spare.ok_or(Errno::CORRUPT)?)?;
            }
        }
        Err(Errno::CORRUPT)
    }

    /// The first of these runs that is not in stock, and the place of one that is not among them.
    fn compare_stock(&self, wanted: &[u32], other: Ref) -> (Option<u32>, Option<usize>) {
        let stock = self.run_stock.get();
        let runs = stock.get(..self.runs.get() as usize).unwrap_or_default();
        let (mut needed, mut spare) = (0_u32, None);
        for (place, &run) in runs.iter().enumerate() {
            let (at, lines) = run_of(run);
            let mut same = wanted.iter().enumerate().filter(|&(_, &wanted)| wanted == lines);
            if at == other || self.is_reserved(at) {
                continue;
            }
            match same.find(|&(number, _)| needed >> number & 1 == 0) {
                Some((number, _)) => needed |= 1 << number,
                None => spare = Some(place),
            }
        }
        let mut all = wanted.iter().enumerate();
        let missing = all.find(|&(number, _)| needed >> number & 1 == 0);
        (missing.map(|(_, &lines)| lines), spare)
    }

    /// Returns all runs of the stock to their zones. The log must be empty.
    pub(crate) fn give_runs_back(&self) -> Result<(), Errno> {
        while self.runs.get() > 0 {
            self.give_oldest_run_back()?;
        }
        Ok(())
    }

    /// Takes a run from the stock, in the log.
    pub(crate) fn take_run(&self, at: Ref) -> Result<(), Errno> {
        let stock = self.run_stock.get();
        let runs = stock.get(..self.runs.get() as usize).ok_or(Errno::CORRUPT)?;
        let place = runs.iter().position(|&run| run_of(run).0 == at).ok_or(Errno::CORRUPT)?;
        self.remove_run(place)
    }

    /// Removes the run at this place from the stock, in the log; the last run takes its place.
    fn remove_run(&self, place: usize) -> Result<(), Errno> {
        let mut stock = self.run_stock.get();
        let last = self.runs.get().wrapping_sub(1);
        let moved = *stock.get(last as usize).ok_or(Errno::CORRUPT)?;
        *stock.get_mut(place).ok_or(Errno::CORRUPT)? = moved;
        self.put(self.slot_line(slot::RUN_STOCK), slot::RUN.element(place), moved);
        self.put(self.slot_line(slot::STATE), slot::RUNS, last);
        self.run_stock.set(stock);
        self.runs.set(last);
        Ok(())
    }

    /// Returns a run to the stock, in the log.
    pub(crate) fn give_run(&self, at: Ref, lines: u32) -> Result<(), Errno> {
        let mut stock = self.run_stock.get();
        let have = self.runs.get();
        let run = u64::from(at.0) | u64::from(lines) << 32;
        *stock.get_mut(have as usize).ok_or(Errno::CORRUPT)? = run;
        self.put(self.slot_line(slot::RUN_STOCK), slot::RUN.element(have as usize), run);
        self.put(self.slot_line(slot::STATE), slot::RUNS, have + 1);
        self.run_stock.set(stock);
        self.runs.set(have + 1);
        if self.must_return(run) {
            self.must_settle.set(true);
        }
        Ok(())
    }

    /// A run in the stock with this many lines, other than `others` and those of the reserve: the
    /// one that was added last.
    fn find_run(&self, lines: u32, others: &[Ref]) -> Result<Option<Ref>, Errno> {
        let stock = self.run_stock.get();
        let runs = stock.get(..self.runs.get() as usize).ok_or(Errno::CORRUPT)?;
        let mut all = runs.iter().rev().map(|&run| run_of(run));
        let is_wanted = |at| !others.contains(&at) && !self.is_reserved(at);
        let found = all.find(|&(at, length)| length == lines && is_wanted(at));
        Ok(found.map(|(at, _)| at))
    }

    /// Calls `act` with one zone after another, locked, until it succeeds; adds zones if needed.
    fn in_some_zone(&self, act: impl Fn(Zone) -> Result<bool, Errno>) -> Result<(), Errno> {
        if !self.seams().may_take() {
            return Err(Errno::NOSPC);
        }
        let geometry = self.geometry();
        let mut tried = 0;
        loop {
            let zones = self.line(superblock::GROWTH)?.load(superblock::ZONES);
            let zones = zones.min(geometry.zones());
            while tried < zones {
                let number = (self.zone.get() + tried) % zones;
                let zone = geometry.zone(number);
                self.lock(zone.at)?;
                let done = act(zone);
                self.forget();
                self.unlock();
                if done? {
                    self.zone.set(number);
                    return Ok(());
                }
                tried += 1;
            }
            self.add_zone(geometry, zones)?;
            // The new one is tried next.
            self.zone.set(zones);
            tried = 0;
        }
    }

    /// Prepares the header of the next zone.
    fn add_zone(&self, geometry: Geometry, zones: u32) -> Result<(), Errno> {
        if zones >= geometry.zones() {
            return Err(Errno::NOSPC);
        }
        let growth = self.lock(superblock::GROWTH)?;
        let is_ours = growth.load(superblock::ZONES) == zones;
        let first = geometry.zone(zones).at.0 / LINES_PER_PAGE;
        let needed = geometry.zone(zones).first_page();
        let is_there = !is_ours || self.seams().supply(first, needed);
        if is_ours && is_there {
            self.put(superblock::GROWTH, superblock::ZONES, zones + 1);
            self.commit();
        }
        self.unlock();
        if is_there { Ok(()) } else { Err(Errno::NOSPC) }
    }

    /// Fills the stock of single lines from one page of this zone, which must be locked.
    fn stock_cells(&self, zone: Zone) -> Result<bool, Errno> {
        let Some(page) = self.page_with(zone, PageUse::Cells, 1)? else { return Ok(false) };
        if page.is_fresh {
            self.begin_cells(zone, page.number)?;
        }
        let (mut cells, mut now) = (self.cells.get(), page.used);
        while cells < slot::CELLS_MAX - CELLS_ROOM && now != u64::MAX {
            let place = (!now).trailing_zeros();
            now |= 1 << place;
            let cell = zone.page(page.number).plus(place);
            self.arena().fetch(cell);
            self.put(self.slot_line(slot::CELL_STOCK), slot::CELL.element(cells as usize), cell.0);
            cells += 1;
        }
        self.cells.set(cells);
        self.put(self.slot_line(slot::STATE), slot::CELLS, cells);
        self.mark(zone, PageUse::Cells, page, now)?;
        self.commit();
        Ok(true)
    }

    /// Moves a run from this zone, which must be locked, to the stock.
    fn stock_run(&self, zone: Zone, lines: u32) -> Result<bool, Errno> {
        let at = if lines < LINES_PER_PAGE {
            let Some(page) = self.page_with(zone, PageUse::Runs, lines)? else { return Ok(false) };
            let place = find_zeros(page.used, lines).ok_or(Errno::CORRUPT)?;
            self.mark(zone, PageUse::Runs, page, page.used | ones(lines, place))?;
            zone.page(page.number).plus(place)
        } else {
            let pages = lines / LINES_PER_PAGE;
            let Some(page) = self.pages_in_a_row(zone, pages)? else { return Ok(false) };
            self.mark_pages(zone, page, pages, |free, these| free & !these)?;
            let free = self.line(zone.at)?.load(zone::FREE_COUNT);
            self.put(zone.at, zone::FREE_COUNT, free.wrapping_sub(pages));
            zone.page(page)
        };
        self.give_run(at, lines)?;
        self.commit();
        Ok(true)
    }

    /// Returns the line at this place of the stock to its zone, and others of the same page, `most`
    /// in total at most. Those that have been in stock longest come first.
    fn give_cells_back(&self, place: u32, most: u32) -> Result<(), Errno> {
        let stock_at = self.slot_line(slot::CELL_STOCK);
        let stock = self.line(stock_at)?;
        let page_of = |cell: Ref| cell.0 / LINES_PER_PAGE;
        let chosen = Ref(stock.load(slot::CELL.element(place as usize)));
        self.in_zone_with(chosen, |zone, number, _| {
            let (at, field) = zone.word(zone::USED, number);
            let page = Page { number, used: self.line(at)?.load(field), is_fresh: false };
            let (mut kept, mut given, mut now) = (0, 0, page.used);
            for place in 0..self.cells.get().min(slot::CELLS_MAX) {
                let cell = Ref(stock.load(slot::CELL.element(place as usize)));
                if given < most && page_of(cell) == page_of(chosen) {
                    given += 1;
                    now &= !ones(1, cell.0 % LINES_PER_PAGE);
                } else {
                    if kept != place {
                        self.put(stock_at, slot::CELL.element(kept as usize), cell.0);
                    }
                    kept += 1;
                }
            }
            self.cells.set(kept);
            self.put(self.slot_line(slot::STATE), slot::CELLS, kept);
            self.mark(zone, PageUse::Cells, page, now)
        })
    }

    fn give_oldest_run_back(&self) -> Result<(), Errno> {
        self.give_run_at_back(0)
    }

    fn give_run_at_back(&self, place: usize) -> Result<(), Errno> {
        let (at, lines) = run_of(*self.run_stock.get().get(place).ok_or(Errno::CORRUPT)?);
        self.in_zone_with(at, |zone, page, within| {
            let is_short = lines < LINES_PER_PAGE || zone.is_reserved(page);
            let fits = if is_short {
                lines > 0 && within + lines <= LINES_PER_PAGE
            } else {
                within == 0 && page + lines / LINES_PER_PAGE <= zone.pages
            };
            if !fits || lines / LINES_PER_PAGE > zone::RUN_PAGES_MAX {
                return Err(Errno::CORRUPT);
            }
            if is_short {
                let (at, field) = zone.word(zone::USED, page);
                let used = self.line(at)?.load(field);
                let page = Page { number: page, used, is_fresh: false };
                self.mark(zone, PageUse::Runs, page, used & !ones(lines, within))?;
            } else {
                let pages = lines / LINES_PER_PAGE;
                self.mark_pages(zone, page, pages, |free, these| free | these)?;
                let free = self.line(zone.at)?.load(zone::FREE_COUNT);
                self.put(zone.at, zone::FREE_COUNT, free.wrapping_add(pages));
            }
            self.remove_run(place)
        })
    }

    /// Returns something to the zone that contains this line, under the zone's lock. The closure
    /// gets the line's page and its number in the page.
    fn in_zone_with(
        &self,
        at: Ref,
        give: impl FnOnce(Zone, u32, u32) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let zone = self.geometry().zone_with(at)?;
        let (page, within) = zone.place(at);
        self.lock(zone.at)?;
        let done = give(zone, page, within);
        if done.is_ok() {
            self.commit();
        }
        self.forget();
        self.unlock();
        done
    }
}

/// Decodes a run in a stock: its first line, and its number of lines.
pub(crate) fn run_of(run: u64) -> (Ref, u32) {
    (Ref(u32::from_bits(run)), u32::from_bits(run >> 32))
}
