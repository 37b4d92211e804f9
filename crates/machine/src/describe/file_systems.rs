//! Which file systems the kernel and the formatting tools offer.

use std::io::{self, PipeReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use file_system::FileSystem;
use record::machine::{FileSystemSupport, Kernel, KernelSupport, Mkfs};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::sources::{Reader, Sources};

/// How much of a tool's output is read; no tool prints as much with its version.
const OUTPUT_BYTES_MAX: usize = 16 << 10;

/// The names of the file systems that the kernel has registered.
pub(crate) fn registered(reader: &Reader<'_>) -> Vec<String> {
    // A line is the name, preceded by `nodev` if the file system needs no device.
    let text = reader.text("/proc/filesystems").unwrap_or_default();
    text.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

/// What this machine has for each file system that can become a scratch target.
pub(crate) fn file_systems(
    reader: &Reader<'_>,
    kernel: &Kernel,
    registered: &[String],
) -> Vec<FileSystemSupport> {
    let loadable = loadable(reader, kernel);
    FileSystem::makeable()
        // Those called as a library need nothing from this machine but memory.
        .filter(|made| !made.is_called_as_library())
        .map(|made| FileSystemSupport {
            name: made.name.to_owned(),
            kernel: if registered.iter().any(|known| known == made.name) {
                KernelSupport::Registered
            } else if loadable.iter().any(|known| known == made.name) {
                KernelSupport::Module
            } else {
                KernelSupport::Missing
            },
            mkfs: made.mkfs.as_ref().and_then(|mkfs| installed(reader.sources(), mkfs)),
            mkfs_package: made.mkfs.as_ref().map(|mkfs| mkfs.package.to_owned()),
        })
        .collect()
}

/// The file systems for which mounting would load a module: the kernel requests `fs-NAME`, which
/// `modules.alias` resolves.
fn loadable(reader: &Reader<'_>, kernel: &Kernel) -> Vec<String> {
    let disabled: Option<u32> = reader.value("/proc/sys/kernel/modules_disabled");
    // If the kernel is built without modules, the sysctl does not exist.
    let (Some(0), Some(release)) = (disabled, &kernel.release) else { return Vec::new() };
    let aliases = reader.text(format!("/lib/modules/{release}/modules.alias")).unwrap_or_default();
    let name = |line: &str| line.strip_prefix("alias fs-")?.split(' ').next().map(str::to_owned);
    aliases.lines().filter_map(name).collect()
}

/// The tool that formats a file system, if it is installed.
fn installed(sources: &Sources, mkfs: &file_system::Mkfs) -> Option<Mkfs> {
    let path = programs::find_in(sources.tool_directories(), mkfs.program)?;
    let output = output_of(&path, mkfs.version_option, sources.tool_timeout());
    Some(Mkfs {
        version: output.ok().and_then(|output| version_in(&output)),
        path: path.display().to_string(),
    })
}

/// What a program prints before it exits; an error if it has not by the timeout.
fn output_of(program: &Path, option: &str, timeout: Duration) -> io::Result<String> {
    let (reader, writer) = io::pipe()?;
    let mut child = Command::new(program)
        .arg(option)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    // The command, and with it our write ends of the pipe, has been dropped: the output ends when
    // the program does.
    let output = read_until(reader, Instant::now() + timeout);
    // It has either exited, in which case killing it does nothing, or timed out.
    let _ = child.kill();
    child.wait()?;
    output.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn read_until(mut reader: PipeReader, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut output = vec![0; OUTPUT_BYTES_MAX];
    let mut length = 0;
    while length < output.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut ends = [PollFd::new(&reader, PollFlags::IN)];
        match poll(&mut ends, Some(&left)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => match reader.read(&mut output[length..])? {
                0 => break,
                count => length += count,
            },
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    output.truncate(length);
    Ok(output)
}

/// The first word that looks like a version: digits with dots, with or without a leading `v`.
fn version_in(output: &str) -> Option<String> {
    let version = |word: &str| {
        let word = word.strip_prefix('v').unwrap_or(word).trim_end_matches(',');
        let starts_with_digit = word.starts_with(|c: char| c.is_ascii_digit());
        (starts_with_digit && word.contains('.')).then(|| word.to_owned())
    };
    output.split_whitespace().find_map(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    fn support(machine: &Fixture) -> impl Fn(&str) -> FileSystemSupport {
        let sources = machine.sources();
        let reader = Reader::new(&sources);
        let kernel = Kernel { release: Some("6.8.0-generic".to_owned()), ..Kernel::default() };
        let all = file_systems(&reader, &kernel, &registered(&reader));
        move |name| all.iter().find(|support| support.name == name).unwrap().clone()
    }

    #[test]
    fn the_kernel_offers_what_is_registered_and_what_is_a_module() {
        let machine = Fixture::new(&[
            ("proc/filesystems", "nodev\ttmpfs\n\text4\n"),
            ("proc/sys/kernel/modules_disabled", "0\n"),
            (
                "lib/modules/6.8.0-generic/modules.alias",
                "# Aliases\nalias fs-xfs xfs\nalias fs-ext4 ext4\nalias net-pf-38 af_alg\n",
            ),
        ]);
        let of = support(&machine);
        assert_eq!(of("tmpfs").kernel, KernelSupport::Registered);
        assert_eq!(of("ext4").kernel, KernelSupport::Registered);
        assert_eq!(of("xfs").kernel, KernelSupport::Module);
        assert_eq!(of("btrfs").kernel, KernelSupport::Missing);
        machine.add(&[("proc/sys/kernel/modules_disabled", "1\n")]);
        assert_eq!(support(&machine)("xfs").kernel, KernelSupport::Missing);
    }

    #[test]
    fn tools_tell_their_versions_and_packages_are_named() {
        let machine = Fixture::new(&[("usr/sbin/mkfs.f2fs", "not executable")]);
        machine.tool("mkfs.ext4", "echo 'mke2fs 1.47.0 (5-Feb-2023)' >&2");
        machine.tool("mkfs.btrfs", "echo \"mkfs$1, part of btrfs-progs v6.2\"");
        machine.tool("mkfs.xfs", "exit 1");
        machine.tool("hformat", "test $1 = --version && echo 'hfsutils version 3.2.6 - (C)'");
        let of = support(&machine);
        let version = |name| of(name).mkfs.and_then(|mkfs| mkfs.version);
        assert_eq!(version("ext4").as_deref(), Some("1.47.0"));
        assert_eq!(version("btrfs").as_deref(), Some("6.2"));
        assert_eq!(version("hfs").as_deref(), Some("3.2.6"));
        assert_eq!(of("xfs").mkfs.unwrap().version, None);
        assert_eq!(
            (of("f2fs").mkfs, of("f2fs").mkfs_package.as_deref()),
            (None, Some("f2fs-tools"))
        );
        assert_eq!((of("tmpfs").mkfs, of("tmpfs").mkfs_package), (None, None));
    }

    #[test]
    fn a_tool_that_hangs_or_floods_is_stopped() {
        let machine = Fixture::new(&[]);
        machine.tool("hangs", "exec sleep 1000");
        machine.tool("floods", "echo 1.5; exec yes");
        let path = |name| programs::find_in(machine.sources().tool_directories(), name).unwrap();
        let hangs = output_of(&path("hangs"), "-V", Duration::from_millis(20));
        assert_eq!(hangs.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let floods = output_of(&path("floods"), "-V", Duration::from_secs(60)).unwrap();
        assert_eq!(floods.len(), OUTPUT_BYTES_MAX);
        assert_eq!(version_in(&floods).as_deref(), Some("1.5"));
    }

    #[test]
    fn versions_are_found_in_what_the_tools_print() {
        let version = |text| version_in(text);
        assert_eq!(version("mkfs.xfs version 6.1.0").as_deref(), Some("6.1.0"));
        assert_eq!(version("mkfs.f2fs 1.15.0 (2022-05-13)").as_deref(), Some("1.15.0"));
        assert_eq!(version("mkfs.fat 4.2 (2021-01-31)\nUsage: x").as_deref(), Some("4.2"));
        assert_eq!(version("no version here 7"), None);
    }
}
