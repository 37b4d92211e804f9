//! Loading modules, in the order worked out by the host.

use std::ffi::{CString, c_int};
use std::fs::{self, File};
use std::path::Path;

use rustix::io::Errno;

use super::InsideError;
use crate::image::MODULES;

/// Loads the modules for a file system (`xfs`) or a device (`brd`, `loop`), unless they are loaded
/// already. Parameters come from the kernel's command line, as in `brd.rd_size=65536`, so they also
/// work for built-in drivers.
///
/// # Errors
/// If the kernel has nothing of this name, or refuses a module.
pub fn load_modules_for(name: &str) -> Result<(), InsideError> {
    let path = format!("{MODULES}/modules");
    let list = fs::read_to_string(&path).map_err(|source| InsideError::Io { path, source })?;
    let mut lines = list.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(of, _)| *of == name);
    let (_, modules) = found.ok_or_else(|| InsideError::Unknown(name.to_owned()))?;
    let path = "/proc/cmdline".to_owned();
    let arguments = fs::read_to_string(&path).map_err(|source| InsideError::Io { path, source })?;
    modules.split_whitespace().try_for_each(|module| load(module, &arguments))?;
    // What no kernel has comes with the job.
    let own = format!("{name}.ko");
    let has_own = modules.trim().is_empty() && Path::new(MODULES).join(&own).exists();
    if has_own { load(&own, &arguments) } else { Ok(()) }
}

/// The parameters on the kernel's command line that are for this module. The kernel itself passes
/// them only to built-in drivers.
fn parameters(module: &str, arguments: &str) -> String {
    let of_module = arguments.split_whitespace().filter_map(|argument| {
        let (name, parameter) = argument.split_once('.')?;
        (name.replace('-', "_") == module).then_some(parameter)
    });
    of_module.collect::<Vec<_>>().join(" ")
}

fn load(module: &str, arguments: &str) -> Result<(), InsideError> {
    let (file, may_refuse) = match module.strip_prefix('?') {
        Some(file) => (file, true),
        None => (module, false),
    };
    let path = format!("{MODULES}/{file}");
    let opened = File::open(&path).map_err(|source| InsideError::Io { path, source })?;
    let name = file.strip_suffix(".ko").unwrap_or(file);
    let parameters = CString::new(parameters(name, arguments)).unwrap_or_default();
    let flags: c_int = 0;
    match rustix::system::finit_module(&opened, &parameters, flags) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(_) if may_refuse => Ok(()),
        Err(error) => Err(InsideError::Module { module: file.to_owned(), source: error.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::parameters;

    #[test]
    fn a_module_gets_its_own_parameters() {
        let arguments = "quiet brd.rd_nr=1 xfs.a=b brd.rd_size=64\n";
        assert_eq!(parameters("brd", arguments), "rd_nr=1 rd_size=64");
        assert_eq!(parameters("quiet", arguments), "");
    }
}
