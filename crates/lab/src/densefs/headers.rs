//! What the kernel's build system needs to build a module for a kernel: the headers that are
//! installed with it, or Debian's packages, unpacked into the lab.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::kernel::Kernel;
use crate::package::{self, Package};
use crate::place::Lab;
use crate::tool;

/// The directory of all headers, within the lab.
const DIRECTORY: &str = "headers";
/// Which of the packages that `linux-headers` depends on are needed.
const PARTS: [&str; 2] = ["linux-headers-", "linux-kbuild-"];
/// Where the packages have the headers.
const PLACE: &str = "usr/src";

/// The headers of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    /// Where `make` is to be called.
    pub(super) directory: PathBuf,
}

/// How headers will be obtained.
#[derive(Debug)]
pub(super) enum Plan {
    /// They are there.
    There(Headers),
    /// They are fetched.
    Fetched {
        /// The kernel's release.
        release: String,
        packages: Vec<Package>,
        /// Where the packages will be unpacked.
        into: PathBuf,
    },
}

/// Determines how the headers of a kernel can be obtained.
pub(super) fn plan(lab: &Lab, kernel: &Kernel) -> Result<Plan, LabError> {
    let release = &kernel.release;
    if let Some(built) = kernel.headers_directory() {
        return there(built);
    }
    let installed = Path::new("/lib/modules").join(release).join("build");
    if installed.join("Makefile").is_file() {
        return there(installed);
    }
    let into = lab.directory().join(DIRECTORY).join(release);
    let directory = directory_in(&into, release);
    if directory.join("Makefile").is_file() {
        return there(directory);
    }
    let packages = packages(release)?;
    compiler_of(release)?;
    Ok(Plan::Fetched { release: release.clone(), packages, into })
}

fn there(directory: PathBuf) -> Result<Plan, LabError> {
    check_compiler(&directory)?;
    Ok(Plan::There(Headers { directory }))
}

fn directory_in(unpacked: &Path, release: &str) -> PathBuf {
    unpacked.join(PLACE).join(format!("linux-headers-{release}"))
}

/// The packages with the headers of a release.
fn packages(release: &str) -> Result<Vec<Package>, LabError> {
    let first = package::look_up(&format!("linux-headers-{release}"))?;
    let is_part = |name: &&String| PARTS.iter().any(|part| name.starts_with(part));
    let parts = first.needs.iter().filter(is_part).map(|name| package::look_up(name));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    Ok([first].into_iter().chain(parts).collect())
}

/// Checks that the compiler is installed that the package of the headers depends on, through
/// another package: `linux-compiler-gcc-12-x86`, `gcc-14-for-host`.
fn compiler_of(release: &str) -> Result<(), LabError> {
    let first = package::look_up(&format!("linux-headers-{release}"))?;
    let mut names = first.needs.iter().filter_map(|name| compiler_in(name));
    match names.next_back() {
        Some(compiler) => tool::command(&compiler, &compiler).map(drop),
        None => tool::command("gcc", "gcc").map(drop),
    }
}

/// The compiler in a package's name.
fn compiler_in(package: &str) -> Option<String> {
    let (_, rest) = package.split_once("gcc-")?;
    let version: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!version.is_empty()).then(|| format!("gcc-{version}"))
}

/// Checks that the compiler is installed that the headers name.
fn check_compiler(directory: &Path) -> Result<(), LabError> {
    let variables = fs::read_to_string(directory.join(".kernelvariables")).unwrap_or_default();
    let line = variables.lines().find(|line| line.starts_with("CC ") || line.starts_with("CC="));
    let name = line.and_then(compiler_in).unwrap_or_else(|| "gcc".to_owned());
    tool::command(&name, &name).map(drop)
}

impl Plan {
    /// What will be fetched, if anything.
    pub(super) fn sentence(&self) -> Option<String> {
        let Self::Fetched { packages, .. } = self else { return None };
        let bytes: u64 = packages.iter().map(|package| package.size_bytes).sum();
        Some(format!("its headers, {} MB,", bytes.div_ceil(1_000_000)))
    }

    /// Fetches what is not there.
    pub(super) fn obtain(&self, lab: &Lab) -> Result<Headers, LabError> {
        let (release, packages, into) = match self {
            Self::There(headers) => return Ok(headers.clone()),
            Self::Fetched { release, packages, into } => (release, packages, into),
        };
        let bytes = packages.iter().map(|one| one.size_bytes.saturating_add(one.unpacked_bytes));
        lab.check_room(bytes.fold(0, u64::saturating_add))?;
        let temporary = lab.temporary()?;
        let unpacked = package::fetch(packages, temporary.path())?;
        // The packages' Makefiles name each other by where they are installed.
        let makefile = directory_in(&unpacked, release).join("Makefile");
        let text = fs::read_to_string(&makefile).map_err(LabError::at(&makefile))?;
        let there = format!(" {}/{PLACE}/", into.display());
        let text = text.replace(&format!(" /{PLACE}/"), &there);
        fs::write(&makefile, text).map_err(LabError::at(&makefile))?;
        lab.within(DIRECTORY)?;
        if let Err(error) = fs::rename(&unpacked, into)
            && !directory_in(into, release).join("Makefile").is_file()
        {
            return Err(LabError::at(into)(error));
        }
        let directory = directory_in(into, release);
        check_compiler(&directory)?;
        Ok(Headers { directory })
    }
}

#[cfg(test)]
mod tests {
    use super::compiler_in;

    #[test]
    fn the_compiler_is_named_by_packages_and_variables() {
        for (text, compiler) in [
            ("linux-compiler-gcc-12-x86", Some("gcc-12")),
            ("gcc-14-for-host", Some("gcc-14")),
            ("CC = $(if $(CCACHE),$(CCACHE)) $(CROSS_COMPILE)gcc-12", Some("gcc-12")),
            ("linux-kbuild-6.1", None),
            ("gcc-for-host", None),
        ] {
            assert_eq!(compiler_in(text).as_deref(), compiler, "{text}");
        }
    }
}
