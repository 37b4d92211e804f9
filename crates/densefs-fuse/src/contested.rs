//! Names whose files are replaced as fast as the kernel opens them.
//!
//! The kernel opens a file in two steps: it looks up the name, and then opens the inode that it has
//! found. If a library call has replaced the file in between, the content is gone. The kernel is
//! told so (`ESTALE`), and looks up the name once more; if that fails too, the program gets the
//! error. So for a while, what is found by this name keeps its content until the kernel forgets it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::entry::{EntryAt, KnownEntry};

/// How long a name is contested.
const LASTS: Duration = Duration::from_secs(5);
/// How many names are contested at a time.
const NAMES_MAX: usize = 4096;

/// All contested names.
#[derive(Debug, Default)]
pub(crate) struct Contested {
    /// When each was contested last.
    names: Mutex<HashMap<KnownEntry, Instant>>,
    /// Whether there are any. Usually there are none, and no lookup takes the lock.
    is_any: AtomicBool,
}

impl Contested {
    fn names(&self) -> MutexGuard<'_, HashMap<KnownEntry, Instant>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that what the kernel found by this name was gone when it came to open it.
    pub(crate) fn note(&self, entry: KnownEntry) {
        let mut names = self.names();
        if names.len() < NAMES_MAX || names.contains_key(&entry) {
            names.insert(entry, Instant::now());
            self.is_any.store(true, Ordering::Relaxed);
        }
    }

    /// Whether this name is contested.
    pub(crate) fn has(&self, at: EntryAt<'_>) -> bool {
        self.is_any.load(Ordering::Relaxed) && self.names().contains_key(&at.into())
    }

    /// Whether any name is still contested.
    pub(crate) fn goes_on(&self) -> bool {
        let mut names = self.names();
        names.retain(|_, since| since.elapsed() < LASTS);
        self.is_any.store(!names.is_empty(), Ordering::Relaxed);
        !names.is_empty()
    }
}
