//! The system's descriptors that the crate opens for itself have the numbers that the program
//! leaves it, and the program can find out which.
#![expect(unsafe_code, reason = "memory that is mapped, and code in a child before it executes")]

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use densefs_process::{
    Base, DenseFs, MapRequest, NewArena, Placement, Protection, flags, keep_numbers_from, make,
};

const LOWEST: u32 = 700;
/// How often to fork until another thread has seen the descriptor of a child.
const FORKS_MAX: usize = 20_000;

/// The descriptors of the arena and of the file without content, as the system tells.
fn told_by_system(arena: &Path) -> BTreeSet<i32> {
    let open = std::fs::read_dir("/proc/self/fd").expect("/proc is mounted");
    let numbers = open.filter_map(|entry| {
        let entry = entry.ok()?;
        let file = std::fs::read_link(entry.path()).ok()?;
        let is_own = file == arena || file.to_string_lossy().starts_with("/memfd:densefs");
        entry.file_name().to_str()?.parse().ok().filter(|_| is_own)
    });
    numbers.collect()
}

fn told(files: &DenseFs) -> BTreeSet<i32> {
    let mut all = BTreeSet::new();
    files.own_numbers(&mut |number| assert!(all.insert(number), "told twice"));
    all
}

fn is_right(files: &DenseFs, count: usize) -> bool {
    let told = told(files);
    told.len() == count
        && told == told_by_system(files.path())
        && told.iter().all(|&number| number >= LOWEST.cast_signed())
}

/// One test, as the setting is the process'.
#[test]
fn own_descriptors_stay_out_of_the_way() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    make(&arena, &NewArena::new(16 << 20, DenseFs::new_root(0o755))).expect("there is room");
    // Without another setting, they are out of the way as well.
    let files = DenseFs::attach(&arena).expect("it was made");
    assert!(told(&files).iter().all(|&number| number >= 512), "{:?}", told(&files));
    drop(files);

    keep_numbers_from(LOWEST);
    let files = DenseFs::attach(&arena).expect("it was made");
    assert!(is_right(&files, 1), "{:?}", told(&files));
    let how = flags::READ_WRITE | flags::CREATE;
    let file = files.open_descriptor(Base::Working, Path::new("/file"), how, 0o600);
    let file = file.expect("there is room");
    files.write(file, &[7; 8192]).expect("there is room");
    let request = MapRequest {
        placement: Placement::Anywhere { hint: 0 },
        length: 8192,
        offset: 0,
        protection: Protection { reads: true, writes: true, executes: false },
        is_shared: true,
    };
    // SAFETY: it replaces nothing.
    unsafe { files.map(file, &request) }.expect("there is memory");
    assert!(is_right(&files, 3), "{:?}", told(&files));

    // A child has as many of its own, and another thread sees that of a child before the fork.
    let (most, is_done) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let mut count = 0;
                files.own_numbers(&mut |_| count += 1);
                most.fetch_max(count, Ordering::Relaxed);
            }
        });
        for _ in 0..FORKS_MAX {
            let in_child = files.clone();
            let mut command = Command::new("true");
            let check = move || {
                in_child.stat("/file").map_err(|why| std::io::Error::from_raw_os_error(why.0))?;
                if is_right(&in_child, 3) { Ok(()) } else { Err(std::io::ErrorKind::Other.into()) }
            };
            // SAFETY: nobody holds locks of the allocator that this thread needs: it is the C
            // library's, which a fork leaves usable.
            unsafe { command.pre_exec(check) };
            assert!(command.status().expect("the child finds the same").success());
            if most.load(Ordering::Relaxed) == 4 {
                break;
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(most.into_inner(), 4);
    assert!(is_right(&files, 3), "{:?}", told(&files));
}

#[test]
fn a_limit_below_the_setting_is_no_obstacle() {
    const CHILD: &str = "DENSEFS_NUMBERS_ARENA";
    if let Some(arena) = std::env::var_os(CHILD) {
        keep_numbers_from(1 << 20);
        let limit = rustix::process::Rlimit { current: Some(100), maximum: Some(100) };
        rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).expect("it is lower");
        let files = DenseFs::attach(arena).expect("it was made");
        assert_eq!(told(&files), BTreeSet::from([50]));
        assert_eq!(told_by_system(files.path()), BTreeSet::from([50]));
        return;
    }
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    make(&arena, &NewArena::new(1 << 20, DenseFs::new_root(0o755))).expect("there is room");
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args(["a_limit_below_the_setting_is_no_obstacle", "--exact"]).env(CHILD, &arena);
    let ran = command.output().expect("it can be started");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
