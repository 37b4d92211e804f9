//! Detects replicates during which this process was stopped, by SIGSTOP or from the terminal: their
//! times include the pause, and their caches are as others left them.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use record::CacheEvidence;
use runner::Failure;
use signal_hook::consts::SIGCONT;

/// Set when this process continues after being stopped.
static HAS_CONTINUED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Starts to detect that this process was stopped.
///
/// # Errors
/// If a handler for SIGCONT cannot be installed.
pub fn notice_stops() -> io::Result<()> {
    signal_hook::flag::register(SIGCONT, Arc::clone(&HAS_CONTINUED)).map(drop)
}

/// Whether this process was stopped since the last call.
#[must_use]
pub fn was_stopped() -> bool {
    HAS_CONTINUED.swap(false, Ordering::SeqCst)
}

/// Executes a measurement, and refuses its result if this process was stopped meanwhile.
pub(crate) fn unstopped<T>(execute: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let _before = was_stopped();
    let measured = execute()?;
    if was_stopped() {
        let why = "fsprism was suspended (SIGSTOP or Ctrl-Z) during the measurement".to_owned();
        return Err(Failure::Disturbed { why, evidence: Box::new(CacheEvidence::default()) });
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_around_a_stop_is_refused() {
        notice_stops().expect("a handler is taken");
        assert_eq!(unstopped(|| Ok(7)), Ok(7));
        let stopped = unstopped(|| {
            signal_hook::low_level::raise(SIGCONT).expect("it is ours");
            Ok(7)
        });
        assert!(matches!(stopped, Err(Failure::Disturbed { .. })), "{stopped:?}");
        assert_eq!(unstopped(|| Ok(7)), Ok(7));
        assert_eq!(unstopped::<()>(|| Err(Failure::Interrupted)), Err(Failure::Interrupted));
    }
}
