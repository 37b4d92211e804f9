//! The arena's bytes, and the only code that touches them.
//!
//! Other processes write to them at any time, and may write nonsense. So nothing here ever becomes
//! a reference to data: single fields are loaded and stored as atomics, longer ranges are copied as
//! they are at that moment, and every position is checked against the arena's size before it is
//! used. A [`Line`] has been checked; its fields lie within it by construction.

mod line;

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::errno::Errno;

pub use line::{Field, Line, Word};

/// Bytes in a line, the unit of all structures: what a processor fetches at once.
pub const LINE_BYTES: usize = 64;
/// Lines in a page, the unit in which memory is mapped and supplied.
pub const LINES_PER_PAGE: u32 = 64;

/// The number of a line of the arena, or none: line 0 is in the superblock, and nothing refers to
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(pub u32);

impl Ref {
    /// No line.
    pub const NONE: Self = Self(0);

    /// Whether it refers to a line.
    #[inline(always)]
    #[must_use]
    pub fn is_some(self) -> bool {
        self.0 != 0
    }

    /// The line `lines` further on, which may be outside the arena.
    #[inline(always)]
    #[must_use]
    pub fn plus(self, lines: u32) -> Self {
        Self(self.0.wrapping_add(lines))
    }
}

/// The promise that only the core writes to an arena, whose references are therefore within it.
#[derive(Clone, Copy, Debug)]
pub struct Trust(());

impl Trust {
    /// Makes the promise.
    ///
    /// # Safety
    /// Nothing but this crate may have written to any arena that is used with it since
    /// [`crate::format::make`], and nothing else may do so.
    #[expect(unsafe_code, reason = "the caller vouches for the content")]
    #[must_use]
    pub const unsafe fn new() -> Self {
        Self(())
    }
}

/// Memory shared between processes.
#[derive(Clone, Copy, Debug)]
pub struct Arena<'a> {
    start: NonNull<u8>,
    lines: u32,
    /// The memory stays mapped this long.
    mapped: PhantomData<&'a ()>,
}

// SAFETY: the bytes are only accessed by atomics, or by copies that take them as they are.
#[expect(unsafe_code, reason = "the bytes are shared on purpose")]
unsafe impl Send for Arena<'_> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "the bytes are shared on purpose")]
unsafe impl Sync for Arena<'_> {}

impl<'a> Arena<'a> {
    /// The arena of `lines` lines at `start`.
    ///
    /// # Safety
    /// All of it must stay mapped for reading and writing for `'a`, and `start` must be
    /// page-aligned. Others may write to it at any time.
    #[expect(unsafe_code, reason = "the caller vouches for the mapping")]
    #[must_use]
    pub unsafe fn new(start: NonNull<u8>, lines: u32) -> Self {
        Self { start, lines, mapped: PhantomData }
    }

    /// How many lines there are.
    #[inline(always)]
    #[must_use]
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// A line, checked to be in the arena.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such line.
    #[inline(always)]
    pub fn line(&self, at: Ref) -> Result<Line<'a>, Errno> {
        if at.0 >= self.lines {
            return Err(Errno::CORRUPT);
        }
        Ok(self.line_within(at))
    }

    /// A line that the arena itself refers to, if that can be trusted; else as [`Self::line`].
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such line.
    #[inline(always)]
    pub(crate) fn referred_line(&self, at: Ref, trust: Option<Trust>) -> Result<Line<'a>, Errno> {
        match trust {
            // The promise holds: only lines of the arena are referred to.
            Some(Trust(())) => Ok(self.line_within(at)),
            None => self.line(at),
        }
    }

    /// A line whose number has already been checked against [`Self::lines`], or is trusted.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the line lies in the arena")]
    fn line_within(&self, at: Ref) -> Line<'a> {
        debug_assert!(at.0 < self.lines);
        // SAFETY: the line's number is less than the number of lines, all of which are mapped, as
        // was checked or promised.
        let start = unsafe { self.start.add(at.0 as usize * LINE_BYTES) };
        Line { start, mapped: PhantomData }
    }

    /// Prefetches a line that is about to be read. Does nothing if there is no such line, or no
    /// instruction for it.
    #[inline(always)]
    #[cfg_attr(target_feature = "sse", expect(unsafe_code, reason = "an instruction of its own"))]
    pub(crate) fn fetch(&self, at: Ref) {
        #[cfg(target_feature = "sse")]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let line = self.start.as_ptr().wrapping_add(at.0 as usize * LINE_BYTES);
            // SAFETY: a prefetch has no architectural effect and never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
        }
        #[cfg(not(target_feature = "sse"))]
        let _ = at;
    }

    /// Consecutive words, starting at the beginning of a line.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if some are outside the arena.
    pub(crate) fn words<const COUNT: usize>(&self, at: Ref) -> Result<Words<'a, COUNT>, Errno> {
        let start = self.stretch(at, 0, 8 * COUNT)?;
        Ok(Words { start, mapped: PhantomData })
    }

    /// Stores the low bits of `value` into the word of this [`Word::WIDTH`] that contains this
    /// byte. Does nothing if the byte is outside the arena.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the word lies in the arena")]
    pub(crate) fn store_at(&self, byte: usize, width: u32, value: u64) {
        #[cfg(test)]
        crate::interleaved::touch();
        if byte >= self.lines as usize * LINE_BYTES {
            return;
        }
        let aligned = byte & (usize::MAX << width);
        // SAFETY: the arena's length is a multiple of the word's, so the word that contains this
        // byte is inside if the byte is.
        unsafe {
            let at = self.start.as_ptr().add(aligned);
            // Not a `match`, which would compile to a jump table and touch another cache line.
            if width >= 2 {
                if width == 2 { u32::from_bits(value).store(at) } else { value.store(at) }
            } else if width == 1 {
                u16::from_bits(value).store(at);
            } else {
                u8::from_bits(value).store(at);
            }
        }
    }

    /// Copies bytes out of the arena, starting `offset` bytes after the start of `at`.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if they are outside the arena.
    #[inline]
    #[expect(unsafe_code, reason = "the bytes lie in the arena")]
    pub fn copy_out(&self, at: Ref, offset: usize, into: &mut [u8]) -> Result<(), Errno> {
        let from = self.stretch(at, offset, into.len())?;
        // The compiler must not move the copy past accesses to other data.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: both ranges are as long as `into`, and nothing borrows from the arena.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), into.as_mut_ptr(), into.len()) };
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }

    /// Copies bytes into the arena.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if they would be outside the arena.
    #[inline]
    #[expect(unsafe_code, reason = "the bytes lie in the arena")]
    pub fn copy_in(&self, at: Ref, offset: usize, from: &[u8]) -> Result<(), Errno> {
        let into = self.stretch(at, offset, from.len())?;
        compiler_fence(Ordering::SeqCst);
        // SAFETY: as in `copy_out`.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), into.as_ptr(), from.len()) };
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }

    /// Zeroes bytes.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if they are outside the arena.
    #[expect(unsafe_code, reason = "the bytes lie in the arena")]
    pub fn zero(&self, at: Ref, offset: usize, length: usize) -> Result<(), Errno> {
        let into = self.stretch(at, offset, length)?;
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the range is that long.
        unsafe { core::ptr::write_bytes(into.as_ptr(), 0, length) };
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }

    /// Copies bytes within the arena, between ranges that do not overlap.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if any are outside the arena.
    pub fn copy(&self, from: Ref, into: Ref, length: usize) -> Result<(), Errno> {
        self.copy_between(from, 0, into, 0, length)
    }

    /// Like [`Self::copy`], starting that many bytes after the start of each.
    #[expect(unsafe_code, reason = "the bytes lie in the arena")]
    pub(crate) fn copy_between(
        &self,
        from: Ref,
        from_offset: usize,
        into: Ref,
        into_offset: usize,
        length: usize,
    ) -> Result<(), Errno> {
        let from = self.stretch(from, from_offset, length)?;
        let into = self.stretch(into, into_offset, length)?;
        compiler_fence(Ordering::SeqCst);
        // SAFETY: both ranges are that long; `copy` allows any overlap.
        unsafe { core::ptr::copy(from.as_ptr(), into.as_ptr(), length) };
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the bytes lie in the arena")]
    fn stretch(&self, at: Ref, offset: usize, length: usize) -> Result<NonNull<u8>, Errno> {
        #[cfg(test)]
        crate::interleaved::touch();
        let all = self.lines as usize * LINE_BYTES;
        let begin = (at.0 as usize * LINE_BYTES).checked_add(offset).ok_or(Errno::CORRUPT)?;
        if begin > all || length > all - begin {
            return Err(Errno::CORRUPT);
        }
        // SAFETY: the position was just checked against the arena's length.
        Ok(unsafe { self.start.add(begin) })
    }
}

/// Consecutive words of an arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a, const COUNT: usize> {
    start: NonNull<u8>,
    mapped: PhantomData<&'a ()>,
}

impl<const COUNT: usize> Words<'_, COUNT> {
    /// Loads a word; the last one if the index is out of range.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the words lie in the arena")]
    pub(crate) fn load(&self, index: usize) -> u64 {
        // SAFETY: the index is in range, and all words are mapped and aligned.
        unsafe { u64::load(self.start.as_ptr().add(8 * index.min(COUNT - 1))) }
    }

    /// Stores a word. An index out of range means the last word, as for [`Self::load`].
    #[inline(always)]
    #[expect(unsafe_code, reason = "the words lie in the arena")]
    pub(crate) fn store(&self, index: usize, value: u64) {
        // SAFETY: as in `load`.
        unsafe { value.store(self.start.as_ptr().add(8 * index.min(COUNT - 1))) };
    }
}
