//! A line of an arena, and its fields.

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::LINE_BYTES;

/// A line of an arena: 64 bytes, aligned to 64.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub(super) start: NonNull<u8>,
    pub(super) mapped: PhantomData<&'a ()>,
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

    /// Its size in bytes.
    pub(crate) const fn bytes(self) -> usize {
        size_of::<W>()
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

    /// Atomically clears these bits of the field.
    pub(crate) fn clear_bits(self, field: Field<u32>, bits: u32) {
        #[cfg(test)]
        crate::interleaved::touch();
        self.atomic(field).fetch_and(!bits, Ordering::AcqRel);
    }

    /// Clears the lower 16 bits of the field, which nobody else may change meanwhile. Others may
    /// change the upper ones. As a store of its own, this takes a tenth of an atomic operation.
    #[inline(always)]
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "a field is in its line"))]
    pub(crate) fn clear_low_half(self, field: Field<u32>) {
        #[cfg(test)]
        crate::interleaved::touch();
        // SAFETY: as in `load`. Not an atomic of Rust's, all of which must be of one width.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!(
                "mov word ptr [{at}], 0",
                at = in(reg) self.start.as_ptr().add(field.at),
                options(nostack, preserves_flags),
            );
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.atomic(field).fetch_and(0xffff_0000, Ordering::AcqRel);
    }

    /// The field with its lower 16 bits as 0. Does not wait for what
    /// [`Self::clear_low_half`] stored there, as a load of the whole field would.
    #[inline(always)]
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "a field is in its line"))]
    pub(crate) fn high_half(self, field: Field<u32>) -> u32 {
        #[cfg(test)]
        crate::interleaved::touch();
        #[cfg(target_arch = "x86_64")]
        {
            let half: u32;
            // SAFETY: as in `clear_low_half`.
            unsafe {
                core::arch::asm!(
                    "movzx {half:e}, word ptr [{at} + 2]",
                    at = in(reg) self.start.as_ptr().add(field.at),
                    half = lateout(reg) half,
                    options(readonly, nostack, preserves_flags),
                );
            }
            half << 16
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self.atomic(field).load(Ordering::Acquire) & 0xffff_0000
        }
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
    #[inline(never)]
    pub(crate) fn bytes_like(self, byte: u8) -> u32 {
        const ONES: u64 = u64::MAX / 0xff;
        const LOW: u64 = 0x7f * ONES;
        // The highest bits of all bytes that are equal, gathered by a multiplication that adds each
        // of them once at every place.
        let half = |at| {
            let differs = self.load(Field::<u64>::at(at)) ^ u64::from(byte) * ONES;
            let equal = !((differs & LOW) + LOW | differs | LOW);
            (equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
        };
        u32::from_bits(half(0) | half(8) << 8)
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
