//! The length of the next transfer.

use super::file_state::Coverage;
use super::offsets::{Picker, Place};
use crate::direction::Direction;
use crate::generator::{Generator, to_f64, to_u64};
use crate::spec::BlockSizes;

/// How many lengths are drawn that do not fit, before it is given up.
const MOST_DRAWS: u32 = 1 << 20;

impl Picker<'_> {
    /// The length of a transfer at a place. `None` if none fits.
    #[inline]
    pub(super) fn length(&mut self, direction: Direction, place: Place) -> Option<u64> {
        let drawn = self.drawn_length(direction, place)?;
        if drawn == 0 || place.offset.wrapping_add(drawn) > self.file.file_bytes {
            return None;
        }
        Some(self.claim(direction, drawn))
    }

    #[inline]
    fn drawn_length(&mut self, direction: Direction, place: Place) -> Option<u64> {
        if self.rules.is_random_trim_write && direction == Direction::Write {
            let trimmed = self.file.positions[Direction::Trim];
            return Some(trimmed.end.wrapping_sub(trimmed.start));
        }
        let by = if !self.rules.spec.size_rules.are_by_order {
            direction
        } else if place.is_random {
            Direction::Write
        } else {
            Direction::Read
        };
        let sizes = &self.rules.spec.block_sizes[by];
        if sizes.min_bytes == sizes.max_bytes {
            return Some(sizes.min_bytes);
        }
        let fits = |length: u64| self.file.fits(place.offset, length);
        if !fits(sizes.min_bytes) {
            return None;
        }
        let is_unaligned = self.rules.spec.size_rules.is_unaligned;
        let generator = &mut self.draws.sizes[by];
        (0..MOST_DRAWS)
            .map(|_| {
                let length = if sizes.split.is_empty() {
                    sizes.min_bytes + to_u64(to_f64(sizes.max_bytes) * generator.share())
                } else {
                    split_length(sizes, generator, &fits)
                };
                let beyond = if is_unaligned { 0 } else { length % sizes.min_bytes };
                (length - beyond).min(sizes.max_bytes)
            })
            .find(|length| fits(*length))
    }

    /// Marks the blocks of a transfer as used, and shortens it to those that were free. With a map,
    /// offsets are aligned to the lowest size, so that the block is the one that was drawn.
    #[inline]
    fn claim(&mut self, direction: Direction, length: u64) -> u64 {
        let Coverage::Map(map) = &mut self.file.coverage else { return length };
        if *self.ignores_map {
            return length;
        }
        let unit = self.rules.spec.block_sizes[direction].min_bytes;
        if length == unit {
            map.claim(self.block, 1);
            return length;
        }
        let claimed = map.claim(self.block, length.div_ceil(unit));
        length.min(claimed.wrapping_mul(unit))
    }
}

/// The first size, from the least frequent on, whose share and those before it reach the drawn
/// number, and that fits; otherwise the last.
fn split_length(sizes: &BlockSizes, generator: &mut Generator, fits: &impl Fn(u64) -> bool) -> u64 {
    let number = generator.draw();
    let hundredth = generator.max() / 100;
    let mut reach = 0_u64;
    let mut length = 0;
    for share in sizes.split.iter().filter(|share| share.percent > 0) {
        length = share.bytes;
        reach = reach.wrapping_add(u64::from(share.percent));
        if number / reach <= hundredth && fits(length) {
            break;
        }
    }
    length
}
