//! Whether a call is about the arena, as far as the kernel and the process can tell.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use densefs_calls::{Argument, Call};
use rustix::process::Pid;
use system_calls::PendingCall;

use super::memory::string;
use crate::Place;

/// A file, whatever its path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}

/// The arena, and where it is mounted.
pub(super) struct Arena {
    file: Identity,
    /// The device number of the mount.
    mounted: u64,
    library: PathBuf,
}

impl Arena {
    pub(super) fn new(place: &Place) -> io::Result<Self> {
        let library = densefs_preload_library::file().map_err(io::Error::other)?;
        let mounted = Identity::of(place.prefix())?.device;
        Ok(Self { file: Identity::of(place.arena())?, mounted, library })
    }

    /// The library that serves it in programs.
    pub(super) fn library(&self) -> &Path {
        &self.library
    }

    /// What a call has to do with the arena, for people; `None` if nothing.
    pub(super) fn concern(&self, pid: Pid, traced: &PendingCall, call: Call) -> Option<String> {
        call.arguments.iter().find_map(|argument| match *argument {
            Argument::Descriptor(index) => self.of_descriptor(pid, traced.arguments[index]),
            Argument::Path(index) => {
                self.of_path(pid, traced, call, &Asked { directory: None, path: index })
            }
            Argument::At(directory, path) => {
                self.of_path(pid, traced, call, &Asked { directory: Some(directory), path })
            }
            Argument::Hidden => match call.name {
                "getcwd" => self.of_directory(&proc(pid, "cwd")),
                // It can do everything to everything.
                "io_uring_setup" => Some("all files".to_owned()),
                _ => None,
            },
        })
    }

    /// Whether a descriptor is the placeholder of a file in the arena.
    fn of_descriptor(&self, pid: Pid, number: u64) -> Option<String> {
        const PATH_ONLY: u64 = 0o10_000_000;
        // The kernel looks at the lower half only.
        #[expect(clippy::cast_possible_truncation, reason = "as it does")]
        let number = number as u32;
        let of = Identity::of(&proc(pid, &format!("fd/{number}"))).ok()?;
        if of != self.file {
            return None;
        }
        let about = fs::read_to_string(proc(pid, &format!("fdinfo/{number}"))).ok()?;
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:"))?;
        let flags = u64::from_str_radix(flags.trim(), 8).ok()?;
        (flags & PATH_ONLY != 0).then(|| format!("descriptor {number}"))
    }

    /// Whether a directory is in the mount, or is where the library leaves the kernel while the
    /// program is in the arena.
    fn of_directory(&self, directory: &Path) -> Option<String> {
        let is_nowhere = || {
            let name = fs::read_link(directory).ok();
            name.is_some_and(|name| name.starts_with("/proc") && name.ends_with("fdinfo"))
        };
        let is_mounted = Identity::of(directory).is_ok_and(|of| of.device == self.mounted);
        (is_mounted || is_nowhere()).then(|| "the working directory".to_owned())
    }

    /// Whether a path leads to the mount.
    fn of_path(&self, pid: Pid, traced: &PendingCall, call: Call, asked: &Asked) -> Option<String> {
        let path = string(pid, traced.arguments[asked.path])?;
        let path = Path::new(&path);
        let begins = match asked.directory {
            _ if path.is_absolute() => PathBuf::from("/"),
            Some(index) if !is_working_directory(traced.arguments[index]) => {
                let number = traced.arguments[index];
                let inside = self.of_descriptor(pid, number);
                if inside.is_some() {
                    return inside;
                }
                #[expect(clippy::cast_possible_truncation, reason = "as the kernel does")]
                proc(pid, &format!("fd/{}", number as u32))
            }
            _ if path.as_os_str().is_empty() => return None,
            _ => {
                let directory = proc(pid, "cwd");
                let inside = self.of_directory(&directory);
                if inside.is_some() {
                    return inside;
                }
                directory
            }
        };
        let follows = follows_links(call.name, traced);
        let leads = self.leads_inside(&begins.join(path), follows, 0);
        leads.then(|| path.display().to_string())
    }

    /// Whether a path leads to the mount, also if it ends with a name that is not there.
    fn leads_inside(&self, path: &Path, follows: bool, links: u32) -> bool {
        const LINKS_MAX: u32 = 40;
        let is_inside = |path: &Path| Identity::of(path).is_ok_and(|of| of.device == self.mounted);
        let ends_with_name = matches!(path.components().next_back(), Some(Component::Normal(_)));
        let Some(above) = path.parent().filter(|_| ends_with_name) else { return is_inside(path) };
        if is_inside(above) {
            return true;
        }
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let must_follow = path.as_os_str().as_bytes().ends_with(b"/");
        if !found.is_symlink() {
            return found.dev() == self.mounted;
        }
        if !(follows || must_follow) || links == LINKS_MAX {
            return false;
        }
        // What the kernel gives the form of links leads where no path does.
        is_inside(path)
            || fs::read_link(path)
                .is_ok_and(|target| self.leads_inside(&above.join(target), true, links + 1))
    }
}

/// Which arguments of a call are a path.
struct Asked {
    directory: Option<usize>,
    path: usize,
}

fn proc(pid: Pid, name: &str) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join(name)
}

fn is_working_directory(argument: u64) -> bool {
    const AT_FDCWD: i32 = -100;
    #[expect(clippy::cast_possible_truncation, reason = "as the kernel does")]
    let number = argument as i32;
    number == AT_FDCWD
}

/// Whether a call follows a symbolic link at the end of its path.
fn follows_links(call: &str, traced: &PendingCall) -> bool {
    const NO_FOLLOW: u64 = 0x100;
    const OPEN_NO_FOLLOW: u64 = 0o400_000;
    /// `O_CREAT` and `O_EXCL` together.
    const NEW: u64 = 0o300;
    let flag = |index: usize| traced.arguments[index] & NO_FOLLOW == 0;
    let opens = |index: usize| {
        let how = traced.arguments[index];
        how & OPEN_NO_FOLLOW == 0 && how & NEW != NEW
    };
    match call {
        "lstat" | "unlink" | "unlinkat" | "rename" | "renameat" | "renameat2" | "rmdir"
        | "mkdir" | "mkdirat" | "mknod" | "mknodat" | "symlink" | "symlinkat" | "link"
        | "linkat" | "readlink" | "readlinkat" | "lchown" | "lsetxattr" | "lgetxattr"
        | "llistxattr" | "lremovexattr" => false,
        "newfstatat" | "utimensat" | "faccessat2" | "fchmodat2" => flag(3),
        "fchownat" => flag(4),
        "statx" => flag(2),
        "open" => opens(1),
        "openat" => opens(2),
        _ => true,
    }
}
