//! What it takes to build modules for a kernel, of the tree that the kernel was built in: as in
//! Debian's packages of headers (the kernel's `scripts/package/install-extmod-build`).

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::error::LabError;

/// The directories that are kept but for what was compiled for the kernel itself.
const DIRECTORIES: [&str; 3] = ["include", "scripts", "arch/x86"];
/// Files besides those.
const FILES: [&str; 5] =
    ["Makefile", ".config", "Module.symvers", "arch/Kconfig", "tools/objtool/objtool"];
/// Files in `arch/x86` that are kept: all below directories of these names, and those by these.
const OF_ARCHITECTURE: [&str; 2] = ["include", "scripts"];
const BY_NAME: [&str; 4] = ["Makefile", "Makefile.um", "Kbuild", "Makefile_32.cpu"];

/// Copies it.
pub(super) fn keep(source: &Path, to: &Path) -> Result<(), LabError> {
    for file in FILES {
        if source.join(file).is_file() {
            copy(&source.join(file), &to.join(file))?;
        }
    }
    DIRECTORIES.iter().try_for_each(|one| keep_below(source, to, Path::new(one)))
}

fn keep_below(source: &Path, to: &Path, directory: &Path) -> Result<(), LabError> {
    let path = source.join(directory);
    for entry in fs::read_dir(&path).map_err(LabError::at(&path))? {
        let entry = entry.map_err(LabError::at(&path))?;
        let within = directory.join(entry.file_name());
        let kind = entry.file_type().map_err(LabError::at(&path))?;
        if kind.is_dir() {
            keep_below(source, to, &within)?;
        } else if is_kept(&within) && entry.path().is_file() {
            copy(&entry.path(), &to.join(&within))?;
        }
    }
    Ok(())
}

fn is_kept(within: &Path) -> bool {
    let is_compiled = within.extension() == Some(OsStr::new("o"));
    let is_elsewhere = within.starts_with("arch");
    let is_needed = within.iter().any(|part| OF_ARCHITECTURE.iter().any(|name| part == *name))
        || within.file_name().is_some_and(|name| BY_NAME.iter().any(|one| name == *one));
    !is_compiled && (!is_elsewhere || is_needed)
}

fn copy(from: &Path, to: &Path) -> Result<(), LabError> {
    let directory = to.parent().unwrap_or(to);
    fs::create_dir_all(directory).map_err(LabError::at(directory))?;
    fs::copy(from, to).map(drop).map_err(LabError::at(from))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_kept;

    #[test]
    fn headers_and_tools_are_kept_and_the_kernel_is_not() {
        for (path, kept) in [
            ("include/linux/fs.h", true),
            ("include/config/auto.conf", true),
            ("scripts/mod/modpost", true),
            ("scripts/mod/modpost.o", false),
            ("arch/x86/Makefile", true),
            ("arch/x86/include/generated/asm/syscalls_64.h", true),
            ("arch/x86/kernel/process.c", false),
            ("arch/x86/kernel/process.o", false),
        ] {
            assert_eq!(is_kept(Path::new(path)), kept, "{path}");
        }
    }
}
