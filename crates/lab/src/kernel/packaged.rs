//! Prebuilt kernels: installed here, in package files, or fetched and unpacked.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::KernelFiles;
use super::source::{self, SourceRequest};
use super::{KERNELS, Kernel, RECIPE, modules, requirements};
use crate::decompress;
use crate::error::LabError;
use crate::package::{self, Package};
use crate::place::{Lab, name_of};

/// The package that depends on the newest kernel of the full flavour. The cloud flavour lacks f2fs,
/// minix and hfs.
const NEWEST: &str = "linux-image-amd64";

/// How long to keep anything that may still be in use.
const OLD: Duration = Duration::from_secs(24 * 3600);

/// Which kernel to get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The newest packaged kernel that apt offers.
    Newest,
    /// The kernel with this release, as printed by `uname -r`: the installed one, or else apt's.
    Release(String),
    /// The kernel in these Debian package files, which are downloaded or from `make bindeb-pkg`.
    Files(Vec<PathBuf>),
    /// A kernel built here from Debian's source.
    Source(SourceRequest),
}

/// How a kernel will be obtained.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) directory: PathBuf,
    pub(super) origin: Origin,
}

#[derive(Clone, Debug)]
pub(super) enum Origin {
    Lab(Kernel),
    Installed(KernelFiles),
    Files(Vec<PathBuf>),
    Packages { release: String, packages: Vec<Package> },
    Source { package: Package, configuration: String },
}

impl Plan {
    /// A sentence that says what will be done and about how long it takes; `None` if the kernel is
    /// there already.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let fetched = |packages: &[Package]| {
            let bytes: u64 = packages.iter().map(|package| package.size_bytes).sum();
            let megabytes = bytes.div_ceil(1_000_000);
            let names: Vec<&str> = packages.iter().map(|package| &*package.name).collect();
            let version = packages.first().map_or("", |package| &package.version);
            format!("{megabytes} MB ({} {version})", names.join(", "))
        };
        match &self.origin {
            Origin::Lab(_) => None,
            Origin::Installed(files) => Some(format!(
                "using the installed kernel {}; this takes a few seconds",
                files.release
            )),
            Origin::Files(files) => {
                Some(format!("using the kernel in {}; this takes a few seconds", names_of(files)))
            }
            Origin::Packages { packages, .. } => Some(format!(
                "fetching a kernel, {}; this takes less than a minute on a fast connection",
                fetched(packages)
            )),
            Origin::Source { package, .. } => Some(format!(
                "fetching a kernel's source, {}, and building it; on this machine this takes about \
                 {} minutes and, during the build, {} GB of disk space",
                fetched(std::slice::from_ref(package)),
                source::minutes(),
                source::BUILD_BYTES / 1_000_000_000
            )),
        }
    }
}

/// Determines how a kernel can be obtained, without changing anything.
///
/// # Errors
/// If apt does not know it, a file cannot be read, or a tool is missing.
pub fn plan(lab: &Lab, request: &Request) -> Result<Plan, LabError> {
    match request {
        Request::Source(request) => source::plan(lab, request),
        Request::Files(files) => plan_for_files(lab, files),
        Request::Release(release) => plan_for_release(lab, release),
        Request::Newest => plan_for_release(lab, &newest()?),
    }
}

fn plan_for_release(lab: &Lab, release: &str) -> Result<Plan, LabError> {
    let installed =
        KernelFiles::find(Path::new("/"), release).filter(|files| files.modules.is_some());
    if let Some(files) = installed {
        // The installed kernel changes under the same release when a developer rebuilds it.
        let name = format!("installed-{release}-{}", files.state()?);
        return Ok(in_its_directory(lab, &name, Origin::Installed(files)));
    }
    let name = format!("packaged-{release}");
    if let Some(kernel) = Kernel::read(&directory_of(lab, &name)) {
        return Ok(in_its_directory(lab, &name, Origin::Lab(kernel)));
    }
    let packages = package::with_parts(&format!("linux-image-{release}"), release)?;
    Ok(in_its_directory(lab, &name, Origin::Packages { release: release.to_owned(), packages }))
}

fn plan_for_files(lab: &Lab, files: &[PathBuf]) -> Result<Plan, LabError> {
    let mut parts = Vec::new();
    for path in files {
        parts.push(fs::read(path).map_err(LabError::at(path))?);
    }
    parts.sort();
    // Packages of the same release differ after a developer has rebuilt them.
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let name = format!("files-{}", name_of(&parts));
    Ok(in_its_directory(lab, &name, Origin::Files(files.to_owned())))
}

fn directory_of(lab: &Lab, name: &str) -> PathBuf {
    lab.directory().join(KERNELS).join(format!("{name}-{RECIPE}"))
}

/// A plan for a kernel in this directory, where it may exist already.
fn in_its_directory(lab: &Lab, name: &str, origin: Origin) -> Plan {
    let directory = directory_of(lab, name);
    let origin = Kernel::read(&directory).map_or(origin, Origin::Lab);
    Plan { directory, origin }
}

/// The release of the newest kernel that apt offers.
pub(super) fn newest() -> Result<String, LabError> {
    let prefix = "linux-image-";
    let name = package::dependency(NEWEST, prefix)?;
    Ok(name.trim_start_matches(prefix).to_owned())
}

/// File names, for display.
fn names_of(files: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Makes the planned kernel; `say` is called at the start of each long step.
///
/// # Errors
/// If it cannot be fetched, unpacked or built, or lacks something that the lab needs.
pub fn build(lab: &Lab, plan: &Plan, say: &dyn Fn(&str)) -> Result<Kernel, LabError> {
    match &plan.origin {
        Origin::Lab(kernel) => {
            renew(&kernel.directory);
            Ok(kernel.clone())
        }
        Origin::Installed(files) => keep(lab, plan, files, None),
        Origin::Files(files) => {
            let temporary = lab.temporary()?;
            let unpacked = temporary.path().join("unpacked");
            files.iter().try_for_each(|file| package::unpack(file, &unpacked))?;
            let place = names_of(files);
            let found = only(KernelFiles::all(&unpacked), &place)?;
            keep(lab, plan, &found, Some(&place))
        }
        Origin::Packages { release, packages } => {
            let bytes =
                packages.iter().map(|one| one.size_bytes.saturating_add(one.unpacked_bytes));
            lab.check_room(bytes.fold(0, u64::saturating_add))?;
            let temporary = lab.temporary()?;
            let unpacked = package::fetch(packages, temporary.path())?;
            let names: Vec<&str> = packages.iter().map(|package| &*package.name).collect();
            let place = names.join(", ");
            let found = KernelFiles::find(&unpacked, release);
            keep(lab, plan, &found.ok_or_else(|| lacks("kernel", &place))?, Some(&place))
        }
        Origin::Source { package, configuration } => {
            source::build(lab, plan, (package, configuration), say)
        }
    }
}

fn lacks(what: &str, place: &str) -> LabError {
    LabError::NotInPackages { what: what.to_owned(), place: place.to_owned() }
}

/// The kernel in packages, which must contain exactly one.
fn only(mut kernels: Vec<KernelFiles>, place: &str) -> Result<KernelFiles, LabError> {
    if kernels.len() > 1 {
        let releases = kernels.into_iter().map(|files| files.release);
        let releases = releases.collect::<Vec<_>>().join(", ");
        return Err(LabError::SeveralKernels { releases, place: place.to_owned() });
    }
    kernels.pop().ok_or_else(|| lacks("kernel (linux-image, or linux-binary)", place))
}

/// Marks a kernel that was asked for again as the newest, so that it is used from now on.
fn renew(directory: &Path) {
    let now = rustix::fs::Timestamps {
        last_access: rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
        last_modification: rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
    };
    let flags = rustix::fs::AtFlags::empty();
    let _unless_read_only = rustix::fs::utimensat(rustix::fs::CWD, directory, &now, flags);
}

/// Stores what is needed of a kernel that is in these packages, or installed.
fn keep(
    lab: &Lab,
    plan: &Plan,
    files: &KernelFiles,
    packages: Option<&str>,
) -> Result<Kernel, LabError> {
    let made = lab.temporary()?;
    let write = |name: &str, bytes: &[u8]| {
        let path = made.path().join(name);
        fs::write(&path, bytes).map_err(LabError::at(&path))
    };
    let KernelFiles { release, kernel, .. } = files;
    let lacking = |what: &str, packaged: &str| match packages {
        Some(place) => lacks(&format!("{what} of Linux {release} ({packaged})"), place),
        None => LabError::NotBootable {
            path: kernel.clone(),
            why: format!("the {what} of Linux {release} is missing here"),
        },
    };
    let configuration = files.configuration.as_ref();
    let configuration =
        configuration.ok_or_else(|| lacking("configuration", "linux-image, or linux-base"))?;
    let text = fs::read_to_string(configuration).map_err(LabError::at(configuration))?;
    requirements::check(release, &text)?;
    let modules = files.modules.as_ref();
    let modules =
        modules.ok_or_else(|| lacking("module directory", "linux-image, or linux-modules"))?;
    write("kernel", &decompress::kernel(kernel)?)?;
    write("config", text.as_bytes())?;
    modules::collect(modules, made.path(), release)?;
    write("release", release.as_bytes())?;
    let kept = finish(lab, made, &plan.directory)?;
    remove_old(lab, &kept);
    Ok(kept)
}

/// Removes earlier builds or installations of the same release.
fn remove_old(lab: &Lab, kept: &Kernel) {
    for kernel in super::kernels(lab).unwrap_or_default() {
        let name = kernel.directory.file_name().unwrap_or_default().to_string_lossy();
        let may_change = ["installed-", "files-"].iter().any(|prefix| name.starts_with(prefix));
        let is_other = kernel.release == kept.release && kernel.directory != kept.directory;
        if may_change && is_other && is_old(&kernel.directory) {
            let _another_was_faster = fs::remove_dir_all(&kernel.directory);
        }
    }
}

/// Whether no other fsprism can still be about to use it.
fn is_old(directory: &Path) -> bool {
    let modified = directory.metadata().and_then(|metadata| metadata.modified()).ok();
    let age = modified.and_then(|modified| modified.elapsed().ok());
    age.is_some_and(|age| age > OLD)
}

/// Gives a finished kernel its final name.
pub(super) fn finish(
    lab: &Lab,
    made: tempfile::TempDir,
    directory: &Path,
) -> Result<Kernel, LabError> {
    lab.within(KERNELS)?;
    // If two processes make it at the same time, the results are the same: the first one stays.
    if let Err(error) = fs::rename(made.path(), directory)
        && Kernel::read(directory).is_none()
    {
        return Err(LabError::at(directory)(error));
    }
    let kernel = Kernel::read(directory).ok_or_else(|| LabError::NotBootable {
        path: directory.to_owned(),
        why: "the kernel just made is gone".to_owned(),
    })?;
    drop(made);
    Ok(kernel)
}
