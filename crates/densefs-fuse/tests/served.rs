//! A mount that another process serves: it is unmounted, or its server is killed.

#[path = "../../densefs-process/tests/patience/mod.rs"]
mod patience;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use densefs_fuse::Mount;
use densefs_process::{ArenaError, DenseFs, NewArena, flags, make};
use patience::with_patience;

/// What a server gets by its environment.
const ARENA: &str = "DENSEFS_SERVED_ARENA";
const POINT: &str = "DENSEFS_SERVED_POINT";
/// What it prints once it serves.
const MOUNTED: &[u8] = b"it is mounted";

#[test]
#[ignore = "a server, which other tests start"]
fn server() {
    let (Some(arena), Some(point)) = (std::env::var_os(ARENA), std::env::var_os(POINT)) else {
        return;
    };
    let files = DenseFs::attach(arena).expect("it is there");
    let mount = Mount::on(Path::new(&point), files).expect("nothing is mounted there");
    std::io::stdout().write_all(MOUNTED).expect("it is a pipe");
    std::io::stdout().flush().expect("it is a pipe");
    mount.serve().expect("it is unmounted");
}

/// An arena, and a directory to mount it on.
struct Place {
    directory: tempfile::TempDir,
    arena: PathBuf,
    point: PathBuf,
}

impl Place {
    /// If mounting is not possible here, says that the test is skipped.
    fn new(what: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
            eprintln!("skipped: {what}: it needs root and /dev/fuse");
            return None;
        }
        let directory = tempfile::tempdir_in("/dev/shm").expect("there is room");
        // The kernel writes the space as an octal number.
        let (arena, point) = (directory.path().join("an arena"), directory.path().join("point"));
        fs::create_dir(&point).expect("the place is ours");
        make_arena(&arena, false).expect("there is room");
        Some(Self { directory, arena, point })
    }

    /// Starts a server, and waits until it has mounted the arena.
    fn serve(&self) -> Child {
        self.serve_on(&self.point)
    }

    fn serve_on(&self, point: &Path) -> Child {
        let program = std::env::current_exe().expect("it runs");
        let mut command = Command::new(program);
        command.args(["--ignored", "--exact", "server", "--nocapture"]);
        command.env(ARENA, &self.arena).env(POINT, point).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it can be started");
        let said = child.stdout.as_mut().expect("it is piped");
        let mut all = Vec::new();
        while !all.ends_with(MOUNTED) {
            let mut one = [0];
            said.read_exact(&mut one).expect("it has mounted the arena");
            all.extend(one);
        }
        child
    }

    fn unmount(&self) {
        unmount(&self.point);
    }

    /// Checks the whole arena, which nobody else may use any more.
    fn assert_whole(&self) {
        let files = DenseFs::attach(&self.arena).expect("it is there");
        let report = self.alone(|| files.check());
        let report = report.unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(report.descriptions, 0);
        files.detach().expect("it is whole");
    }

    /// Does what needs the arena alone. A program that another test has given mounts of its own has
    /// kept what was mounted when it began, and the server serves it until that program ends.
    fn alone<T>(&self, act: impl Fn() -> Result<T, ArenaError>) -> T {
        loop {
            match act() {
                Err(ArenaError::InUse { .. }) if self.is_mounted_elsewhere() => {}
                done => return done.unwrap_or_else(|why| panic!("{why}")),
            }
        }
    }

    /// Whether it is mounted for any process.
    fn is_mounted_elsewhere(&self) -> bool {
        let name = self.directory.path().to_string_lossy();
        let processes = fs::read_dir("/proc").expect("it is there").flatten();
        processes
            .filter_map(|process| fs::read_to_string(process.path().join("mountinfo")).ok())
            .any(|mounts| mounts.contains(&*name))
    }
}

fn make_arena(path: &Path, overwrites: bool) -> Result<(), ArenaError> {
    make(path, &NewArena { overwrites, ..NewArena::new(64 << 20, DenseFs::new_root(0o755)) })
}

/// For a moment, a program started by another test may have the files open that are open here.
fn unmount(point: &Path) {
    let is_done = || {
        let output = Command::new("umount").arg(point).output();
        output.expect("every system has it").status.success()
    };
    while !is_done() {
        std::thread::yield_now();
    }
}

fn end(mut server: Child) {
    let mut said = Vec::new();
    let stdout = server.stdout.take();
    stdout.expect("it is piped").read_to_end(&mut said).expect("it is piped");
    assert!(server.wait().expect("it is ours").success());
}

/// umount(8) returns before the server knows. Whoever needs the arena alone waits for it.
#[test]
fn the_arena_can_be_checked_as_soon_as_it_is_unmounted() {
    let what = "the_arena_can_be_checked_as_soon_as_it_is_unmounted";
    let Some(place) = Place::new(what) else { return };
    with_patience(what, || {
        for round in 0..50 {
            let server = place.serve();
            for number in 0..100 {
                let path = place.point.join(format!("{round}-{number}"));
                fs::write(path, vec![7; 10_000]).expect("there is room");
            }
            let files = DenseFs::attach(&place.arena).expect("it is there");
            assert!(matches!(files.check(), Err(ArenaError::InUse { .. })), "it is mounted");
            files.detach().expect("it is whole");
            let overwritten = make_arena(&place.arena, true);
            assert!(matches!(overwritten, Err(ArenaError::InUse { .. })), "it is mounted");
            place.unmount();
            if round % 2 == 0 {
                place.assert_whole();
            } else {
                place.alone(|| make_arena(&place.arena, true));
            }
            end(server);
        }
    });
}

/// Both sides change files when the server is killed.
#[test]
fn a_server_that_is_killed_leaves_a_whole_arena() {
    let what = "a_server_that_is_killed_leaves_a_whole_arena";
    let Some(place) = Place::new(what) else { return };
    with_patience(what, || {
        for round in 0..20_usize {
            let mut server = place.serve();
            let files = DenseFs::attach(&place.arena).expect("it is there");
            std::thread::scope(|scope| {
                let by_kernel = scope.spawn(|| {
                    // Until nobody answers any more.
                    (0_u64..).find_map(|number| {
                        let path = place.point.join(format!("kernel-{}", number % 50));
                        let new = place.point.join("new");
                        let written = fs::write(&new, vec![7; 20_000]);
                        written.and_then(|()| fs::rename(new, &path)).err()
                    })
                });
                for number in 0..200 + 100 * round {
                    let name = format!("library-{}", number % 50);
                    let file = files.open(&name, flags::WRITE | flags::CREATE, 0o644);
                    file.and_then(|file| file.write(&[7; 20_000])).expect("there is room");
                    // The server knows it, when it goes.
                    fs::metadata(place.point.join(&name)).ok();
                    fs::metadata(place.point.join(format!("kernel-{}", number % 50))).ok();
                    if number % 3 != 0 {
                        files.remove(&name).expect("it is there");
                    }
                    files.remove(format!("kernel-{}", number % 50)).ok();
                    if number == 100 + 50 * round {
                        server.kill().expect("it is ours");
                    }
                }
                assert!(by_kernel.join().expect("it does not panic").is_some());
            });
            assert_eq!(
                Mount::on(&place.point, files.clone())
                    .map(drop)
                    .err()
                    .map(|why| { why.to_string().contains("mounted on") }),
                Some(true),
                "its mount is still there"
            );
            server.wait().expect("it is ours");
            files.detach().expect("it is whole");
            place.unmount();
            place.assert_whole();
            let again = place.serve();
            for name in ["library-0", "kernel-0"] {
                if let Ok(read) = fs::read(place.point.join(name)) {
                    assert!(read.iter().all(|&byte| byte == 7), "{name}");
                }
            }
            place.unmount();
            end(again);
        }
        place.assert_whole();
    });
}

/// Both servers know the same inodes, and neither keeps what is removed.
#[test]
fn two_mounts_of_an_arena_keep_no_more_than_one() {
    let what = "two_mounts_of_an_arena_keep_no_more_than_one";
    let Some(place) = Place::new(what) else { return };
    with_patience(what, || {
        let second = place.point.with_file_name("second");
        fs::create_dir(&second).expect("the place is ours");
        let servers = [place.serve(), place.serve_on(&second)];
        let files = DenseFs::attach(&place.arena).expect("it is there");
        let content = vec![7; 1 << 20];
        for round in 0_u32..100 {
            let how = flags::WRITE | flags::CREATE | flags::TRUNCATE;
            let file = files.open("file", how, 0o644).expect("there is room");
            assert_eq!(file.write(&content[round as usize..]), Ok(content.len() - round as usize));
            drop(file);
            for point in [&place.point, &second] {
                let there = fs::metadata(point.join("file")).expect("it is there");
                assert_eq!(there.len(), (1 << 20) - u64::from(round));
            }
            if round % 2 == 0 {
                files.remove("file").expect("it is there");
            } else {
                // What one mount removes, the other one knows.
                fs::remove_file(second.join("file")).expect("it is there");
            }
            assert!(fs::metadata(place.point.join("file")).is_err());
        }
        place.unmount();
        assert!(matches!(files.check(), Err(ArenaError::InUse { .. })), "there is another mount");
        files.detach().expect("it is whole");
        unmount(&second);
        place.assert_whole();
        servers.into_iter().for_each(end);
    });
}
