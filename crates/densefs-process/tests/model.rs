//! Makes the same calls to a DenseFS and to a tmpfs, and compares every result, errno, stat field,
//! listing and content.
//!
//! `FSPRISM_MODEL_CALLS` sets the number of calls.

#[path = "../../densefs/src/random.rs"]
mod random;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File as SystemFile;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use densefs_process::{
    Base, DenseFs, Errno, Follow, NewArena, Rename, SetAttribute, XattrTarget, flags, make,
};
use rustix::fs::{
    AtFlags, Dir, FallocateFlags, Mode, OFlags, RenameFlags, Stat, XattrFlags, linkat, mkdirat,
    openat, readlinkat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno as SystemErrno;

use random::Random;

impl Random {
    fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        let bound = u64::try_from(choices.len()).expect("it is small");
        choices[usize::try_from(self.below(bound)).expect("it is small")]
    }

    /// A path of up to four names, from a small set so that calls interact.
    fn path(&mut self) -> String {
        const LONG: &str = "a-name-of-more-bytes-than-a-cell-holds";
        let mut path = String::new();
        for _ in 0..=self.below(3) {
            if !path.is_empty() {
                path.push_str(self.choose(&["/", "/", "/", "//", "/./"]));
            }
            path.push_str(self.choose(&["a", "b", "c", "d", "e", LONG]));
            if self.below(12) == 0 {
                path.push_str("/../");
                path.push_str(self.choose(&["a", "b", "c"]));
            }
        }
        if self.below(10) == 0 {
            path.push('/');
        }
        path
    }
}

/// The result of a call, in the same form for both sides.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Length(usize),
    Bytes(Vec<u8>),
    /// Mode, links, size of anything except directories, owner and group.
    Stat(u32, u64, u64, u32, u32),
    /// Names and their types.
    List(BTreeSet<(Vec<u8>, u32)>),
}

type Result<T> = std::result::Result<T, i32>;

fn ours<T>(result: std::result::Result<T, Errno>) -> Result<T> {
    result.map_err(|why| why.0)
}

fn theirs<T>(result: std::result::Result<T, SystemErrno>) -> Result<T> {
    result.map_err(SystemErrno::raw_os_error)
}

/// A DenseFS, and a directory of a tmpfs.
struct Both {
    files: DenseFs,
    system: OwnedFd,
    /// The current call, for messages.
    said: RefCell<String>,
}

const DIRECTORY: u32 = 0o040_000;
const PUNCH: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

impl Both {
    fn say(&self, what: String) {
        self.said.replace(what);
    }

    fn stat(&self, path: &str, follow: bool) -> (Result<Outcome>, Result<Outcome>) {
        self.say(format!("stat {path}, follow: {follow}"));
        let how = if follow { Follow::Yes } else { Follow::No };
        let ours = ours(self.files.stat_from(Base::Working, Path::new(path), how)).map(|stat| {
            let size = if stat.mode.is_directory() { 0 } else { stat.size };
            Outcome::Stat(stat.mode.mode, stat.links.into(), size, stat.mode.uid, stat.mode.gid)
        });
        let how = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let theirs = theirs(statat(&self.system, path, how)).map(|stat: Stat| {
            let is_directory = stat.st_mode & 0o170_000 == DIRECTORY;
            let size = if is_directory { 0 } else { stat.st_size.cast_unsigned() };
            Outcome::Stat(stat.st_mode, stat.st_nlink, size, stat.st_uid, stat.st_gid)
        });
        (ours, theirs)
    }

    /// Opens a file, does something with it, and closes it.
    fn open(
        &self,
        path: &str,
        how: u32,
        act: impl Fn(&DenseFs, u32) -> std::result::Result<Outcome, Errno>,
        same: impl Fn(&SystemFile) -> std::result::Result<Outcome, SystemErrno>,
    ) -> (Result<Outcome>, Result<Outcome>) {
        self.say(format!("open {path} for {how:o}"));
        let opened = ours(self.files.open(path, how, 0o640));
        let ours = opened.and_then(|file| ours(act(&self.files, file.descriptor())));
        let flags = OFlags::from_bits_retain(how);
        let opened = theirs(openat(&self.system, path, flags, Mode::from_raw_mode(0o640)));
        let theirs = opened.and_then(|file| theirs(same(&SystemFile::from(file))));
        (ours, theirs)
    }

    fn write(&self, random: &mut Random) -> (Result<Outcome>, Result<Outcome>) {
        let path = random.path();
        let how = random.choose(&[flags::WRITE, flags::READ_WRITE])
            | random.choose(&[0, flags::CREATE, flags::CREATE])
            | random.choose(&[0, 0, flags::EXCLUSIVE])
            | random.choose(&[0, 0, flags::TRUNCATE])
            | random.choose(&[0, 0, flags::APPEND])
            | random.choose(&[0, 0, 0, flags::NO_FOLLOW]);
        let offset = random.choose(&[0, 1, 63, 64, 4_000, 4_096, 20_000, 100_000]);
        let length = usize::try_from(random.below(9_000)).expect("it is small");
        let bytes = vec![random.choose(b"abcdefgh"); random.choose(&[length, 10, 0])];
        self.open(
            &path,
            how,
            |files, file| files.write_to(file, offset, &bytes).map(Outcome::Length),
            |file| rustix::io::pwrite(file, &bytes, offset).map(Outcome::Length),
        )
    }

    fn read(&self, random: &mut Random) -> (Result<Outcome>, Result<Outcome>) {
        let path = random.path();
        let how = random.choose(&[0, 0, flags::WRITE, flags::DIRECTORY, flags::NO_FOLLOW]);
        let offset = random.choose(&[0, 0, 0, 63, 4_095, 20_000]);
        self.open(
            &path,
            how,
            |files, file| {
                let mut bytes = vec![0xff; 130_000];
                let length = files.read_from(file, offset, &mut bytes)?;
                bytes.truncate(length);
                Ok(Outcome::Bytes(bytes))
            },
            |file| {
                let mut bytes = vec![0xff; 130_000];
                let length = rustix::io::pread(file, &mut bytes, offset)?;
                bytes.truncate(length);
                Ok(Outcome::Bytes(bytes))
            },
        )
    }

    fn list(&self, random: &mut Random) -> (Result<Outcome>, Result<Outcome>) {
        let path = random.path();
        self.open(
            &path,
            flags::DIRECTORY,
            |files, file| {
                let found = files.list(file, usize::MAX)?.into_iter();
                Ok(Outcome::List(found.map(|one| (one.name, one.type_bits)).collect()))
            },
            |file| {
                let mut names = BTreeSet::new();
                for entry in Dir::read_from(file)? {
                    let entry = entry?;
                    let name = entry.file_name().to_bytes().to_vec();
                    if !matches!(&name[..], b"." | b"..") {
                        names.insert((name, entry.file_type().as_raw_mode()));
                    }
                }
                Ok(Outcome::List(names))
            },
        )
    }

    fn change(&self, random: &mut Random) -> (Result<Outcome>, Result<Outcome>) {
        let (path, other) = (random.path(), random.path());
        let (one, two) = (Path::new(&path), Path::new(&other));
        let nothing = |()| Outcome::Nothing;
        let kind = random.below(12);
        self.say(format!("change {kind}: {path}, {other}"));
        let (ours_did, theirs_did) = match kind {
            0..=2 => (
                ours(self.files.make_directory(one, 0o750)),
                theirs(mkdirat(&self.system, one, Mode::from_raw_mode(0o750))),
            ),
            3 => (
                ours(self.files.remove_directory(one)),
                theirs(unlinkat(&self.system, one, AtFlags::REMOVEDIR)),
            ),
            4 | 5 => (
                ours(self.files.remove(one)),
                theirs(unlinkat(&self.system, one, AtFlags::empty())),
            ),
            6 => (
                ours(self.files.link(one, two)),
                theirs(linkat(&self.system, one, &self.system, two, AtFlags::empty())),
            ),
            7 => {
                let target = other.replace("/../", "/");
                (
                    ours(self.files.make_link(&target, one)),
                    theirs(symlinkat(&target[..], &self.system, one)),
                )
            }
            8 => {
                let size = random.choose(&[0, 1, 64, 4_096, 5_000, 90_000]);
                let cut = self.open(
                    &path,
                    flags::WRITE,
                    |files, file| files.truncate_descriptor(file, size).map(|()| Outcome::Nothing),
                    |file| rustix::fs::ftruncate(file, size).map(|()| Outcome::Nothing),
                );
                return cut;
            }
            _ => {
                let how = random.choose(&[
                    (Rename::Replace, RenameFlags::empty()),
                    (Rename::Replace, RenameFlags::empty()),
                    (Rename::NoReplace, RenameFlags::NOREPLACE),
                    (Rename::Exchange, RenameFlags::EXCHANGE),
                    (Rename::Whiteout, RenameFlags::WHITEOUT),
                ]);
                let working = Base::Working;
                (
                    ours(self.files.rename_from(working, one, working, two, how.0)),
                    theirs(renameat_with(&self.system, one, &self.system, two, how.1)),
                )
            }
        };
        (ours_did.map(nothing), theirs_did.map(nothing))
    }

    fn link_target(&self, random: &mut Random) -> (Result<Outcome>, Result<Outcome>) {
        let path = random.path();
        self.say(format!("read link {path}"));
        let ours = ours(self.files.read_link(&path));
        let ours = ours.map(|target| Outcome::Bytes(target.as_os_str().as_bytes().to_vec()));
        let theirs = theirs(readlinkat(&self.system, &path[..], Vec::new()));
        (ours, theirs.map(|target| Outcome::Bytes(target.into_bytes())))
    }

    /// Allocates space, or punches a hole.
    fn space(&self, random: &mut Random) -> (Result<Outcome>, Result<Outcome>) {
        let path = random.path();
        let how =
            random.choose(&[FallocateFlags::empty(), FallocateFlags::KEEP_SIZE, PUNCH, PUNCH]);
        let offset = random.choose(&[0, 1, 64, 4_000, 4_096, 8_192, 20_000]);
        let length = random.choose(&[0, 1, 100, 4_096, 5_000, 30_000]);
        let access = random.choose(&[flags::READ_WRITE, flags::READ_WRITE, flags::DIRECTORY]);
        let outcome = self.open(
            &path,
            access,
            |files, file| {
                match how {
                    PUNCH => files.punch(file, offset, length),
                    how => files.allocate(file, offset, length, !how.is_empty()),
                }?;
                Ok(Outcome::Nothing)
            },
            |file| rustix::fs::fallocate(file, how, offset, length).map(|()| Outcome::Nothing),
        );
        self.say(format!("{how:?} of {length} from {offset} in {path}"));
        outcome
    }

    fn attributes(&self, random: &mut Random) -> (Result<Outcome>, Result<Outcome>) {
        let path = random.path();
        let kind = random.below(5);
        let name =
            random.choose(&["trusted.a", "trusted.a", "trusted.long-name", "odd", "trusted."]);
        let value = vec![random.choose(b"abc"); random.choose(&[0, 1, 100, 5_000])];
        self.say(format!("attribute {name} of {path}, {kind}"));
        let (ours_of, theirs_at) =
            (XattrTarget::Named(Path::new(&path), Follow::Yes), self.at(&path));
        let (mut one, mut two) = (vec![0; 10_000], vec![0; 10_000]);
        match kind {
            0 | 1 => {
                let how = random.choose(&[
                    (SetAttribute::Any, XattrFlags::empty()),
                    (SetAttribute::New, XattrFlags::CREATE),
                    (SetAttribute::Present, XattrFlags::REPLACE),
                ]);
                let did = self.files.set_attribute(ours_of, name.as_bytes(), &value, how.0);
                let same = rustix::fs::setxattr(&theirs_at, name, &value, how.1);
                (ours(did).map(|()| Outcome::Nothing), theirs(same).map(|()| Outcome::Nothing))
            }
            2 => {
                let did = self.files.attribute(ours_of, name.as_bytes(), &mut one);
                let same = rustix::fs::getxattr(&theirs_at, name, &mut two);
                let outcome = |length, bytes: &[u8]| Outcome::Bytes(bytes[..length].to_vec());
                (ours(did).map(|n| outcome(n, &one)), theirs(same).map(|n| outcome(n, &two)))
            }
            3 => {
                let did = self.files.remove_attribute(ours_of, name.as_bytes());
                let same = rustix::fs::removexattr(&theirs_at, name);
                (ours(did).map(|()| Outcome::Nothing), theirs(same).map(|()| Outcome::Nothing))
            }
            _ => {
                let did = self.files.attribute_names(ours_of, &mut one);
                let same = rustix::fs::listxattr(&theirs_at, &mut two);
                let outcome = |length, bytes: &[u8]| {
                    let names = bytes[..length].split(|&byte| byte == 0);
                    let names = names.filter(|name| !name.starts_with(b"security."));
                    Outcome::List(names.map(|name| (name.to_vec(), 0)).collect())
                };
                (ours(did).map(|n| outcome(n, &one)), theirs(same).map(|n| outcome(n, &two)))
            }
        }
    }

    /// A path in the tmpfs, for calls without a directory argument.
    fn at(&self, path: &str) -> String {
        format!("/proc/self/fd/{}/{path}", self.system.as_fd().as_raw_fd())
    }

    fn call(&self, random: &mut Random) -> (Result<Outcome>, Result<Outcome>) {
        match random.below(18) {
            16 => self.space(random),
            17 => self.attributes(random),
            0..=6 => self.change(random),
            7..=9 => self.write(random),
            10 | 11 => self.read(random),
            12 => self.list(random),
            13 => self.link_target(random),
            kind => {
                let path = random.path();
                self.stat(&path, kind == 14)
            }
        }
    }
}

#[test]
fn calls_give_what_those_of_tmpfs_give() {
    let calls = std::env::var("FSPRISM_MODEL_CALLS").ok();
    let calls: u64 = calls.map_or(200_000, |text| text.parse().expect("it is a number"));
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let tree = place.path().join("tree");
    std::fs::create_dir(&tree).expect("the place is ours");
    let system = openat(rustix::fs::CWD, &tree, OFlags::DIRECTORY | OFlags::PATH, Mode::empty());
    let system = system.expect("it is there");
    let arena = place.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena::new(1 << 30, root)).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    let both = Both { files, system, said: RefCell::default() };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut did = 0_u64;
    for call in 0..calls {
        let (ours, theirs) = both.call(&mut random);
        did += u64::from(theirs.is_ok());
        let said = both.said.borrow();
        assert_eq!(short(&ours), short(&theirs), "call {call}: {said}");
        assert!(ours == theirs, "call {call}, other bytes: {said}");
    }
    assert!(did > calls / 20, "only {did} of {calls} calls did something");
    let report = both.files.check().expect("there is memory");
    report.unwrap_or_else(|why| panic!("{why}"));
}

/// A result for messages, without all its bytes.
fn short(result: &Result<Outcome>) -> String {
    let mut text = format!("{result:?}");
    text.truncate(300);
    text
}
