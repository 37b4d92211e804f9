//! A limit on waiting: a test that hangs fails, instead of blocking all others.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Far longer than any test takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Runs `act`, and ends this process with all its threads if that takes too long.
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
