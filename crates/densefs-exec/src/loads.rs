//! Whether a program will load the library.
//!
//! Programs are started with the dynamic loader that they name, which loads what `LD_PRELOAD` says:
//! the C library's own does, unless the program gets privileges that its caller lacks. Of a script,
//! what counts is its interpreter.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, fgetxattr, fstatvfs};
use rustix::process::{getgid, getuid};

/// Why a program does not load the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It names no dynamic loader.
    Static,
    /// It names a loader of another C library.
    OtherLoader {
        /// That loader.
        loader: PathBuf,
    },
    /// It is not for the kind of processor that the library is for.
    OtherMachine,
    /// It runs with other rights than its caller's.
    Privileged,
    /// It is a script, and its interpreter does not load the library.
    Interpreter {
        /// The interpreter.
        interpreter: PathBuf,
        /// Why not.
        why: Box<Miss>,
    },
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static => f.write_str("is a static program, which loads no library"),
            Self::OtherLoader { loader } => {
                write!(f, "is loaded by {}, which is not the GNU C library's", loader.display())
            }
            Self::OtherMachine => f.write_str("is for another kind of processor"),
            Self::Privileged => {
                f.write_str("runs with rights that you lack, and so loads no library of yours")
            }
            Self::Interpreter { interpreter, why } => {
                write!(f, "is a script for {}, which {why}", interpreter.display())
            }
        }
    }
}

/// How many interpreters the kernel follows.
const INTERPRETERS: usize = 5;
/// How much of a script the kernel reads.
const LINE_BYTES: usize = 256;
/// What interprets a script that does not say.
const SHELL: &str = "/bin/sh";
const PT_INTERP: u32 = 3;
/// The header of the ELF file that this program is, as far as it must be the same: 64 bits, byte
/// order and version.
const IDENTITY: [u8; 7] = [
    0x7f,
    b'E',
    b'L',
    b'F',
    if cfg!(target_pointer_width = "64") { 2 } else { 1 },
    if cfg!(target_endian = "little") { 1 } else { 2 },
    1,
];
/// `e_machine` of the programs that can load the library.
const MACHINE: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };

/// Checks that a program loads the library. One that cannot be read is taken to load it.
pub(crate) fn check(program: &Path) -> Result<(), Miss> {
    check_interpreted(program, INTERPRETERS)
}

fn check_interpreted(program: &Path, depth: usize) -> Result<(), Miss> {
    let Ok(file) = File::open(program) else { return Ok(()) };
    let mut start = [0; LINE_BYTES];
    let Ok(length) = read_at_most(&file, &mut start, 0) else { return Ok(()) };
    let start = &start[..length];
    if start.starts_with(&IDENTITY[..4]) {
        return if is_privileged(&file) {
            Err(Miss::Privileged)
        } else {
            check_loader(&file, start)
        };
    }
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    let interpreter = interpreter(start);
    check_interpreted(&interpreter, depth)
        .map_err(|why| Miss::Interpreter { interpreter, why: Box::new(why) })
}

fn read_at_most(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], offset + length as u64)? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}

/// The program that interprets a script.
fn interpreter(start: &[u8]) -> PathBuf {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let named = line.strip_prefix(b"#!").unwrap_or_default().trim_ascii();
    let named = named.split(|byte| b" \t".contains(byte)).next().unwrap_or_default();
    if named.is_empty() { PathBuf::from(SHELL) } else { PathBuf::from(OsStr::from_bytes(named)) }
}

/// Whether executing a file gives rights to this process that it lacks.
fn is_privileged(file: &File) -> bool {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2010;
    let Ok(found) = file.metadata() else { return false };
    let is_ignored = fstatvfs(file).is_ok_and(|at| at.f_flag.contains(StatVfsMountFlags::NOSUID));
    let (user, group) = (getuid(), getgid());
    let as_user = found.mode() & SET_USER != 0 && found.uid() != user.as_raw();
    let as_group = found.mode() & SET_GROUP == SET_GROUP && found.gid() != group.as_raw();
    let mut value = [0_u8; 64];
    let has_capabilities =
        !user.is_root() && fgetxattr(file, c"security.capability", &mut value).is_ok();
    !is_ignored && (as_user || as_group || has_capabilities)
}

/// Checks which loader an ELF file names.
fn check_loader(file: &File, header: &[u8]) -> Result<(), Miss> {
    let is_same =
        header.get(..7) == Some(&IDENTITY[..]) && half(header, 18) == Some(MACHINE.into());
    if !is_same {
        return Err(Miss::OtherMachine);
    }
    let Some(loader) = loader(file, header) else { return Err(Miss::Static) };
    let name = loader.file_name().unwrap_or_default();
    if name.as_bytes().starts_with(b"ld-linux") {
        Ok(())
    } else {
        Err(Miss::OtherLoader { loader })
    }
}

/// The loader that the program headers of a 64-bit ELF file name.
fn loader(file: &File, header: &[u8]) -> Option<PathBuf> {
    let (table, size, count) = (word(header, 32)?, half(header, 54)?, half(header, 56)?);
    let mut entry = [0; 56];
    for index in 0..count {
        let at = table.checked_add(index * size)?;
        let is_whole = read_at_most(file, &mut entry, at).is_ok_and(|read| read == entry.len());
        if is_whole && entry[..4] == PT_INTERP.to_ne_bytes() {
            let mut path = vec![0; usize::try_from(word(&entry, 32)?.min(4096)).ok()?];
            read_at_most(file, &mut path, word(&entry, 8)?).ok()?;
            let path = path.split(|&byte| byte == 0).next()?;
            return Some(PathBuf::from(OsStr::from_bytes(path)));
        }
    }
    None
}

fn half(bytes: &[u8], at: usize) -> Option<u64> {
    let half = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_ne_bytes(half).into())
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    /// An ELF file with one program header, for this machine.
    fn elf(loader: Option<&str>) -> Vec<u8> {
        let mut file = IDENTITY.to_vec();
        file.resize(120, 0);
        file[18..20].copy_from_slice(&MACHINE.to_ne_bytes());
        file[32..40].copy_from_slice(&64_u64.to_ne_bytes());
        file[54..56].copy_from_slice(&56_u16.to_ne_bytes());
        file[56..58].copy_from_slice(&1_u16.to_ne_bytes());
        if let Some(loader) = loader {
            file[64..68].copy_from_slice(&PT_INTERP.to_ne_bytes());
            file[72..80].copy_from_slice(&120_u64.to_ne_bytes());
            file[96..104].copy_from_slice(&(loader.len() as u64 + 1).to_ne_bytes());
            file.extend_from_slice(loader.as_bytes());
            file.push(0);
        }
        file
    }

    #[test]
    fn a_program_must_name_the_loader_of_the_gnu_c_library() {
        let place = tempfile::tempdir().expect("there is room");
        let of = |bytes: &[u8]| {
            let program = place.path().join("program");
            fs::write(&program, bytes).expect("there is room");
            check(&program)
        };
        assert_eq!(check(&std::env::current_exe().expect("/proc is mounted")), Ok(()));
        assert_eq!(of(&elf(Some("/gnu/store/ld-linux-x86-64.so.2"))), Ok(()));
        let musl = Miss::OtherLoader { loader: PathBuf::from("/lib/ld-musl-x86_64.so.1") };
        assert_eq!(of(&elf(Some("/lib/ld-musl-x86_64.so.1"))), Err(musl));
        assert_eq!(of(&elf(None)), Err(Miss::Static));
        let mut other = elf(Some("/lib/ld-linux.so.2"));
        other[4] = 1;
        assert_eq!(of(&other), Err(Miss::OtherMachine));
        assert_eq!(of(&elf(None)[..30]), Err(Miss::Static));
        assert_eq!(of(b"\x7fELF"), Err(Miss::OtherMachine));
    }

    #[test]
    fn a_script_is_what_its_interpreter_is() {
        let place = tempfile::tempdir().expect("there is room");
        let make = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            fs::write(&path, bytes).expect("there is room");
            path
        };
        assert_eq!(check(&make("plain", b"echo")), Ok(()));
        assert_eq!(check(&make("empty", b"")), Ok(()));
        assert_eq!(check(&make("perl", b"#! /bin/sh -e\n")), Ok(()));
        let interpreter = make("static", &elf(None));
        let script = make("script", format!("#!{}\n", interpreter.display()).as_bytes());
        let why = Box::new(Miss::Static);
        assert_eq!(check(&script), Err(Miss::Interpreter { interpreter, why }));
        let endless = place.path().join("endless");
        fs::write(&endless, format!("#!{}", endless.display())).expect("there is room");
        assert_eq!(check(&endless), Ok(()), "the kernel refuses it");
    }

    #[test]
    fn a_program_with_rights_of_its_own_loads_nothing() {
        if !getuid().is_root() {
            eprintln!("skipped: a_program_with_rights_of_its_own_loads_nothing: it needs root");
            return;
        }
        // Not in /tmp, which may ignore these bits.
        let place = tempfile::tempdir_in("/var/tmp").expect("there is room");
        let program = place.path().join("program");
        fs::write(&program, elf(Some("/lib/ld-linux"))).expect("there is room");
        let with = |user: u32, group: u32, mode: u32| {
            chown(&program, Some(user), Some(group)).expect("root may");
            fs::set_permissions(&program, Permissions::from_mode(mode)).expect("it is ours");
            check(&program)
        };
        assert_eq!(with(0, 0, 0o6755), Ok(()), "they are the rights that we have");
        assert_eq!(with(1, 1, 0o755), Ok(()));
        assert_eq!(with(1, 0, 0o4755), Err(Miss::Privileged));
        assert_eq!(with(0, 1, 0o2755), Err(Miss::Privileged));
        assert_eq!(with(0, 1, 0o2745), Ok(()), "this bit means something else");
    }
}
