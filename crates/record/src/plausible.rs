//! Whether the content of a run's files is plausible. Code after this check need not expect values
//! that no measurement gives: figures can be added up without overflow, and every name that is
//! referred to exists.

use std::ops::RangeInclusive;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::journal::Line;
use crate::manifest::Manifest;

/// Limit on every count, size or time in a line, whatever its unit: twenty terabytes, or five and a
/// half hours in nanoseconds. As many of these as a journal has lines can be added up.
const NUMBER_MAX: u64 = 20_000_000_000_000;
/// Limit on the sum of a replicate's times, in nanoseconds. For operations on a schedule, times
/// count from the intended start: while they are behind, each includes the wait for those before
/// it, so 1,500 operations that are two seconds late add up to three thousand seconds. The sums of
/// all blocks of a cell can be added up.
const SUM_MAX: u64 = 1_000_000_000_000_000;
/// Limit on the length of a run in seconds: thirty years.
const SECONDS_MAX: f64 = 1e9;
/// Limit on confidence levels: 99.99 % is the highest that can be requested.
const LEVEL_MAX: f64 = 0.999_999;
/// Maximum number of blocks in a run.
pub const BLOCKS_MAX: u32 = 10_000;
/// Maximum exponent of two for times in nanoseconds.
const EXPONENT_MAX: u8 = 63;
/// Maximum number of slices in a timeline.
const SLICES_MAX: usize = 64;

/// Checks that a manifest is plausible; returns why not.
pub(crate) fn manifest(manifest: &Manifest) -> Result<(), String> {
    let run = &manifest.run;
    seconds("budget_s", run.budget_s)?;
    between("confidence_level", run.confidence_level, 0.5..=LEVEL_MAX)?;
    at_most("data_file_bytes", run.data_file_bytes)
}

/// Checks that a line is plausible, given its text and the number of metrics of each cell; returns
/// why not.
pub(crate) fn line(line: &Line, text: &[u8], metrics: &[usize]) -> Result<(), String> {
    if let Some(&cell) = cells_of(line).iter().find(|&&cell| cell as usize >= metrics.len()) {
        return Err(format!("it names cell {cell}, which the run does not have"));
    }
    // A seed may be any number.
    if !matches!(line, Line::Search(_)) {
        let _moderate: Moderate =
            serde_json::from_slice(text).map_err(|error| error.to_string())?;
    }
    match line {
        Line::Start(start) => {
            seconds("used_s", start.used_s)?;
            start.budget_s.map_or(Ok(()), |budget_s| seconds("budget_s", budget_s))
        }
        Line::End(end) => seconds("used_s", end.used_s),
        Line::Block(block) => {
            block_number(block.block)?;
            seconds("at_s", block.at_s)?;
            seconds("making_s", block.making_s)
        }
        Line::Planned(planned) => {
            seconds("at_s", planned.at_s)?;
            seconds("pilot_s", planned.pilot_s)
        }
        Line::Discarded(discarded) => block_number(discarded.block),
        Line::Waited(waited) => {
            seconds("at_s", waited.at_s)?;
            seconds("waited_s", waited.waited_s)
        }
        Line::CellFailed(failed) => block_number(failed.block),
        Line::Search(search) => {
            between("level", search.level, 0.5..=LEVEL_MAX)?;
            between("low", search.low, 0.0..=NUMBER_MAX as f64)?;
            between("high", search.high, search.low..=NUMBER_MAX as f64)?;
            between("grain", search.grain, 0.0..=NUMBER_MAX as f64)
        }
        Line::CellAdded(added) if added.cell as usize != metrics.len() => {
            Err(format!("it adds a cell out of order; the next is cell {}", metrics.len()))
        }
        Line::CellAdded(_) => Ok(()),
        Line::Replicate(replicate) => {
            block_number(replicate.block)?;
            seconds("at_s", replicate.at_s)?;
            let wanted = metrics[replicate.cell as usize];
            if replicate.metrics.len() != wanted {
                let have = replicate.metrics.len();
                return Err(format!("it has {have} metrics, but its cell has {wanted}"));
            }
            if let Some(metric) = replicate.metrics.iter().find(|metric| **metric < 0.0) {
                return Err(format!("a metric is {metric:?}, but none can be below 0"));
            }
            let slices = replicate.timeline.as_ref().map_or(&[][..], |timeline| &timeline.slices);
            if slices.len() > SLICES_MAX {
                return Err(format!(
                    "its timeline has {} slices, but can have at most 64",
                    slices.len()
                ));
            }
            let slices = slices.iter().flatten();
            match slices.map(|&(exponent, _)| exponent).max() {
                Some(exponent) if exponent > EXPONENT_MAX => {
                    Err(format!("a latency of 2 to the {exponent} ns is impossible"))
                }
                _ => Ok(()),
            }
        }
    }
}

fn cells_of(line: &Line) -> Vec<u32> {
    match line {
        Line::Block(block) => block.cells.clone().unwrap_or_default(),
        Line::Planned(planned) => {
            let left_out = planned.left_out.iter().flat_map(|one| &one.cells).copied();
            planned.pilots.iter().map(|pilot| pilot.cell).chain(left_out).collect()
        }
        Line::Replicate(replicate) => vec![replicate.cell],
        Line::Discarded(discarded) => vec![discarded.cell],
        Line::CellFailed(failed) => vec![failed.cell],
        Line::Start(_) | Line::Search(_) | Line::CellAdded(_) | Line::Waited(_) | Line::End(_) => {
            Vec::new()
        }
    }
}

fn seconds(name: &str, value: f64) -> Result<(), String> {
    between(name, value, 0.0..=SECONDS_MAX)
}

fn between(name: &str, value: f64, range: RangeInclusive<f64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    let (min, max) = range.into_inner();
    Err(format!("{name} is {value:?}, but must be between {min} and {max:?}"))
}

fn at_most(name: &str, value: u64) -> Result<(), String> {
    if value <= NUMBER_MAX {
        return Ok(());
    }
    Err(format!("{name} is {value}, but can be at most {NUMBER_MAX}"))
}

fn block_number(block: u32) -> Result<(), String> {
    if block < BLOCKS_MAX {
        return Ok(());
    }
    Err(format!("no run has a block {block}"))
}

/// A text in which no number exceeds [`NUMBER_MAX`] in magnitude, and no sum of times exceeds
/// [`SUM_MAX`].
struct Moderate;

impl<'de> Deserialize<'de> for Moderate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl Moderate {
    fn check<E: Error>(magnitude: f64) -> Result<Self, E> {
        Self::within(magnitude, NUMBER_MAX)
    }

    fn within<E: Error>(magnitude: f64, most: u64) -> Result<Self, E> {
        if magnitude <= most as f64 {
            return Ok(Self);
        }
        Err(E::custom(format_args!(
            "the number {magnitude:e} is larger than anything that can be measured"
        )))
    }
}

impl<'de> Visitor<'de> for Moderate {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a line of a journal")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self, E> {
        Self::check(value.unsigned_abs() as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self, E> {
        Self::check(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self, E> {
        Self::check(value.abs())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(Self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while let Some(name) = entries.next_key::<String>()? {
            if name == "busy_ns" {
                let sum: u64 = entries.next_value()?;
                Self::within(sum as f64, SUM_MAX)?;
            } else {
                entries.next_value::<Self>()?;
            }
        }
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Block, Start};

    fn refused(line: &Line) -> String {
        let text = serde_json::to_vec(line).expect("it is an object");
        super::line(line, &text, &[1]).expect_err("it cannot be")
    }

    #[test]
    fn moments_are_within_a_run() {
        for used_s in [-1.0, 1e10, 1e300] {
            let why = refused(&Line::Start(Start { used_s, budget_s: None }));
            assert!(why.contains("used_s") || why.contains("larger than"), "{why}");
        }
    }

    #[test]
    fn blocks_and_cells_are_those_of_a_run() {
        let of = |block, cell| Block { block, at_s: 0.0, making_s: 0.0, cells: Some(vec![cell]) };
        assert!(refused(&Line::Block(of(10_000, 0))).contains("block 10000"));
        assert!(refused(&Line::Block(of(0, 1))).contains("cell 1, which"));
        let fine = Line::Block(of(3, 0));
        let text = serde_json::to_vec(&fine).expect("it is an object");
        assert_eq!(super::line(&fine, &text, &[1]), Ok(()));
    }

    #[test]
    fn no_number_of_a_line_is_beyond_what_sums_hold() {
        let of = |text: &str| serde_json::from_str::<Moderate>(text).is_ok();
        assert!(of("{\"a\":[1,-2,3.5,null,true,\"x\"],\"b\":{\"c\":1e12}}"));
        assert!(of("{\"busy_ns\":27674692274290}") && !of("{\"elapsed_ns\":27674692274290}"));
        assert!(!of("{\"busy_ns\":1000000000000001}"));
        assert!(!of("{\"a\":[[1e14]]}") && !of("[18446744073709551615]") && !of("[-1e300]"));
    }
}
