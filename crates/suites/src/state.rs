//! Making the cache state that a cell asks for, and proving that it was there.

use std::io;
use std::path::{Path, PathBuf};

use machine::target::cache_state::{self, Residency};
use record::{CacheEvidence, CacheState};

use crate::counters::Happened;

/// Brings the touched files into `state` and counts what is resident then.
///
/// The caller has synced the target, so that nothing of an earlier phase is still to be written.
/// Directories have no pages that could be counted: what is asked of them is proved by the
/// device's counters alone.
pub(crate) fn make(
    state: CacheState,
    root: &Path,
    files: &[PathBuf],
) -> io::Result<Option<Residency>> {
    if files.is_empty() {
        return Ok(None);
    }
    match state {
        CacheState::Cold => cache_state::evict_all(root, files).map(Some),
        CacheState::Warm => {
            let found = cache_state::residency_of(files)?;
            if found.is_full() {
                Ok(Some(found))
            } else {
                cache_state::read_in_all(files).map(Some)
            }
        }
        CacheState::Any => Ok(None),
    }
}

/// The evidence of one replicate.
pub(crate) fn evidence(
    before: Option<Residency>,
    after: Option<Residency>,
    happened: &Happened,
) -> CacheEvidence {
    CacheEvidence {
        pages: before.map(|before| before.total_pages),
        resident_before: before.map(|before| before.resident_pages),
        resident_after: after.map(|after| after.resident_pages),
        dirty_before: before.and_then(|before| before.dirty_pages),
        device_read_bytes: happened.device_read_bytes,
        device_written_bytes: happened.device_written_bytes,
    }
}

/// Whether the evidence proves the state; otherwise what was found instead.
pub(crate) fn verify(state: CacheState, evidence: &CacheEvidence) -> Result<(), String> {
    let pages = evidence.pages.unwrap_or(0);
    match state {
        CacheState::Cold => match evidence.resident_before {
            Some(resident) if resident > 0 => {
                Err(format!("{resident} of {pages} pages were resident before a cold replicate"))
            }
            _ => Ok(()),
        },
        CacheState::Warm => {
            let least = [evidence.resident_before, evidence.resident_after].into_iter().flatten();
            if let Some(resident) = least.min().filter(|&resident| resident < pages) {
                return Err(format!(
                    "only {resident} of {pages} pages were resident in a warm replicate: the file \
                     does not stay in memory (a smaller --size may)"
                ));
            }
            match evidence.device_read_bytes {
                Some(bytes) if bytes > 0 => {
                    Err(format!("{bytes} bytes were read from the device in a warm replicate"))
                }
                _ => Ok(()),
            }
        }
        CacheState::Any => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warm(before: u64, after: u64, device_read_bytes: u64) -> CacheEvidence {
        CacheEvidence {
            pages: Some(100),
            resident_before: Some(before),
            resident_after: Some(after),
            device_read_bytes: Some(device_read_bytes),
            ..CacheEvidence::default()
        }
    }

    #[test]
    fn warm_means_all_pages_before_and_after_and_no_device_read() {
        assert_eq!(verify(CacheState::Warm, &warm(100, 100, 0)), Ok(()));
        assert!(verify(CacheState::Warm, &warm(99, 100, 0)).is_err());
        assert!(verify(CacheState::Warm, &warm(100, 99, 0)).is_err());
        assert!(verify(CacheState::Warm, &warm(100, 100, 512)).is_err());
    }

    #[test]
    fn cold_means_no_page_before() {
        assert_eq!(verify(CacheState::Cold, &warm(0, 50, 4096)), Ok(()));
        assert!(verify(CacheState::Cold, &warm(1, 50, 4096)).is_err());
    }

    #[test]
    fn metadata_is_warm_when_the_device_is_not_read() {
        let evidence = |device_read_bytes| CacheEvidence {
            device_read_bytes: Some(device_read_bytes),
            ..CacheEvidence::default()
        };
        assert_eq!(verify(CacheState::Warm, &evidence(0)), Ok(()));
        assert!(verify(CacheState::Warm, &evidence(4096)).is_err());
        assert_eq!(verify(CacheState::Any, &evidence(4096)), Ok(()));
    }
}
