//! What fcntl(2) reads and changes of a descriptor, and writes that say where they go.

use super::table::{TableIndex, entry_of};
use super::{OpenFile, flags};
use crate::errno::Errno;
use crate::layout::description;
use crate::member::Member;
use crate::seams::Seams;

/// The flags of an open description that can be changed: `O_APPEND`, `O_NONBLOCK`, `O_DIRECT` and
/// `O_NOATIME`.
const CHANGEABLE: u32 = flags::APPEND | flags::NON_BLOCKING | flags::DIRECT | flags::NO_ATIME;

impl<S: Seams> Member<'_, S> {
    /// Whether a descriptor is closed when the process executes another program.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    pub fn closes_on_exec(&self, descriptor: u32) -> Result<bool, Errno> {
        let index = TableIndex::from_descriptor(descriptor)?;
        self.retry(|| {
            let entry = self.entry(self.process(), index)?;
            Ok(entry.closes_on_exec())
        })
    }

    /// Says whether a descriptor is to be closed when the process executes another program.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    pub fn set_closes_on_exec(&self, descriptor: u32, closes: bool) -> Result<(), Errno> {
        let index = TableIndex::from_descriptor(descriptor)?;
        let of = self.process();
        self.retry(|| {
            self.lock(of)?;
            // While the record is locked, no entry changes, and the table stays where it is.
            let done = self.entry(of, index).map(|entry| {
                let how = if closes { flags::CLOSE_ON_EXEC } else { 0 };
                self.put_entry(entry, entry_of(entry.description(), how));
            });
            self.conclude(done.is_ok());
            done
        })
    }

    /// Changes the flags of an open description, as far as they can be changed.
    ///
    /// # Errors
    /// [`Errno::BADF`], also if it only refers to the file.
    pub fn set_flags(&self, descriptor: u32, how: u32) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            if open.flags & flags::PATH != 0 {
                return Err(Errno::BADF);
            }
            self.lock_description(open.entry)?;
            let kept = open.line.load(description::FLAGS) & !CHANGEABLE;
            // Whoever has read the flags, and acts on them, finds them changed, and starts over.
            self.fill(open.line, description::FLAGS, kept | how & CHANGEABLE);
            self.unlock();
            Ok(())
        })
    }

    /// Writes at the end of the file or not, however it was opened: at an offset, or at the
    /// descriptor's own, which advances.
    ///
    /// # Errors
    /// As [`Self::write_on`].
    pub fn write_placed(
        &self,
        descriptor: u32,
        offset: Option<u64>,
        appends: bool,
        from: &[u8],
    ) -> Result<usize, Errno> {
        self.with(descriptor, |open| {
            open.check_writable()?;
            let how = if appends { flags::APPEND } else { 0 };
            let open = OpenFile { flags: open.flags & !flags::APPEND | how, ..open };
            match offset {
                Some(_) if appends => Ok(self.append(open.node, from)?.0),
                Some(offset) => self.write_at(open.node, offset, from),
                None => {
                    self.lock_description(open.entry)?;
                    let written = self.write_there(&open, from);
                    if let Ok((length, offset)) = written {
                        self.fill(open.line, description::OFFSET, offset + length as u64);
                    }
                    self.unlock();
                    written.map(|(length, _)| length)
                }
            }
        })
    }
}
