//! Which runs an operation needs before it begins.

use crate::layout::slot;

/// Numbers of lines of runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted {
    lines: [u32; slot::RUNS_MAX as usize],
    count: usize,
}

impl Wanted {
    /// Wants a run of this many lines as well. There are never more than a stock has room for.
    pub(super) fn add(&mut self, lines: u32) {
        if let Some(next) = self.lines.get_mut(self.count) {
            *next = lines;
            self.count += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[u32] {
        self.lines.get(..self.count).unwrap_or_default()
    }
}
