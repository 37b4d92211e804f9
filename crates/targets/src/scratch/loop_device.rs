//! A block device made from a file without a name.
//!
//! The image is opened with `O_TMPFILE` (or created and unlinked), and the loop device is
//! configured with autoclear: the kernel clears it when it is last closed and then frees the image.
//! We keep one read-only descriptor open on it for its whole life, so that the last close is never
//! that of mkfs or umount, but ours, at the latest when we die.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use file_system::{Feature, FileSystem};
use rustix::fs::{Advice, CWD, Mode, OFlags, SeekFrom, fadvise, fstatfs, openat, seek};
use rustix::io::Errno;
use slow_device::SlowFile;

use crate::guardian::{Guardian, ResourceKind};

/// How often another process may take the device offered to us before we give up.
const ATTEMPTS: u32 = 64;

/// How long a device that was closed is waited for at most.
const UNBOUND_WITHIN: Duration = Duration::from_secs(1);
/// How often it is looked at meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Why an image was not bound to a loop device.
#[derive(Debug)]
pub(crate) enum NotBound {
    /// The kernel offers a device that has no node here.
    NoNode { number: u32 },
    /// Any other error.
    Failed(io::Error),
}

impl From<io::Error> for NotBound {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// A loop device of ours.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    number: u32,
    size_bytes: AtomicU64,
    image: File,
    /// What shows the image slowly, if the device is made of that instead.
    slow: Option<SlowFile>,
    /// Keeps the device bound until it is dropped. Read-only: on some kernels, a writer would
    /// prevent mounting.
    holder: Option<File>,
}

impl LoopDevice {
    /// Binds `image`, or what shows it slowly, to a free loop device.
    pub(crate) fn bind(image: File, slow: Option<SlowFile>) -> Result<Self, NotBound> {
        let size_bytes = image.metadata()?.len();
        let shown = slow.as_ref().map_or(&image, SlowFile::file);
        let control = File::options().read(true).write(true).open("/dev/loop-control")?;
        for _ in 0..ATTEMPTS {
            let number = system_calls::loop_get_free(&control)?;
            let path = device_path(number);
            let device = match File::options().read(true).write(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(NotBound::NoNode { number });
                }
                device => device?,
            };
            match system_calls::loop_configure(&device, shown) {
                Ok(()) => {
                    let holder = Some(File::open(&path)?);
                    let size_bytes = AtomicU64::new(size_bytes);
                    return Ok(Self { number, size_bytes, image, slow, holder });
                }
                // Somebody else was faster.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("other programs took every free loop device").into())
    }

    /// `/dev/loop<number>`.
    pub(crate) fn path(&self) -> PathBuf {
        device_path(self.number)
    }

    /// The sysfs directory that exists while the device is bound.
    pub(crate) fn binding(&self) -> PathBuf {
        PathBuf::from(format!("/sys/block/loop{}/loop", self.number))
    }

    fn holder(&self) -> &File {
        self.holder.as_ref().expect("it is held until it is dropped")
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes.load(Ordering::Relaxed)
    }

    /// Resizes the image and the device; data beyond the new size is lost.
    pub(crate) fn resize(&self, size_bytes: u64) -> io::Result<()> {
        self.slow.as_ref().map_or(&self.image, SlowFile::file).set_len(size_bytes)?;
        system_calls::loop_set_capacity(self.holder())?;
        self.size_bytes.store(size_bytes, Ordering::Relaxed);
        Ok(())
    }

    /// How much of the scratch directory the image takes.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        use std::os::unix::fs::MetadataExt;
        self.image.metadata().map_or(0, |metadata| metadata.blocks() * 512)
    }

    /// Whether reads and writes bypass the page cache of the file system that contains the image.
    pub(crate) fn direct_io(&self) -> io::Result<bool> {
        let is_direct = fs::read_to_string(self.binding().join("dio"))?.trim() == "1";
        Ok(is_direct && self.slow.as_ref().is_none_or(SlowFile::is_direct))
    }

    /// Whether every request fails, because the process that delays them has ended.
    pub(crate) fn has_lost_its_server(&self) -> bool {
        self.slow.as_ref().is_some_and(|slow| !slow.is_served())
    }

    /// Drops the device's own pages, which contain metadata of the file system. Other devices lose
    /// theirs when they are last closed, but for this one that comes only at its end.
    pub(crate) fn forget_pages(&self) -> io::Result<()> {
        system_calls::block_flush_buffers(self.holder())
    }

    /// Writes zeros to the image wherever mkfs has written nothing, or has zeroed blocks by merely
    /// reserving them.
    pub(crate) fn write_holes(&self) -> io::Result<()> {
        // Pending writes must reach the image before its holes are filled.
        self.forget_pages()?;
        write_holes(&self.image)
    }

    /// Makes all of it read as zeros and frees the image's space.
    pub(crate) fn discard(&self) -> io::Result<()> {
        let device = File::options().read(true).write(true).open(self.path())?;
        system_calls::block_discard(&device, self.size_bytes())
    }
}

/// The kernel unbinds a device some time after its last close. Whoever has dropped it may count on
/// the image's space being free again, so this waits for it. What shows the image slowly goes after
/// that.
impl Drop for LoopDevice {
    fn drop(&mut self) {
        let backing_file = self.binding().join("backing_file");
        let ours = fs::read_to_string(&backing_file).ok();
        drop(self.holder.take());
        let began = Instant::now();
        // Another program may have opened the device meanwhile, and then it is unbound later; or it
        // may be bound to an image of somebody else's already.
        while ours.is_some()
            && fs::read_to_string(&backing_file).ok() == ours
            && began.elapsed() < UNBOUND_WITHIN
        {
            thread::sleep(LOOK_AGAIN);
        }
    }
}

fn device_path(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/loop{number}"))
}

/// Makes a sparse file without a name in `directory`.
///
/// On a file system without `O_TMPFILE`, the file briefly has the name `fallback_name`, which the
/// guardian is told about.
pub(crate) fn make_image(
    directory: &Path,
    size_bytes: u64,
    guardian: &Guardian,
    fallback_name: &str,
) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let image = match openat(CWD, directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(fd) => File::from(fd),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
            let path = directory.join(fallback_name);
            guardian.add(ResourceKind::Image, &path)?;
            let image = File::options().read(true).write(true).create_new(true).open(&path)?;
            fs::remove_file(&path)?;
            guardian.remove(ResourceKind::Image, &path)?;
            image
        }
        Err(error) => return Err(error.into()),
    };
    image.set_len(size_bytes)?;
    Ok(image)
}

/// Why the blocks of the image do not stay in place, if the file system below it moves them.
pub(crate) fn never_in_place(image: &File) -> io::Result<Option<String>> {
    let below = FileSystem::with_magic(fstatfs(image)?.f_type.cast_unsigned());
    let why = below.and_then(|below| Some((below, below.lacks(Feature::SteadyImages)?)));
    Ok(why.map(|(below, why)| format!("{below} {why}")))
}

/// Writes zeros wherever nothing has been written: where there is no block, and where a block is
/// only reserved, which would still have to be converted.
pub(crate) fn write_holes(image: &File) -> io::Result<()> {
    const CHUNK_BYTES: u64 = 1 << 20;
    let size_bytes = image.metadata()?.len();
    let zeros = vec![0; 1 << 20];
    let mut from = 0;
    while from < size_bytes {
        let start = seek(image, SeekFrom::Hole(from))?;
        let end = match seek(image, SeekFrom::Data(start)) {
            Err(Errno::NXIO) => size_bytes,
            end => end?,
        };
        for at in (start..end).step_by(zeros.len()) {
            let length = usize::try_from((end - at).min(CHUNK_BYTES)).unwrap_or(zeros.len());
            image.write_all_at(&zeros[..length], at)?;
        }
        from = end;
    }
    image.sync_all()?;
    // Leaves no pages of it that could be mistaken for what the loop device has read.
    fadvise(image, 0, None, Advice::DontNeed)?;
    Ok(())
}
