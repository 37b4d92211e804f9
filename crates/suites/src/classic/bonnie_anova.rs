//! Rondinelli's measurements for "File Systems Performance Analysis": Bonnie on a file five times
//! as large as memory, in the paper's own sizes.

/// The suite's name.
pub const SUITE: &str = "bonnie-anova";

/// The paper's file systems, each on 1 GB with 64 MB of memory, and those that Linux has today.
pub const TARGETS: [&str; 6] = [
    "ext2=ext2:size=1G,memory=64m",
    "FAT16=vfat:size=1G,mkfs=-F 16,memory=64m",
    "FAT32=vfat:size=1G,mkfs=-F 32,memory=64m",
    "ext4=ext4:size=1G,memory=64m",
    "xfs=xfs:size=1G,memory=64m",
    "btrfs=btrfs:size=1G,memory=64m",
];

/// The same for runs in a guest that count what they do. The guest keeps them in its memory, where
/// each takes up its full size, so all have the smallest size possible for XFS.
pub const COUNTED_TARGETS: [&str; 6] = [
    "ext2=ext2:size=320m",
    "FAT16=vfat:size=320m,mkfs=-F 16",
    "FAT32=vfat:size=320m,mkfs=-F 32",
    "ext4=ext4:size=320m",
    "xfs=xfs:size=320m",
    "btrfs=btrfs:size=320m",
];

#[cfg(test)]
mod tests {
    use targets::TargetSpec;

    use super::*;

    #[test]
    fn the_targets_can_be_meant_and_share_a_limit_of_memory() {
        let parse = |text: &str| text.parse::<TargetSpec>().expect("it can be meant");
        let all = TARGETS.map(parse);
        assert!(all.iter().all(|one| one.conditions.memory_bytes == Some(64 << 20)));
        let labels = all.map(|one| one.label);
        assert_eq!(labels[1], "FAT16");
        assert_eq!(COUNTED_TARGETS.map(parse).map(|one| one.label), labels);
    }
}
