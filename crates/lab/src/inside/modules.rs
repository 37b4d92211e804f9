//! Loading modules, in the order that the host has worked out.

use std::ffi::{CString, c_int};
use std::fs::{self, File};

use rustix::io::Errno;

use super::InsideError;
use crate::image::MODULES;

/// Loads what a file system needs (`xfs`), or a device (`brd`, `loop`), unless it is loaded.
///
/// # Errors
/// The kernel knows nothing of this name, or refuses a module.
pub fn load_modules_for(name: &str) -> Result<(), InsideError> {
    load_modules_with(name, "")
}

/// Loads the same, and gives the last module in its list these parameters: `rd_nr=1
/// rd_size=65536`. A kernel that has it built in takes them from its own arguments instead, as
/// `brd.rd_nr=1`, and a module that is loaded already ignores them.
///
/// # Errors
/// The kernel knows nothing of this name, or refuses a module.
pub fn load_modules_with(name: &str, parameters: &str) -> Result<(), InsideError> {
    let path = format!("{MODULES}/modules");
    let list = fs::read_to_string(&path).map_err(|source| InsideError::Io { path, source })?;
    let mut lines = list.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(of, _)| *of == name);
    let (_, modules) = found.ok_or_else(|| InsideError::Unknown(name.to_owned()))?;
    let mut modules = modules.split_whitespace().peekable();
    while let Some(module) = modules.next() {
        let parameters = if modules.peek().is_none() { parameters } else { "" };
        load(module, parameters)?;
    }
    Ok(())
}

fn load(module: &str, parameters: &str) -> Result<(), InsideError> {
    let (file, may_refuse) = match module.strip_prefix('?') {
        Some(file) => (file, true),
        None => (module, false),
    };
    let path = format!("{MODULES}/{file}");
    let opened = File::open(&path).map_err(|source| InsideError::Io { path, source })?;
    let parameters = CString::new(parameters).unwrap_or_default();
    let flags: c_int = 0;
    match rustix::system::finit_module(&opened, &parameters, flags) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(_) if may_refuse => Ok(()),
        Err(error) => Err(InsideError::Module { module: file.to_owned(), source: error.into() }),
    }
}
