//! The records of processes: taking one into use, and reaping it with all that the process had
//! open.

use super::table::{DescriptorTable, TableIndex};
use crate::arena::{Field, Ref};
use crate::errno::Errno;
use crate::layout::process;
use crate::member::Member;
use crate::seams::Seams;

impl<S: Seams> Member<'_, S> {
    /// Takes a process' record into use, with nothing open.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such record.
    pub fn begin_process(&self, number: u32) -> Result<(), Errno> {
        let at = self.geometry().process(number)?;
        self.put(at, process::STATE, 1_u32);
        self.commit();
        Ok(())
    }

    /// Whether a process uses this record, or used it and has not been [`Self::reap`]ed.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such record.
    pub fn is_in_use(&self, number: u32) -> Result<bool, Errno> {
        let at = self.geometry().process(number)?;
        Ok(self.line(at)?.load(process::STATE) != 0)
    }

    /// Closes all that a process had open, and frees its record. The process must be dead, or do
    /// nothing more. Only one thread may do this at a time; if it dies, another can start over.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`], [`Errno::INTR`].
    pub fn reap(&self, number: u32) -> Result<(), Errno> {
        let of = self.geometry().process(number)?;
        // Another thread of a live process may open something meanwhile.
        while !self.reap_once(of)? {}
        Ok(())
    }

    /// Closes all that a process has open, and frees its table if nothing has been opened
    /// meanwhile.
    fn reap_once(&self, of: Ref) -> Result<bool, Errno> {
        let word = self.line(of)?.load(process::TABLE);
        let table = DescriptorTable::from_word(word);
        self.drop_mappings(of)?;
        for index in table.indices() {
            if index != TableIndex::MAPPINGS {
                self.close_if_open(of, index)?;
            }
        }
        self.ready_to_give()?;
        let record = self.lock(of)?;
        let is_empty = |(line, field): (Ref, Field<u64>)| Ok(self.line(line)?.load(field) == 0);
        let given = table
            .positions()
            .map(is_empty)
            .try_fold(true, |all, one| one.map(|is_empty: bool| all && is_empty));
        let given = given.and_then(|is_empty| {
            if !is_empty || record.load(process::TABLE) != word {
                return Ok(false);
            }
            self.give_table(table)?;
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
