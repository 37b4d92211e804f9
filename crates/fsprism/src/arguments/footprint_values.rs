//! Values of `fsprism footprint` as written on the command line: caches, streams, phases.

use caches::Purpose;
use caches::naive::Phase;
use caches::synthetic::{Pattern, Stream};
use caches::{CachePolicy, Inclusion};
use footprint_guest::{TracedCall, UnknownCall};

use crate::arguments::values::size;

/// A cache as `--cache` gives it: `l1d=32k,64,8,plru`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheArgument {
    pub(crate) name: String,
    pub(crate) size_bytes: u64,
    pub(crate) line_bytes: u32,
    pub(crate) ways: u32,
    pub(crate) policy: Option<CachePolicy>,
    pub(crate) inclusion: Option<Inclusion>,
}

/// Parses a cache: `NAME=SIZE,LINE,WAYS`, followed by any settings that are not the default.
pub(crate) fn cache(text: &str) -> Result<CacheArgument, String> {
    let wrong = || "write a cache as NAME=SIZE,LINE,WAYS: l1d=32k,64,8".to_owned();
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    if !is_level(name) {
        return Err(format!("`{name}` is not a cache level: give l1i, l1d, l1, l2, l3 and so on"));
    }
    let mut parts = rest.split(',');
    let mut next = || parts.next().ok_or_else(wrong);
    let size_bytes = size(next()?)?;
    let line_bytes = next()?.parse().map_err(|_| wrong())?;
    let ways = next()?.parse().map_err(|_| wrong())?;
    let (name, policy, inclusion) = (name.to_owned(), None, None);
    let mut given = CacheArgument { name, size_bytes, line_bytes, ways, policy, inclusion };
    for word in parts {
        let is_new = if let Ok(named) = policy_named(word) {
            given.policy.replace(named).is_none()
        } else if let Ok(named) = inclusion_named(word) {
            given.inclusion.replace(named).is_none()
        } else {
            let words = "lru, plru, random, inclusive or non-inclusive";
            return Err(format!("after the ways comes {words}, not `{word}`"));
        };
        if !is_new {
            return Err(format!("`{word}` repeats a setting: leave one of them out"));
        }
    }
    Ok(given)
}

fn is_level(name: &str) -> bool {
    let digit = name.strip_prefix('l').and_then(|digit| digit.parse::<u32>().ok());
    matches!(name, "l1i" | "l1d") || digit.is_some_and(|level| (1..=9).contains(&level))
}

/// Parses a policy's name. The seed of the random policy is filled in later.
pub(crate) fn policy(text: &str) -> Result<CachePolicy, String> {
    policy_named(text).map_err(|()| "the policy must be lru, plru or random".to_owned())
}

fn policy_named(text: &str) -> Result<CachePolicy, ()> {
    match text {
        "lru" => Ok(CachePolicy::Lru),
        "plru" => Ok(CachePolicy::TreePlru),
        "random" => Ok(CachePolicy::Random { seed: 0 }),
        _ => Err(()),
    }
}

/// Parses the name of a kind of inclusion.
pub(crate) fn inclusion(text: &str) -> Result<Inclusion, String> {
    inclusion_named(text).map_err(|()| "a level must be inclusive or non-inclusive".to_owned())
}

fn inclusion_named(text: &str) -> Result<Inclusion, ()> {
    match text {
        "inclusive" => Ok(Inclusion::Inclusive),
        "non-inclusive" => Ok(Inclusion::NonInclusive),
        _ => Err(()),
    }
}

/// Parses a phase of the naive model.
pub(crate) fn phase(text: &str) -> Result<Phase, String> {
    Phase::from_name(text).ok_or_else(|| "a phase must be write or read: write,read".to_owned())
}

/// Parses a stream: `sequential`, `loop:64k`, `random:1m:store`.
pub(crate) fn stream(text: &str) -> Result<Stream, String> {
    let wrong = || {
        "a stream must be sequential, loop:SIZE or random:SIZE, optionally with a kind".to_owned()
    };
    let mut parts = text.split(':');
    let word = parts.next().unwrap_or_default();
    let mut sized = || parts.next().ok_or_else(wrong).and_then(size);
    let pattern = match word {
        "sequential" => Pattern::Sequential,
        "loop" => Pattern::Loop(sized()?),
        "random" => Pattern::Random(sized()?),
        _ => return Err(wrong()),
    };
    let purpose = match parts.next() {
        None | Some("load") => Purpose::Load,
        Some("store") => Purpose::Store,
        Some("fetch") => Purpose::Fetch,
        Some(_) => return Err("the kind must be load, store or fetch: loop:64k:store".to_owned()),
    };
    if parts.next().is_some() {
        return Err(wrong());
    }
    Ok(Stream { pattern, purpose })
}

/// Parses the name of an operation to trace.
pub(crate) fn operation(text: &str) -> Result<TracedCall, String> {
    text.parse().map_err(|error: UnknownCall| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_read_with_what_follows_their_ways() {
        let given = cache("l2=1m,64,16,inclusive,plru").expect("a cache");
        assert_eq!((given.name.as_str(), given.size_bytes), ("l2", 1 << 20));
        assert_eq!((given.line_bytes, given.ways), (64, 16));
        assert_eq!(given.policy, Some(CachePolicy::TreePlru));
        assert_eq!(given.inclusion, Some(Inclusion::Inclusive));
        assert_eq!(cache("l1d=32k,64,8").expect("a cache").policy, None);
        for wrong in [
            "",
            "l1d",
            "l1d=32k",
            "l1d=32k,64",
            "l1d=0,64,8",
            "l1d=32k,x,8",
            "l0=32k,64,8",
            "l1x=32k,64,8",
            "l1d=32k,64,8,fifo",
            "l1d=32k,64,8,lru,plru",
            "l10=1m,64,8",
        ] {
            assert!(cache(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn streams_have_a_size_where_they_come_back() {
        let one = |pattern, purpose| Ok(Stream { pattern, purpose });
        assert_eq!(stream("sequential"), one(Pattern::Sequential, Purpose::Load));
        assert_eq!(stream("sequential:store"), one(Pattern::Sequential, Purpose::Store));
        assert_eq!(stream("loop:64k"), one(Pattern::Loop(64 << 10), Purpose::Load));
        assert_eq!(stream("random:1m:fetch"), one(Pattern::Random(1 << 20), Purpose::Fetch));
        for wrong in [
            "",
            "loop",
            "random",
            "loop:0",
            "loop:x",
            "loop:1k:write",
            "sequential:1k",
            "a:1k",
            "loop:1k:load:2",
        ] {
            assert!(stream(wrong).is_err(), "{wrong}");
        }
    }
}
