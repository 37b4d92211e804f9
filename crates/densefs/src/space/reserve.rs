//! The reserve: the first pages of the first zone, which only open files may take. Thanks to it, a
//! full arena can still be read. The first half is for descriptions, the other for tables of
//! descriptors.
//!
//! A thread has lines of the reserve in its stock only from when an operation needs them until the
//! operation is over. What comes back to the stock, or was not needed after all, returns to the
//! reserve before the next operation takes anything ([`Member::settle`]).

use core::ops::Range;

use super::zones::{find_zeros, ones};
use crate::arena::{LINES_PER_PAGE, Ref};
use crate::errno::Errno;
use crate::geometry::Zone;
use crate::layout::{slot, zone};
use crate::member::Member;
use crate::seams::Seams;

impl<S: Seams> Member<'_, S> {
    /// Makes the reserve's pages for descriptions pages of cells, in an arena that nobody uses yet.
    pub(crate) fn begin_reserve(&self) -> Result<(), Errno> {
        let first = self.geometry().zone(0);
        for page in first.reserved_for_cells() {
            let (at, field) = first.word(zone::CELLS, page / 64);
            let line = self.line(at)?;
            self.fill(line, field, line.load(field) | 1 << (page % 64));
        }
        Ok(())
    }

    /// Whether a line that came from a zone is of the reserve.
    #[inline(always)]
    pub(super) fn is_reserved(&self, at: Ref) -> bool {
        at < self.reserve_end
    }

    /// Makes sure that an operation can take a cell for a description, and return some lines.
    ///
    /// # Errors
    /// [`Errno::NFILE`] if the arena is full and has no description left in reserve.
    #[inline]
    pub(crate) fn ready_to_open(&self) -> Result<(), Errno> {
        if self.is_ready(1) { Ok(()) } else { self.even_out_to_open() }
    }

    #[cold]
    #[inline(never)]
    fn even_out_to_open(&self) -> Result<(), Errno> {
        match self.even_out(1) {
            Err(Errno::NOSPC) => self.in_reserve(|zone| {
                let cell = self.take_reserved(zone, zone.reserved_for_cells(), 1)?;
                self.give_cell(cell)
            }),
            done => done,
        }
    }

    /// Makes sure that a run of this many lines is in stock, for a table of descriptors, and
    /// returns where it is. The log must be empty.
    ///
    /// # Errors
    /// [`Errno::NFILE`] if the arena is full and has no such run left in reserve.
    pub(crate) fn obtain_table(&self, lines: u32) -> Result<Ref, Errno> {
        match self.obtain_run(lines) {
            Err(Errno::NOSPC) => {}
            obtained => return obtained,
        }
        let mut obtained = Ref::NONE;
        self.in_reserve(|zone| {
            obtained = self.take_reserved(zone, zone.reserved_for_runs(), lines)?;
            self.give_run(obtained, lines)
        })?;
        Ok(obtained)
    }

    /// Returns the cell of a description to the stock, in the log.
    #[inline(always)]
    pub(crate) fn give_description(&self, cell: Ref) -> Result<(), Errno> {
        if self.is_reserved(cell) {
            self.must_settle.set(true);
        }
        self.give_cell(cell)
    }

    /// Calls `act` with the zone of the reserve, locked, and commits what it logs.
    fn in_reserve(&self, act: impl FnOnce(Zone) -> Result<(), Errno>) -> Result<(), Errno> {
        let first = self.geometry().zone(0);
        self.lock(first.at)?;
        let done = act(first);
        if done.is_ok() {
            self.commit();
            self.must_settle.set(true);
        }
        self.forget();
        self.unlock();
        done
    }

    /// Logs that lines of these pages of the reserve are used.
    fn take_reserved(&self, first: Zone, pages: Range<u32>, lines: u32) -> Result<Ref, Errno> {
        if lines > LINES_PER_PAGE {
            return Err(Errno::NFILE);
        }
        for number in pages {
            let (at, field) = first.word(zone::USED, number);
            let used = self.line(at)?.load(field);
            if let Some(place) = find_zeros(used, lines) {
                self.put(at, field, used | ones(lines, place));
                return Ok(first.page(number).plus(place));
            }
        }
        Err(Errno::NFILE)
    }

    /// Returns the cells in stock that belong to the reserve.
    pub(super) fn give_reserved_cells_back(&self) -> Result<(), Errno> {
        let stock = self.line(self.slot_line(slot::CELL_STOCK))?;
        let mut place = 0;
        while place < self.cells.get() {
            let cell = Ref(stock.load(slot::CELL.element(place as usize)));
            if self.is_reserved(cell) {
                self.give_cells_back(place, slot::CELLS_MAX)?;
            } else {
                place += 1;
            }
        }
        Ok(())
    }
}
