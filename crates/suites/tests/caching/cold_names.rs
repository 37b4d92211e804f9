//! Names are cold after remounting, and so is what was made in order to be removed.

use crate::place::Place;

/// A replicate during which nothing comes from the device is refused: what is to be removed would
/// be in memory if it had been made after remounting.
pub(crate) fn of_every_change(place: &Place, file_system: &str) {
    let operations =
        ["stat-missing", "open", "create", "unlink", "rename", "link", "symlink", "mkdir", "rmdir"];
    let names = operations.map(|one| format!("{one}-cold-by-directory-size-1000"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let target = format!("{file_system}:size=512m");
    let Some(outcome) = place.measure_of("nano/metadata", &target, &names) else { return };
    assert_eq!(outcome.measured.len(), names.len());
    for (name, (_, measured)) in &outcome.measured {
        let read_bytes = measured.evidence.device_read_bytes;
        assert!(read_bytes.is_some_and(|bytes| bytes >= 512), "{name}: {read_bytes:?}");
    }
}
