//! The block of bytes after the JSON: bulk numbers, and texts that are passed on unchanged.

use super::contract::{ArrayRef, Element, TextRef};

/// The size of the widest element type.
const ALIGNMENT_BYTES: usize = 8;

/// A block under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Bulk {
    bytes: Vec<u8>,
}

impl Bulk {
    /// Appends binary floating-point numbers.
    pub(super) fn f64s(&mut self, values: impl IntoIterator<Item = f64>) -> ArrayRef {
        self.array(Element::F64, values.into_iter().map(f64::to_le_bytes))
    }

    /// Appends numbers of 32 bits.
    pub(super) fn u32s(&mut self, values: impl IntoIterator<Item = u32>) -> ArrayRef {
        self.array(Element::U32, values.into_iter().map(u32::to_le_bytes))
    }

    /// Appends numbers of 64 bits.
    pub(super) fn u64s(&mut self, values: impl IntoIterator<Item = u64>) -> ArrayRef {
        self.array(Element::U64, values.into_iter().map(u64::to_le_bytes))
    }

    /// Appends a text.
    pub(super) fn text(&mut self, text: &str) -> TextRef {
        let offset = narrow(self.bytes.len());
        self.bytes.extend_from_slice(text.as_bytes());
        TextRef { offset, length: narrow(text.len()) }
    }

    /// All bytes.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn array<const N: usize>(
        &mut self,
        element: Element,
        values: impl Iterator<Item = [u8; N]>,
    ) -> ArrayRef {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT_BYTES), 0);
        let start = self.bytes.len();
        values.for_each(|value| self.bytes.extend_from_slice(&value));
        let length = (self.bytes.len() - start) / N;
        ArrayRef { element, offset: narrow(start), length: narrow(length) }
    }
}

fn narrow(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("a page holds less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_at_multiples_of_eight_whatever_stood_before() {
        let mut block = Bulk::default();
        assert_eq!(block.text("abc"), TextRef { offset: 0, length: 3 });
        let small = block.u32s([1, 2, 3]);
        let large = block.f64s([0.5, -1.0]);
        assert_eq!((small.offset, small.length), (8, 3));
        assert_eq!((large.offset, large.length), (24, 2));
        let bytes = block.finish();
        assert_eq!(bytes[8..12], 1_u32.to_le_bytes());
        assert_eq!(bytes[32..40], (-1.0_f64).to_le_bytes());
        assert_eq!(bytes.len(), 40);
    }
}
