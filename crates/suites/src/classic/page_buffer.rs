//! The memory that calls read into and write from. Where it begins decides how fast the kernel
//! copies, by up to a tenth on some processors, so it begins on a page everywhere, as in Bonnie++.

const PAGE: usize = 4096;

/// Bytes of which the first lies on a page.
#[derive(Debug)]
pub(super) struct PageBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl PageBuffer {
    /// So many zeros.
    pub(super) fn zeros(length: usize) -> Self {
        let memory = vec![0; length + PAGE];
        let start = memory.as_ptr().align_offset(PAGE);
        Self { memory, start, length }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_any_length_begin_on_a_page() {
        for length in [1, 256, PAGE, 1 << 20] {
            let mut buffer = PageBuffer::zeros(length);
            let bytes = buffer.bytes_mut();
            assert_eq!(bytes.len(), length);
            assert!(bytes.as_ptr().addr().is_multiple_of(PAGE));
        }
    }
}
