//! What is below a target: a user's directory, or a file system of ours in memory or on a device.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use slow_device::{Delays, DeviceCache, SlowFile};

use crate::availability::Unavailable;
use crate::error::TargetError;
use crate::guardian::ResourceKind;
use crate::guardian::owner::{Leftover, Owner, sweep};
use crate::guardian::work_directory::{WorkDirectory, others_can_change};
use crate::scratch::arena::Arena;
use crate::scratch::device::NamedDevice;
use crate::scratch::loop_device::{LoopDevice, NotBound, make_image, never_in_place, write_holes};
use crate::scratch::source::MountSource;
use crate::spec::{Conditions, ScratchSpec, TargetSpec};
use crate::workshop_inner::WorkshopInner;

/// What is below a target.
#[derive(Debug)]
pub(crate) enum Backing {
    /// A work directory of ours inside a user's directory.
    Directory(WorkDirectory),
    /// A file system of ours.
    Scratch { source: MountSource, mount_point: PathBuf, mounted: bool, scratch: ScratchSpec },
    /// An arena of ours.
    Arena(Arena),
    /// Nothing is left.
    Removed,
}

pub(crate) fn make_work_directory(
    workshop: &WorkshopInner,
    directory: &Path,
) -> Result<Backing, TargetError> {
    sweep(directory, Leftover::WorkDirectory);
    // The path must be absolute, because the guardian has another working directory.
    let top = directory.canonicalize().map(|path| path.join(format!(".{}", workshop.new_name())));
    let top =
        top.map_err(|source| TargetError::WorkDirectory { path: directory.to_owned(), source })?;
    let told = workshop.guardian.add(ResourceKind::WorkDirectory, &top);
    match told.and_then(|()| WorkDirectory::make(&top)) {
        Ok(mut work) => {
            if workshop.can_mount() && others_can_change(&top) {
                let mount_point = workshop.new_mount_point("directory");
                let bound = mount_point.and_then(|mount_point| work.bind_at(&mount_point));
                // A container's mounts may be locked together so that none can be cloned. Root then
                // works at the path itself, as other users do.
                let is_refused = |error: &io::Error| error.kind() == io::ErrorKind::InvalidInput;
                if let Err(source) = bound
                    && !is_refused(&source)
                {
                    let _already_failing = work.remove();
                    return Err(TargetError::WorkDirectory { path: top, source });
                }
            }
            Ok(Backing::Directory(work))
        }
        Err(source) => {
            // If something already has the name, it is not ours to remove.
            if source.kind() == io::ErrorKind::AlreadyExists {
                let _already_failing = workshop.guardian.remove(ResourceKind::WorkDirectory, &top);
            }
            Err(TargetError::WorkDirectory { path: top, source })
        }
    }
}

pub(crate) fn make_scratch(
    workshop: &WorkshopInner,
    spec: &TargetSpec,
    scratch: &ScratchSpec,
    device: Option<NamedDevice>,
) -> Result<Backing, TargetError> {
    let label = &spec.label;
    if scratch.file_system.is_called_as_library() {
        let size_bytes = workshop.surroundings.image_bytes_of(scratch);
        return Ok(Backing::Arena(Arena::make(
            &workshop.new_name(),
            size_bytes,
            &workshop.guardian,
        )?));
    }
    let directory = &workshop.surroundings.scratch;
    let failed = |source: io::Error| match Errno::from_io_error(&source) {
        Some(Errno::FBIG) => TargetError::Unavailable(Unavailable::ImageTooLarge {
            directory: directory.clone(),
            size_bytes: workshop.surroundings.image_bytes_of(scratch),
        }),
        _ => TargetError::Image { directory: directory.clone(), source },
    };
    let source = if let Some(device) = device {
        MountSource::Device(Arc::new(device))
    } else if scratch.file_system.lives_in_memory() {
        MountSource::Memory
    } else {
        let size_bytes = workshop.surroundings.image_bytes_of(scratch);
        let fallback_name = format!("{}.img", workshop.new_name());
        let image = make_image(directory, size_bytes, &workshop.guardian, &fallback_name);
        let image = image.map_err(failed)?;
        if scratch.allocated {
            if let Some(why) = never_in_place(&image).map_err(failed)? {
                return Err(TargetError::NeverInPlace { directory: directory.clone(), why });
            }
            write_holes(&image).map_err(failed)?;
        }
        let slow = delays(&spec.conditions).map(|delays| slow_file(workshop, &image, delays));
        let slow = slow.transpose();
        let slow =
            slow.map_err(|source| TargetError::SlowDevice { label: label.clone(), source })?;
        let image = LoopDevice::bind(image, slow).map_err(|why| match why {
            NotBound::NoNode { number } => TargetError::NoLoopNode { number },
            NotBound::Failed(source) => failed(source),
        })?;
        let image = Arc::new(image);
        workshop.note_image(&image, workshop.surroundings.booked_bytes(scratch, size_bytes));
        MountSource::Image(image)
    };
    let mount_point = workshop.new_mount_point(label);
    let mount_point = mount_point
        .map_err(|source| TargetError::Workshop { doing: "making a mount point", source })?;
    Ok(Backing::Scratch { source, mount_point, mounted: false, scratch: scratch.clone() })
}

/// How long requests of the device are to take, if they are to be delayed.
fn delays(wanted: &Conditions) -> Option<Delays> {
    let cache = wanted.delay_cache_bytes.map(|bytes| DeviceCache { bytes });
    wanted.delay_ns.map(|ns| Delays { request: Duration::from_nanos(ns), cache })
}

/// A file that shows `image` slowly. Its server ends when nothing uses the file any more, whoever
/// is alive; the guardian is told of it in case it does not.
fn slow_file(workshop: &WorkshopInner, image: &File, delays: Delays) -> io::Result<SlowFile> {
    let point = workshop.new_file_mount_point()?;
    // Where the guardian lives, which does not keep our mounts alive either.
    let apart = File::open(format!("/proc/{}/ns/mnt", workshop.guardian.pid().as_raw_pid()))?;
    let slow = SlowFile::start(image, &point, delays, apart)?;
    let server = Owner::of(slow.server_pid())?;
    workshop.guardian.add(ResourceKind::Server, Path::new(&server.to_string()))?;
    Ok(slow)
}
