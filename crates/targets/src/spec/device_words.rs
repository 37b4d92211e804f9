//! Words of `mkfs=` and `mount=` that name another device or file than ours.

/// Whether a suboption of xfs' mkfs names a file: `name=`, possibly directly after one or several
/// option letters.
pub(crate) fn has_name(word: &str) -> bool {
    let mut keys = word.split(',').filter_map(|option| Some(option.split_once('=')?.0));
    keys.any(|key| key == "name" || key.starts_with('-') && key.ends_with("name"))
}

/// Whether an option, or one of several separated by commas, takes a device as its value, possibly
/// as `LABEL=` or `UUID=`.
pub(crate) fn names_a_device(word: &str) -> bool {
    const KEYS: [&str; 5] = ["device", "logdev", "rtdev", "journal_dev", "journal_path"];
    let mut options = word.split(',').filter_map(|option| option.split_once('='));
    // An option letter may directly precede it: -Jdevice=.
    options.any(|(key, _)| KEYS.iter().any(|known| key.trim_start().ends_with(known)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::spec::{Location, SpecError, TargetSpec};

    #[test]
    fn no_other_device_is_named() {
        for (text, word) in [
            ("btrfs:mkfs=-d raid0 /dev/sdb", "`/dev/sdb`"),
            ("xfs:mkfs=-l logdev=/dev/sdb1", "`logdev=/dev/sdb1`"),
            ("xfs:mkfs=-l size=64m,logdev=/dev/sdb1", "`size=64m,logdev=/dev/sdb1`"),
            ("ext4:mkfs=-J device=/dev/sdb1", "`device=/dev/sdb1`"),
            ("ext4:mkfs=-Jdevice=/dev/sdb1", "`-Jdevice=/dev/sdb1`"),
            ("ext4:mkfs=-J device=LABEL=journal", "`device=LABEL=journal`"),
            ("ext4:mkfs=-d ./tree", "`./tree`"),
            ("f2fs:mkfs=-c ../dev/sdb,device=/dev/sda", "`../dev/sdb`"),
            ("btrfs:mkfs=img", "`img`"),
            ("btrfs:mkfs=-d raid0 img", "`img`"),
            ("xfs:mkfs=-l name=img", "`name=img`"),
            ("xfs:mkfs=-d size=1g,file,name=img", "`size=1g,file,name=img`"),
            ("xfs:mkfs=-r name=img", "`name=img`"),
            ("xfs:mkfs=-fdname=img", "`-fdname=img`"),
            ("xfs:mount=logdev=/dev/sdb1", "`logdev=/dev/sdb1`"),
            ("xfs:mount=noatime,rtdev=/dev/sdb1", "`rtdev=/dev/sdb1`"),
            ("ext4:mount=journal_path=/dev/sdb1", "`journal_path=/dev/sdb1`"),
            ("ext4:mount=noatime,journal_dev=0x811", "`journal_dev=0x811`"),
            ("btrfs:mount=device=/dev/sdb", "`device=/dev/sdb`"),
        ] {
            let error = text.parse::<TargetSpec>().expect_err(text);
            assert!(matches!(error, SpecError::NamesADevice { .. }), "{text}: {error}");
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
        // Slashes that do not name devices, names that are not files, and our own key.
        assert!("vfat:mount=shortname=mixed".parse::<TargetSpec>().is_ok());
        assert!("btrfs:mount=subvol=/".parse::<TargetSpec>().is_ok());
        let own: TargetSpec = "ext4:mkfs=-J size=4,device=/dev/sdb".parse().expect("our own key");
        let Location::Scratch(own) = own.location else { panic!("it is a file system") };
        assert_eq!(own.device, Some(PathBuf::from("/dev/sdb")));
    }
}
