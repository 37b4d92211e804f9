//! What library calls remove, replace and move while a DenseFS is mounted.
//!
//! `FSPRISM_STORM_SECONDS` sets how long both sides change the same files at random.

mod place;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use densefs_process::{DenseFs, Errno, flags};
use place::{at_last, mounted};
use rustix::fs::{Mode, OFlags};

const NEW: u32 = flags::READ_WRITE | flags::CREATE | flags::TRUNCATE;

/// Creates a file by library calls.
fn make(files: &DenseFs, path: &str, content: &[u8]) -> Result<(), Errno> {
    let file = files.open(path, NEW, 0o644)?;
    assert_eq!(file.write(content)?, content.len());
    Ok(())
}

fn free(files: &DenseFs) -> u64 {
    files.usage().expect("it is whole").free_bytes
}

/// The arena has 64 MiB, and never more than 1 MiB in it at a time.
#[test]
fn what_is_removed_takes_no_space_though_the_kernel_knows_it() {
    mounted("what_is_removed_takes_no_space_though_the_kernel_knows_it", |point, files| {
        let content = vec![7; 1 << 20];
        for round in 0..300 {
            let name = format!("file-{round}");
            make(files, &name, &content).unwrap_or_else(|why| panic!("round {round}: {why}"));
            assert_eq!(fs::metadata(point.join(&name)).expect("it is there").len(), 1 << 20);
            files.remove(&name).expect("it is there");
        }
        // As large as the arena.
        let content = vec![7; 50 << 20];
        for round in 0..3 {
            make(files, "large", &content).unwrap_or_else(|why| panic!("round {round}: {why}"));
            assert!(fs::metadata(point.join("large")).is_ok());
            files.remove("large").expect("it is there");
        }
    });
}

#[test]
fn a_listing_keeps_nothing_of_what_is_removed() {
    mounted("a_listing_keeps_nothing_of_what_is_removed", |point, files| {
        let content = vec![7; 32 << 10];
        for round in 0..5 {
            let names: Vec<_> = (0..1_000).map(|number| format!("{number}")).collect();
            for name in &names {
                make(files, name, &content).unwrap_or_else(|why| panic!("{round}: {why}"));
            }
            let listed = Command::new("ls").arg("-l").arg(point).output();
            let listed = listed.expect("every system has it").stdout;
            assert_eq!(String::from_utf8_lossy(&listed).lines().count(), 1_001);
            for name in &names {
                files.remove(name).expect("it is there");
            }
            assert!(free(files) > 60 << 20, "{round}: {}", free(files));
        }
        assert_eq!(fs::read_dir(point).expect("it is there").count(), 0);
    });
}

/// As on any file system: until it is closed.
#[test]
fn what_a_program_has_open_stays_readable() {
    mounted("what_a_program_has_open_stays_readable", |point, files| {
        let content: Vec<u8> = (0..10 << 20).map(|byte: u32| byte.to_le_bytes()[2]).collect();
        make(files, "file", &content).expect("there is room");
        let empty = free(files) + content.len() as u64;
        let mut open = File::open(point.join("file")).expect("it is there");
        files.remove("file").expect("it is there");
        assert!(File::open(point.join("file")).is_err());
        assert_eq!(open.metadata().expect("it is open").nlink(), 0);
        let mut read = Vec::new();
        open.read_to_end(&mut read).expect("it is open");
        assert!(read == content);
        // The same through another descriptor, which the kernel opens without a name.
        let mut again = File::open(format!("/proc/self/fd/{}", open.as_raw_fd()));
        let again = again.as_mut().expect("it is open");
        drop(open);
        let mut first = [0xff; 4_096];
        again.read_exact_at(&mut first, 9 << 20).expect("it is open");
        assert!(first[..] == content[9 << 20..][..4_096]);
        assert!(free(files) < empty - (9 << 20), "it is open");
        make(files, "other", &content).expect("there is room");
        again.read_exact_at(&mut first, 8 << 20).expect("it is open");
        assert!(first[..] == content[8 << 20..][..4_096]);
        files.remove("other").expect("it is there");
    });
    mounted("what_a_program_has_closed_is_gone", |point, files| {
        make(files, "file", &vec![7; 10 << 20]).expect("there is room");
        let open = File::open(point.join("file")).expect("it is there");
        files.remove("file").expect("it is there");
        assert!(free(files) < 55 << 20, "it is open");
        drop(open);
        // The kernel tells the server a moment later.
        at_last(|| if free(files) > 60 << 20 { Ok(()) } else { Err("it is not closed yet") });
    });
}

/// A program in Python maps a file, which library calls then remove.
#[test]
fn what_a_program_has_mapped_stays() {
    const MAP: &str = "
import mmap, os, sys
file = os.open('file', os.O_RDWR)
shared = mmap.mmap(file, 0)
os.close(file)
print('mapped', flush=True)
sys.stdin.readline()
assert all(shared[at] == at // 4096 % 251 for at in range(0, len(shared), 511)), 'content'
shared[0:5] = b'still'
shared.flush()
assert shared[0:5] == b'still'
";
    mounted("what_a_program_has_mapped_stays", |point, files| {
        let content: Vec<u8> =
            (0..4_u32 << 20).map(|at| (at / 4_096 % 251).to_le_bytes()[0]).collect();
        make(files, "file", &content).expect("there is room");
        let mut command = Command::new("python3");
        command.arg("-c").arg(MAP).current_dir(point);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let Ok(mut child) = command.spawn() else { return };
        let mut said = [0; 7];
        child.stdout.as_mut().expect("it is piped").read_exact(&mut said).expect("it is mapped");
        files.remove("file").expect("it is there");
        make(files, "file", &vec![0xff; 40 << 20]).expect("there is room");
        drop(child.stdin.take());
        let ended = child.wait_with_output().expect("it was started");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        at_last(|| if free(files) > 20 << 20 { Ok(()) } else { Err("it is still mapped") });
    });
}

/// A name leads to what has it, whatever the kernel knows by it.
#[test]
fn what_takes_a_name_is_found_by_it() {
    mounted("what_takes_a_name_is_found_by_it", |point, files| {
        let path = point.join("file");
        for round in 0..200_u32 {
            // Often in the place of the file before.
            let content = vec![round.to_le_bytes()[0]; 1_000 + round as usize];
            make(files, "new", &content).expect("there is room");
            if round % 3 == 0 {
                files.remove("file").ok();
            }
            files.rename("new", "file").expect("it is there");
            let ino = files.stat("file").expect("it is there").ino;
            let stat = fs::metadata(&path).expect("it is there");
            assert_eq!((stat.ino(), stat.len(), stat.nlink()), (ino, content.len() as u64, 1));
            assert!(fs::read(&path).expect("it is there") == content, "{round}");
            if round % 5 == 0 {
                files.rename("file", "moved").expect("it is there");
                assert!(fs::metadata(&path).is_err(), "it has another name");
                assert!(fs::read(point.join("moved")).expect("it is there") == content);
                files.rename("moved", "file").expect("it is there");
            }
            if round % 7 == 0 {
                files.remove("file").expect("it is there");
                files.make_directory("file", 0o755).expect("there is room");
                assert!(fs::read_dir(&path).expect("it is a directory").next().is_none());
                files.remove_directory("file").expect("it is empty");
            }
        }
    });
}

/// What refers to an inode without having it open never reaches another one that has its place.
#[test]
fn nothing_else_is_reached_by_what_refers_to_a_removed_file() {
    mounted("nothing_else_is_reached_by_what_refers_to_a_removed_file", |point, files| {
        make(files, "file", b"old").expect("there is room");
        files.make_directory("directory", 0o755).expect("there is room");
        let refer = |name: &str| {
            let how = OFlags::PATH | OFlags::NOFOLLOW;
            rustix::fs::open(point.join(name), how, Mode::empty()).expect("it is there")
        };
        let (file, directory) = (refer("file"), refer("directory"));
        let inos = [&file, &directory].map(|of| rustix::fs::fstat(of).expect("it is open").st_ino);
        files.remove("file").expect("it is there");
        files.remove_directory("directory").expect("it is empty");
        for number in 0..200 {
            make(files, &format!("{number}"), b"new").expect("there is room");
            fs::metadata(point.join(format!("{number}"))).expect("it is there");
        }
        make(files, "file", b"new").expect("there is room");
        files.make_directory("directory", 0o755).expect("there is room");
        make(files, "directory/inside", b"new").expect("there is room");
        for (of, ino) in [&file, &directory].into_iter().zip(inos) {
            let stat = rustix::fs::fstat(of).expect("it is open");
            assert_eq!((stat.st_ino, stat.st_nlink), (ino, 0));
        }
        // The content is gone.
        let again = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let why = again.expect_err("it is gone");
        assert_eq!(why.raw_os_error(), Some(libc::ESTALE), "{why}");
        let inside = rustix::fs::statat(&directory, "inside", rustix::fs::AtFlags::empty());
        assert!(inside.is_err());
        // A program whose working directory it was.
        let mut command = Command::new("sh");
        command.arg("-c").arg("read go; ls; ! ls inside && ! true > x && stat -c %h .");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.current_dir(point.join("directory")).uid(0).spawn();
        let mut child = child.expect("every system has a shell");
        files.remove("directory/inside").expect("it is there");
        files.remove_directory("directory").expect("it is empty");
        files.make_directory("directory", 0o755).expect("there is room");
        make(files, "directory/inside", b"new").expect("there is room");
        drop(child.stdin.take());
        let ended = child.wait_with_output().expect("it was started");
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "0\n");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    });
}

/// A file that is replaced all the time is always there, with one of its contents.
#[test]
fn a_file_that_is_replaced_can_always_be_opened() {
    mounted("a_file_that_is_replaced_can_always_be_opened", |point, files| {
        let until = Instant::now() + Duration::from_secs(2);
        make(files, "file", &[0; 5_000]).expect("there is room");
        let (files, path) = (files.clone(), point.join("file"));
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for round in 0_u64.. {
                    if Instant::now() > until {
                        files.leave();
                        return;
                    }
                    make(&files, "new", &[round.to_le_bytes()[0]; 5_000]).expect("there is room");
                    files.rename("new", "file").expect("it is there");
                }
            });
            for _ in 0..3 {
                scope.spawn(|| {
                    while Instant::now() < until {
                        let content = fs::read(&path).expect("it is there");
                        assert!(content.len() == 5_000, "{}", content.len());
                        assert!(content.iter().all(|&byte| byte == content[0]));
                        let stat = fs::metadata(&path).expect("it is there");
                        assert_eq!(stat.len(), 5_000);
                    }
                });
            }
        });
    });
}

/// Random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % limit
    }
}

/// The names that the storm uses, in three directories.
fn some_name(dice: &mut Dice) -> PathBuf {
    PathBuf::from(format!("{}/{}", dice.below(3), dice.below(8)))
}

/// Content that shows whether it is whole: all bytes are the first one, and their number follows
/// from it.
fn some_content(dice: &mut Dice) -> Vec<u8> {
    let byte = dice.below(250).to_le_bytes()[0];
    vec![byte; length_of(byte)]
}

fn length_of(byte: u8) -> usize {
    1 + usize::from(byte).pow(2)
}

fn assert_content(content: &[u8], whose: &str) {
    // A file that has just been created is empty, or has not been written to its end.
    let Some(&first) = content.first() else { return };
    assert!(content.len() == length_of(first), "{whose}: {} of {first}", content.len());
    assert!(content.iter().all(|&byte| byte == first), "{whose}: not all are {first}");
}

/// Makes files by other names and renames them, so that each has its content from the beginning.
trait Side {
    fn replace(&self, by: &str, content: &[u8], path: &Path) -> io::Result<()>;
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn links(&self, path: &Path) -> io::Result<u64>;
}

struct Kernel<'p>(&'p Path);

impl Side for Kernel<'_> {
    fn replace(&self, by: &str, content: &[u8], path: &Path) -> io::Result<()> {
        fs::write(self.0.join(by), content)?;
        fs::rename(self.0.join(by), self.0.join(path))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(self.0.join(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(self.0.join(path))
    }

    fn links(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(self.0.join(path))?.nlink())
    }
}

struct Library(DenseFs);

fn system_s(why: Errno) -> io::Error {
    io::Error::from_raw_os_error(why.0)
}

impl Side for Library {
    fn replace(&self, by: &str, content: &[u8], path: &Path) -> io::Result<()> {
        make(&self.0, by, content).map_err(system_s)?;
        self.rename(Path::new(by), path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.0.open(path, 0, 0).map_err(system_s)?;
        let mut bytes = vec![0; 1 << 17];
        let length = file.read(&mut bytes).map_err(system_s)?;
        bytes.truncate(length);
        Ok(bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to).map_err(system_s)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path).map_err(system_s)
    }

    fn links(&self, path: &Path) -> io::Result<u64> {
        Ok(self.0.stat(path).map_err(system_s)?.links.into())
    }
}

/// What a call may return: another thread may have removed the file just before.
fn unless_missing<T>(done: io::Result<T>, whose: &str) -> Option<T> {
    match done {
        Ok(done) => Some(done),
        Err(why) if why.kind() == io::ErrorKind::NotFound => None,
        Err(why) => panic!("{whose}: {why}"),
    }
}

/// Does random things, and checks what it reads.
fn work(side: &impl Side, whose: &str, dice: &mut Dice) {
    let (path, other) = (some_name(dice), some_name(dice));
    match dice.below(8) {
        0 | 1 => {
            let content = some_content(dice);
            side.replace(whose, &content, &path).unwrap_or_else(|why| panic!("{whose}: {why}"));
        }
        2 => drop(unless_missing(side.rename(&path, &other), whose)),
        3 => drop(unless_missing(side.remove(&path), whose)),
        4 => drop(unless_missing(side.links(&path), whose)),
        _ => {
            if let Some(content) = unless_missing(side.read(&path), whose) {
                assert_content(&content, whose);
            }
        }
    }
}

#[test]
fn both_sides_change_the_same_files_at_random() {
    let seconds = std::env::var("FSPRISM_STORM_SECONDS").ok();
    let seconds = seconds.map_or(2, |text| text.parse().expect("it is a number"));
    mounted("both_sides_change_the_same_files_at_random", |point, files| {
        for directory in 0..3 {
            files.make_directory(format!("{directory}"), 0o755).expect("there is room");
        }
        let until = Instant::now() + Duration::from_secs(seconds);
        std::thread::scope(|scope| {
            for number in 0..2 {
                scope.spawn(move || {
                    let mut dice = Dice(number);
                    while Instant::now() < until {
                        work(&Kernel(point), &format!("kernel-{number}"), &mut dice);
                    }
                });
                scope.spawn(move || {
                    let mut dice = Dice(100 + number);
                    while Instant::now() < until {
                        work(&Library(files.clone()), &format!("library-{number}"), &mut dice);
                    }
                    files.leave();
                });
            }
        });
        for directory in 0..3 {
            let there = fs::read_dir(point.join(format!("{directory}"))).expect("it is there");
            for one in there {
                fs::remove_file(one.expect("it is there").path()).expect("it is there");
            }
        }
        at_last(|| if free(files) > 60 << 20 { Ok(()) } else { Err("something is still open") });
    });
}
