//! An operation that does nothing: what the loop costs when the call costs nothing.

use std::hint::black_box;

use crate::choose::{Choices, Choose, Uniform};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::run_loop::Step;
use crate::steps::transfer::Spacing;

/// Chooses an offset like a random read, and then reads nothing.
#[derive(Debug)]
pub struct Noop {
    choose: Uniform,
    spacing: Spacing,
    offset_bytes: u64,
}

impl Noop {
    /// As if over `blocks` blocks of 4096 bytes.
    #[must_use]
    pub fn new(blocks: u64, seed: u64) -> Self {
        let choices = Choices { resources: 1, choices: blocks, thread: 0, sharers: 1, seed };
        let spacing = Spacing { stride_bytes: 4096, shift_bytes: 0 };
        Self { choose: Uniform::new(&choices), spacing, offset_bytes: 0 }
    }
}

impl Step for Noop {
    #[inline(always)]
    fn before(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
        self.offset_bytes = self.spacing.offset_bytes(self.choose.next_position().choice);
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, _slot: usize) -> Result<u64, Fault> {
        black_box(self.offset_bytes);
        Ok(0)
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        fault.into_error("nothing".as_ref())
    }
}
