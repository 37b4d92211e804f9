//! Memory to which programs have mapped files.
//!
//! Where a file has pages, the arena's file itself is mapped there, so that programs share memory
//! with calls, and with each other. It is mapped through an open file description without locks: a
//! child may keep such a mapping for longer than its parent lives, and must not keep the locks that
//! show that its parent is alive.

use std::sync::Arc;

use densefs::{Errno, MapAccess, MappedRun};

use crate::areas::{Area, areas};
use crate::dense_fs::DenseFs;
use crate::memory::{NewMemory, Placement, Protection, unmap as unmap_memory};
use crate::numbers::nothing;

/// Bytes in a page.
const PAGE: u64 = PAGE_LENGTH as u64;
const PAGE_LENGTH: usize = 4096;

/// What is to be mapped, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapRequest {
    /// Where in memory.
    pub placement: Placement,
    /// How many bytes. Memory is mapped in whole pages.
    pub length: usize,
    /// Where they begin in the file: a multiple of a page.
    pub offset: u64,
    /// What the program may do there.
    pub protection: Protection,
    /// Whether others see what it writes, and it sees what they write.
    pub is_shared: bool,
}

impl DenseFs {
    /// Maps bytes of an open file into memory, as mmap(2); returns where. Memory past the file's
    /// last page raises SIGBUS, also if the file grows later; what is cut off turns into zeros.
    ///
    /// # Errors
    /// As mmap(2); [`Errno::NOSPC`] if there is no space to fill the holes of a shared mapping.
    ///
    /// # Safety
    /// A [`Placement::Exactly`] replaces whatever is mapped there.
    #[expect(unsafe_code, reason = "it replaces memory if it is asked to")]
    pub unsafe fn map(&self, descriptor: u32, request: &MapRequest) -> Result<usize, Errno> {
        if request.length == 0 || !request.offset.is_multiple_of(PAGE) {
            return Err(Errno::INVAL);
        }
        let length = request.length.checked_next_multiple_of(PAGE_LENGTH).ok_or(Errno::NOMEM)?;
        let end = request.offset.checked_add(length as u64);
        end.filter(|&end| end <= densefs::SIZE_MAX).ok_or(Errno::OVERFLOW)?;
        let access = MapAccess { writes: request.protection.writes, is_shared: request.is_shared };
        let mut areas = areas();
        let (file, runs) = self.with_core(|member| {
            let file =
                member.map_open(descriptor, request.offset, request.length as u64, access)?;
            let mut runs = Vec::new();
            let (first, pages) = (request.offset / PAGE, length as u64 / PAGE);
            let number = |pages: u64| u32::try_from(pages).unwrap_or(u32::MAX);
            let all = &mut |run| runs.push(run);
            member.each_mapped_run(file, number(first), number(pages), all)?;
            Ok((file, runs))
        })?;
        // SAFETY: guaranteed by the caller.
        let mapped = unsafe { self.map_runs(request, length, &runs) };
        let start = match mapped {
            Ok(start) => start,
            Err(why) => {
                areas.let_go(vec![(Arc::clone(&self.attachment), file)])?;
                return Err(why);
            }
        };
        let replaced = areas.take(start, start + length);
        let attachment = Arc::clone(&self.attachment);
        areas.add(start, Area { end: start + length, attachment, file });
        areas.let_go(replaced)?;
        Ok(start)
    }

    /// Maps runs of pages next to each other.
    ///
    /// # Safety
    /// As for [`Self::map`].
    #[expect(unsafe_code, reason = "as its caller")]
    unsafe fn map_runs(
        &self,
        request: &MapRequest,
        length: usize,
        runs: &[MappedRun],
    ) -> Result<usize, Errno> {
        let (nothing, arena) = (nothing()?, self.attachment.file_to_map()?);
        // SAFETY: guaranteed by the caller.
        let memory =
            unsafe { NewMemory::new(request.placement, length, request.protection, nothing)? };
        for run in runs {
            let first = u64::from(run.page) * PAGE - request.offset;
            let at = usize::try_from(first).map_err(|_| Errno::OVERFLOW)?;
            let bytes = run.pages as usize * PAGE_LENGTH;
            let arena = run.at.map(|page| (arena, u64::from(page) * PAGE));
            memory.map(at, bytes, request.protection, request.is_shared, arena)?;
        }
        Ok(memory.keep())
    }
}

/// Unmaps memory, whatever is mapped there, as munmap(2).
///
/// # Errors
/// As munmap(2).
///
/// # Safety
/// Nobody may use that memory any more.
#[expect(unsafe_code, reason = "it takes memory away")]
pub unsafe fn unmap(start: usize, length: usize) -> Result<(), Errno> {
    let mut areas = areas();
    // SAFETY: guaranteed by the caller.
    unsafe { unmap_memory(start, length)? };
    let end = start.saturating_add(length).next_multiple_of(PAGE_LENGTH);
    let taken = areas.take(start, end);
    areas.let_go(taken)
}

/// Whether a file of an arena is mapped to any of these bytes of memory.
#[must_use]
pub fn is_mapped(start: usize, length: usize) -> bool {
    areas().overlaps(start, start.saturating_add(length))
}
