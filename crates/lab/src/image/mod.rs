//! The image: all of a guest's files, as an initramfs.
//!
//! The same parts give the same bytes. Since all parts must be read to find out whether one has
//! changed, the image is packed every time, which takes a fraction of a second, and stored under a
//! name derived from its content.

pub(crate) mod cpio;
mod packaged;
mod parts;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::elf::Elf;
use crate::error::LabError;
use crate::kernel::Kernel;
use crate::place::{Lab, name_of};
use cpio::Archive;

pub(crate) use parts::mkfs_programs;

/// The directory of all images, within the lab.
const IMAGES: &str = "images";
/// Age after which no other fsprism can still be about to use an image.
const OLD: Duration = Duration::from_secs(24 * 3600);
/// The guest's directory of modules and the list of them.
pub(crate) const MODULES: &str = "/lib/fsprism";
/// Directories that are mount points, or that jobs expect.
const DIRECTORIES: [&str; 8] = ["dev", "hand-back", "job", "mnt", "proc", "run", "sys", "tmp"];

/// What an image is made of.
#[derive(Clone, Copy, Debug)]
pub struct ImageParts<'a> {
    /// The kernel, for its modules.
    pub kernel: &'a Kernel,
    /// The program that the guest starts as `/init`.
    pub program: &'a Path,
    /// Additional programs: services, and tools to set them up.
    pub further: &'a [GuestProgram],
}

/// A program that a guest needs: the one installed here, or Debian's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestProgram {
    /// Its name in the guest's `/sbin`.
    pub name: &'static str,
    /// The Debian package that contains it.
    pub package: &'static str,
}

/// An image in the lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Its file.
    pub file: PathBuf,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// Packs the image, and stores it unless it is there already.
///
/// # Errors
/// If a part cannot be read or fetched, or the image cannot be written.
pub fn build(lab: &Lab, parts: ImageParts<'_>) -> Result<Image, LabError> {
    let bytes = pack(lab, parts)?;
    let directory = lab.within(IMAGES)?;
    let file = directory.join(format!("{}.cpio", name_of(&[&bytes])));
    if !file.is_file() {
        let made = lab.temporary()?;
        let unfinished = made.path().join("image");
        fs::write(&unfinished, &bytes).map_err(LabError::at(&unfinished))?;
        fs::rename(&unfinished, &file).map_err(LabError::at(&file))?;
        remove_old(&directory, &file);
    }
    Ok(Image { file, size_bytes: bytes.len() as u64 })
}

/// The images in the lab.
///
/// # Errors
/// If the lab's directory cannot be read.
pub fn images(lab: &Lab) -> Result<Vec<Image>, LabError> {
    let directory = lab.directory().join(IMAGES);
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(&directory).map_err(LabError::at(&directory))?;
    let images = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        Some(Image { file: entry.path(), size_bytes: entry.metadata().ok()?.len() })
    });
    let mut images: Vec<Image> = images.collect();
    images.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(images)
}

/// Removes images of programs that have since changed.
fn remove_old(directory: &Path, but: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| path != but) {
        let age = path.metadata().and_then(|data| data.modified()).ok();
        let age = age.and_then(|modified| modified.elapsed().ok());
        if age.is_some_and(|age| age > OLD) {
            let _another_was_faster = fs::remove_file(path);
        }
    }
}

fn pack(lab: &Lab, parts: ImageParts<'_>) -> Result<Vec<u8>, LabError> {
    let ImageParts { kernel, program, further } = parts;
    let mut archive = Archive::default();
    DIRECTORIES.iter().for_each(|directory| archive.directory(directory));
    add_program(&mut archive, "init", program)?;
    let busybox = parts::busybox(lab)?;
    archive.file("bin/busybox", read(&busybox)?);
    for applet in parts::applets(&busybox)? {
        archive.link(&format!("bin/{applet}"), "busybox");
    }
    for (_, mkfs) in mkfs_programs() {
        let (name, Some(path)) = (mkfs.program, programs::find(mkfs.program)) else { continue };
        add_program(&mut archive, &format!("sbin/{name}"), &path)?;
    }
    for packaged::FoundProgram { name, file, libraries } in packaged::find(lab, further)? {
        add_loaded(&mut archive, &format!("sbin/{name}"), &read(&file)?);
        for (name, library) in libraries {
            if !archive.has(&name) {
                add_loaded(&mut archive, &name, &read(&library)?);
            }
        }
    }
    if let Ok(configuration) = fs::read("/etc/mke2fs.conf") {
        archive.file("etc/mke2fs.conf", configuration);
    }
    archive.file(&format!("{MODULES}/modules"), read(&kernel.modules_list())?);
    let modules = kernel.modules_directory();
    for entry in fs::read_dir(&modules).map_err(LabError::at(&modules))? {
        let entry = entry.map_err(LabError::at(&modules))?;
        let name = entry.file_name();
        archive.file(&format!("{MODULES}/{}", name.to_string_lossy()), read(&entry.path())?);
    }
    Ok(archive.bytes())
}

/// Adds the loadable part of a program, and the libraries it needs.
fn add_program(archive: &mut Archive, name: &str, path: &Path) -> Result<(), LabError> {
    let bytes = read(path)?;
    let elf = Elf::new(&bytes);
    if elf.is_some_and(Elf::has_interpreter) {
        for library in parts::libraries(path)? {
            let name = library.to_string_lossy();
            if !archive.has(&name) {
                let bytes = read(&library)?;
                let loaded = Elf::new(&bytes).and_then(Elf::loaded);
                archive.file(&name, loaded.unwrap_or(bytes));
            }
        }
    }
    archive.file(name, elf.and_then(Elf::loaded).unwrap_or(bytes));
    Ok(())
}

/// Adds the loadable part of a program or library.
fn add_loaded(archive: &mut Archive, name: &str, bytes: &[u8]) {
    let loaded = Elf::new(bytes).and_then(Elf::loaded);
    archive.file(name, loaded.unwrap_or_else(|| bytes.to_vec()));
}

fn read(path: &Path) -> Result<Vec<u8>, LabError> {
    fs::read(path).map_err(LabError::at(path))
}
