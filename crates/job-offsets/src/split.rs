//! Lists in values: `bssplit=4k/10:64k/50:32k/40` and the zones of `random_distribution`, up to
//! three of them for reads, writes and trims, separated by commas.
//!
//! Sizes are read by a function of the caller, who knows what `k` is worth.

use crate::direction::PerDirection;
use crate::error::OffsetError;

/// A size of blocks, and how often it is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeShare {
    /// The size.
    pub bytes: u64,
    /// How often, in percent.
    pub percent: u32,
}

/// A zone of a file, and how often it is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// How often, in percent.
    pub access_percent: u8,
    /// How long it is: in percent of the file or in bytes.
    pub size: u64,
}

/// Reads a size such as `4k`.
pub type SizeReader<'a> = &'a dyn Fn(&str) -> Option<u64>;

const BSSPLIT: &str = "bssplit";
const ZONES: &str = "random_distribution";

const MOST_SIZES: usize = 64;
const MOST_ZONES: usize = 256;

/// What is missing takes part in sharing what others leave.
const MISSING: u32 = u32::MAX;

/// The sizes of `bssplit`, by direction, the least frequent first. Empty for those without.
///
/// # Errors
/// What is wrong with the value.
pub fn block_sizes(
    text: &str,
    size: SizeReader<'_>,
) -> Result<PerDirection<Vec<SizeShare>>, OffsetError> {
    by_direction(text, |list| {
        let entries = entries(list, BSSPLIT, MOST_SIZES)?;
        let shares = entries.into_iter().map(|(bytes, percent)| {
            let bytes = read_size(BSSPLIT, bytes, size)?;
            Ok(SizeShare { bytes, percent: percent.map_or(MISSING, percentage) })
        });
        let mut shares: Vec<SizeShare> = shares.collect::<Result<_, _>>()?;
        share_the_rest(&mut shares)?;
        shares.sort_by_key(|share| share.percent.cast_signed());
        Ok(shares)
    })
}

/// The zones of `zoned:` (what follows the colon), by direction. Empty for those without.
///
/// # Errors
/// What is wrong with the value.
pub fn zones(text: &str) -> Result<PerDirection<Vec<Zone>>, OffsetError> {
    by_direction(text, |list| {
        let entries = entries(list, ZONES, MOST_ZONES)?;
        let read = entries.into_iter().map(|(access, size)| {
            let size = size.map_or(MISSING, percentage);
            Ok(Zone { access_percent: read_access(access)?, size: u64::from(size) })
        });
        let mut zones: Vec<Zone> = read.collect::<Result<_, _>>()?;
        check_accesses(&zones)?;
        let given =
            || zones.iter().map(|zone| zone.size).filter(|size| *size != u64::from(MISSING));
        let sum: u64 = given().sum();
        let missing = (zones.len() - given().count()) as u64;
        let rest = 100_u64.checked_sub(sum);
        let rest = rest.ok_or(OffsetError::PercentagesDoNotAddUp { option: ZONES, sum })?;
        for zone in zones.iter_mut().filter(|zone| zone.size == u64::from(MISSING)) {
            zone.size = rest / missing;
        }
        Ok(zones)
    })
}

/// The zones of `zoned_abs:` (what follows the colon), by direction. Empty for those without.
///
/// # Errors
/// What is wrong with the value.
pub fn zones_in_bytes(
    text: &str,
    size: SizeReader<'_>,
) -> Result<PerDirection<Vec<Zone>>, OffsetError> {
    by_direction(text, |list| {
        let entries = entries(list, ZONES, MOST_ZONES)?;
        let read = entries.into_iter().map(|(access, bytes)| {
            let size = bytes.map_or(Ok(0), |bytes| read_size(ZONES, bytes, size))?;
            Ok(Zone { access_percent: read_access(access)?, size })
        });
        let zones: Vec<Zone> = read.collect::<Result<_, _>>()?;
        check_accesses(&zones)?;
        Ok(zones)
    })
}

/// One list is for all directions; of two, the second is for writes and trims.
fn by_direction<T>(
    text: &str,
    read: impl Fn(&str) -> Result<Vec<T>, OffsetError>,
) -> Result<PerDirection<Vec<T>>, OffsetError> {
    let mut lists = text.trim().splitn(3, ',');
    let reads = lists.next().unwrap_or_default();
    let writes = lists.next().unwrap_or(reads);
    let trims = lists.next().unwrap_or(writes);
    Ok(PerDirection::new(read(reads)?, read(writes)?, read(trims)?))
}

/// The entries of a list, up to an empty one: what is before the slash and what is after it.
fn entries<'a>(
    list: &'a str,
    option: &'static str,
    most: usize,
) -> Result<Vec<(&'a str, Option<&'a str>)>, OffsetError> {
    let entries = list.split(':').take_while(|entry| !entry.is_empty());
    let halves = entries.map(|entry| match entry.split_once('/') {
        Some((first, second)) => (first, Some(second)),
        None => (entry, None),
    });
    let all: Vec<_> = halves.collect();
    if all.len() > most { Err(OffsetError::TooManyEntries { option, most }) } else { Ok(all) }
}

fn read_size(option: &'static str, text: &str, size: SizeReader<'_>) -> Result<u64, OffsetError> {
    size(text).ok_or_else(|| OffsetError::NotASize { option, text: text.to_owned() })
}

/// A percentage that is 0 or no number counts as missing, and what is above 100 is 100.
fn percentage(text: &str) -> u32 {
    let text = text.trim_start();
    let digits = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    match text[..digits].parse::<u128>() {
        Ok(0) | Err(_) => MISSING,
        Ok(percent) => u32::try_from(percent.min(100)).expect("at most 100"),
    }
}

fn read_access(text: &str) -> Result<u8, OffsetError> {
    let out_of_range = || OffsetError::NotANumber { option: ZONES, text: text.to_owned() };
    text.trim().parse().ok().filter(|percent| *percent <= 100).ok_or_else(out_of_range)
}

fn check_accesses(zones: &[Zone]) -> Result<(), OffsetError> {
    let sum = zones.iter().map(|zone| u64::from(zone.access_percent)).sum();
    if zones.is_empty() || sum == 100 {
        return Ok(());
    }
    Err(OffsetError::PercentagesDoNotAddUp { option: ZONES, sum })
}

/// Sizes without a percentage share what the others leave. If one alone is left with less than
/// nothing, it comes first and is never chosen, as in fio.
fn share_the_rest(shares: &mut [SizeShare]) -> Result<(), OffsetError> {
    let given = || shares.iter().map(|share| share.percent).filter(|percent| *percent != MISSING);
    let sum: u32 = given().sum();
    let missing = shares.len() - given().count();
    if sum > 100 && missing > 1 {
        let sum = u64::from(sum);
        return Err(OffsetError::PercentagesDoNotAddUp { option: BSSPLIT, sum });
    }
    let Some(divisor) = u32::try_from(missing).ok().filter(|missing| *missing > 0) else {
        return Ok(());
    };
    let rest = 100_u32.wrapping_sub(sum) / divisor;
    for share in shares.iter_mut().filter(|share| share.percent == MISSING) {
        share.percent = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direction::Direction;

    fn size(text: &str) -> Option<u64> {
        match text.strip_suffix('k') {
            Some(kib) => Some(1024 * kib.parse::<u64>().ok()?),
            None => text.parse().ok(),
        }
    }

    fn sizes(text: &str) -> PerDirection<Vec<(u64, u32)>> {
        let all = block_sizes(text, &size).unwrap();
        PerDirection::from_fn(|direction| {
            all[direction].iter().map(|share| (share.bytes, share.percent)).collect()
        })
    }

    #[test]
    fn sizes_are_sorted_by_how_often_they_are_chosen() {
        let all = sizes("4k/10:64k/50:32k/40");
        assert_eq!(all[Direction::Read], [(4096, 10), (32_768, 40), (65_536, 50)]);
        assert_eq!(all[Direction::Trim], all[Direction::Read]);
    }

    #[test]
    fn missing_percentages_share_the_rest() {
        assert_eq!(sizes("1k/50:2k/:4k")[Direction::Read], [(2048, 25), (4096, 25), (1024, 50)]);
        assert_eq!(sizes("1k/50:2k/0")[Direction::Read], [(1024, 50), (2048, 50)]);
        assert_eq!(sizes("1k/250:2k/10%")[Direction::Read], [(2048, 10), (1024, 100)]);
        assert_eq!(sizes("1k/70:2k/70")[Direction::Read], [(1024, 70), (2048, 70)]);
    }

    #[test]
    fn lists_are_for_directions() {
        let all = sizes("1k,2k/30:4k/70");
        assert_eq!(all[Direction::Read], [(1024, 100)]);
        assert_eq!(all[Direction::Write], all[Direction::Trim]);
        let all = sizes("1k,,4k");
        assert_eq!(all[Direction::Write], []);
        assert_eq!(all[Direction::Trim], [(4096, 100)]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |text| block_sizes(text, &size).unwrap_err().to_string();
        assert_eq!(message("4x/10"), "bssplit: `4x` is not a size");
        assert_eq!(
            message("4k/60:8k/60:1k:2k"),
            "bssplit: the percentages add up to 120 instead of 100"
        );
        assert_eq!(message(&"1:".repeat(65)), "bssplit: more than 64 entries");
        let message = |text| zones(text).unwrap_err().to_string();
        assert_eq!(
            message("50/10:40/90"),
            "random_distribution: the percentages add up to 90 instead of 100"
        );
        assert_eq!(
            message("50/60:50/60"),
            "random_distribution: the percentages add up to 120 instead of 100"
        );
        assert_eq!(message("x/60"), "random_distribution: `x` is not a number");
    }

    #[test]
    fn zones_are_read() {
        let zone = |access_percent, size| Zone { access_percent, size };
        let all = zones("60/10:30/20:8/30:2/40").unwrap();
        let expected = [zone(60, 10), zone(30, 20), zone(8, 30), zone(2, 40)];
        assert_eq!(all[Direction::Write], expected);
        assert_eq!(zones("70/10:30").unwrap()[Direction::Read], [zone(70, 10), zone(30, 90)]);
        let all = zones_in_bytes("60/8k:40/16k,100/4k", &size).unwrap();
        assert_eq!(all[Direction::Read], [zone(60, 8192), zone(40, 16_384)]);
        assert_eq!(all[Direction::Trim], [zone(100, 4096)]);
    }
}
