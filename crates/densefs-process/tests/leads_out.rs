//! Paths lead out of a file system by links and `..` exactly where the system says that they lead
//! out of a directory of a tmpfs: by openat2(2) with `RESOLVE_BENEATH`.
//!
//! `FSPRISM_MODEL_CALLS` sets the number of calls.

#[path = "../../densefs/src/random.rs"]
mod random;

use std::os::fd::OwnedFd;
use std::path::Path;

use densefs_process::{
    Base, DenseFs, Errno, Follow, NewArena, NewTimes, Owner, Rename, XattrTarget, flags, make,
};
use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, ResolveFlags, linkat, mkdirat, openat, openat2, readlinkat,
    renameat_with, symlinkat, unlinkat,
};
use rustix::io::Errno as SystemErrno;

use random::Random;

const DIRECTORY: u32 = 0o040_000;
const TYPE: u32 = 0o170_000;

impl Random {
    fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        let bound = u64::try_from(choices.len()).expect("it is small");
        choices[usize::try_from(self.below(bound)).expect("it is small")]
    }

    /// A relative path of up to four names, from a small set.
    fn path(&mut self) -> String {
        let names: Vec<_> = (0..=self.below(4))
            .map(|_| self.choose(&["a", "b", "c", "d", "e", "a", "b", "c", "d", "..", "."]))
            .collect();
        let mut path = names.join(self.choose(&["/", "/", "/", "//"]));
        if self.below(10) == 0 {
            path.push('/');
        }
        path
    }

    /// The target of a symbolic link.
    fn target(&mut self) -> String {
        let path = self.path();
        self.choose(&["", "", "", "/", "../", "../../"]).to_owned() + &path
    }
}

/// The path to the last name of a path, with a slash: it must be a directory.
fn parent_of(path: &str) -> &str {
    let whole = path.trim_end_matches('/');
    whole.rfind('/').map_or(".", |slash| &whole[..=slash])
}

/// What a call came to: 0, or its error.
fn number<T>(done: Result<T, Errno>) -> i32 {
    done.map_or_else(|why| why.0, |_| 0)
}

/// The same for the system.
fn expected<T>(done: Result<T, SystemErrno>) -> i32 {
    match done.map_err(SystemErrno::raw_os_error) {
        Ok(_) => 0,
        // It says so of paths that lead out.
        Err(libc::EXDEV) => Errno::OUTSIDE.0,
        Err(why) => why,
    }
}

/// A DenseFS, and a directory of a tmpfs.
struct Both {
    files: DenseFs,
    system: OwnedFd,
}

impl Both {
    fn beneath(&self, path: &str, how: OFlags) -> Result<OwnedFd, SystemErrno> {
        let mode = Mode::from_raw_mode(if how.contains(OFlags::CREATE) { 0o640 } else { 0 });
        let how = how | OFlags::CLOEXEC;
        // Whoever renames or mounts anywhere on the machine while the system looks at a `..` makes
        // it say EAGAIN, before it has done anything.
        loop {
            match openat2(&self.system, path, how, mode, ResolveFlags::BENEATH) {
                Err(SystemErrno::AGAIN) => std::thread::yield_now(),
                done => return done,
            }
        }
    }

    /// Whether the system finds what a path names.
    fn finds(&self, path: &str, follow: Follow) -> Result<OwnedFd, SystemErrno> {
        let how =
            if follow == Follow::Yes { OFlags::PATH } else { OFlags::PATH | OFlags::NOFOLLOW };
        self.beneath(path, how)
    }

    /// Makes a call of the system unless a path that it walks leads out.
    fn unless<T>(
        &self,
        walked: &[(&str, Follow)],
        call: impl FnOnce() -> Result<T, SystemErrno>,
    ) -> i32 {
        for &(path, follow) in walked {
            match self.finds(path, follow) {
                Err(SystemErrno::XDEV) => return Errno::OUTSIDE.0,
                // The call will find that out as well.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        expected(call())
    }

    fn stat(&self, path: &str, follow: Follow) -> (i32, i32) {
        let ours = self.files.stat_from(Base::Working, Path::new(path), follow);
        let theirs = self.finds(path, follow);
        if let (Ok(ours), Ok(theirs)) = (&ours, &theirs) {
            let stat = rustix::fs::fstat(theirs).expect("it is open");
            assert_eq!(ours.mode.mode & TYPE, stat.st_mode & TYPE);
            let (size, links) = (stat.st_size.cast_unsigned(), stat.st_nlink);
            let is_directory = ours.mode.mode & TYPE == DIRECTORY;
            assert!(is_directory || (ours.size, u64::from(ours.links)) == (size, links));
        }
        (number(ours), expected(theirs))
    }

    fn open(&self, path: &str, how: u32) -> (i32, i32) {
        let flags = OFlags::from_bits_retain(how);
        let mut theirs = expected(self.beneath(path, flags));
        let is_above = path.trim_end_matches('/').rsplit('/').next() == Some("..");
        let is_created = how & flags::CREATE != 0 && is_above && theirs == Errno::OUTSIDE.0;
        if is_created && self.finds(parent_of(path), Follow::Yes).is_ok() {
            // That is a directory, wherever it is.
            let is_exclusive = how & flags::EXCLUSIVE != 0;
            theirs = if is_exclusive { Errno::EXIST } else { Errno::ISDIR }.0;
        }
        (number(self.files.open(path, how, 0o640)), theirs)
    }

    /// A call that changes names.
    fn change(&self, kind: u64, path: &str, other: &str) -> (i32, i32) {
        let (files, system, working) = (&self.files, &self.system, Base::Working);
        let (one, two) = (Path::new(path), Path::new(other));
        let (parent, parent_of_other) = (parent_of(path), parent_of(other));
        let mode = Mode::from_raw_mode(0o750);
        match kind {
            0..=2 => (
                number(files.make_directory(one, 0o750)),
                self.unless(&[(parent, Follow::Yes)], || mkdirat(system, one, mode)),
            ),
            3 => (
                number(files.remove_directory(one)),
                self.unless(&[(parent, Follow::Yes)], || unlinkat(system, one, AtFlags::REMOVEDIR)),
            ),
            4 => (
                number(files.remove(one)),
                self.unless(&[(parent, Follow::Yes)], || unlinkat(system, one, AtFlags::empty())),
            ),
            5 | 6 => {
                let follow = if kind == 5 { Follow::Yes } else { Follow::No };
                let how = if kind == 5 { AtFlags::SYMLINK_FOLLOW } else { AtFlags::empty() };
                let walked = [(path, follow), (parent_of_other, Follow::Yes)];
                (
                    number(files.link_from(working, one, working, two, follow)),
                    self.unless(&walked, || linkat(system, one, system, two, how)),
                )
            }
            _ => {
                let how = [
                    (Rename::Replace, RenameFlags::empty()),
                    (Rename::NoReplace, RenameFlags::NOREPLACE),
                    (Rename::Exchange, RenameFlags::EXCHANGE),
                ][usize::try_from(kind % 3).expect("it is small")];
                let walked = [(parent, Follow::Yes), (parent_of_other, Follow::Yes)];
                (
                    number(files.rename_from(working, one, working, two, how.0)),
                    self.unless(&walked, || renameat_with(system, one, system, two, how.1)),
                )
            }
        }
    }

    /// A call that changes nothing, or nothing that is looked at.
    fn use_file(&self, kind: u64, path: &str) -> (i32, i32) {
        let (files, working, name) = (&self.files, Base::Working, Path::new(path));
        let times = NewTimes {
            accessed: densefs_process::NewTime::Same,
            changed: densefs_process::NewTime::Now,
        };
        let owner = Owner { uid: Some(0), gid: None };
        let found = || expected(self.finds(path, Follow::Yes));
        match kind {
            0 => (number(files.set_mode(working, name, 0o755)), found()),
            1 => (number(files.set_owner(working, name, Follow::Yes, owner)), found()),
            2 => (number(files.set_times(working, name, Follow::Yes, times)), found()),
            3 => (number(files.check_access(working, name, 0)), found()),
            4 => {
                let target = XattrTarget::Named(name, Follow::Yes);
                (number(files.attribute_names(target, &mut [0; 64])), found())
            }
            5 => {
                let done = files.change_directory(name);
                files.change_directory("/").expect("it is there");
                (number(done), expected(self.beneath(path, OFlags::PATH | OFlags::DIRECTORY)))
            }
            6 => {
                let walked = [(path, Follow::No)];
                let theirs = self.unless(&walked, || readlinkat(&self.system, path, Vec::new()));
                (number(files.read_link(name)), theirs)
            }
            _ => {
                let how = OFlags::WRONLY;
                (number(files.truncate(name, 0)), expected(self.beneath(path, how)))
            }
        }
    }

    fn call(&self, random: &mut Random, said: &mut String) -> (i32, i32) {
        let (path, other) = (random.path(), random.path());
        let kind = random.below(16);
        *said = format!("call {kind} of {path}, {other}");
        match kind {
            0..=2 => self.stat(&path, random.choose(&[Follow::Yes, Follow::No])),
            3..=6 => {
                let how = random.choose(&[0, flags::READ_WRITE, flags::READ_WRITE, flags::PATH])
                    | random.choose(&[0, flags::NO_FOLLOW, flags::DIRECTORY]);
                let is_simple = how & (flags::PATH | flags::DIRECTORY) == 0;
                let creates = [0, flags::CREATE, flags::CREATE, flags::CREATE | flags::EXCLUSIVE];
                let how = how | if is_simple { random.choose(&creates) } else { 0 };
                *said = format!("open {path} for {how:o}");
                self.open(&path, how)
            }
            7..=10 => {
                let kind = random.below(13);
                *said = format!("change {kind} of {path}, {other}");
                self.change(kind, &path, &other)
            }
            11 | 12 => {
                let target = random.target();
                *said = format!("link from {path} to {target}");
                let walked = [(parent_of(&path), Follow::Yes)];
                (
                    number(self.files.make_link(&target, &path)),
                    self.unless(&walked, || symlinkat(&target[..], &self.system, &path[..])),
                )
            }
            _ => {
                let kind = random.below(8);
                *said = format!("use {kind} of {path}");
                self.use_file(kind, &path)
            }
        }
    }
}

#[test]
fn paths_lead_out_where_the_system_s_do() {
    let calls = std::env::var("FSPRISM_MODEL_CALLS").ok();
    let calls: u64 = calls.map_or(200_000, |text| text.parse().expect("it is a number"));
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let tree = place.path().join("tree");
    std::fs::create_dir(&tree).expect("the place is ours");
    let system = openat(rustix::fs::CWD, &tree, OFlags::DIRECTORY | OFlags::PATH, Mode::empty());
    let system = system.expect("it is there");
    let files = new_files(place.path());
    files.lead_out();
    let both = Both { files, system };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut did, mut led_out) = (0_u64, 0_u64);
    let mut said = String::new();
    for call in 0..calls {
        let (ours, theirs) = both.call(&mut random, &mut said);
        assert_eq!(ours, theirs, "call {call}: {said}");
        did += u64::from(theirs == 0);
        led_out += u64::from(theirs == Errno::OUTSIDE.0);
    }
    assert!(did > calls / 20, "only {did} of {calls} calls did something");
    assert!(led_out > calls / 20, "only {led_out} of {calls} calls led out");
    let report = both.files.check().expect("there is memory");
    report.unwrap_or_else(|why| panic!("{why}"));
}

fn new_files(place: &Path) -> DenseFs {
    let arena = place.join("arena");
    make(&arena, &NewArena::new(1 << 30, DenseFs::new_root(0o755))).expect("there is room");
    DenseFs::attach(&arena).expect("it was made")
}

/// Where a walk begins does not matter, and the paths of calls are the file system's own.
#[test]
fn only_links_and_dots_lead_out() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let files = new_files(place.path());
    files.make_directory("/one", 0o755).expect("there is room");
    files.make_directory("/one/two", 0o755).expect("there is room");
    files.make_link("/one", "/absolute").expect("there is room");
    files.make_link("../one", "/one/relative").expect("there is room");
    files.make_link("../../one", "/one/above").expect("there is room");
    let two = files.open("/one/two", flags::DIRECTORY, 0).expect("it was made");
    files.change_directory("/one").expect("it was made");
    let within = Base::Descriptor(two.descriptor());
    let paths = [
        (Base::Working, "/one/two", true),
        (Base::Working, "/absolute", false),
        (Base::Working, "/../one", false),
        (Base::Working, "/..", false),
        (Base::Working, "/one/..", true),
        (Base::Working, "..", true),
        (Base::Working, "../..", false),
        (Base::Working, "relative", true),
        (Base::Working, "above", false),
        (within, "../../one", true),
        (within, "../..", true),
        (within, "../../..", false),
        (within, "../../absolute/two", false),
        (within, "../relative/two", true),
        (within, "../above", false),
        (within, "/absolute", false),
    ];
    let found = |(base, path, _)| files.stat_from(base, Path::new(path), Follow::Yes).map(drop);
    // As long as nobody wants that, nothing is outside.
    assert!(!files.may_lead_out());
    for path in paths {
        assert_eq!(found(path), Ok(()), "{}", path.1);
    }
    files.lead_out();
    assert!(files.may_lead_out());
    for path in paths {
        let expected = if path.2 { Ok(()) } else { Err(Errno::OUTSIDE) };
        assert_eq!(found(path), expected, "{}", path.1);
    }
    // A link itself is within, and what lists the root finds that as its parent.
    files.stat_from(Base::Working, Path::new("/absolute"), Follow::No).expect("it is there");
    let root = files.open("/", flags::DIRECTORY, 0).expect("it is there");
    let ino = files.stat("/").expect("it is there").ino;
    assert_eq!(files.ino_of_dots(root.descriptor(), ".."), Ok(ino));
    files.change_directory("/one/two").expect("it is there");
    assert_eq!(files.directory().expect("it is there"), Path::new("/one/two"));
}
