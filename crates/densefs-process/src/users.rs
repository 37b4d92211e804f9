//! Who uses an arena, and who is about to end.
//!
//! umount(8) returns as soon as the kernel has let go of a mount, and only then does the process
//! that has served it learn of that. Whoever needs the arena alone waits for that process, so that
//! a check can follow an unmount at once.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use densefs::Arena;
use densefs::format::Shape;

/// How long to wait for processes that have served a mount. They hardly need that long, even on a
/// busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to look.
const BETWEEN: Duration = Duration::from_millis(2);
/// The kernel's name of a mounted DenseFS' type.
const MOUNTED_TYPE: &str = "fuse.densefs";

/// What a process does with an arena, as its record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It makes library calls.
    Program = 0,
    /// It serves a mount.
    Server = 1,
}

impl Role {
    /// What the process with this record is.
    pub(crate) fn from_record(arena: &Arena<'_>, shape: Shape, record: u32) -> Self {
        let role = shape.record(record).and_then(|at| arena.line(at));
        match role.map(|line| line.load(Shape::ROLE)) {
            Ok(1) => Self::Server,
            _ => Self::Program,
        }
    }
}

/// Which processes use an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    /// None.
    Nobody,
    /// Only such as serve a mount.
    Servers,
    /// Others as well.
    Programs,
}

impl FromIterator<Role> for Users {
    fn from_iter<T: IntoIterator<Item = Role>>(roles: T) -> Self {
        let mut users = Self::Nobody;
        for role in roles {
            match role {
                Role::Program => return Self::Programs,
                Role::Server => users = Self::Servers,
            }
        }
        users
    }
}

/// Whether nobody uses the arena in this file; waits for processes whose mount is gone.
pub(crate) fn is_unused_soon(arena: &Path, mut users: impl FnMut() -> Users) -> bool {
    let began = Instant::now();
    loop {
        match users() {
            Users::Nobody => return true,
            Users::Servers if began.elapsed() < PATIENCE && !is_mounted(arena) => {
                std::thread::sleep(BETWEEN);
            }
            Users::Servers | Users::Programs => return false,
        }
    }
}

/// Whether the arena in this file is mounted, as far as this process can see.
fn is_mounted(arena: &Path) -> bool {
    let (Ok(path), Ok(mounts)) = (arena.canonicalize(), std::fs::read("/proc/self/mountinfo"))
    else {
        return true;
    };
    // As the server has named it to the kernel.
    let name = path.to_string_lossy();
    mounts.split(|&byte| byte == b'\n').any(|line| is_mount_of(line, name.as_bytes()))
}

/// Whether a line of mountinfo, described in proc(5), is of a mounted arena.
fn is_mount_of(line: &[u8], arena: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ').skip_while(|word| *word != b"-").skip(1);
    words.next() == Some(MOUNTED_TYPE.as_bytes())
        && words.next().is_some_and(|source| unescaped(source) == arena)
}

/// Bytes in which the kernel has replaced some by a backslash and three octal digits.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, behind)) = rest.split_first() {
        let octal = behind.get(..3).and_then(|digits| OsStr::from_bytes(digits).to_str());
        let byte = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match byte {
            Some(byte) if first == b'\\' => {
                plain.push(byte);
                rest = &behind[3..];
            }
            _ => {
                plain.push(first);
                rest = behind;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_among_the_users_is_not_waited_for() {
        let users = |roles: &[Role]| roles.iter().copied().collect::<Users>();
        assert_eq!(users(&[]), Users::Nobody);
        assert_eq!(users(&[Role::Server, Role::Server]), Users::Servers);
        assert_eq!(users(&[Role::Server, Role::Program]), Users::Programs);
        let mut looks = 0;
        let is_unused = is_unused_soon(Path::new("/dev/null"), || {
            looks += 1;
            Users::Programs
        });
        assert!(!is_unused && looks == 1);
    }

    #[test]
    fn a_process_whose_mount_is_gone_is_waited_for() {
        let mut looks = 0;
        let is_unused = is_unused_soon(Path::new("/dev/null"), || {
            looks += 1;
            if looks < 5 { Users::Servers } else { Users::Nobody }
        });
        assert!(is_unused && looks == 5);
    }

    #[test]
    fn mounts_are_found_by_the_name_of_the_arena() {
        let line = b"43 28 0:39 / /mnt rw,nosuid - fuse.densefs /dev/shm/an\\040arena rw,user_id=0";
        assert!(is_mount_of(line, b"/dev/shm/an arena"));
        assert!(!is_mount_of(line, b"/dev/shm/an"));
        assert!(!is_mount_of(b"43 28 0:39 / /mnt rw - tmpfs /dev/shm/an rw", b"/dev/shm/an"));
        assert!(!is_mount_of(b"", b""));
        assert_eq!(unescaped(b"a\\134b\\9\\"), b"a\\b\\9\\");
    }
}
