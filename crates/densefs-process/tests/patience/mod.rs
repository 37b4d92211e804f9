//! Patience that ends: a test that waits for ever says so, instead of keeping all others waiting.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Far longer than any of them takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Does it, and ends this process, with all its threads, if it goes on for ever.
pub(crate) fn with_patience<T>(what: &str, act: impl FnOnce() -> T) -> T {
    let (end, ended) = channel::<()>();
    let what = what.to_owned();
    std::thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{what} goes on for ever");
            std::process::abort();
        }
    });
    let done = act();
    drop(end);
    done
}
