//! The guest that serves: a file system on a separate disk, filled, and the kernel's NFS server.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use file_system::FileSystem;
use lab::inside::load_modules_for;
use rustix::mount::{MountFlags, mount};
use system_calls::FileMapping;

use crate::content::{Content, FILE, FileSet};
use crate::counters::Counters;
use crate::messages::TaskMeasurement;
use crate::programs;
use crate::task::{Task, TaskResult};

/// The directory that is served.
pub(crate) const EXPORT: &str = "/export";
/// The port of the mount protocol, which NFS version 3 needs.
pub(crate) const MOUNT_PORT: u16 = 20_048;
const RPCBIND_PORT: u16 = 111;
const RPCBIND_SAID: &str = "/tmp/rpcbind.said";
/// The disk of the file system that is served.
pub(crate) const DISK: &str = "vda";
const FILE_SYSTEM: &str = "ext4";
const NFSD: &str = "/proc/fs/nfsd";
/// How long a service may take to start.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many times to check whether the last RPCs have been answered.
const QUIET_LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// The shortest grace period in seconds, during which a server waits for clients to reclaim state
/// from before it started.
const GRACE_S: &str = "10";

/// Makes the server's file system and fills it.
pub(crate) fn fill(content: &Content) -> Result<(), String> {
    load_modules_for(FILE_SYSTEM).map_err(|error| error.to_string())?;
    make_file_system(FILE_SYSTEM, DISK, &[])?;
    mount_disk(FILE_SYSTEM, DISK, EXPORT)?;
    content.make(Path::new(EXPORT)).map_err(|error| format!("cannot fill the server: {error}"))?;
    rustix::fs::sync();
    Ok(())
}

/// Adds a set of files.
pub(crate) fn add_set(set: FileSet, seed: u64) -> Result<(), String> {
    set.make(Path::new(EXPORT), seed)
        .map_err(|error| format!("cannot fill the server: {error}"))?;
    rustix::fs::sync();
    Ok(())
}

/// Makes a file system on a disk, with 4 KiB blocks if the default may be smaller.
pub(crate) fn make_file_system(name: &str, disk: &str, further: &[String]) -> Result<(), String> {
    let row = FileSystem::named(name).map(FileSystem::row);
    let made = row.and_then(|row| row.mkfs.as_ref());
    let made = made.ok_or_else(|| format!("no program makes {name} on a disk"))?;
    let device = format!("/dev/{disk}");
    let mut arguments = made.options.to_vec();
    arguments.extend(made.without_discard);
    if made.extended.is_some() {
        arguments.extend(["-b", "4096"]);
    }
    arguments.extend(further.iter().map(String::as_str));
    arguments.push(&device);
    arguments.extend(made.behind_device);
    programs::run(made.program, &arguments)
}

/// The name of one of this guest's disks, numbered from 0.
pub(crate) fn disk(number: u8) -> String {
    format!("vd{}", char::from(b'a' + number))
}

/// Mounts a disk.
pub(crate) fn mount_disk(file_system: &str, disk: &str, at: &str) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot mount {file_system}: {error}");
    fs::create_dir_all(at).map_err(|error| failed(&error))?;
    let flags = MountFlags::NOATIME;
    mount(format!("/dev/{disk}"), at, file_system, flags, None::<&std::ffi::CStr>)
        .map_err(|error| failed(&error))
}

/// Starts all services.
pub(crate) fn serve() -> Result<(), String> {
    load_modules_for("nfsd").map_err(|error| error.to_string())?;
    programs::write_files()?;
    for directory in ["/var/lib/nfs/v4recovery", "/run/rpcbind"] {
        fs::create_dir_all(directory).map_err(|error| format!("{directory}: {error}"))?;
    }
    for empty in ["/var/lib/nfs/etab", "/var/lib/nfs/rmtab", "/etc/exports"] {
        fs::write(empty, "").map_err(|error| format!("{empty}: {error}"))?;
    }
    mount("nfsd", NFSD, "nfsd", MountFlags::empty(), None::<&std::ffi::CStr>)
        .map_err(|error| format!("cannot mount {NFSD}: {error}"))?;
    // It stays in the foreground so that we notice if it exits.
    let rpcbind = programs::start("rpcbind", &["-f"], RPCBIND_SAID);
    let rpcbind = rpcbind.map_err(|error| format!("rpcbind failed: {error}"))?;
    wait_for_port(RPCBIND_PORT, rpcbind)?;
    // An explicit fsid makes file handles that do not depend on the disk.
    let options = "rw,no_root_squash,insecure,no_subtree_check,sync,fsid=0";
    programs::run("exportfs", &["-o", options, &format!("*:{EXPORT}")])?;
    programs::run("rpc.mountd", &["--port", &MOUNT_PORT.to_string()])?;
    let grace = Path::new(NFSD).join("nfsv4gracetime");
    fs::write(&grace, GRACE_S).map_err(|error| format!("{}: {error}", grace.display()))?;
    programs::run("rpc.nfsd", &["-V", "3", "8"])?;
    let end_grace = Path::new(NFSD).join("v4_end_grace");
    fs::write(&end_grace, "Y").map_err(|error| format!("{}: {error}", end_grace.display()))
}

/// Waits until a service in this guest listens, since the kernel asks it only once and does not
/// wait.
fn wait_for_port(port: u16, mut service: Child) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        if let Ok(Some(status)) = service.try_wait() {
            let said = programs::last_lines(RPCBIND_SAID).unwrap_or_default();
            return Err(format!("rpcbind ended: {status}; {said}"));
        }
        match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(()),
            Err(error) if begun.elapsed() > PATIENCE => {
                return Err(format!("no service listens at port {port}: {error}"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Performs a task on the server's own files, once to have them in memory, and then again.
pub(crate) fn do_locally(task: Task) -> Result<TaskMeasurement, String> {
    let root = Path::new(EXPORT);
    let failed = |error: io::Error| format!("cannot read on the server: {error}");
    task.perform(root).map_err(failed)?;
    let resident = resident(root).map_err(failed)?;
    Ok(TaskMeasurement {
        resident: Some(resident),
        ..measured(None, Some(DISK), || task.perform(root))?
    })
}

/// Performs work with counters read before and after: those of the mount at a directory, and those
/// of a disk.
///
/// # Errors
/// If the work fails, or counters cannot be read.
pub fn measured(
    mount: Option<&Path>,
    disk: Option<&str>,
    work: impl FnOnce() -> io::Result<TaskResult>,
) -> Result<TaskMeasurement, String> {
    let count = || Counters::now(mount, disk).map_err(|error| error.to_string());
    let before = count()?;
    let begun = Instant::now();
    let did = work().map_err(|error| format!("cannot read: {error}"))?;
    let elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let mut after = count()?;
    // The server may see a file closed some time after it was closed here.
    for _ in 0..QUIET_LOOKS {
        std::thread::sleep(BETWEEN_LOOKS);
        let later = count()?.mount;
        if later == after.mount {
            break;
        }
        after.mount = later;
    }
    Ok(TaskMeasurement { did, elapsed_ns, before, after, resident: None })
}

/// The number of pages of all files below a directory, and how many of them are in memory.
fn resident(directory: &Path) -> io::Result<(u64, u64)> {
    let (mut pages, mut resident) = (0, 0);
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            if entry.file_name() == "lost+found" {
                continue;
            }
            let (of_pages, of_resident) = self::resident(&entry.path())?;
            pages += of_pages;
            resident += of_resident;
        } else if metadata.size() > 0 {
            let file = File::open(entry.path())?;
            let page_bytes = rustix::param::page_size() as u64;
            let of_pages = metadata.size().div_ceil(page_bytes);
            let mut answers = vec![0; usize::try_from(of_pages).unwrap_or(usize::MAX)];
            FileMapping::new(&file, 0, metadata.size())?.mincore(0, &mut answers)?;
            pages += of_pages;
            resident += answers.iter().filter(|answer| **answer & 1 == 1).count() as u64;
        }
    }
    Ok((pages, resident))
}

/// Overwrites the beginning of the large file, which changes its modification time: that is how a
/// client finds out that its cached content is out of date.
pub(crate) fn change(seed: u64) -> Result<(), String> {
    let path = Path::new(EXPORT).join(FILE);
    let change = || -> io::Result<()> {
        let file = File::options().write(true).open(&path)?;
        let bytes = seed.to_le_bytes().repeat(64);
        file.write_all_at(&bytes, 0)?;
        file.sync_all()
    };
    change().map_err(|error| format!("{}: {error}", path.display()))
}
