//! The path of a file without symbolic links: realpath(3).

use std::ffi::{OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use densefs_process::{Base, DenseFs, Errno, Follow, Ids};

use crate::answer::fail;
use crate::arguments::path;
use crate::attached::attached;

/// Most symbolic links on the way, as on Linux.
const LINKS_MAX: u32 = 40;
/// Most bytes of a path, with the terminating zero.
const PATH_MAX: usize = 4096;

/// The absolute path of a file, without symbolic links, `.` and `..`.
///
/// # Safety
/// `name` must be a C string; there must be room for 4096 bytes at `into`. If that is null, the
/// result must be released with free(3).
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_realpath(name: *const c_char, into: *mut c_char) -> *mut c_char {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) }.map_err(|_| Errno::INVAL);
    let found = name.and_then(|name| resolve(&*attached()?, name.as_os_str().as_bytes()));
    let found = match found {
        Ok(found) if into.is_null() || found.len() < PATH_MAX => found,
        Ok(_) => return refuse(Errno::NAMETOOLONG),
        Err(why) => return refuse(why),
    };
    // SAFETY: malloc accepts any size.
    let into = if into.is_null() { unsafe { libc::malloc(found.len() + 1) }.cast() } else { into };
    if !into.is_null() {
        // SAFETY: there is room for the path and a zero.
        unsafe {
            ptr::copy_nonoverlapping(found.as_ptr(), into.cast(), found.len());
            into.add(found.len()).write(0);
        }
    }
    into
}

fn refuse(why: Errno) -> *mut c_char {
    fail(why.0);
    ptr::null_mut()
}

fn resolve(files: &DenseFs, name: &[u8]) -> Result<Vec<u8>, Errno> {
    let mut rest = name.to_vec();
    // What has been resolved, without a final slash; empty for the root.
    let mut done = Vec::new();
    match name.first() {
        None => return Err(Errno::NOENT),
        Some(b'/') => {}
        Some(_) => done.extend_from_slice(files.directory()?.as_os_str().as_bytes()),
    }
    if done == b"/" {
        done.clear();
    }
    let mut links = 0;
    while let Some(start) = rest.iter().position(|&byte| byte != b'/') {
        let end = rest[start..].iter().position(|&byte| byte == b'/');
        let end = end.map_or(rest.len(), |length| start + length);
        let part = rest[start..end].to_vec();
        rest.drain(..end);
        match &part[..] {
            b"." => {}
            b".." if done.is_empty() && files.may_lead_out() => return Err(Errno::OUTSIDE),
            b".." => done.truncate(parent_length(&done)),
            part => {
                done.push(b'/');
                done.extend_from_slice(part);
                match files.read_link_from(Base::Working, as_path(&done)) {
                    Ok(target) => {
                        links += 1;
                        if links > LINKS_MAX {
                            return Err(Errno::LOOP);
                        }
                        let target = target.as_os_str().as_bytes();
                        let is_absolute = target.first() == Some(&b'/');
                        if is_absolute && files.may_lead_out() {
                            return Err(Errno::OUTSIDE);
                        }
                        done.truncate(if is_absolute { 0 } else { parent_length(&done) });
                        rest.splice(..0, target.iter().copied());
                    }
                    Err(Errno::INVAL) if !needs_directory(&rest) => {}
                    Err(Errno::INVAL) => {
                        let with_slash = [&done[..], b"/"].concat();
                        let (name, ids) = (as_path(&with_slash), Ids::Effective);
                        files.check_access_to(Base::Working, name, Follow::Yes, 0, ids)?;
                    }
                    Err(why) => return Err(why),
                }
            }
        }
    }
    if done.is_empty() {
        done.push(b'/');
    }
    Ok(done)
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// How long a path is without its last name.
fn parent_length(path: &[u8]) -> usize {
    path.iter().rposition(|&byte| byte == b'/').unwrap_or(0)
}

/// Whether what comes next in a path says that what was before is a directory, while no lookup in
/// it will show that.
fn needs_directory(rest: &[u8]) -> bool {
    let Some(next) = rest.iter().position(|&byte| byte != b'/') else {
        return !rest.is_empty();
    };
    let name = rest[next..].split(|&byte| byte == b'/').next().unwrap_or_default();
    matches!(name, b"." | b"..")
}
