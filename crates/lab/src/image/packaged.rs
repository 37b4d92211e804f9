//! Programs that are not part of every image, with their libraries: those installed here, or else
//! those from Debian's packages, which are unpacked into the lab and never installed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::GuestProgram;
use crate::error::LabError;
use crate::package::{self, Package};
use crate::place::Lab;
use crate::tool;

/// The directory of packages within the lab; each is unpacked into a subdirectory of its name.
const PACKAGES: &str = "packages";
/// Directories of a package in which programs may be.
const OF_PROGRAMS: [&str; 4] = ["usr/sbin", "sbin", "usr/bin", "bin"];
/// Directories of a package in which libraries may be. The guest's loader searches them too.
const OF_LIBRARIES: [&str; 2] = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
/// How many levels of library packages are fetched.
const DEPTH_MAX: usize = 4;

/// A program with everything it loads.
pub(super) struct FoundProgram {
    /// Its name.
    pub(super) name: &'static str,
    /// Its file.
    pub(super) file: PathBuf,
    /// Its libraries: path in the guest, file here.
    pub(super) libraries: Vec<(String, PathBuf)>,
}

/// Finds or fetches the programs.
pub(super) fn find(lab: &Lab, wanted: &[GuestProgram]) -> Result<Vec<FoundProgram>, LabError> {
    let mut unpacked = Unpacked::default();
    wanted.iter().map(|one| unpacked.program(lab, one)).collect()
}

/// The packages unpacked so far.
#[derive(Default)]
struct Unpacked {
    directories: Vec<PathBuf>,
    names: BTreeSet<String>,
}

impl Unpacked {
    fn program(&mut self, lab: &Lab, wanted: &GuestProgram) -> Result<FoundProgram, LabError> {
        if let Some(file) = programs::find(wanted.name)
            && let Libraries { missing: None, found } = self.libraries(&file)?
        {
            return Ok(FoundProgram { name: wanted.name, file, libraries: found });
        }
        let directory = self.add(lab, wanted.package)?;
        let places = OF_PROGRAMS.map(|place| directory.join(place).join(wanted.name));
        let file = places.into_iter().find(|path| path.is_file());
        let file = file.ok_or_else(|| LabError::NotInPackages {
            what: format!("program {}", wanted.name),
            place: wanted.package.to_owned(),
        })?;
        let libraries = self.with_missing(lab, &file, wanted.package)?;
        Ok(FoundProgram { name: wanted.name, file, libraries })
    }

    /// The libraries of a program. Packages that its own package depends on are fetched until no
    /// library is missing.
    fn with_missing(
        &mut self,
        lab: &Lab,
        file: &Path,
        package: &str,
    ) -> Result<Vec<(String, PathBuf)>, LabError> {
        let mut packages = vec![package.to_owned()];
        for _ in 0..DEPTH_MAX {
            if self.libraries(file)?.missing.is_none() {
                break;
            }
            let mut next = Vec::new();
            for of_library in packages.iter().map(|name| package::look_up(name)) {
                let Package { needs, .. } = of_library?;
                let is_library = |name: &String| name.starts_with("lib") && name != "libc6";
                next.extend(needs.into_iter().filter(is_library));
            }
            for name in &next {
                self.add(lab, name)?;
            }
            packages = next;
        }
        let Libraries { missing, found } = self.libraries(file)?;
        match missing {
            None => Ok(found),
            Some(library) => Err(LabError::NotInPackages {
                what: format!("library {library}"),
                place: format!("{package}, with the packages that it needs,"),
            }),
        }
    }

    /// Unpacks a package, unless that has been done already, and returns its directory.
    fn add(&mut self, lab: &Lab, name: &str) -> Result<PathBuf, LabError> {
        let directory = lab.within(PACKAGES)?.join(name);
        if !directory.is_dir() {
            let temporary = lab.temporary()?;
            let made = package::fetch(&[package::look_up(name)?], temporary.path())?;
            if let Err(error) = fs::rename(&made, &directory)
                && !directory.is_dir()
            {
                return Err(LabError::at(&directory)(error));
            }
        }
        if self.names.insert(name.to_owned()) {
            self.directories.push(directory.clone());
        }
        Ok(directory)
    }

    /// The libraries of a program, from this machine or from the packages.
    fn libraries(&self, program: &Path) -> Result<Libraries, LabError> {
        let places = self.directories.iter();
        let places = places.flat_map(|directory| OF_LIBRARIES.map(|place| directory.join(place)));
        let places: Vec<String> = places.map(|path| path.display().to_string()).collect();
        let mut command = tool::command("ldd", "libc-bin")?;
        command.arg(program).env("LD_LIBRARY_PATH", places.join(":"));
        // `ldd` fails for a program without libraries.
        let text = tool::run(&mut command).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let missing = text.lines().find_map(|line| line.trim().strip_suffix(" => not found"));
        let found = text.lines().filter_map(super::parts::library);
        let found = found.map(|path| (self.in_guest(path), PathBuf::from(path)));
        Ok(Libraries { missing: missing.map(str::to_owned), found: found.collect() })
    }

    /// Where a library goes in the guest: the same path as here or, if it is from a package, where
    /// the guest's loader looks.
    fn in_guest(&self, path: &str) -> String {
        let is_packaged = self.directories.iter().any(|of| Path::new(path).starts_with(of));
        match path.rsplit_once('/') {
            Some((_, name)) if is_packaged => format!("/{}/{name}", OF_LIBRARIES[0]),
            _ => path.to_owned(),
        }
    }
}

/// What a program loads.
struct Libraries {
    /// The first one that is missing.
    missing: Option<String>,
    /// Path in the guest, and file here, of all others.
    found: Vec<(String, PathBuf)>,
}
