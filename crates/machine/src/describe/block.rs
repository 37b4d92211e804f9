//! Block devices, and which of them a path is stored on.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use file_system::{FileSystem, Storage};
use record::machine::{BlockDevice, DeviceNumber, LoopBacking, WriteCache};

use super::error::DescribeError;
use super::mounts::{MountEntry, entry_of};
use super::parse::{chosen, flag};
use super::sources::{Reader, Sources};

/// How deep a stack of devices is followed. Nobody stacks more, and a loop device can be made to
/// sit on top of itself.
const DEPTH_MAX: u32 = 8;

/// The unit of `size`, whatever the device's own blocks are.
const SECTOR_BYTES: u64 = 512;

/// The block device with this number.
pub(crate) fn block_device(
    sources: &Sources,
    number: DeviceNumber,
) -> Result<BlockDevice, DescribeError> {
    device_at_depth(sources, number, DEPTH_MAX)
}

/// The block device that holds `path`, or that `path` names if it is a device's own file; `None`
/// if there is none, as on tmpfs or a network file system.
pub(crate) fn device_below(
    sources: &Sources,
    path: &Path,
) -> Result<Option<BlockDevice>, DescribeError> {
    below_at_depth(sources, path, DEPTH_MAX)
}

fn below_at_depth(
    sources: &Sources,
    path: &Path,
    depth: u32,
) -> Result<Option<BlockDevice>, DescribeError> {
    // On this machine only the kernel knows where a relative path starts.
    let real = if sources.is_this_machine() { path.to_owned() } else { sources.path(path) };
    let metadata = fs::metadata(real)
        .map_err(|source| DescribeError::Read { path: path.to_owned(), source })?;
    let names_device = metadata.file_type().is_block_device();
    let number = number_of(if names_device { metadata.rdev() } else { metadata.dev() });
    if sources.is_this_machine() && (names_device || number.major != 0) {
        return device_at_depth(sources, number, depth).map(Some);
    }
    // Major 0 is an anonymous number: the file system has no device or, like btrfs and overlay,
    // does not report it this way.
    device_of_mount(sources, &entry_of(sources, path)?, depth)
}

/// Whether its files are stored on another file system, as those of an overlay are.
fn is_on_another(name: &str) -> bool {
    FileSystem::named(name).is_some_and(|known| known.storage == Storage::FileSystem)
}

fn device_of_mount(
    sources: &Sources,
    mount: &MountEntry,
    depth: u32,
) -> Result<Option<BlockDevice>, DescribeError> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
    if is_on_another(&mount.file_system) {
        // Writes go to the upper directory. Inside a container it may not be visible, and a
        // relative path is relative to wherever the mount command was run.
        let upper = mount.super_option("upperdir").map(Path::new);
        let is_there = |upper: &&Path| upper.is_absolute() && sources.path(upper).exists();
        return match upper.filter(is_there) {
            Some(upper) => below_at_depth(sources, upper, depth),
            None => Ok(None),
        };
    }
    match source_number(sources, &mount.source) {
        Some(number) => device_at_depth(sources, number, depth).map(Some),
        None => Ok(None),
    }
}

/// The number of the device that a mount's source names.
fn source_number(sources: &Sources, source: &Path) -> Option<DeviceNumber> {
    if !source.is_absolute() {
        return None;
    }
    let path = sources.path(source).canonicalize().ok()?;
    let metadata = fs::metadata(&path).ok()?;
    if metadata.file_type().is_block_device() {
        return Some(number_of(metadata.rdev()));
    }
    // In a copied tree the device node is an ordinary file, so only its name is meaningful.
    let name = path.file_name().filter(|_| !sources.is_this_machine())?;
    let text = sources.read(Path::new("/sys/class/block").join(name).join("dev")).ok()?;
    parse_number(text.trim())
}

fn device_at_depth(
    sources: &Sources,
    number: DeviceNumber,
    depth: u32,
) -> Result<BlockDevice, DescribeError> {
    let link = format!("/sys/dev/block/{number}");
    // The link points to the device's own directory; that of a partition is inside its disk's.
    let Ok(real) = sources.path(&link).canonicalize() else {
        return Err(DescribeError::NoSuchDevice { device: number });
    };
    let is_partition = real.join("partition").exists();
    let disk = if is_partition { format!("{link}/..") } else { link.clone() };
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let reader = Reader::new(sources);
    Ok(BlockDevice {
        // sysfs writes `!` for `/` in device names.
        name: name.replace('!', "/"),
        size_bytes: reader
            .value::<u64>(format!("{link}/size"))
            .and_then(|sectors| sectors.checked_mul(SECTOR_BYTES)),
        backing: loop_backing(&reader, &link, depth).map(Box::new),
        slaves: slaves(&reader, &link, depth),
        ..disk_facts(&reader, &disk, number)
    })
}

/// What a partition shares with its disk.
fn disk_facts(reader: &Reader<'_>, disk: &str, number: DeviceNumber) -> BlockDevice {
    let queue = |name: &str| format!("{disk}/queue/{name}");
    BlockDevice {
        major_minor: number,
        model: reader.text(format!("{disk}/device/model")),
        rotational: reader.parsed(queue("rotational"), flag),
        scheduler: reader.parsed(queue("scheduler"), chosen),
        read_ahead_bytes: reader
            .value::<u64>(queue("read_ahead_kb"))
            .and_then(|kib| kib.checked_mul(1024)),
        write_cache: reader.parsed(queue("write_cache"), |text| match text {
            "write back" => Some(WriteCache::WriteBack),
            "write through" => Some(WriteCache::WriteThrough),
            _ => None,
        }),
        logical_block_bytes: reader.value(queue("logical_block_size")),
        physical_block_bytes: reader.value(queue("physical_block_size")),
        discard: reader.value::<u64>(queue("discard_max_bytes")).map(|bytes| bytes > 0),
        ..BlockDevice::default()
    }
}

/// What backs a loop device; `None` for any other device, and for one with nothing attached.
fn loop_backing(reader: &Reader<'_>, device: &str, depth: u32) -> Option<LoopBacking> {
    let file = reader.text(format!("{device}/loop/backing_file"))?;
    let below = depth.checked_sub(1).and_then(|depth| below_image(reader, device, &file, depth));
    Some(LoopBacking {
        direct_io: reader.parsed(format!("{device}/loop/dio"), flag),
        device: below,
        file,
    })
}

/// The device that holds the image `file` of a loop device.
fn below_image(reader: &Reader<'_>, device: &str, file: &str, depth: u32) -> Option<BlockDevice> {
    let sources = reader.sources();
    // The name is from the mount namespace in which the image was attached. Here it may not resolve
    // or, if a later mount hides the image, may resolve to another file.
    match image_of(reader, device) {
        Some(image) if number_of_file(Path::new(file)) != Some(image) => {
            device_at_depth(sources, number_of(image.0), depth).ok()
        }
        _ => below_at_depth(sources, Path::new(file), depth).ok().flatten(),
    }
}

/// Device and inode of a loop device's image, from the kernel; needs permission to open the loop
/// device.
fn image_of(reader: &Reader<'_>, device: &str) -> Option<(u64, u64)> {
    if !reader.sources().is_this_machine() {
        return None;
    }
    let name = fs::canonicalize(device).ok()?.file_name()?.to_owned();
    let opened = fs::File::open(Path::new("/dev").join(name)).ok()?;
    system_calls::loop_image(&opened).ok()
}

fn number_of_file(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

fn slaves(reader: &Reader<'_>, device: &str, depth: u32) -> Vec<BlockDevice> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let slave = |name: String| {
        let number = reader.parsed(format!("{device}/slaves/{name}/dev"), parse_number)?;
        device_at_depth(reader.sources(), number, depth).ok()
    };
    reader.names(format!("{device}/slaves")).into_iter().filter_map(slave).collect()
}

/// A number such as `254:0`.
pub(crate) fn parse_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(':')?;
    Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

fn number_of(device: u64) -> DeviceNumber {
    DeviceNumber { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    /// A SATA disk with two partitions, a volume on the second, and a loop device on the volume.
    fn stacked() -> Fixture {
        let machine = Fixture::new(&[
            ("sys/devices/ata1/block/sda/dev", "8:0\n"),
            ("sys/devices/ata1/block/sda/size", "2000\n"),
            ("sys/devices/ata1/block/sda/device/model", "ST4000NM0035    \n"),
            ("sys/devices/ata1/block/sda/queue/rotational", "1\n"),
            ("sys/devices/ata1/block/sda/queue/scheduler", "none [mq-deadline] bfq\n"),
            ("sys/devices/ata1/block/sda/queue/read_ahead_kb", "128\n"),
            ("sys/devices/ata1/block/sda/queue/write_cache", "write back\n"),
            ("sys/devices/ata1/block/sda/queue/logical_block_size", "512\n"),
            ("sys/devices/ata1/block/sda/queue/physical_block_size", "4096\n"),
            ("sys/devices/ata1/block/sda/queue/discard_max_bytes", "0\n"),
            ("sys/devices/ata1/block/sda/sda2/partition", "2\n"),
            ("sys/devices/ata1/block/sda/sda2/dev", "8:2\n"),
            ("sys/devices/ata1/block/sda/sda2/size", "1000\n"),
            ("sys/devices/virtual/block/dm-0/dev", "253:0\n"),
            ("sys/devices/virtual/block/dm-0/queue/write_cache", "write through\n"),
            ("sys/devices/virtual/block/loop0/loop/backing_file", "/srv/my image\n"),
            ("sys/devices/virtual/block/loop0/loop/dio", "1\n"),
            ("srv/my image", ""),
            ("dev/dm-0", ""),
            ("proc/self/mountinfo", "1 0 0:9 / /srv rw - btrfs /dev/mapper/vg-srv rw\n"),
        ]);
        machine.link("dev/mapper/vg-srv", "../dm-0");
        machine.link("sys/dev/block/8:0", "../../devices/ata1/block/sda");
        machine.link("sys/dev/block/8:2", "../../devices/ata1/block/sda/sda2");
        machine.link("sys/dev/block/253:0", "../../devices/virtual/block/dm-0");
        machine.link("sys/dev/block/7:0", "../../devices/virtual/block/loop0");
        machine.link("sys/class/block/dm-0", "../../devices/virtual/block/dm-0");
        let sda2 = "../../../../ata1/block/sda/sda2";
        machine.link("sys/devices/virtual/block/dm-0/slaves/sda2", sda2);
        machine
    }

    fn number(major: u32, minor: u32) -> DeviceNumber {
        DeviceNumber { major, minor }
    }

    #[test]
    fn a_partition_has_its_own_size_and_its_disks_queue() {
        let machine = stacked();
        let partition = block_device(&machine.sources(), number(8, 2)).unwrap();
        let expected = BlockDevice {
            name: "sda2".to_owned(),
            major_minor: number(8, 2),
            size_bytes: Some(512_000),
            model: Some("ST4000NM0035".to_owned()),
            rotational: Some(true),
            scheduler: Some("mq-deadline".to_owned()),
            read_ahead_bytes: Some(131_072),
            write_cache: Some(WriteCache::WriteBack),
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            discard: Some(false),
            backing: None,
            slaves: vec![],
        };
        assert_eq!(partition, expected);
        let disk = block_device(&machine.sources(), number(8, 0)).unwrap();
        assert_eq!((disk.name.as_str(), disk.size_bytes), ("sda", Some(1_024_000)));
    }

    #[test]
    fn a_loop_device_is_followed_through_volume_and_partition() {
        let machine = stacked();
        let loop0 = block_device(&machine.sources(), number(7, 0)).unwrap();
        let backing = loop0.backing.expect("a file is attached");
        assert_eq!((backing.file.as_str(), backing.direct_io), ("/srv/my image", Some(true)));
        let volume = backing.device.expect("btrfs names its device in mountinfo");
        assert_eq!(
            (volume.name.as_str(), volume.write_cache),
            ("dm-0", Some(WriteCache::WriteThrough))
        );
        assert_eq!(volume.slaves[0].name, "sda2");
    }

    #[test]
    fn an_overlay_leads_to_its_upper_directory_and_memory_to_nothing() {
        let machine = stacked();
        machine.add(&[("merged/x", ""), ("shm/x", ""), ("srv/upper/x", "")]);
        machine.add(&[(
            "proc/self/mountinfo",
            "1 0 0:9 / /srv rw - btrfs /dev/mapper/vg-srv rw\n\
             2 0 0:8 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/srv/upper\n\
             3 0 0:7 / /shm rw - tmpfs tmpfs rw\n\
             4 0 0:7 / /gone rw - overlay overlay rw,upperdir=/not/here\n",
        )]);
        machine.add(&[("gone/x", "")]);
        let below = |path: &str| device_below(&machine.sources(), Path::new(path)).unwrap();
        assert_eq!(below("/merged/x").map(|device| device.name).as_deref(), Some("dm-0"));
        assert_eq!(below("/shm/x"), None);
        assert_eq!(below("/gone/x"), None);
    }

    #[test]
    fn a_device_that_lies_on_itself_ends() {
        let machine = stacked();
        let own = "../../../../virtual/block/dm-0";
        machine.link("sys/devices/virtual/block/dm-0/slaves/dm-0", own);
        let mut device = block_device(&machine.sources(), number(253, 0)).unwrap();
        let mut depth = 0;
        while let Some(below) = device.slaves.into_iter().next() {
            (device, depth) = (below, depth + 1);
        }
        assert_eq!(depth, DEPTH_MAX);
    }

    #[test]
    fn a_missing_device_is_an_error_and_malformed_facts_are_none() {
        let machine = stacked();
        let error = block_device(&machine.sources(), number(9, 9)).unwrap_err();
        assert!(error.to_string().contains("9:9"), "{error}");
        machine.add(&[
            ("sys/devices/ata1/block/sda/size", "99999999999999999999\n"),
            ("sys/devices/ata1/block/sda/queue/rotational", "perhaps\n"),
            ("sys/devices/ata1/block/sda/queue/read_ahead_kb", "18446744073709551615\n"),
            ("sys/devices/ata1/block/sda/queue/write_cache", "write sideways\n"),
        ]);
        let disk = block_device(&machine.sources(), number(8, 0)).unwrap();
        assert_eq!((disk.size_bytes, disk.rotational), (None, None));
        assert_eq!((disk.read_ahead_bytes, disk.write_cache), (None, None));
    }

    #[test]
    fn memory_of_this_machine_has_no_device_below() {
        assert_eq!(
            device_below(&Sources::default(), Path::new("/proc/self/status")).unwrap(),
            None
        );
        let missing = device_below(&Sources::default(), Path::new("/no/such/path"));
        assert!(matches!(missing, Err(DescribeError::Read { .. })));
    }
}
