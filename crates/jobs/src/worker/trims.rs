//! Blocks that are trimmed after they have been written, and then read as zeros or are not verified
//! (`trim_percentage`, `trim_backlog`).

use job_offsets::{Generator, JobSeeds, Purpose};
use job_verify::{Fate, History, Piece, TrimBacklog, TrimmedBlocks};

use crate::plan::TrimsPlan;

/// Which blocks of a job are trimmed, and when.
pub(super) struct Trims {
    percent: u64,
    backlog: TrimBacklog,
    blocks: TrimmedBlocks,
    generator: Generator,
}

impl Trims {
    pub(super) fn new(plan: TrimsPlan, seeds: &JobSeeds) -> Self {
        Self {
            percent: plan.percent.into(),
            backlog: TrimBacklog::new(plan.backlog, plan.batch),
            blocks: match plan.are_verified {
                true => TrimmedBlocks::AreVerified,
                false => TrimmedBlocks::AreForgotten,
            },
            generator: seeds.generator(Purpose::TrimShare),
        }
    }

    /// Draws again what has been drawn.
    pub(super) fn rewind(&mut self, seeds: &JobSeeds) {
        self.generator = seeds.generator(Purpose::TrimShare);
    }

    /// Whether a block that is about to be written is one of those.
    pub(super) fn fate(&mut self) -> Fate {
        if self.percent == 0 {
            return Fate::Stays;
        }
        let limit = self.generator.max() / 100 * self.percent;
        if self.generator.draw() <= limit { Fate::IsTrimmed } else { Fate::Stays }
    }

    /// A block that is to be trimmed now.
    pub(super) fn next(&mut self, history: &mut History, last_was_read: bool) -> Option<Piece> {
        match self.backlog.is_due(history.len(), history.trims(), last_was_read) {
            true => history.next_to_trim(self.blocks),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use job_offsets::Width;

    use super::*;

    fn trims(percent: u32) -> Trims {
        Trims {
            percent: percent.into(),
            backlog: TrimBacklog::new(4, 0),
            blocks: TrimmedBlocks::AreForgotten,
            generator: Generator::new(Width::Bits32, 1),
        }
    }

    #[test]
    fn as_many_blocks_are_trimmed_as_is_said() {
        let share = |percent| {
            let mut trims = trims(percent);
            (0..10_000).filter(|_| trims.fate() == Fate::IsTrimmed).count()
        };
        assert_eq!(share(0), 0);
        assert!((2800..3200).contains(&share(30)), "{}", share(30));
        assert!(share(100) > 9990);
    }
}
