//! Debian's packaged kernels: found installed, or fetched and unpacked.

use std::fs;
use std::path::{Path, PathBuf};

use super::{KERNELS, Kernel, RECIPE, modules, source};
use crate::decompress;
use crate::error::LabError;
use crate::package::{self, Package};
use crate::place::Lab;

/// The package that depends on the newest kernel of the full flavour. The cloud flavour has no
/// f2fs, minix and hfs.
const NEWEST: &str = "linux-image-amd64";

/// Which kernel is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// Debian's newest packaged one that apt offers.
    Newest,
    /// The packaged one of this release, as `uname -r` prints it.
    Release(String),
    /// One built here from Debian's source of this version, as `6.1`; none: the newest one's.
    Source(Option<String>),
}

/// How a kernel will be had.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) directory: PathBuf,
    pub(super) origin: Origin,
}

#[derive(Clone, Debug)]
pub(super) enum Origin {
    Lab(Kernel),
    Installed { release: String },
    Package { release: String, package: Package },
    Source(Package),
}

impl Plan {
    /// What will be done and about how long it takes, as a sentence; none if the kernel is there.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let fetched = |package: &Package| {
            let megabytes = package.size_bytes.div_ceil(1_000_000);
            format!("{megabytes} MB ({} {})", package.name, package.version)
        };
        match &self.origin {
            Origin::Lab(_) => None,
            Origin::Installed { release } => {
                Some(format!("the kernel is the installed {release}; a few seconds"))
            }
            Origin::Package { package, .. } => Some(format!(
                "fetching a kernel, {}; less than a minute with a fast connection",
                fetched(package)
            )),
            Origin::Source(package) => Some(format!(
                "fetching a kernel's source, {}, and building it; on this machine about {} minutes \
                 and 6 GB of disk while it is built",
                fetched(package),
                source::minutes()
            )),
        }
    }
}

/// Says how a kernel can be had, and changes nothing.
///
/// # Errors
/// apt does not know it, or a tool is missing.
pub fn plan(lab: &Lab, request: &Request) -> Result<Plan, LabError> {
    let release = match request {
        Request::Source(version) => return source::plan(lab, version.as_deref()),
        Request::Release(release) => release.clone(),
        Request::Newest => newest()?,
    };
    let directory = lab.directory().join(KERNELS).join(format!("packaged-{release}-{RECIPE}"));
    let origin = if let Some(kernel) = Kernel::at(&directory) {
        Origin::Lab(kernel)
    } else if is_installed(&release) {
        Origin::Installed { release }
    } else {
        let package = package::look_up(&format!("linux-image-{release}"))?;
        Origin::Package { release, package }
    };
    Ok(Plan { directory, origin })
}

/// The release of the newest kernel that apt offers.
pub(super) fn newest() -> Result<String, LabError> {
    let prefix = "linux-image-";
    let name = package::dependency(NEWEST, prefix)?;
    Ok(name.trim_start_matches(prefix).to_owned())
}

fn is_installed(release: &str) -> bool {
    let kernel = Path::new("/boot").join(format!("vmlinuz-{release}"));
    kernel.is_file() && Path::new("/lib/modules").join(release).join("kernel").is_dir()
}

/// Makes the kernel that was planned; `say` is told of long steps as they begin.
///
/// # Errors
/// It cannot be fetched, unpacked or built, or lacks what the lab needs.
pub fn build(lab: &Lab, plan: &Plan, say: &dyn Fn(&str)) -> Result<Kernel, LabError> {
    match &plan.origin {
        Origin::Lab(kernel) => {
            renew(&kernel.directory);
            Ok(kernel.clone())
        }
        Origin::Installed { release } => keep(lab, plan, release, Path::new("/")),
        Origin::Package { release, package } => {
            let temporary = lab.temporary()?;
            let unpacked = package::fetch(package, temporary.path())?;
            keep(lab, plan, release, &unpacked)
        }
        Origin::Source(package) => source::build(lab, plan, package, say),
    }
}

/// A kernel that was asked for again is the one to use from here on: the newest.
fn renew(directory: &Path) {
    let now = rustix::fs::Timestamps {
        last_access: rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
        last_modification: rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
    };
    let flags = rustix::fs::AtFlags::empty();
    let _unless_read_only = rustix::fs::utimensat(rustix::fs::CWD, directory, &now, flags);
}

fn keep(lab: &Lab, plan: &Plan, release: &str, root: &Path) -> Result<Kernel, LabError> {
    let made = lab.temporary()?;
    let write = |name: &str, bytes: &[u8]| {
        let path = made.path().join(name);
        fs::write(&path, bytes).map_err(LabError::at(&path))
    };
    let boot = root.join("boot");
    write("kernel", &decompress::kernel(&boot.join(format!("vmlinuz-{release}")))?)?;
    let configuration = boot.join(format!("config-{release}"));
    write("config", &fs::read(&configuration).map_err(LabError::at(&configuration))?)?;
    let module_root = ["lib/modules", "usr/lib/modules"].map(|path| root.join(path).join(release));
    let from = module_root.iter().find(|path| path.is_dir()).unwrap_or(&module_root[0]);
    modules::collect(from, made.path(), release)?;
    write("release", release.as_bytes())?;
    finish(lab, made, &plan.directory)
}

/// Gives what was made its name, now that it is whole.
pub(super) fn finish(
    lab: &Lab,
    made: tempfile::TempDir,
    directory: &Path,
) -> Result<Kernel, LabError> {
    lab.within(KERNELS)?;
    // Made twice at a time, both are the same: whichever was first stays.
    if let Err(error) = fs::rename(made.path(), directory)
        && Kernel::at(directory).is_none()
    {
        return Err(LabError::at(directory)(error));
    }
    let kernel = Kernel::at(directory).ok_or_else(|| LabError::NotBootable {
        path: directory.to_owned(),
        why: "what was just made is gone".to_owned(),
    })?;
    drop(made);
    Ok(kernel)
}
