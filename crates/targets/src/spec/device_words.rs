//! Words of `mkfs=` and `mount=` that stand for another device or file than the one we give.

/// Whether a suboption of xfs' mkfs names a file: `name=`, which may stand right behind its letter,
/// or behind several.
pub(crate) fn has_name(word: &str) -> bool {
    let mut keys = word.split(',').filter_map(|option| Some(option.split_once('=')?.0));
    keys.any(|key| key == "name" || key.starts_with('-') && key.ends_with("name"))
}

/// Whether an option, or one of several behind commas, has a device for its value; `LABEL=` and
/// `UUID=` too may stand for one there.
pub(crate) fn names_a_device(word: &str) -> bool {
    const KEYS: [&str; 5] = ["device", "logdev", "rtdev", "journal_dev", "journal_path"];
    let mut options = word.split(',').filter_map(|option| option.split_once('='));
    // A letter may stand right before its value: -Jdevice=.
    options.any(|(key, _)| KEYS.iter().any(|known| key.trim_start().ends_with(known)))
}
