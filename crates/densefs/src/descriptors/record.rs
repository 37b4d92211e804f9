//! The records of processes: begun, and taken back with all that a process had open.

use super::table::{Held, Place, Table};
use crate::arena::{Field, Ref};
use crate::errno::Errno;
use crate::layout::process;
use crate::member::Member;
use crate::seams::Seams;

impl<S: Seams> Member<'_, S> {
    /// Begins to use a process' record, in which nothing is open.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such record.
    pub fn begin_process(&self, number: u32) -> Result<(), Errno> {
        let at = self.geometry().process(number)?;
        self.put(at, process::STATE, 1_u32);
        self.commit();
        Ok(())
    }

    /// Whether somebody has a process' record, or had it and has not been [`Self::reap`]ed.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such record.
    pub fn is_in_use(&self, number: u32) -> Result<bool, Errno> {
        let at = self.geometry().process(number)?;
        Ok(self.line(at)?.load(process::STATE) != 0)
    }

    /// Closes all that a process had open, which is dead, or does nothing more; its record is free
    /// then. One thread does so at a time. If it dies, another can begin anew.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`], [`Errno::INTR`].
    pub fn reap(&self, number: u32) -> Result<(), Errno> {
        let of = self.geometry().process(number)?;
        // Another thread of a process that lives may open something meanwhile.
        while !self.reap_once(of)? {}
        Ok(())
    }

    /// Closes all that a process has open, and gives its table back if nothing has been opened
    /// meanwhile.
    fn reap_once(&self, of: Ref) -> Result<bool, Errno> {
        let word = self.line(of)?.load(process::TABLE);
        let table = Table::of_word(word);
        for place in (0..table.places()).map(Place) {
            self.close_if_open(of, place)?;
        }
        self.ready_to_give()?;
        let record = self.lock(of)?;
        let is_empty = |(line, field): (Ref, Field<u64>)| Ok(self.line(line)?.load(field) == 0);
        let given = (Held { table })
            .places()
            .map(is_empty)
            .try_fold(true, |all, one| one.map(|is_empty: bool| all && is_empty));
        let given = given.and_then(|is_empty| {
            if !is_empty || record.load(process::TABLE) != word {
                return Ok(false);
            }
            if table.bits.is_some() {
                self.give_run(table.start, table.lines())?;
            }
            self.put(of, process::TABLE, 0_u64);
            self.put(of, process::LOWEST, 0_u32);
            self.put(of, process::STATE, 0_u32);
            self.commit();
            Ok(true)
        });
        self.forget();
        self.unlock();
        given
    }
}
