//! The QEMU plugin as a file. fsprism embeds its bytes and writes them to a file for QEMU to load.
//! Nothing of the plugin is linked here, because it has QEMU's licence.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The shared library, for the machine that fsprism is built for.
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/footprint_plugin.so"));

/// Writes the library into a directory and returns its path, for `-plugin PATH,out=FILE`. The path
/// must not contain a comma, which ends a value in QEMU's options.
///
/// # Errors
/// The directory's path contains a comma, or the file cannot be written.
pub fn write_into(directory: &Path) -> io::Result<PathBuf> {
    let path = directory.join("fsprism-footprint-plugin.so");
    if path.as_os_str().as_encoded_bytes().contains(&b',') {
        let what = format!("QEMU takes no path with a comma: {}", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    fs::write(&path, LIBRARY)?;
    Ok(path)
}
