//! The states of a network file system's caches.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where the files' content is when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkState {
    /// In the memory of the server, which reads them itself.
    Server,
    /// On the server: they are read over the network, without a cache.
    None,
    /// On the server: they are read over the network, into a new cache.
    Cold,
    /// In the cache, which has survived a reboot of the client.
    Hot,
    /// In the client's memory.
    PageCache,
}

/// There is no such state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no state {0:?}: choose from server, none, cold, hot and pgcache")]
pub struct WrongState(String);

impl NetworkState {
    /// All states, in the order of the paper.
    pub const ALL: [Self; 5] = [Self::Server, Self::None, Self::Cold, Self::Hot, Self::PageCache];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::None => "none",
            Self::Cold => "cold",
            Self::Hot => "hot",
            Self::PageCache => "pgcache",
        }
    }

    /// Whether it depends on the file system that the cache is on.
    #[must_use]
    pub fn has_cache(self) -> bool {
        match self {
            Self::Server | Self::None => false,
            Self::Cold | Self::Hot | Self::PageCache => true,
        }
    }
}

impl FromStr for NetworkState {
    type Err = WrongState;

    fn from_str(text: &str) -> Result<Self, WrongState> {
        let found = Self::ALL.into_iter().find(|state| state.name() == text);
        found.ok_or_else(|| WrongState(text.to_owned()))
    }
}

impl fmt::Display for NetworkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
