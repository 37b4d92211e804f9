//! What follows from a job's options, worked out once.

use crate::direction::{Direction, PerDirection};
use crate::error::OffsetError;
use crate::spec::{Accesses, BlockSizes, Distribution, Order, Sequencer, Spec};
use crate::split::Zone;

/// Options and what follows from them.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) spec: Spec,
    pub(super) is_random: bool,
    /// Blocks are trimmed at random and written right after.
    pub(super) is_random_trim_write: bool,
    /// How many transfers share a random offset.
    pub(super) every: u32,
    pub(super) gap_bytes: i64,
    /// What random offsets are multiples of.
    pub(super) aligns: PerDirection<u64>,
    /// Random offsets are drawn until each block was used.
    pub(super) has_map: bool,
    /// The lowest block size of all directions.
    pub(super) min_bytes: u64,
    /// The highest.
    pub(super) max_bytes: u64,
    pub(super) files: usize,
    zones: PerDirection<Option<ZoneTable>>,
}

/// The zone for each of 100 percentiles of accesses.
type ZoneTable = Box<[ZoneSpan; 100]>;

/// Where a zone begins and where it ends, in percent of the file or in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ZoneSpan {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Rules {
    pub(super) fn new(spec: &Spec, files: usize) -> Result<Self, OffsetError> {
        let spec = spec.clone();
        if files == 0 {
            return Err(OffsetError::NoFiles);
        }
        let sizes = &spec.block_sizes;
        if sizes.iter().any(|one| one.min_bytes == 0 || one.min_bytes > one.max_bytes) {
            return Err(OffsetError::BlockSizes);
        }
        let (every, gap_bytes) = match spec.order {
            Order::Sequential { gap_bytes } => (1, gap_bytes),
            Order::Random { every } => (every, 0),
        };
        let is_random = spec.order.is_random();
        let align = |sizes: &BlockSizes| {
            let asked = sizes.align_bytes.filter(|bytes| is_random && *bytes > 0);
            asked.unwrap_or(sizes.min_bytes)
        };
        let aligns = PerDirection::from_fn(|direction| align(&sizes[direction]));
        let is_aligned =
            sizes.iter().zip(aligns.iter()).all(|(one, align)| one.min_bytes == *align);
        let zones = PerDirection::from_fn(|direction| match &spec.distribution {
            Distribution::Uniform | Distribution::Skewed(_) => None,
            Distribution::Zoned(zones) | Distribution::ZonedBytes(zones) => {
                table(&zones[direction])
            }
        });
        Ok(Self {
            is_random,
            is_random_trim_write: is_random && spec.accesses == Accesses::TrimWrite,
            every,
            gap_bytes,
            has_map: spec.has_map && is_random && is_aligned && spec.distribution.is_uniform(),
            min_bytes: sizes.iter().map(|one| one.min_bytes).min().unwrap_or(1),
            max_bytes: sizes.iter().map(|one| one.max_bytes).max().unwrap_or(1),
            aligns,
            files,
            zones,
            spec,
        })
    }

    /// Whether transfers in between repeat the random one before them.
    pub(super) fn repeats(&self) -> bool {
        self.spec.sequencer == Sequencer::Identical
    }

    /// Files whose random offsets run out start over.
    pub(super) fn starts_over(&self) -> bool {
        self.spec.limits.is_time_based || self.spec.file_service.is_skewed()
    }

    /// Files that are done count again from the next pass on.
    pub(super) fn recounts_files(&self) -> bool {
        let limits = &self.spec.limits;
        limits.is_time_based || limits.loops > 1 || self.spec.verification.has_phase
    }

    /// The zone of a percentile from 1 to 100.
    pub(super) fn zone(&self, direction: Direction, percentile: u8) -> Option<ZoneSpan> {
        self.zones[direction].as_ref().map(|table| table[usize::from(percentile) - 1])
    }
}

fn table(zones: &[Zone]) -> Option<ZoneTable> {
    let mut table = Box::new([ZoneSpan::default(); 100]);
    let (mut percentile, mut start) = (0, 0_u64);
    for zone in zones {
        let end = start.saturating_add(zone.size);
        let next = percentile + usize::from(zone.access_percent);
        table.get_mut(percentile..next)?.fill(ZoneSpan { start, end });
        (percentile, start) = (next, end);
    }
    (!zones.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_percentile_has_its_zone() {
        let zone = |access_percent, size| Zone { access_percent, size };
        let table = table(&[zone(60, 10), zone(0, 50), zone(40, 40)]).unwrap();
        assert_eq!(table[59], ZoneSpan { start: 0, end: 10 });
        assert_eq!(table[60], ZoneSpan { start: 60, end: 100 });
        assert_eq!(super::table(&[]), None);
    }
}
