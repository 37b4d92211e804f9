//! Programs that go into every image: busybox, mkfs tools, and their libraries.

use std::fs;
use std::path::{Path, PathBuf};

use file_system::{FileSystem, Mkfs};

use crate::elf::Elf;
use crate::error::LabError;
use crate::package;
use crate::place::Lab;
use crate::tool;

/// The Debian package with a static busybox.
const BUSYBOX: &str = "busybox-static";

/// The programs that make file systems. They go into the image if they are installed.
pub(crate) fn mkfs_programs() -> impl Iterator<Item = (FileSystem, &'static Mkfs)> {
    FileSystem::makeable().filter_map(|made| Some((made, made.row().mkfs.as_ref()?)))
}

/// A static busybox: this machine's, or else one that is fetched, unless that has been done
/// already.
pub(super) fn busybox(lab: &Lab) -> Result<PathBuf, LabError> {
    if let Some(path) = programs::find("busybox").filter(|path| is_static(path)) {
        return Ok(path);
    }
    let fetched = lab.within("busybox")?.join("busybox");
    if fetched.is_file() {
        return Ok(fetched);
    }
    let temporary = lab.temporary()?;
    let unpacked = package::fetch(&[package::look_up(BUSYBOX)?], temporary.path())?;
    let places = ["bin/busybox", "usr/bin/busybox"].map(|path| unpacked.join(path));
    let found = places.iter().find(|path| path.is_file()).unwrap_or(&places[0]);
    fs::rename(found, &fetched).map_err(LabError::at(found))?;
    Ok(fetched)
}

fn is_static(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    Elf::new(&bytes).is_some_and(|elf| !elf.has_interpreter())
}

/// The applets of a busybox, in alphabetical order.
pub(super) fn applets(busybox: &Path) -> Result<Vec<String>, LabError> {
    let list = tool::run(std::process::Command::new(busybox).arg("--list"))?;
    let list = String::from_utf8_lossy(&list);
    let mut names: Vec<String> = list.lines().map(str::to_owned).collect();
    names.retain(|name| name != "busybox" && !name.is_empty() && !name.contains('/'));
    names.sort();
    Ok(names)
}

/// The libraries and the dynamic loader of a program, as resolved on this machine.
pub(super) fn libraries(program: &Path) -> Result<Vec<PathBuf>, LabError> {
    let text = tool::run(tool::command("ldd", "libc-bin")?.arg(program))?;
    let text = String::from_utf8_lossy(&text);
    let paths = text.lines().filter_map(library);
    Ok(paths.map(PathBuf::from).collect())
}

/// The path in a line of `ldd`: `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7f...)`, or just
/// the path for the dynamic loader; `None` for the vDSO.
pub(super) fn library(line: &str) -> Option<&str> {
    let path = line.split_once("=>").map_or(line, |(_, path)| path).trim();
    let path = path.rsplit_once(" (").map_or(path, |(path, _)| path);
    path.starts_with('/').then_some(path)
}

#[cfg(test)]
mod tests {
    use super::library;

    #[test]
    fn paths_are_found_in_lines_of_ldd() {
        assert_eq!(library("\tlibc.so.6 => /lib/libc.so.6 (0x7f00)"), Some("/lib/libc.so.6"));
        assert_eq!(library("\t/lib64/ld-linux.so.2 (0x7f00)"), Some("/lib64/ld-linux.so.2"));
        assert_eq!(library("\tlinux-vdso.so.1 (0x7ff0)"), None);
        assert_eq!(library("\tstatically linked"), None);
    }
}
