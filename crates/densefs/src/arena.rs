//! The arena's bytes, and the only code that touches them.
//!
//! Other processes write to them at any time, and may write nonsense. So nothing here ever becomes
//! a reference to data: single fields are loaded and stored as atomics, longer ranges are copied as
//! they are at that moment, and every position is checked against the arena's size before it is
//! used. A [`Line`] has been checked; its fields lie within it by construction.

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence};

use crate::errno::Errno;

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

    /// A line whose number has already been checked against [`Self::lines`].
    #[inline(always)]
    #[expect(unsafe_code, reason = "the line lies in the arena")]
    fn line_within(&self, at: Ref) -> Line<'a> {
        debug_assert!(at.0 < self.lines);
        // SAFETY: the line's number is less than the number of lines, all of which are mapped.
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

/// A line of an arena: 64 bytes, aligned to 64.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    start: NonNull<u8>,
    mapped: PhantomData<&'a ()>,
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

/// A field of a line: its position and its width.
#[derive(Clone, Copy, Debug)]
pub struct Field<W> {
    at: usize,
    width: PhantomData<W>,
}

impl<W: Word> Field<W> {
    /// The field at this byte of a line.
    ///
    /// # Panics
    /// If it is misaligned or extends past the line. Fields are constants, so this is a
    /// compile-time error.
    #[must_use]
    pub const fn at(at: usize) -> Self {
        let bytes = size_of::<W>();
        assert!(at.is_multiple_of(bytes) && at + bytes <= LINE_BYTES);
        Self { at, width: PhantomData }
    }

    /// Element `index` of an array of fields that begins with this one; the last that fits if the
    /// index is too large.
    #[inline(always)]
    #[must_use]
    pub fn element(self, index: usize) -> Self {
        let last = LINE_BYTES - size_of::<W>();
        Self { at: (self.at + index * size_of::<W>()).min(last), width: PhantomData }
    }

    /// Its offset in the line, in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn byte(self) -> usize {
        self.at
    }
}

/// An integer that a field can hold.
pub trait Word: Copy + sealed::Sealed {
    /// Its width as encoded in the redo log: the base-2 logarithm of its size in bytes.
    const WIDTH: u32;

    /// The value, zero-extended.
    fn bits(self) -> u64;
    /// The value truncated to this width.
    fn from_bits(bits: u64) -> Self;
    /// Loads a value.
    ///
    /// # Safety
    /// `at` must be valid for atomic access.
    #[expect(unsafe_code, reason = "implemented here alone")]
    unsafe fn load(at: *mut u8) -> Self;
    /// Stores a value.
    ///
    /// # Safety
    /// As for [`Self::load`].
    #[expect(unsafe_code, reason = "implemented here alone")]
    unsafe fn store(self, at: *mut u8);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

macro_rules! word {
    ($word:ty, $atomic:ty) => {
        impl Word for $word {
            const WIDTH: u32 = size_of::<$word>().trailing_zeros();

            #[inline(always)]
            fn bits(self) -> u64 {
                self.into()
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "the lowest bits are wanted")]
            fn from_bits(bits: u64) -> Self {
                bits as $word
            }

            #[inline(always)]
            #[expect(unsafe_code, reason = "the one way to load a field")]
            unsafe fn load(at: *mut u8) -> Self {
                // SAFETY: the caller guarantees that the address is valid; concurrent writes are
                // fine for atomics.
                unsafe { <$atomic>::from_ptr(at.cast()) }.load(Ordering::Acquire)
            }

            #[inline(always)]
            #[expect(unsafe_code, reason = "the one way to store a field")]
            unsafe fn store(self, at: *mut u8) {
                // SAFETY: as above.
                unsafe { <$atomic>::from_ptr(at.cast()) }.store(self, Ordering::Release);
            }
        }
    };
}

word!(u8, AtomicU8);
word!(u16, AtomicU16);
word!(u32, AtomicU32);
word!(u64, AtomicU64);

impl<'a> Line<'a> {
    /// Whether it is the same line.
    #[inline(always)]
    pub(crate) fn is(self, other: Line<'_>) -> bool {
        self.start == other.start
    }

    /// The field's current value.
    #[inline(always)]
    #[expect(unsafe_code, reason = "a field lies within its line")]
    #[must_use]
    pub fn load<W: Word>(self, field: Field<W>) -> W {
        #[cfg(test)]
        crate::interleaved::touch();
        // SAFETY: the line is mapped, and the field is aligned and within it.
        unsafe { W::load(self.start.as_ptr().add(field.at)) }
    }

    /// Stores a value. Only [`crate::member::Member`] may use this, since it counts stores.
    #[inline(always)]
    #[expect(unsafe_code, reason = "a field lies within its line")]
    pub(crate) fn store<W: Word>(self, field: Field<W>, value: W) {
        #[cfg(test)]
        crate::interleaved::touch();
        // SAFETY: as in `load`.
        unsafe { value.store(self.start.as_ptr().add(field.at)) };
    }

    /// Compares and exchanges the field; whether it contained `seen`.
    #[inline(always)]
    #[must_use]
    pub(crate) fn exchange(self, field: Field<u32>, seen: u32, new: u32) -> bool {
        #[cfg(test)]
        crate::interleaved::touch();
        let (is_done, is_not) = (Ordering::AcqRel, Ordering::Relaxed);
        self.atomic(field).compare_exchange(seen, new, is_done, is_not).is_ok()
    }

    /// Atomically replaces the field's value, and returns the old one.
    #[inline(always)]
    pub(crate) fn swap(self, field: Field<u32>, new: u32) -> u32 {
        #[cfg(test)]
        crate::interleaved::touch();
        self.atomic(field).swap(new, Ordering::AcqRel)
    }

    /// Which of the first 16 bytes are equal to `byte` now: one bit each, the lowest for the first.
    #[cfg(target_feature = "sse2")]
    #[inline(always)]
    #[expect(unsafe_code, reason = "the bytes lie within the line")]
    pub(crate) fn bytes_like(self, byte: u8) -> u32 {
        #[cfg(test)]
        crate::interleaved::touch();
        let bytes = u32::from(byte) * 0x0101_0101;
        let found;
        // SAFETY: the line is mapped and 64-byte aligned. A concurrent write may be seen in part,
        // as with loads of single bytes.
        unsafe {
            core::arch::asm!(
                "movd {all}, {bytes:e}",
                "pshufd {all}, {all}, 0",
                "pcmpeqb {all}, xmmword ptr [{line}]",
                "pmovmskb {found:e}, {all}",
                all = out(xmm_reg) _,
                bytes = in(reg) bytes,
                line = in(reg) self.start.as_ptr(),
                found = out(reg) found,
                options(readonly, nostack, preserves_flags),
            );
        }
        found
    }

    /// The whole line as vectors of 32-bit numbers, the lowest first.
    #[cfg(target_feature = "sse2")]
    #[inline(always)]
    #[expect(unsafe_code, reason = "the bytes lie within the line")]
    pub(crate) fn vectors(self) -> [core::arch::x86_64::__m128i; 4] {
        #[cfg(test)]
        crate::interleaved::touch();
        let (first, second, third, fourth);
        // SAFETY: as in `bytes_like`.
        unsafe {
            core::arch::asm!(
                "movdqa {first}, xmmword ptr [{line}]",
                "movdqa {second}, xmmword ptr [{line} + 16]",
                "movdqa {third}, xmmword ptr [{line} + 32]",
                "movdqa {fourth}, xmmword ptr [{line} + 48]",
                line = in(reg) self.start.as_ptr(),
                first = out(xmm_reg) first,
                second = out(xmm_reg) second,
                third = out(xmm_reg) third,
                fourth = out(xmm_reg) fourth,
                options(readonly, nostack, preserves_flags),
            );
        }
        [first, second, third, fourth]
    }

    /// Like the SSE2 version, for targets without vector instructions.
    #[cfg(not(target_feature = "sse2"))]
    #[inline(always)]
    pub(crate) fn bytes_like(self, byte: u8) -> u32 {
        let is_like = |at: usize| self.load(Field::<u8>::at(0).element(at)) == byte;
        (0..16).fold(0, |found, at| found | u32::from(is_like(at)) << at)
    }

    /// The field as an atomic, for compare-and-exchange and for waiting on it.
    #[inline(always)]
    #[expect(unsafe_code, reason = "a field lies within its line")]
    #[must_use]
    pub fn atomic(self, field: Field<u32>) -> &'a AtomicU32 {
        // SAFETY: as in `load`; the line stays mapped for `'a`.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(field.at).cast()) }
    }
}
