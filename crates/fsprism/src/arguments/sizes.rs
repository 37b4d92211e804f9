//! The size, or sizes, that a benchmark is run in.

use ::targets::TargetSpec;
use machine::describe::describe;
use record::machine::Machine;

use crate::arguments::values;

/// Most sizes in a list; more would not make a better curve.
const SIZES_MAX: usize = 64;

/// The sizes of a file, or of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// These sizes.
    Given(Vec<u64>),
    /// A quarter and four times each cache or memory.
    Around,
}

/// The sizes that were given, one or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SizeList(pub(crate) Vec<u64>);

/// Parses sizes: `1m`, `128k,1m,64m`.
pub(super) fn list(text: &str) -> Result<SizeList, String> {
    let sizes: Vec<u64> = text.split(',').map(values::size).collect::<Result<_, _>>()?;
    match sizes.len() <= SIZES_MAX {
        true => Ok(SizeList(sizes)),
        false => Err(format!("there can be at most {SIZES_MAX} sizes: give fewer")),
    }
}

/// Parses sizes, or the first and the last of some that double: `4k`, `4k,32k`, `4k..64k`.
pub(super) fn doubling(text: &str) -> Result<SizeList, String> {
    let Some((first, last)) = text.split_once("..") else { return list(text) };
    let (first, last) = (values::size(first)?, values::size(last)?);
    if first > last {
        return Err(format!("{text} ends before it begins: give the smaller size first"));
    }
    let next = |size: &u64| size.checked_mul(2).filter(|&next| next <= last);
    Ok(SizeList(std::iter::successors(Some(first), next).collect()))
}

/// Parses sizes: `1m`, `128k,1m,64m`, `around-caches`.
pub(super) fn around_caches(text: &str) -> Result<Sizes, String> {
    sizes(text, "around-caches")
}

/// Parses sizes: `1m`, `128k,1m,64m`, `around-memory`.
pub(super) fn around_memory(text: &str) -> Result<Sizes, String> {
    sizes(text, "around-memory")
}

fn sizes(text: &str, around: &str) -> Result<Sizes, String> {
    if text == around {
        return Ok(Sizes::Around);
    }
    match list(text) {
        Ok(SizeList(sizes)) => Ok(Sizes::Given(sizes)),
        Err(why) => Err(format!("{why} ({around} is accepted as well)")),
    }
}

/// The memory, in bytes, that can cache each of the given targets: the smallest of the target's own
/// limit, the control group's limit and the machine's memory. Text that does not parse as a target
/// is left out here, and refused where targets are made.
pub(super) fn memories(targets: &[String]) -> Vec<u64> {
    memories_on(&describe(), targets)
}

fn memories_on(machine: &Machine, targets: &[String]) -> Vec<u64> {
    let parsed = targets.iter().filter_map(|text| text.parse::<TargetSpec>().ok());
    let mut limits: Vec<Option<u64>> = parsed.map(|spec| spec.conditions.memory_bytes).collect();
    if limits.is_empty() {
        limits.push(None);
    }
    let memory_of = |limit| record::memory_of(machine, limit).map(|(_, bytes)| bytes);
    limits.into_iter().filter_map(memory_of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use record::machine::{Cgroup, CgroupVersion};

    use super::*;

    #[test]
    fn sizes_are_one_or_several_or_those_around_something() {
        assert_eq!(around_caches("1m"), Ok(Sizes::Given(vec![1 << 20])));
        assert_eq!(around_memory("4k,1m"), Ok(Sizes::Given(vec![4096, 1 << 20])));
        assert_eq!(around_caches("around-caches"), Ok(Sizes::Around));
        assert_eq!(around_memory("around-memory"), Ok(Sizes::Around));
        for wrong in ["", "4k,", "0", "around", "around-caches", "4k 8k", &["4k"; 65].join(",")] {
            assert!(around_memory(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_target_is_cached_by_the_least_of_what_limits_its_memory() {
        const MIB: u64 = 1 << 20;
        let mut machine = Machine::default();
        machine.memory.total_bytes = Some(1024 * MIB);
        let memories = |machine: &Machine, texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            memories_on(machine, &texts)
        };
        assert_eq!(memories(&machine, &[]), [1024 * MIB]);
        let limited = ["ext4:memory=64m", "xfs", "no target:"];
        assert_eq!(memories(&machine, &limited), [64 * MIB, 1024 * MIB]);
        machine.cgroup = Some(Cgroup {
            version: CgroupVersion::V2,
            paths: BTreeMap::new(),
            memory_limit_bytes: Some(32 * MIB),
            memory_high_bytes: None,
            cpu_quota_cores: None,
            cpuset: None,
            io_limits: Vec::new(),
        });
        assert_eq!(memories(&machine, &limited), [32 * MIB; 2]);
    }
}
