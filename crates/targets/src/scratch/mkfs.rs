//! Formatting and mounting: the command lines, and their outcome.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::path::{self, Path};
use std::process::{Command, Stdio};

use file_system::{FileSystem, Mkfs, Storage};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::spec::ScratchSpec;

/// The directory in which mkfs runs, and which it sees as the user's home.
const PLACE: &str = "mkfs";

/// How mkfs failed.
#[derive(Debug)]
pub(crate) struct MkfsFailed {
    /// The command line.
    pub(crate) command: String,
    /// What it wrote to its standard error.
    pub(crate) message: String,
}

/// Formats `device` and returns the command line that did it. The program runs in a new, empty
/// directory of ours in `home`, so a word of the user's, which has no slash, cannot name a device
/// or file there, and whatever the program makes goes with the directory.
pub(crate) fn format(
    scratch: &ScratchSpec,
    device: &Path,
    home: &Path,
) -> Result<String, MkfsFailed> {
    let Some(mkfs) = &scratch.file_system.mkfs else { return Ok(String::new()) };
    let name = mkfs.program;
    let user = scratch.mkfs.as_deref().unwrap_or_default();
    let arguments = arguments(mkfs, user, scratch.allocated);
    let behind = mkfs.behind_device;
    let device_text = device.display().to_string();
    let words = arguments.iter().map(String::as_str);
    let words: Vec<&str> =
        words.chain([device_text.as_str()]).chain(behind.iter().copied()).collect();
    let command_line = format!("{name} {}", words.join(" "));
    let failed = |message: String| MkfsFailed { command: command_line.clone(), message };
    let absolute = |path: &Path| path::absolute(path).map_err(|error| failed(error.to_string()));
    let program = match programs::find(name) {
        Some(program) => absolute(&program)?,
        None => name.into(),
    };
    let place = home.join(PLACE);
    fs::create_dir(&place).map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(&arguments).arg(absolute(device)?).args(behind);
    command.env("LC_ALL", "C").env("HOME", &place).stdin(Stdio::null());
    command.current_dir(&place);
    system_calls::die_with_parent(&mut command);
    let output = command.output();
    fs::remove_dir_all(&place).map_err(|error| failed(error.to_string()))?;
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(command_line);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Err(failed(if lines.is_empty() { output.status.to_string() } else { lines.join("; ") }))
}

/// The first line that mkfs prints about its version, if any.
pub(crate) fn version(file_system: FileSystem) -> Option<String> {
    let mkfs = file_system.mkfs.as_ref()?;
    let output = Command::new(programs::find(mkfs.program)?)
        .arg(mkfs.version_option)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Mounts `source` with options in the form that mount(8) takes.
pub(crate) fn mount_at(
    file_system: FileSystem,
    source: &Path,
    mount_point: &Path,
    options: &str,
) -> io::Result<()> {
    let (flags, data) = split_mount_options(options);
    let data = CString::new(data)?;
    let data = Some(data.as_c_str()).filter(|data| !data.is_empty());
    Ok(mount(source, mount_point, file_system.name, flags, data)?)
}

/// Unmounts. If it is still in use, it is detached nevertheless, and that is reported.
pub(crate) fn unmount_at(mount_point: &Path) -> io::Result<()> {
    let Err(error) = unmount(mount_point, UnmountFlags::empty()) else { return Ok(()) };
    unmount(mount_point, UnmountFlags::DETACH)?;
    Err(error.into())
}

/// The options before the device: ours, then the user's. With `keeps_blocks`, nothing is discarded,
/// because the host's file system would take back blocks of the image. (The loop device itself
/// could be told not to discard, but that cannot be undone: once `discard_max_bytes` is 0, the
/// kernel accepts no other value until the device is removed.)
fn arguments(mkfs: &Mkfs, user: &str, keeps_blocks: bool) -> Vec<String> {
    let keeping = if keeps_blocks { mkfs.without_discard } else { &[] };
    let ours = mkfs.options.iter().chain(keeping).map(|&option| option.to_owned());
    let mut all: Vec<String> = ours.chain(user.split_whitespace().map(str::to_owned)).collect();
    if let Some(extended) = &mkfs.extended {
        if !user.contains(extended.unless) {
            extend(&mut all, extended.always);
        }
        if keeps_blocks {
            extend(&mut all, extended.without_discard);
        }
    }
    all
}

/// Adds extended options of mke2fs. It honours only its last -E, so they join the user's.
fn extend(arguments: &mut Vec<String>, options: &str) {
    match arguments.iter().rposition(|argument| argument.starts_with("-E")) {
        Some(at) if arguments[at] != "-E" => arguments[at] = format!("{},{options}", arguments[at]),
        Some(at) if at + 1 < arguments.len() => {
            arguments[at + 1] = format!("{},{options}", arguments[at + 1]);
        }
        _ => arguments.extend(["-E".to_owned(), options.to_owned()]),
    }
}

/// The options for mount(2) of a scratch file system: the user's; one that turns off discarding, if
/// the file system does that by default but its image must keep its blocks; and the size, if it is
/// limited in memory.
pub(crate) fn mount_options(scratch: &ScratchSpec, size_bytes: u64) -> String {
    let mut all = scratch.mount.clone().unwrap_or_default();
    let mut add = |option: &str| {
        let comma = if all.is_empty() { "" } else { "," };
        all.push_str(&format!("{comma}{option}"));
    };
    let says_discard = scratch.mount.as_ref().is_some_and(|user| user.contains("discard"));
    match scratch.file_system.mounted_without_discard {
        Some(option) if scratch.allocated && !says_discard => add(option),
        _ => {}
    }
    if let Storage::Memory { size_option: Some(option) } = scratch.file_system.storage {
        add(&format!("{option}{size_bytes}"));
    }
    all
}

/// Splits off the options that are common to all file systems, which mount(2) takes as flags.
fn split_mount_options(options: &str) -> (MountFlags, String) {
    let mut flags = MountFlags::empty();
    let mut data = Vec::new();
    for option in options.split(',').filter(|option| !option.is_empty()) {
        match option {
            "ro" => flags |= MountFlags::RDONLY,
            "noatime" => flags |= MountFlags::NOATIME,
            "nodiratime" => flags |= MountFlags::NODIRATIME,
            "relatime" => flags |= MountFlags::RELATIME,
            "strictatime" => flags |= MountFlags::STRICTATIME,
            "lazytime" => flags |= MountFlags::LAZYTIME,
            "sync" => flags |= MountFlags::SYNCHRONOUS,
            "dirsync" => flags |= MountFlags::DIRSYNC,
            "nosuid" => flags |= MountFlags::NOSUID,
            "nodev" => flags |= MountFlags::NODEV,
            "noexec" => flags |= MountFlags::NOEXEC,
            "defaults" | "rw" | "async" | "atime" | "suid" | "dev" | "exec" => {}
            own => data.push(own),
        }
    }
    (flags, data.join(","))
}

/// Tries to load a kernel module. Success shows in /proc/filesystems.
pub(crate) fn try_modprobe(module: impl AsRef<OsStr>) {
    let Some(program) = programs::find("modprobe") else { return };
    let mut command = Command::new(program);
    command.arg("-q").arg(module).stdin(Stdio::null()).stderr(Stdio::null());
    let _seen_in_proc = command.status();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Location, TargetSpec};

    fn mkfs(name: &str) -> &'static Mkfs {
        FileSystem::named(name).and_then(|known| known.row().mkfs.as_ref()).unwrap()
    }

    const NOW: &str = "lazy_itable_init=0,lazy_journal_init=0";

    #[test]
    fn ext_tables_are_written_at_once_unless_the_user_says_otherwise() {
        let line = |user| arguments(mkfs("ext4"), user, false).join(" ");
        assert_eq!(line(""), format!("-F -q -E {NOW}"));
        assert_eq!(line("-O ^has_journal"), format!("-F -q -O ^has_journal -E {NOW}"));
        assert_eq!(line("-E stride=16 -m 0"), format!("-F -q -E stride=16,{NOW} -m 0"));
        assert_eq!(line("-Estride=16"), format!("-F -q -Estride=16,{NOW}"));
        assert_eq!(line("-E lazy_itable_init=1"), "-F -q -E lazy_itable_init=1");
        assert_eq!(arguments(mkfs("xfs"), "-m crc=0", false).join(" "), "-f -q -m crc=0");
    }

    #[test]
    fn an_image_that_stays_allocated_is_discarded_by_nobody() {
        let line = |name, user| arguments(mkfs(name), user, true).join(" ");
        assert_eq!(line("ext4", "-m 0"), format!("-F -q -m 0 -E {NOW},nodiscard"));
        assert_eq!(line("xfs", "-m crc=0"), "-f -q -K -m crc=0");
        assert_eq!(line("f2fs", ""), "-f -t 0");
        let mounted = |text: &str| {
            let spec: TargetSpec = text.parse().unwrap();
            let Location::Scratch(scratch) = spec.location else { unreachable!("it is made") };
            mount_options(&scratch, 7)
        };
        assert_eq!(mounted("btrfs:image=allocated,mount=noatime"), "noatime,nodiscard");
        assert_eq!(mounted("btrfs:image=allocated,mount=discard=sync"), "discard=sync");
        assert_eq!(mounted("btrfs:mount=noatime"), "noatime");
        assert_eq!(mounted("ext4:image=allocated"), "");
        assert_eq!(mounted("tmpfs:mount=noatime"), "noatime,size=7");
    }

    #[test]
    fn hfs_takes_the_whole_device_and_the_users_home_is_left_alone() {
        let Some(_) = programs::find("hformat") else {
            println!("skipped: hformat is not installed (package hfsutils)");
            return;
        };
        let home = std::env::temp_dir().join(format!("fsprism-hfs-{}", std::process::id()));
        fs::create_dir(&home).unwrap();
        let image = home.join("image");
        fs::File::create(&image).unwrap().set_len(1 << 20).unwrap();
        let scratch = ScratchSpec { mkfs: Some("-l name".to_owned()), ..hfs() };
        let line = format(&scratch, &image, &home).unwrap();
        assert_eq!(line, format!("hformat -f -l name {} 0", image.display()));
        // The signature of the volume descriptor, in the third sector.
        assert_eq!(fs::read(&image).unwrap()[1024..1026], *b"BD");
        assert_eq!(fs::read_dir(&home).unwrap().count(), 1, "the image alone");
        assert!(version(hfs().file_system).is_some_and(|text| text.contains("hfsutils version")));
        fs::remove_dir_all(home).unwrap();
    }

    fn hfs() -> ScratchSpec {
        let spec: TargetSpec = "hfs".parse().unwrap();
        let Location::Scratch(scratch) = spec.location else { unreachable!("hfs is made") };
        scratch
    }

    #[test]
    fn shared_mount_options_become_flags() {
        let (flags, data) = split_mount_options("noatime,commit=30,defaults,lazytime,data=ordered");
        assert_eq!(flags, MountFlags::NOATIME | MountFlags::LAZYTIME);
        assert_eq!(data, "commit=30,data=ordered");
    }
}
