//! Names in two directories, in a DenseFS, and also in a tmpfs, to check the model against the
//! kernel.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use densefs_process::{Base, DenseFs, Errno, Follow, NewArena, Rename, flags, make};
use rustix::fs::{AtFlags, CWD, Mode, RenameFlags, mkdirat, renameat_with, unlinkat};

use crate::history::{Call, Model, is_explained, overlapping, round};
use crate::{CALLS, Random, THREADS, rounds};

/// Names, half of them in each directory.
const NAMES: usize = 6;
const DIRECTORIES: usize = 2;
const IN_EACH: usize = NAMES / DIRECTORIES;

fn path(name: usize) -> String {
    format!("{}/{}", name / IN_EACH, ["a", "b", "a-name-longer-than-a-cell-holds"][name % IN_EACH])
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Make(usize),
    MakeDirectory(usize),
    Link(usize, usize),
    Remove(usize),
    RemoveDirectory(usize),
    Rename(usize, usize, Rename),
    Stat(usize),
    /// The number of entries and links of a directory.
    Count(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Nothing,
    /// The file's inode number.
    Made(u64),
    /// Its inode number, and how many names it has.
    File(u64, usize),
    Directory,
    Count(usize, usize),
    Fails(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Is {
    Directory,
    File(u64),
}

/// The file or directory that each name refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Names([Option<Is>; NAMES]);

impl Names {
    fn file(&self, ino: u64) -> Outcome {
        let is_it = |is: &&Option<Is>| **is == Some(Is::File(ino));
        Outcome::File(ino, self.0.iter().filter(is_it).count())
    }

    fn make(&mut self, name: usize, outcome: Outcome) -> Outcome {
        match (self.0[name], outcome) {
            (Some(_), _) => Outcome::Fails(libc::EEXIST),
            (None, Outcome::Made(ino)) if self.file(ino) == Outcome::File(ino, 0) => {
                self.0[name] = Some(Is::File(ino));
                outcome
            }
            (None, _) => Outcome::Made(0),
        }
    }

    fn change(&mut self, act: Act) -> Result<(), i32> {
        match act {
            Act::MakeDirectory(name) if self.0[name].is_some() => return Err(libc::EEXIST),
            Act::MakeDirectory(name) => self.0[name] = Some(Is::Directory),
            Act::Link(from, to) => {
                let is = self.0[from].ok_or(libc::ENOENT)?;
                if self.0[to].is_some() {
                    return Err(libc::EEXIST);
                }
                if is == Is::Directory {
                    return Err(libc::EPERM);
                }
                self.0[to] = Some(is);
            }
            Act::Remove(name) => match self.0[name].ok_or(libc::ENOENT)? {
                Is::Directory => return Err(libc::EISDIR),
                Is::File(_) => self.0[name] = None,
            },
            Act::RemoveDirectory(name) => match self.0[name].ok_or(libc::ENOENT)? {
                Is::Directory => self.0[name] = None,
                Is::File(_) => return Err(libc::ENOTDIR),
            },
            Act::Rename(from, to, how) => return self.rename(from, to, how),
            Act::Make(_) | Act::Stat(_) | Act::Count(_) => {}
        }
        Ok(())
    }

    fn rename(&mut self, from: usize, to: usize, how: Rename) -> Result<(), i32> {
        let source = self.0[from].ok_or(libc::ENOENT)?;
        match (how, self.0[to]) {
            (Rename::Exchange, None) => return Err(libc::ENOENT),
            (Rename::NoReplace, Some(_)) => return Err(libc::EEXIST),
            (Rename::Exchange, Some(_)) => {
                self.0.swap(from, to);
                return Ok(());
            }
            (Rename::Replace, Some(_)) if from == to => return Ok(()),
            (Rename::Replace, Some(Is::File(ino))) if source == Is::File(ino) => return Ok(()),
            (Rename::Replace, Some(Is::File(_))) if source == Is::Directory => {
                return Err(libc::ENOTDIR);
            }
            (Rename::Replace, Some(Is::Directory)) if source != Is::Directory => {
                return Err(libc::EISDIR);
            }
            (Rename::Replace, Some(_)) | (Rename::Replace | Rename::NoReplace, None) => {}
            (Rename::Whiteout | Rename::NoReplaceWhiteout, _) => unreachable!("none is drawn"),
        }
        (self.0[from], self.0[to]) = (None, Some(source));
        Ok(())
    }
}

impl Model for Names {
    type Act = Act;
    type Outcome = Outcome;

    fn explains(&mut self, act: &Act, outcome: &Outcome) -> bool {
        let expected = match *act {
            Act::Make(name) => self.make(name, *outcome),
            Act::Stat(name) => match self.0[name] {
                Some(Is::File(ino)) => self.file(ino),
                Some(Is::Directory) => Outcome::Directory,
                None => Outcome::Fails(libc::ENOENT),
            },
            Act::Count(directory) => {
                let names = &self.0[directory * IN_EACH..][..IN_EACH];
                let below = names.iter().filter(|is| **is == Some(Is::Directory)).count();
                Outcome::Count(names.iter().flatten().count(), below + 2)
            }
            Act::MakeDirectory(_)
            | Act::Link(..)
            | Act::Remove(_)
            | Act::RemoveDirectory(_)
            | Act::Rename(..) => {
                self.change(*act).map_or_else(Outcome::Fails, |()| Outcome::Nothing)
            }
        };
        expected == *outcome
    }
}

fn draw(random: &mut Random) -> Act {
    let (one, other) = (random.index(NAMES), random.index(NAMES));
    let how = [Rename::Replace, Rename::NoReplace, Rename::Exchange][random.index(3)];
    match random.index(16) {
        0..=2 => Act::Make(one),
        3 => Act::MakeDirectory(one),
        4 | 5 => Act::Link(one, other),
        6 | 7 => Act::Remove(one),
        8 => Act::RemoveDirectory(one),
        9..=11 => Act::Rename(one, other, how),
        12..=14 => Act::Stat(one),
        _ => Act::Count(one % DIRECTORIES),
    }
}

/// Makes a call to a DenseFS.
fn act(files: &DenseFs, act: &Act) -> Outcome {
    let nothing = |()| Outcome::Nothing;
    let outcome = match *act {
        Act::Make(name) => files
            .open(path(name), flags::CREATE | flags::EXCLUSIVE | flags::WRITE, 0o600)
            .and_then(|file| Ok(Outcome::Made(file.stat()?.ino))),
        Act::MakeDirectory(name) => files.make_directory(path(name), 0o700).map(nothing),
        Act::Link(from, to) => files.link(path(from), path(to)).map(nothing),
        Act::Remove(name) => files.remove(path(name)).map(nothing),
        Act::RemoveDirectory(name) => files.remove_directory(path(name)).map(nothing),
        Act::Rename(from, to, how) => {
            let (from, to) = (path(from), path(to));
            let (from, to) = (Path::new(&from), Path::new(&to));
            files.rename_from(Base::Working, from, Base::Working, to, how).map(nothing)
        }
        Act::Stat(name) => {
            files.stat_from(Base::Working, Path::new(&path(name)), Follow::No).map(|stat| {
                let links = usize::try_from(stat.links).expect("there are few");
                let is_directory = stat.mode.is_directory();
                if is_directory { Outcome::Directory } else { Outcome::File(stat.ino, links) }
            })
        }
        Act::Count(directory) => files.stat(directory.to_string()).map(|stat| {
            let entries = usize::try_from(stat.size).expect("there are few");
            Outcome::Count(entries, usize::try_from(stat.links).expect("there are few"))
        }),
    };
    outcome.unwrap_or_else(|Errno(why)| Outcome::Fails(why))
}

/// Makes the call in a directory outside. In the kernel, linking to a file may succeed although the
/// file is renamed meanwhile, and a file may be seen without a name. So there are no links here,
/// and the number of names is ignored.
fn act_outside(place: &Path, act: &Act) -> Outcome {
    let at = |name: usize| -> PathBuf { place.join(path(name)) };
    let ours = |done: rustix::io::Result<()>| {
        done.map_or_else(|why| Outcome::Fails(why.raw_os_error()), |()| Outcome::Nothing)
    };
    let fails =
        |why: std::io::Error| Outcome::Fails(why.raw_os_error().expect("it is the system's"));
    match *act {
        Act::Make(name) => fs::File::create_new(at(name))
            .and_then(|file| Ok(Outcome::Made(file.metadata()?.ino())))
            .unwrap_or_else(fails),
        Act::MakeDirectory(name) => ours(mkdirat(CWD, at(name), Mode::RWXU)),
        Act::Remove(name) => ours(unlinkat(CWD, at(name), AtFlags::empty())),
        Act::RemoveDirectory(name) => ours(unlinkat(CWD, at(name), AtFlags::REMOVEDIR)),
        Act::Rename(from, to, how) => {
            let how = match how {
                Rename::Replace => RenameFlags::empty(),
                Rename::NoReplace => RenameFlags::NOREPLACE,
                Rename::Exchange => RenameFlags::EXCHANGE,
                Rename::Whiteout => RenameFlags::WHITEOUT,
                Rename::NoReplaceWhiteout => RenameFlags::NOREPLACE | RenameFlags::WHITEOUT,
            };
            ours(renameat_with(CWD, at(from), CWD, at(to), how))
        }
        Act::Stat(name) => fs::symlink_metadata(at(name)).map_or_else(fails, |metadata| {
            if metadata.is_dir() { Outcome::Directory } else { Outcome::File(metadata.ino(), 1) }
        }),
        Act::Link(..) | Act::Count(_) => Outcome::Nothing,
    }
}

/// Makes calls in rounds, each of which must be explained from the state before it.
fn explain(draw: impl Fn(&mut Random) -> Act, act: impl Fn(&Act) -> Outcome + Sync) {
    let (mut before, mut met, mut did) = (Names::default(), 0, 0);
    for number in 0..rounds() {
        let script = |thread| {
            let mut random = Random::new(number, thread);
            (0..CALLS).map(|_| draw(&mut random)).collect()
        };
        let mut calls = round::<Names>((0..THREADS).map(script).collect(), |_, one| act(one));
        met += overlapping(&calls);
        did += calls.iter().filter(|call| !matches!(call.outcome, Outcome::Fails(_))).count();
        // The final state is part of the history.
        let mut after = Names::default();
        for name in 0..NAMES {
            let outcome = act(&Act::Stat(name));
            let at = u64::MAX - 2 * (NAMES - name) as u64;
            calls.push(Call { began: at, over: at + 1, act: Act::Stat(name), outcome });
            after.0[name] = match outcome {
                Outcome::File(ino, _) => Some(Is::File(ino)),
                Outcome::Directory => Some(Is::Directory),
                Outcome::Nothing | Outcome::Made(_) | Outcome::Count(..) | Outcome::Fails(_) => {
                    None
                }
            };
        }
        calls.sort_by_key(|call| call.began);
        assert!(is_explained(&before, &calls), "round {number}, from {before:?}: {calls:#?}");
        before = after;
    }
    println!("{} rounds, {met} calls within others, {did} that did something", rounds());
    assert!(met > 0 && did > 0);
}

#[test]
fn names_change_one_after_another() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena::new(16 << 20, root)).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    for directory in 0..DIRECTORIES {
        files.make_directory(directory.to_string(), 0o700).expect("there is room");
    }
    explain(draw, |one| act(&files, one));
    files.check().expect("there is memory").unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn the_model_of_names_explains_what_a_tmpfs_does() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    for directory in 0..DIRECTORIES {
        fs::create_dir(place.path().join(directory.to_string())).expect("there is room");
    }
    let draw = |random: &mut Random| {
        let act = draw(random);
        if let Act::Link(one, _) | Act::Count(one) = act { Act::Stat(one) } else { act }
    };
    explain(draw, |one| act_outside(place.path(), one));
}

#[test]
fn names_that_cannot_be_are_rejected() {
    let call = |began, over, act, outcome| Call::<Names> { began, over, act, outcome };
    let explained = |calls: &[Call<Names>]| is_explained(&Names::default(), calls);
    // Two calls create the same name.
    let made =
        [call(1, 4, Act::Make(0), Outcome::Made(8)), call(2, 3, Act::Make(0), Outcome::Made(9))];
    assert!(!explained(&made));
    assert!(explained(&made[..1]));
    // During a rename, the file is seen under neither name.
    let rename = Act::Rename(0, 3, Rename::Replace);
    let missing = Outcome::Fails(libc::ENOENT);
    let moved = |seen| {
        [
            call(1, 2, Act::Make(0), Outcome::Made(8)),
            call(3, 8, rename, Outcome::Nothing),
            call(4, 5, Act::Stat(0), missing),
            call(6, 7, Act::Stat(3), seen),
        ]
    };
    assert!(explained(&moved(Outcome::File(8, 1))));
    assert!(!explained(&moved(missing)));
    assert!(!explained(&moved(Outcome::File(8, 2))));
}
