//! The memory of this process to which files are mapped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use densefs::{Errno, MappedFile};

use crate::attachment::Attachment;
use crate::memory::unmap;
use crate::thread_slot;

/// A stretch of memory to which a file is mapped.
#[derive(Debug)]
pub(crate) struct Area {
    /// The byte after its last one.
    pub(crate) end: usize,
    pub(crate) attachment: Arc<Attachment>,
    pub(crate) file: MappedFile,
}

/// All of them, by where they begin.
#[derive(Debug, Default)]
pub(crate) struct Areas(BTreeMap<usize, Area>);

/// Those of this process. Locked during a fork, so that a child gets what its parent has.
static AREAS: Mutex<Areas> = Mutex::new(Areas(BTreeMap::new()));

/// Locks them.
pub(crate) fn areas() -> MutexGuard<'static, Areas> {
    AREAS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Areas {
    /// Notes what has been mapped from `start` on.
    pub(crate) fn add(&mut self, start: usize, area: Area) {
        self.0.insert(start, area);
    }

    /// Whether anything is mapped to any of these bytes.
    pub(crate) fn overlaps(&self, start: usize, end: usize) -> bool {
        self.0.range(..end).next_back().is_some_and(|(_, area)| area.end > start)
    }

    /// Forgets these bytes; returns what was mapped to them.
    pub(crate) fn take(&mut self, start: usize, end: usize) -> Vec<(Arc<Attachment>, MappedFile)> {
        let mut taken = Vec::new();
        while let Some((&from, area)) =
            self.0.range(..end).next_back().filter(|(_, area)| area.end > start)
        {
            let (to, attachment, file) = (area.end, Arc::clone(&area.attachment), area.file);
            self.0.remove(&from);
            for (from, to) in [(from, start), (end, to)] {
                if from < to {
                    let attachment = Arc::clone(&attachment);
                    self.0.insert(from, Area { end: to, attachment, file });
                }
            }
            taken.push((attachment, file));
        }
        taken
    }

    /// Unmaps all that is of an arena which this process cannot use: others do not know that it is
    /// mapped, and may use the pages for other files.
    #[expect(unsafe_code, reason = "it takes memory away")]
    pub(crate) fn abandon(&mut self, attachment: &Arc<Attachment>) {
        self.0.retain(|&start, area| {
            let stays = !Arc::ptr_eq(&area.attachment, attachment);
            if !stays {
                // SAFETY: a program that uses it any more is to be told by SIGSEGV.
                unsafe { unmap(start, area.end - start).ok() };
            }
            stays
        });
    }

    fn has(&self, attachment: &Arc<Attachment>, file: MappedFile) -> bool {
        let is_it = |area: &Area| area.file == file && Arc::ptr_eq(&area.attachment, attachment);
        self.0.values().any(is_it)
    }

    /// Lets go of the files that are no longer mapped anywhere.
    pub(crate) fn let_go(&self, files: Vec<(Arc<Attachment>, MappedFile)>) -> Result<(), Errno> {
        for (attachment, file) in files {
            if !self.has(&attachment, file) {
                match thread_slot::with(&attachment, |member| member.unmap(file)) {
                    // It was part of two areas.
                    Ok(()) | Err(Errno::BADF) => {}
                    failed => return failed,
                }
            }
        }
        Ok(())
    }
}
