//! The instruction fetches of each block, split at cache line boundaries.

use footprint_trace::BlockId;

use crate::trace::{Code, Step};

/// The runs of all blocks that have been cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineRuns {
    all: Vec<LineRun>,
    /// Range of each block's runs in `all`.
    of_block: Vec<Option<(u32, u32)>>,
}

/// Successive instructions of a block in one line, or one that straddles two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRun {
    /// Where they begin.
    pub(crate) address: u64,
    /// Number of instructions within the line; 0 for one that straddles two lines.
    pub(crate) fetches: u32,
    /// Size of the straddling instruction.
    pub(crate) bytes: u32,
}

impl LineRuns {
    /// Splits a block into runs, for cache lines of this size, unless it has been before.
    #[inline]
    pub(crate) fn cut(&mut self, code: &Code, step: &Step<'_>, line_bytes: u64) {
        if self.get(step.id).is_none() {
            self.cut_new(code, step, line_bytes);
        }
    }

    #[cold]
    fn cut_new(&mut self, code: &Code, step: &Step<'_>, line_bytes: u64) {
        let at = step.id.0 as usize;
        if self.of_block.len() <= at {
            self.of_block.resize(at + 1, None);
        }
        let start = self.all.len();
        for (address, length) in code.instructions(step.block) {
            let bytes = u32::from(length);
            let line = address / line_bytes;
            let is_within = (address + u64::from(bytes) - 1) / line_bytes == line;
            match self.all[start..].last_mut() {
                Some(run) if is_within && run.fetches > 0 && run.address / line_bytes == line => {
                    run.fetches += 1;
                }
                _ => self.all.push(LineRun { address, fetches: u32::from(is_within), bytes }),
            }
        }
        let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.of_block[at] = Some((index(start), index(self.all.len())));
    }

    /// The runs of a block, if it has been cut.
    #[inline]
    pub(crate) fn get(&self, block: BlockId) -> Option<&[LineRun]> {
        let (start, end) = (*self.of_block.get(block.0 as usize)?)?;
        Some(&self.all[start as usize..end as usize])
    }
}
