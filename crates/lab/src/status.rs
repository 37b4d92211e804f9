//! What is in the lab, and what is missing on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{BootError, LabError};
use crate::image::{self, Image, mkfs_programs};
use crate::kernel::{self, Kernel};
use crate::place::Lab;
use crate::qemu;

/// The contents of the lab.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The lab's directory.
    pub directory: PathBuf,
    /// QEMU's version, if it is installed.
    pub qemu: Option<String>,
    /// The kernels, the default one first.
    pub kernels: Vec<KernelStatus>,
    /// The images. The one for the present fsprism and kernel is packed when it is needed.
    pub images: Vec<Image>,
    /// What is missing: for each, a sentence with the consequence and the package.
    pub missing: Vec<String>,
}

/// One kernel.
#[derive(Clone, Debug, Serialize)]
pub struct KernelStatus {
    /// The kernel.
    #[serde(flatten)]
    pub kernel: Kernel,
    /// Whether it is booted if no kernel is named: the one built last.
    pub is_default: bool,
    /// Size on disk in bytes.
    pub size_bytes: u64,
    /// File systems and devices that it supports.
    pub knows: Vec<String>,
}

/// Collects the lab's status.
///
/// # Errors
/// If the lab cannot be read.
pub fn status(lab: &Lab) -> Result<Status, LabError> {
    let mut kernels = Vec::new();
    for kernel in kernel::kernels(lab)? {
        let size_bytes = size_of(&kernel.directory);
        let knows = kernel.knows()?;
        kernels.push(KernelStatus { is_default: kernels.is_empty(), size_bytes, knows, kernel });
    }
    Ok(Status {
        directory: lab.directory().to_owned(),
        qemu: qemu::version().ok(),
        images: image::images(lab)?,
        missing: missing(kernels.is_empty()),
        kernels,
    })
}

/// Whether guests can be booted here, including with a plugin.
///
/// # Errors
/// If QEMU is missing, too old, or does not support plugins.
pub fn can_boot() -> Result<(), BootError> {
    qemu::check(true)
}

fn missing(is_empty: bool) -> Vec<String> {
    let mut missing = Vec::new();
    match can_boot() {
        Ok(()) => {}
        Err(error @ BootError::NoPlugins) => missing.push(error.to_string()),
        Err(error) => missing.push(format!("{error}; no guest can be booted")),
    }
    if is_empty {
        missing.push("no kernel yet: run fsprism lab build".to_owned());
    }
    for (file_system, mkfs) in mkfs_programs() {
        if programs::find(mkfs.program).is_some() {
            continue;
        }
        let (name, package) = (mkfs.program, mkfs.package);
        let what = format!("no {name}: guests cannot make {file_system} (apt install {package})");
        missing.push(what);
    }
    missing
}

fn size_of(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

impl Status {
    /// The status as plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![format!("lab       {}", self.directory.display())];
        let qemu = self.qemu.as_deref().unwrap_or("none");
        lines.push(format!("QEMU      {qemu}"));
        for status in &self.kernels {
            let KernelStatus { kernel, is_default, size_bytes, knows } = status;
            let origin = if kernel.is_from_source { "built here" } else { "packaged" };
            let default = if *is_default { ", the default" } else { "" };
            let size = megabytes(*size_bytes);
            lines.push(format!("kernel    {}, {origin}, {size}{default}", kernel.release));
            lines.push(format!("          supports {}", knows.join(" ")));
        }
        for image in &self.images {
            let name = image.file.file_name().unwrap_or_default().to_string_lossy();
            lines.push(format!("image     {name}, {}", megabytes(image.size_bytes)));
        }
        lines.extend(self.missing.iter().map(|what| format!("missing   {what}")));
        lines.join("\n") + "\n"
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}
