//! Sizes that a benchmark is run in, one or several.

use crate::arguments::values;

/// More make no better curve.
const MOST: usize = 64;

/// The sizes of a file, or of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// As they were given.
    Given(Vec<u64>),
    /// A quarter and four times each cache or memory.
    Around,
}

/// Sizes: `1m`, `128k,1m,64m`, `around-caches`.
pub(super) fn around_caches(text: &str) -> Result<Sizes, String> {
    sizes(text, "around-caches", "sprite-lfs")
}

/// Sizes: `1m`, `128k,1m,64m`, `around-memory`.
pub(super) fn around_memory(text: &str) -> Result<Sizes, String> {
    sizes(text, "around-memory", "bonnie")
}

fn sizes(text: &str, around: &str, suite: &str) -> Result<Sizes, String> {
    if text == around {
        return Ok(Sizes::Around);
    }
    let sizes: Result<Vec<u64>, String> = text.split(',').map(values::size).collect();
    match sizes {
        Ok(sizes) if sizes.len() <= MOST => Ok(Sizes::Given(sizes)),
        Ok(_) => Err(format!("there can be at most {MOST} sizes: give fewer")),
        Err(why) => Err(format!("{why} ({suite} also takes {around})")),
    }
}

#[cfg(test)]
mod tests {
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
}
