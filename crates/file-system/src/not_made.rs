//! File systems that people ask for but fsprism does not make, with the reason and an alternative.

/// The explanation for file systems that are not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotMade {
    names: &'static [&'static str],
    /// Why, as a clause.
    pub why: &'static str,
    /// What to do instead, as a clause that begins with a verb.
    pub instead: &'static str,
}

const MOUNT_ONE: &str = "mount one and give a directory on it";
const USE_VFAT: &str = "give vfat";
const ANOTHER: &str = "give a file system that can be written";

const fn mounted(names: &'static [&'static str], why: &'static str) -> NotMade {
    NotMade { names, why, instead: MOUNT_ONE }
}

const NOT_MADE: &[NotMade] = &[
    mounted(&["zfs"], "it is not part of Linux, and zpool makes it rather than a mkfs"),
    mounted(&["bcachefs"], "only Linux 6.7 to 6.17 have it"),
    mounted(&["reiserfs", "reiser4"], "Linux does not have it any more"),
    mounted(&["nilfs2", "nilfs"], "it needs a daemon, nilfs_cleanerd, which fsprism does not run"),
    mounted(
        &["ntfs", "ntfs3", "ntfs-3g", "jfs", "hfsplus", "hfs+", "apfs", "udf", "affs", "ubifs"],
        "it knows no mkfs for it",
    ),
    mounted(
        &["overlay", "overlayfs", "aufs", "unionfs", "ecryptfs"],
        "its files lie in directories of other file systems",
    ),
    mounted(
        &["fuse", "fuseblk", "sshfs", "s3fs", "glusterfs", "mergerfs"],
        "a program serves its files, not the kernel",
    ),
    mounted(
        &["nfs", "nfs3", "nfs4", "cifs", "smb", "smbfs", "smb3", "ceph", "cephfs", "lustre", "afs"],
        "a server holds its files",
    ),
    mounted(&["9p", "9pfs", "virtiofs"], "the host of a virtual machine holds its files"),
    NotMade {
        names: &["msdos", "fat", "fat12", "fat16", "fat32", "dos"],
        why: "Linux mounts that format as vfat",
        instead: USE_VFAT,
    },
    NotMade {
        names: &["squashfs", "erofs", "iso9660", "cramfs", "romfs"],
        why: "it is read-only, and fsprism writes what it measures",
        instead: ANOTHER,
    },
];

/// The explanation for the file system with this name, if it is known and not made.
#[must_use]
pub fn not_made(name: &str) -> Option<NotMade> {
    let kind = name.split_once('.').map_or(name, |(kind, _)| kind);
    NOT_MADE.iter().find(|one| one.names.contains(&kind)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileSystem;
    use crate::table::ROWS;

    #[test]
    fn each_known_file_system_is_made_or_told_why_not() {
        for row in &ROWS {
            let is_made = row.name.parse::<FileSystem>().is_ok();
            assert_ne!(is_made, not_made(row.name).is_some(), "{}", row.name);
        }
        assert_eq!(not_made("fuse.sshfs"), not_made("fuse"));
        assert_eq!(not_made("ext5"), None);
    }
}
