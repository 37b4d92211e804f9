//! Ways that the text of a path does not show: out of the arena, into it by another spelling, and
//! by the names of open files in `/proc` and `/dev`.
#![expect(unsafe_code, reason = "strings of C programs are read")]

use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use densefs_c::{attached, attributes, names};
use densefs_process::Base;

use crate::decision::Answer;
use crate::inside::{Inside, Place};
use crate::outcome::{answer, call as calling, error, length};
use crate::signals::held;
use crate::{arena, numbers, prefix};

/// Most symbolic links on the way, as on Linux.
const LINKS_MAX: u32 = 40;
/// The longest path, with its zero.
const PATH_MAX: usize = 4096;

/// Where a path leads that seemed to leave the arena.
pub(crate) enum LeadsTo {
    /// It does not, by now.
    Inside,
    /// To this absolute path.
    Elsewhere(CString),
}

/// The base of a path, for the safe library.
pub(crate) fn base(directory: c_int) -> Base {
    match u32::try_from(directory) {
        Ok(descriptor) => Base::Descriptor(descriptor),
        Err(_) => Base::Working,
    }
}

/// A path in the arena that is followed name by name.
struct Walk {
    directory: c_int,
    /// What has been walked: a path from `directory`, or from the root if it begins with a slash.
    done: Vec<u8>,
    /// What is left.
    rest: Vec<u8>,
}

impl Walk {
    /// The next name of what is left; none at the end.
    fn next(&mut self) -> Option<Vec<u8>> {
        let start = self.rest.iter().position(|&byte| byte != b'/')?;
        let end = self.rest[start..].iter().position(|&byte| byte == b'/');
        let end = end.map_or(self.rest.len(), |found| start + found);
        let name = self.rest[start..end].to_vec();
        self.rest.drain(..end);
        Some(name)
    }

    fn with(&self, name: &[u8]) -> Result<CString, c_int> {
        let mut path = self.done.clone();
        if path.last().is_some_and(|&byte| byte != b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        CString::new(path).map_err(|_| libc::EINVAL)
    }

    /// Whether what has been walked is the root.
    fn is_at_root(&self) -> Result<bool, c_int> {
        let path = self.with(b".")?;
        let here = stat(self.directory, &path)?;
        Ok(here.st_ino == stat(libc::AT_FDCWD, c"/")?.st_ino)
    }

    /// What is at a path and what is left, as one path.
    fn elsewhere(&self, at: &[u8]) -> Result<LeadsTo, c_int> {
        let mut path = at.to_vec();
        if !self.rest.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        let start = self.rest.iter().position(|&byte| byte != b'/').unwrap_or(self.rest.len());
        path.extend_from_slice(&self.rest[start..]);
        CString::new(path).map(LeadsTo::Elsewhere).map_err(|_| libc::EINVAL)
    }

    /// Where what is left leads from above the root. The prefix has no symbolic links, so that the
    /// directories above it are the ones that it names.
    fn above(mut self) -> Result<LeadsTo, c_int> {
        let mut above = prefix::parent(prefix::get());
        loop {
            let rest = self.rest.clone();
            match self.next().as_deref() {
                Some(b".") => {}
                Some(b"..") => above = prefix::parent(above),
                _ => {
                    self.rest = rest;
                    return self.elsewhere(above);
                }
            }
        }
    }
}

fn stat(directory: c_int, path: &CStr) -> Result<libc::stat, c_int> {
    // SAFETY: all zeros is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the path is a C string, and there is room.
    let known =
        calling(|| unsafe { attributes::dfs_fstatat(directory, path.as_ptr(), &raw mut stat, 0) });
    if known < 0 { Err(negated(known)) } else { Ok(stat) }
}

fn negated(answer: Answer) -> c_int {
    c_int::try_from(-answer).unwrap_or(libc::EIO)
}

fn read_link(directory: c_int, path: &CStr) -> Result<Vec<u8>, c_int> {
    let mut target = vec![0_u8; PATH_MAX];
    let (into, room) = (target.as_mut_ptr().cast::<c_char>(), target.len());
    // SAFETY: the path is a C string, and there is room.
    let read = length(|| unsafe { names::dfs_readlinkat(directory, path.as_ptr(), into, room) });
    let read = usize::try_from(read).map_err(|_| negated(read))?;
    target.truncate(read);
    Ok(target)
}

/// Follows a path in the arena to where it leaves it.
pub(crate) fn way_out(inside: Inside) -> Result<LeadsTo, c_int> {
    // SAFETY: it is a C string.
    let path = unsafe { CStr::from_ptr(inside.path) }.to_bytes();
    let is_absolute = path.first() == Some(&b'/');
    let done = if is_absolute { b"/".to_vec() } else { Vec::new() };
    let mut walk = Walk { directory: inside.directory, done, rest: path.to_vec() };
    let mut links = 0;
    while let Some(name) = walk.next() {
        match &name[..] {
            b"." => {}
            b".." if walk.is_at_root()? => return walk.above(),
            b".." => walk.done = walk.with(b"..")?.into_bytes(),
            name => {
                let path = walk.with(name)?;
                match read_link(walk.directory, &path) {
                    Ok(target) if target.first() == Some(&b'/') => {
                        return walk.elsewhere(&target);
                    }
                    Ok(target) => {
                        links += 1;
                        if links > LINKS_MAX {
                            return Err(libc::ELOOP);
                        }
                        walk.rest = [&target[..], &walk.rest[..]].concat();
                    }
                    Err(libc::EINVAL) => walk.done = path.into_bytes(),
                    // The call finds that out itself.
                    Err(_) => return Ok(LeadsTo::Inside),
                }
            }
        }
    }
    Ok(LeadsTo::Inside)
}

/// Checks that the directory of a path's last name is there.
pub(crate) fn check_directory(inside: Inside) -> Answer {
    if inside.path.is_null() {
        return error(libc::EFAULT);
    }
    // SAFETY: it is a C string.
    let path = unsafe { CStr::from_ptr(inside.path) }.to_bytes();
    let path = Path::new(OsStr::from_bytes(path));
    answer(|| attached()?.check_directory(base(inside.directory), path).map(|()| 0))
}

/// A path in the arena, as programs know it.
fn with_prefix(path: &[u8]) -> Vec<u8> {
    let path = if path == b"/" { b"" } else { path };
    [prefix::get(), path].concat()
}

/// The path of the working directory, which is in the arena.
pub(crate) fn working_directory() -> Result<Vec<u8>, c_int> {
    let found = held(|| attached()?.directory()).map_err(|why| why.0)?;
    Ok(with_prefix(found.as_os_str().as_bytes()))
}

/// The path of an open directory of the arena.
pub(crate) fn directory_of(descriptor: c_int) -> Result<Vec<u8>, c_int> {
    let found = held(|| attached()?.directory_of(descriptor.cast_unsigned()));
    Ok(with_prefix(found.map_err(|why| why.0)?.as_os_str().as_bytes()))
}

/// The absolute path, elsewhere, of what is in the arena: where it is mounted.
pub(crate) fn mounted_path(inside: Inside) -> Result<CString, c_int> {
    let path = if inside.path.is_null() {
        b""
    } else {
        // SAFETY: it is a C string.
        unsafe { CStr::from_ptr(inside.path) }.to_bytes()
    };
    let start = match path.first() {
        Some(b'/') => with_prefix(b""),
        _ if inside.directory == libc::AT_FDCWD => working_directory()?,
        _ => directory_of(inside.directory)?,
    };
    CString::new([&start[..], b"/", path].concat()).map_err(|_| libc::EINVAL)
}

/// The place of an absolute path that may spell the prefix in another way, or begins as the names
/// of open files do.
pub(crate) fn place_of_unusual(path: &CStr) -> Place {
    if let Some(descriptor) = magic(path.to_bytes()).and_then(numbers::inside) {
        return Place::OpenFile(descriptor);
    }
    let Some(skipped) = strip_loosely(path.to_bytes()) else { return Place::Outside };
    if !arena::attach() {
        return Place::Outside;
    }
    let rest = path.to_bytes_with_nul().get(skipped..).and_then(first_of).unwrap_or(c"/");
    Place::Inside(Inside { directory: libc::AT_FDCWD, path: rest.as_ptr() })
}

/// The bytes up to the zero, as a string, unless there are none.
fn first_of(bytes: &[u8]) -> Option<&CStr> {
    CStr::from_bytes_until_nul(bytes).ok().filter(|text| !text.is_empty())
}

/// How much of a path spells the prefix, with slashes and dots between its names.
pub(crate) fn strip_loosely(path: &[u8]) -> Option<usize> {
    let wanted = || prefix::get().split(|&byte| byte == b'/').skip(1);
    let (mut at, mut known) = (0, 0_usize);
    wanted().next()?;
    loop {
        let rest = path.get(at..)?;
        let start = rest.iter().position(|&byte| byte != b'/')?;
        let length = rest[start..].iter().position(|&byte| byte == b'/');
        let name = &rest[start..][..length.unwrap_or(rest.len() - start)];
        at += start + name.len();
        match name {
            b"." => {}
            // The prefix has no symbolic links.
            b".." => known = known.saturating_sub(1),
            name if wanted().nth(known) == Some(name) => known += 1,
            _ => return None,
        }
        if wanted().nth(known).is_none() {
            return Some(at);
        }
    }
}

/// The descriptor that a name in `/proc` or `/dev` stands for.
fn magic(path: &[u8]) -> Option<c_int> {
    let number = match path {
        b"/dev/stdin" => return Some(0),
        b"/dev/stdout" => return Some(1),
        b"/dev/stderr" => return Some(2),
        _ => [&b"/proc/self/fd/"[..], b"/dev/fd/", b"/proc/thread-self/fd/"]
            .iter()
            .find_map(|&start| path.strip_prefix(start))
            .or_else(|| of_process(path))?,
    };
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// What follows the descriptors of this process, named by its ID.
fn of_process(path: &[u8]) -> Option<&[u8]> {
    let rest = path.strip_prefix(b"/proc/")?;
    let end = rest.iter().position(|&byte| byte == b'/')?;
    let process: u32 = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
    if process != std::process::id() { None } else { rest[end..].strip_prefix(b"/fd/") }
}

/// Serves readlink(2) of names in `/proc` that stand for what is in the arena.
///
/// # Safety
/// The path must be null or a C string, and there must be room.
pub(crate) unsafe fn read_magic(
    path: *const c_char,
    into: *mut c_char,
    room: usize,
) -> Option<Answer> {
    // SAFETY: guaranteed by the caller.
    let path = unsafe { path.as_ref().map(|path| CStr::from_ptr(path).to_bytes())? };
    if !path.starts_with(b"/proc/") && !path.starts_with(b"/dev/fd/") {
        return None;
    }
    let found = if path == b"/proc/self/cwd" && prefix::is_working_inside() {
        working_directory()
    } else if path.starts_with(b"/dev/std") {
        return None;
    } else {
        path_of(magic(path).and_then(numbers::inside)?)
    };
    Some(match found {
        Ok(found) => {
            let length = found.len().min(room);
            // SAFETY: guaranteed by the caller.
            unsafe { into.cast::<u8>().copy_from_nonoverlapping(found.as_ptr(), length) };
            length.cast_signed()
        }
        Err(why) => error(why),
    })
}

/// A path of an open file of the arena.
pub(crate) fn path_of(descriptor: c_int) -> Result<Vec<u8>, c_int> {
    match directory_of(descriptor) {
        Err(libc::ENOTDIR) => {}
        found => return found,
    }
    held(|| search(descriptor))
}

/// Searches the whole arena for an open file.
fn search(descriptor: c_int) -> Result<Vec<u8>, c_int> {
    let files = attached().map_err(|why| why.0)?;
    let stat = files.stat_descriptor(descriptor.cast_unsigned()).map_err(|why| why.0)?;
    let mut below = vec![b"/".to_vec()];
    while let Some(directory) = below.pop() {
        let path = Path::new(OsStr::from_bytes(&directory));
        // Those that the caller may not read are left out.
        for entry in files.read_directory(path).unwrap_or_default() {
            let slash: &[u8] = if directory == b"/" { b"" } else { b"/" };
            let path = [&directory[..], slash, &entry.name].concat();
            if entry.ino == stat.ino {
                return Ok(with_prefix(&path));
            }
            if entry.type_bits & libc::S_IFMT == libc::S_IFDIR {
                below.push(path);
            }
        }
    }
    Ok([&with_prefix(b"/")[..], b"/? (deleted)"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_open_files_are_recognised() {
        assert_eq!(magic(b"/dev/stdin"), Some(0));
        assert_eq!(magic(b"/dev/fd/12"), Some(12));
        assert_eq!(magic(b"/proc/self/fd/3"), Some(3));
        let own = format!("/proc/{}/fd/4", std::process::id());
        assert_eq!(magic(own.as_bytes()), Some(4));
        for other in [&b"/proc/1/fd/4"[..], b"/proc/self/fd/", b"/proc/self/fd/x", b"/dev/fd"] {
            assert_eq!(magic(other), None);
        }
    }
}
