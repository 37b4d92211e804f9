//! Walking a tree: ftw(3) and nftw(3).

use std::collections::HashSet;
use std::ffi::{OsStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use densefs_process::{Base, DenseFs, Errno, Follow, Stat, flags};

use crate::answer::{fail, write_stat};
use crate::arguments::path;
use crate::attached::attached;

/// What a visitor is told about a file, with the numbers of <ftw.h>.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File = 0,
    Directory = 1,
    UnreadableDirectory = 2,
    WithoutStat = 3,
    Link = 4,
    DirectoryAfter = 5,
    DanglingLink = 6,
}

impl Kind {
    /// As ftw(3) says it, which knows fewer.
    fn for_ftw(self) -> c_int {
        match self {
            Self::Link => Self::File as c_int,
            Self::DirectoryAfter => Self::Directory as c_int,
            Self::DanglingLink => Self::WithoutStat as c_int,
            Self::File | Self::Directory | Self::UnreadableDirectory | Self::WithoutStat => {
                self as c_int
            }
        }
    }
}

const PHYSICAL: c_int = 1;
const ONE_MOUNT: c_int = 2;
const CHANGE_DIRECTORY: c_int = 4;
const DEPTH: c_int = 8;
const ACTION: c_int = 16;
const SKIP_SUBTREE: c_int = 2;
const SKIP_SIBLINGS: c_int = 3;

/// `struct FTW`.
#[repr(C)]
pub struct Position {
    /// Where the name begins in the path.
    base: c_int,
    /// How far below the start it is.
    level: c_int,
}

type Visit = unsafe extern "C" fn(*const c_char, *const libc::stat, c_int) -> c_int;
type VisitWithPosition =
    unsafe extern "C" fn(*const c_char, *const libc::stat, c_int, *mut Position) -> c_int;

#[derive(Clone, Copy)]
enum Visitor {
    Plain(Visit),
    WithPosition(VisitWithPosition),
}

/// Why a walk ends early: a call failed, or a visitor has returned something else than 0.
enum Stop {
    Failed(Errno),
    Said(c_int),
}

impl From<Errno> for Stop {
    fn from(why: Errno) -> Self {
        Self::Failed(why)
    }
}

struct Walk<'a> {
    files: &'a DenseFs,
    visitor: Visitor,
    how: c_int,
    /// The path of what is visited.
    path: Vec<u8>,
    position: Position,
    /// The directories that have been entered, if links are followed.
    entered: HashSet<u64>,
}

impl Walk<'_> {
    fn is(&self, flag: c_int) -> bool {
        self.how & flag != 0
    }

    /// What calls name the file by: its name, if the working directory is changed to its directory.
    fn name(&self) -> &Path {
        let start = if self.is(CHANGE_DIRECTORY) { self.position.base } else { 0 };
        let name = &self.path[usize::try_from(start).unwrap_or(0)..];
        Path::new(OsStr::from_bytes(if name.is_empty() { b"/" } else { name }))
    }

    fn visit(&mut self, stat: &Stat, kind: Kind) -> Result<(), Stop> {
        let mut answer = MaybeUninit::zeroed();
        // SAFETY: there is room.
        unsafe { write_stat(stat, answer.as_mut_ptr()) };
        let mut path = self.path.clone();
        path.push(0);
        let path = path.as_ptr().cast();
        // SAFETY: the caller of `dfs_nftw` or `dfs_ftw` guarantees that it may be called.
        let said = unsafe {
            match self.visitor {
                Visitor::Plain(visit) => visit(path, answer.as_ptr(), kind.for_ftw()),
                Visitor::WithPosition(visit) => {
                    visit(path, answer.as_ptr(), kind as c_int, &raw mut self.position)
                }
            }
        };
        if said == 0 { Ok(()) } else { Err(Stop::Said(said)) }
    }

    /// What a file is; a failure is one, if the file is not just unreachable.
    fn look(&self) -> Result<(Stat, Kind), Errno> {
        let look = |follow| self.files.stat_from(Base::Working, self.name(), follow);
        let follow = if self.is(PHYSICAL) { Follow::No } else { Follow::Yes };
        match look(follow) {
            Ok(stat) => {
                let kind = match stat.mode.mode & libc::S_IFMT {
                    libc::S_IFDIR => Kind::Directory,
                    libc::S_IFLNK => Kind::Link,
                    _ => Kind::File,
                };
                Ok((stat, kind))
            }
            Err(Errno::ACCES | Errno::NOENT) => match look(Follow::No) {
                Ok(stat) if stat.mode.mode & libc::S_IFMT == libc::S_IFLNK => {
                    Ok((stat, Kind::DanglingLink))
                }
                found => Ok((found.unwrap_or_default(), Kind::WithoutStat)),
            },
            Err(why) => Err(why),
        }
    }

    /// Visits the file where the walk begins, which must be there, and what is below it.
    fn start(&mut self) -> Result<(), Stop> {
        let follow = if self.is(PHYSICAL) { Follow::No } else { Follow::Yes };
        match self.files.stat_from(Base::Working, self.name(), follow) {
            // Only a link may lead nowhere.
            Ok(_) | Err(Errno::NOENT) => {}
            Err(why) => return Err(why.into()),
        }
        let (stat, kind) = self.look()?;
        if kind == Kind::WithoutStat {
            return Err(Errno::NOENT.into());
        }
        match self.visit_found(&stat, kind) {
            Err(Stop::Said(SKIP_SUBTREE | SKIP_SIBLINGS)) if self.is(ACTION) => Ok(()),
            done => done,
        }
    }

    /// Visits a file, and what is below it.
    fn entry(&mut self) -> Result<(), Stop> {
        let (stat, kind) = self.look()?;
        match self.visit_found(&stat, kind) {
            Err(Stop::Said(SKIP_SUBTREE)) if self.is(ACTION) => Ok(()),
            done => done,
        }
    }

    fn visit_found(&mut self, stat: &Stat, kind: Kind) -> Result<(), Stop> {
        if kind != Kind::Directory {
            self.visit(stat, kind)
        } else if self.is(PHYSICAL) || self.entered.insert(stat.ino) {
            self.directory(stat)
        } else {
            Ok(())
        }
    }

    fn directory(&mut self, stat: &Stat) -> Result<(), Stop> {
        let opened = self.files.open_descriptor(Base::Working, self.name(), flags::DIRECTORY, 0);
        let directory = match opened {
            Ok(directory) => directory,
            Err(Errno::ACCES) => return self.visit(stat, Kind::UnreadableDirectory),
            Err(why) => return Err(why.into()),
        };
        let mut done = if self.is(DEPTH) { Ok(()) } else { self.visit(stat, Kind::Directory) };
        if done.is_ok() {
            done = self.entries(directory);
        }
        self.files.close(directory)?;
        if let Err(Stop::Said(SKIP_SIBLINGS)) = done
            && self.is(ACTION)
        {
            done = Ok(());
        }
        done?;
        if self.is(DEPTH) { self.visit(stat, Kind::DirectoryAfter) } else { Ok(()) }
    }

    /// Visits everything in a directory.
    fn entries(&mut self, directory: u32) -> Result<(), Stop> {
        let all = self.files.list(directory, usize::MAX)?;
        let (length, base) = (self.path.len(), self.position.base);
        if self.is(CHANGE_DIRECTORY) {
            self.files.change_directory_to(directory)?;
        }
        if self.path.last() != Some(&b'/') {
            self.path.push(b'/');
        }
        let start = self.path.len();
        self.position.base = c_int::try_from(start).map_err(|_| Errno::NAMETOOLONG)?;
        self.position.level += 1;
        let mut done = Ok(());
        for one in all {
            self.path.truncate(start);
            self.path.extend_from_slice(&one.name);
            done = self.entry();
            if done.is_ok() && self.is(CHANGE_DIRECTORY) {
                done = self.files.change_directory_to(directory).map_err(Stop::from);
            }
            if done.is_err() {
                break;
            }
        }
        self.path.truncate(length);
        self.position.base = base;
        self.position.level -= 1;
        done
    }
}

/// # Safety
/// `name` must be a C string, and the visitor callable.
unsafe fn walk(name: *const c_char, visitor: Visitor, how: c_int) -> c_int {
    if how & !(PHYSICAL | ONE_MOUNT | CHANGE_DIRECTORY | DEPTH | ACTION) != 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: guaranteed by the caller.
    let done = unsafe { path(name) }
        .map_err(Stop::from)
        .and_then(|name| walk_from(name.as_os_str().as_bytes(), visitor, how));
    match done {
        Ok(()) => 0,
        Err(Stop::Said(said)) => said,
        Err(Stop::Failed(why)) => fail(why.0),
    }
}

fn walk_from(name: &[u8], visitor: Visitor, how: c_int) -> Result<(), Stop> {
    let files = attached()?;
    let mut path = name.to_vec();
    if path.is_empty() {
        return Err(Errno::NOENT.into());
    }
    while path.len() > 1 && path.last() == Some(&b'/') {
        path.pop();
    }
    let base = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let position =
        Position { base: c_int::try_from(base).map_err(|_| Errno::NAMETOOLONG)?, level: 0 };
    let mut walk = Walk { files: &files, visitor, how, path, position, entered: HashSet::new() };
    if how & CHANGE_DIRECTORY == 0 {
        return walk.start();
    }
    let back = files.open_descriptor(Base::Working, Path::new("."), flags::PATH, 0)?;
    let begun = match base {
        0 => Ok(()),
        base => {
            let parent = OsStr::from_bytes(&walk.path[..base]).to_owned();
            files.change_directory(Path::new(&parent))
        }
    };
    let done = begun.map_err(Stop::from).and_then(|()| walk.start());
    let returned = files.change_directory_to(back);
    files.close(back)?;
    done.and(returned.map_err(Stop::from))
}

/// Calls a function for every file of a tree. It needs one descriptor for each directory on the
/// way, however many `_most` allows.
///
/// # Safety
/// `name` must be a C string, and `visit` a function that may be called with these arguments.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_ftw(name: *const c_char, visit: Visit, _most: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { walk(name, Visitor::Plain(visit), 0) }
}

/// Like [`dfs_ftw`], with flags, and a function that is also told where in the tree it is.
///
/// # Safety
/// As for [`dfs_ftw`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_nftw(
    name: *const c_char,
    visit: VisitWithPosition,
    _most: c_int,
    how: c_int,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { walk(name, Visitor::WithPosition(visit), how) }
}
