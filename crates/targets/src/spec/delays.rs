//! The options of a device that is slow at every request: which delays and caches it can have.

use std::ops::RangeInclusive;

use crate::spec::SpecError;
use crate::spec::option_key::OptionKey;
use crate::spec::options::TargetOptions;
use crate::spec::times::{parse_time_ns, time_text};

/// The delays that a device can have. A shorter one would be lost in what the request itself takes;
/// with a longer one, mkfs alone would take minutes.
const DELAYS_NS: RangeInclusive<u64> = 100_000..=1_000_000_000;

/// The largest cache that a slow device can have: the list of its blocks takes about 300 MB.
const DELAY_CACHE_MAX: u64 = 16 << 30;

impl TargetOptions {
    pub(super) fn delay_ns(&self) -> Result<Option<u64>, SpecError> {
        let Some(text) = self.value(OptionKey::Delay) else { return Ok(None) };
        let (key, value) = (OptionKey::Delay.name(), text.to_owned());
        match parse_time_ns(text) {
            None => Err(SpecError::BadTime { key, value }),
            Some(ns) if DELAYS_NS.contains(&ns) => Ok(Some(ns)),
            Some(_) => Err(SpecError::BadDelay {
                key,
                value,
                least: time_text(*DELAYS_NS.start()),
                most: time_text(*DELAYS_NS.end()),
            }),
        }
    }

    pub(super) fn delay_cache_bytes(&self) -> Result<Option<u64>, SpecError> {
        let key = OptionKey::DelayCache;
        match self.number(key)? {
            Some(bytes) if bytes > DELAY_CACHE_MAX => Err(SpecError::LargeCache {
                key: key.name(),
                value: self.value(key).unwrap_or_default().to_owned(),
                most: "16g",
            }),
            bytes => Ok(bytes),
        }
    }
}
