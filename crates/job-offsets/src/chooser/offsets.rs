//! The offset of the next transfer in a file.

use super::draws::Draws;
use super::file_state::{Coverage, FileState, NOWHERE};
use super::rules::Rules;
use crate::direction::Direction;
use crate::generator::{to_f64, to_u64};
use crate::skew::SkewedValues;
use crate::spec::Distribution;

/// Where the next transfer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// From the beginning of the file.
    pub(super) offset: u64,
    /// It was chosen at random.
    pub(super) is_random: bool,
}

/// What a choice is made from.
pub(super) struct Picker<'a> {
    pub(super) rules: &'a Rules,
    pub(super) draws: &'a mut Draws,
    pub(super) file: &'a mut FileState,
    /// How many transfers are left until the next random offset.
    pub(super) until_random: &'a mut u32,
    /// The transfer does not count in the map. It stays so until a transfer is found.
    pub(super) ignores_map: &'a mut bool,
    /// The block that was drawn last.
    pub(super) block: u64,
}

impl Picker<'_> {
    /// The place of the next transfer. `None` if the file has none left.
    #[inline]
    pub(super) fn place(&mut self, direction: Direction) -> Option<Place> {
        let is_due = self.count_down();
        let (relative, is_random) = self.relative(direction, is_due)?;
        if relative >= self.file.size {
            return None;
        }
        let offset = relative.wrapping_add(self.file.offset);
        if offset >= self.file.file_bytes {
            return None;
        }
        if self.rules.is_random_trim_write && direction == Direction::Trim {
            self.tell_pairs_apart(offset);
        }
        Some(Place { offset, is_random })
    }

    fn count_down(&mut self) -> bool {
        if self.rules.every == 0 {
            return false;
        }
        *self.until_random = self.until_random.wrapping_sub(1);
        let is_due = *self.until_random == 0;
        if is_due {
            *self.until_random = self.rules.every;
        }
        is_due
    }

    /// A trim in the place of the one before must be followed by a write all the same, which is
    /// told from where the last ones began.
    fn tell_pairs_apart(&mut self, offset: u64) {
        if self.file.positions[Direction::Trim].start == offset {
            let start = &mut self.file.positions[Direction::Write].start;
            *start = start.wrapping_sub(1);
        }
    }

    /// The offset in the part, and whether it is random.
    #[inline]
    fn relative(&mut self, direction: Direction, is_due: bool) -> Option<(u64, bool)> {
        if self.rules.is_random_trim_write && direction == Direction::Write {
            *self.ignores_map = true;
            let trimmed = self.file.positions[Direction::Trim].start;
            return (trimmed != NOWHERE).then_some((trimmed, true));
        }
        if is_due && !self.rules.is_random {
            return Some((self.sequential(direction)?, false));
        }
        if is_due && self.is_random(direction) {
            return Some((self.random(direction)?, true));
        }
        *self.ignores_map = true;
        if !is_due && self.rules.repeats() {
            return Some((self.identical(direction), false));
        }
        let offset = self.sequential(direction).or_else(|| self.random(direction))?;
        Some((offset, false))
    }

    fn is_random(&mut self, direction: Direction) -> bool {
        let percent = self.rules.spec.random_percent[direction];
        percent == 100 || self.draws.random_share[direction].percent() <= percent
    }

    fn identical(&self, direction: Direction) -> u64 {
        match self.file.positions[direction].start {
            NOWHERE => 0,
            start => start.wrapping_sub(self.file.offset),
        }
    }

    /// Where the last transfer ended, and the gap.
    #[inline]
    fn sequential(&mut self, direction: Direction) -> Option<u64> {
        let FileState { offset, later_offset, size, file_bytes, positions, .. } = &mut *self.file;
        let last = &mut positions[direction].end;
        let is_time_based = self.rules.spec.limits.is_time_based;
        if is_time_based && self.rules.files == 1 && *last >= size.wrapping_add(*later_offset) {
            *last = *offset;
        }
        if *last >= *file_bytes {
            return None;
        }
        let gap = self.rules.gap_bytes;
        let end = (*file_bytes).min(*size);
        if gap < 0 && *offset > 0 && *last == *offset {
            *last = end;
        }
        let at = last.wrapping_sub(*offset);
        if at == 0 || gap == 0 {
            return Some(at);
        }
        let at = at.wrapping_add_signed(gap);
        if at < *file_bytes {
            Some(at)
        } else if gap > 0 {
            Some(*offset)
        } else {
            Some(end.wrapping_add_signed(gap))
        }
    }

    /// A random block. A file that has none left starts over if the job does not end with it.
    #[inline]
    fn random(&mut self, direction: Direction) -> Option<u64> {
        let mut block = self.block(direction);
        if block.is_none() && self.rules.starts_over() {
            self.file.reset();
            block = self.block(direction);
        }
        self.block = block?;
        Some(self.block.wrapping_mul(self.rules.aligns[direction]))
    }

    #[inline]
    fn block(&mut self, direction: Direction) -> Option<u64> {
        let blocks = self.file.blocks[direction];
        match &self.rules.spec.distribution {
            Distribution::Uniform => self.uniform(blocks),
            Distribution::Skewed(_) => self.file.skewed.as_mut().map(SkewedValues::draw),
            Distribution::Zoned(_) => self.zoned(direction, blocks, |start, end| {
                let first = start.wrapping_mul(blocks) / 100;
                Some((first, blocks.wrapping_mul(end - start) / 100))
            }),
            Distribution::ZonedBytes(_) => {
                let align = self.rules.aligns[direction];
                self.zoned(direction, blocks, |start, end| {
                    let (first, end) = (start / align, end / align);
                    (end <= blocks).then_some((first, end - first))
                })
            }
        }
    }

    /// A block of a zone, whose first block and length follow from where it starts and ends.
    fn zoned(
        &mut self,
        direction: Direction,
        blocks: u64,
        span: impl Fn(u64, u64) -> Option<(u64, u64)>,
    ) -> Option<u64> {
        if blocks == 0 {
            return None;
        }
        if self.rules.zone(direction, 1).is_none() {
            return self.uniform(blocks);
        }
        let zone = self.rules.zone(direction, self.draws.zones.percent())?;
        let (first, length) = span(zone.start, zone.end)?;
        Some(self.uniform_or_first(length)?.wrapping_add(first))
    }

    fn uniform(&mut self, blocks: u64) -> Option<u64> {
        if blocks == 0 { None } else { self.uniform_or_first(blocks) }
    }

    /// One of so many blocks, or the next free one after it. The first if there are none.
    #[inline]
    fn uniform_or_first(&mut self, blocks: u64) -> Option<u64> {
        if let Coverage::Register { lfsr, .. } = &mut self.file.coverage {
            return lfsr.next();
        }
        let block = to_u64(to_f64(blocks) * self.draws.offsets.share());
        match &self.file.coverage {
            Coverage::Map(map) if map.is_used(block) => map.next_free(block),
            Coverage::Map(_) | Coverage::Unknown | Coverage::Register { .. } => Some(block),
        }
    }
}
