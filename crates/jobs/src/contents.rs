//! What is written: random bytes, patterns, zeros, what compresses and what has been written
//! before.
//!
//! Random bytes are those of `job_verify`: a seed that is multiplied again and again.

use job_offsets::{Direction, Generator, JobSeeds, Purpose};
use job_verify::{fill_randomly, repeat};

use crate::files::LayoutContent;
use crate::plan::{BuffersPlan, DedupeMode, JobPlan};

/// What scrambling changes a part of, in bytes.
const SECTOR: usize = 512;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Fills buffers as a job's options say.
#[derive(Debug)]
pub(crate) struct Contents {
    plan: BuffersPlan,
    least: usize,
    current: Generator,
    previous: Generator,
    choice: Generator,
    set_choice: Generator,
    working_set: Vec<Generator>,
}

impl Contents {
    /// `size` is what the job writes to, in bytes.
    pub(crate) fn new(plan: &JobPlan, seeds: &JobSeeds, size: u64) -> Self {
        let current = seeds.generator(Purpose::Buffer);
        let least_bytes = plan.offsets.spec.block_sizes[Direction::Write].min_bytes;
        let least = usize::try_from(least_bytes).unwrap_or(usize::MAX);
        let buffers = plan.buffers.clone();
        let working_set = match buffers.dedupe {
            DedupeMode::WorkingSet(percent) if buffers.dedupe_percent > 0 => {
                let blocks = (size.saturating_mul(u64::from(percent)) / 100 / least_bytes).max(1);
                let pieces = least_bytes / buffers.compress_chunk.clamp(1, least_bytes);
                working_set(&current, blocks, pieces)
            }
            DedupeMode::WorkingSet(_) | DedupeMode::Repeat => Vec::new(),
        };
        Self {
            plan: buffers,
            least,
            previous: current.clone(),
            current,
            choice: seeds.generator(Purpose::Dedupe),
            set_choice: seeds.generator(Purpose::DedupeWorkingSet),
            working_set,
        }
    }

    /// Fills a buffer for a write.
    pub(crate) fn fill_block(&mut self, buffer: &mut [u8]) {
        if self.plan.compress_percent > 0 || self.plan.dedupe_percent > 0 {
            self.fill_in_pieces(buffer);
        } else if let Some(pattern) = &self.plan.pattern {
            repeat(pattern, buffer);
        } else if self.plan.zeros {
            buffer.fill(0);
        } else {
            fill_randomly(self.current.seed(), buffer);
            self.previous = self.current.clone();
        }
    }

    fn fill_in_pieces(&mut self, buffer: &mut [u8]) {
        let chunk = usize::try_from(self.plan.compress_chunk).unwrap_or(usize::MAX);
        let piece = match chunk {
            0 => self.least,
            chunk => chunk.min(self.least),
        };
        // A whole buffer is a copy, or none of it.
        let mut copied = self.copied();
        for piece in buffer.chunks_mut(piece.max(1)) {
            let seed = copied.as_mut().unwrap_or(&mut self.current).seed();
            let random = piece.len() * (100 - self.plan.compress_percent as usize) / 100;
            let (random, rest) = piece.split_at_mut(random);
            fill_randomly(seed, random);
            match &self.plan.pattern {
                Some(pattern) => repeat(pattern, rest),
                None => rest.fill(0),
            }
        }
        if copied.is_none() {
            self.previous = self.current.clone();
        }
    }

    /// The generator of the block that the next one is a copy of.
    fn copied(&mut self) -> Option<Generator> {
        let percent = u64::from(self.plan.dedupe_percent);
        if percent == 0 || self.choice.between(1, 100) > percent {
            return None;
        }
        if self.working_set.is_empty() {
            return Some(self.previous.clone());
        }
        let index = self.set_choice.below(self.working_set.len() as u64);
        Some(self.working_set[usize::try_from(index).unwrap_or(0)].clone())
    }
}

impl LayoutContent for Contents {
    fn fill(&mut self, buffer: &mut [u8]) {
        self.fill_block(buffer);
    }
}

fn working_set(first: &Generator, blocks: u64, pieces: u64) -> Vec<Generator> {
    let mut generator = first.clone();
    let mut set = Vec::new();
    for _ in 0..blocks {
        set.push(generator.clone());
        for _ in 0..pieces {
            generator.seed();
        }
    }
    set
}

/// Changes a little in each sector, so that no two blocks are the same: the offset, and the time.
pub(crate) fn scramble(buffer: &mut [u8], offset: u64, time_ns: u64) {
    let line = usize::try_from((time_ns ^ offset) & 7).unwrap_or(0) * LINE;
    let (seconds, rest) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    for (sector, at) in buffer.chunks_exact_mut(SECTOR).zip((offset..).step_by(SECTOR)) {
        sector[line..line + 8].copy_from_slice(&at.to_ne_bytes());
        sector[LINE - 16..LINE - 8].copy_from_slice(&seconds.to_ne_bytes());
        sector[LINE - 8..LINE].copy_from_slice(&rest.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_scrambled_differ() {
        let (mut one, mut other) = (vec![7; 4096], vec![7; 4096]);
        scramble(&mut one, 0, 5_000_000_001);
        scramble(&mut other, 4096, 5_000_000_001);
        assert!(one.chunks(512).zip(other.chunks(512)).all(|(one, other)| one != other));
        assert!(one.chunks(512).all(|sector| sector[48..56] == 5_u64.to_ne_bytes()));
    }
}
