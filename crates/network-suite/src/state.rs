//! The states of a network file system's caches.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What holds the files' content when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkState {
    /// They are read on the server itself, whose memory holds them.
    Server,
    /// They are read over the network; there is no cache.
    None,
    /// They are read over the network; the cache is new and takes them in.
    Cold,
    /// The cache, which outlived a reboot of the client, holds them.
    Hot,
    /// The client's memory holds them.
    PageCache,
}

/// A state that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no state {0:?}: choose from server, none, cold, hot and pgcache")]
pub struct WrongState(String);

impl NetworkState {
    /// All of them, in the order of the paper.
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

    /// Whether it depends on what the cache lies on.
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
